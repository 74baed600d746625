"""Check files against the published JSON Schemas; each schema is read and checked once, for any number of files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from evenhand.core.canonical import Json, parse


class Mistake(NamedTuple):
    """Where a file violates its schema (a JSON path, `$` for the whole), and how."""

    place: str
    message: str

    def __str__(self) -> str:
        """One line of bounded length, because the content is untrusted."""
        return f"{self.place:.80} is wrong: {self.message:.200}"


def mistake(data: Json, package: str, name: str, part: str = "") -> Mistake | None:
    """Return the clearest violation of the schema `schema/name.json` of a package; None if there is none.

    `part` names one of its `$defs` to check against instead.
    """
    found = _judge(package, name, part)(data)
    return None if found is None else Mistake(found.json_path, found.message)


@cache
def _judge(package: str, name: str, part: str) -> Callable[[Json], Any]:
    """Return the function that finds the clearest violation in a file."""
    import jsonschema.exceptions  # it takes 0.1 s to import, and few commands read a file

    schema: dict[str, Json] = parse(files(package).joinpath(f"schema/{name}.json").read_bytes())
    chosen = {**schema, "$ref": f"#/$defs/{part}"} if part else schema
    jsonschema.Draft202012Validator.check_schema(chosen)
    validator: Any = jsonschema.Draft202012Validator(chosen)
    best: Any = jsonschema.exceptions.best_match  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return lambda data: best(validator.iter_errors(data))
