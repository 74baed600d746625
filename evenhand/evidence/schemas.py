"""Shapes of files as types: JSON is read into them, and `evenhand.cli.schemas` publishes them as JSON Schemas.

The docstrings of a shape and of its fields are the descriptions in its schema.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from functools import reduce
from typing import Annotated, Any, TypeVar, cast, get_type_hints

from msgspec import Meta, Struct, ValidationError, convert, to_builtins
from msgspec.inspect import ListType, LiteralType, StructType, Type, UnionType, VarTupleType, type_info

from evenhand.core.canonical import Json, digest
from evenhand.core.text import inert

S = TypeVar("S", bound=Struct)
FIXED = ("format", "version")
"""Fields with one value, which is their default; a file must have them all the same."""


Name = Annotated[str, Meta(min_length=1, max_length=200)]
Digest = Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]
Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Size = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class Shape(Struct, frozen=True, forbid_unknown_fields=True):
    """A JSON object with the fields of its class and no others."""


class Mistake(ValueError):
    """Where a file differs from its shape (`place`, a JSON path, `$` for the whole), and how (`message`)."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(place, message)
        self.place, self.message = place, message

    def __str__(self) -> str:
        """One line of bounded length, because the content is untrusted."""
        return f"{inert(self.place):.80} is wrong: {inert(self.message):.200}"


def shaped(data: Json, kind: type[S]) -> S:
    """Return `data` as an object of the shape `kind`.  Raises Mistake for the first violation."""
    for name in FIXED:
        if name in kind.__struct_fields__ and isinstance(data, dict) and name not in data:
            raise Mistake("$", f"Object missing required field `{name}`")
    try:
        return convert(data, kind)
    except ValidationError as error:
        raise _mistake(data, kind, str(error)) from error


def fields_of(data: Any, kind: type[Any], without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass `kind` in a JSON object, each checked against its annotation.

    Raises Mistake for the first violation, as for a missing field and for one that the class does not have.
    """
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in without}
    if not isinstance(data, dict):
        raise Mistake("$", f"Expected `object`, got `{type(data).__name__}`")
    made = cast("dict[str, Json]", data)
    strange = next((name for name in (*made, *hints) if (name in made) != (name in hints)), None)
    if strange is not None:
        raise Mistake(f"$.{strange}", "the field is missing, or there is none of this name")
    return {name: _field(name, made[name], hint) for name, hint in hints.items()}


def _field(name: str, value: Json, hint: Any) -> Any:
    try:
        return convert(value, hint)
    except ValidationError as error:
        raise Mistake(f"$.{name}", str(error)) from error


def _mistake(data: Json, kind: Any, text: str) -> Mistake:
    message, at, place = text.rpartition(" - at ")
    if not at:
        return Mistake("$", text)
    path = place.rpartition(" ")[2].strip("`")
    if place.startswith("`key`"):
        message += ", as a key"
    elif "[...]" in path:
        path = _with_key(data, kind, path, text)
    elif message.startswith("Invalid enum value "):
        allowed = _allowed(type_info(kind), re.findall(r"\w+", path))
        message = message.removeprefix("Invalid enum value ") + f" is not one of {', '.join(map(repr, allowed))}"
    return Mistake(path, message)


def _allowed(kind: Type, steps: list[str]) -> Iterator[Any]:
    """The fixed values behind `steps`; empty if there are none."""
    match kind:
        case UnionType():
            yield from (value for one in kind.types for value in _allowed(one, steps))
        case LiteralType() if not steps:
            yield from kind.values
        case StructType() if steps:
            yield from (
                value for one in kind.fields if one.encode_name == steps[0] for value in _allowed(one.type, steps[1:])
            )
        case ListType() | VarTupleType() if steps:
            yield from _allowed(kind.item_type, steps[1:])
        case _:
            pass


def _with_key(data: Json, kind: Any, path: str, text: str) -> str:
    """The path of an error with the key of the entry at fault instead of `[...]`."""
    head, _, rest = path.partition("[...]")
    steps = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", head)]
    entries: Any = reduce(lambda inner, step: inner[step], steps, data)
    keys: list[str] = list(entries)

    def fails(number: int) -> bool:
        try:
            convert(_first_entries(data, steps, keys[:number]), kind)
        except ValidationError as error:
            return str(error) == text
        return False

    number = bisect_left(range(len(keys)), True, key=fails)
    return f"{head}.{keys[number - 1]}{rest}"


def _first_entries(data: Json, steps: list[int | str], keys: list[str]) -> Json:
    """Return `data` with only these keys in the object behind `steps`."""
    if not steps:
        return {key: data[key] for key in keys}
    whole: Any = data.copy()
    whole[steps[0]] = _first_entries(data[steps[0]], steps[1:], keys)
    return whole


def sealed(shape: Shape) -> dict[str, Json]:
    """Return a shape as JSON with `sha256`, the digest of everything else in it."""
    content = unsealed(to_builtins(shape))
    return {**content, "sha256": digest(content)}


def unsealed(data: dict[str, Json]) -> dict[str, Json]:
    """Return JSON without its seal."""
    return {key: value for key, value in data.items() if key != "sha256"}


def is_sealed(data: dict[str, Json]) -> bool:
    """Return whether `sha256` is the digest of everything else."""
    return bool(data["sha256"] == digest(unsealed(data)))
