"""The published JSON Schemas of our formats: each is read and checked once, however many files are held against it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import jsonschema
import jsonschema.exceptions

from evenhand.core.canonical import Json, parse

__all__ = ["Mistake", "mistake"]


class Mistake(NamedTuple):
    """Where a file is not as its schema says (a JSON path, `$` for the whole), and how."""

    place: str
    message: str

    def __str__(self) -> str:
        """In a line of bounded length: what a file says is a stranger's."""
        return f"{self.place:.80} is wrong: {self.message:.200}"


def mistake(data: Json, package: str, name: str, part: str = "") -> Mistake | None:
    """What in `data` is most plainly wrong by the schema `schema/name.json` of a package, or by its `$defs` of this
    name; None if nothing is."""
    best: Any = jsonschema.exceptions.best_match  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    found = best(_validator(package, name, part).iter_errors(data))
    return None if found is None else Mistake(found.json_path, found.message)


@cache
def _validator(package: str, name: str, part: str) -> Any:
    schema: dict[str, Json] = parse(files(package).joinpath(f"schema/{name}.json").read_bytes())
    chosen = {**schema, "$ref": f"#/$defs/{part}"} if part else schema
    jsonschema.Draft202012Validator.check_schema(chosen)
    return jsonschema.Draft202012Validator(chosen)
