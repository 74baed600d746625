"""JSON primitives as model values.

Python takes 1, 1.0 and True for one value; JSON does not.  Bare values would merge states that a kernel keeps apart, so
models hold `Atom`s, tagged by type.  Other values (NaN, objects, functions) reach a model only as a hostile choice, as
`Opaque`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenhand.core.canonical import Json, canonical_text


@dataclass(frozen=True, order=True, slots=True)
class Atom:
    """One JSON primitive: its JSON type, and its canonical text (for a string, the string itself)."""

    kind: Literal["bool", "int", "null", "number", "str"]
    text: str

    @property
    def value(self) -> Json:
        """The primitive as a Python value."""
        match self.kind:
            case "null":
                return None
            case "bool":
                return self.text == "true"
            case "int":
                return int(self.text)
            case "number":
                return float(self.text)
            case "str":
                return self.text

    def __str__(self) -> str:
        return repr(self.text) if self.kind == "str" else self.text


@dataclass(frozen=True, order=True, slots=True)
class Opaque:
    """A value that is not a JSON primitive, named by `what` (`nan`, `object`, `list`, `function`)."""

    what: str


def atom(value: Json) -> Atom | Opaque:
    """Return the tagged form of a Python value; `Opaque` if it is no JSON primitive.  Never raises."""
    if value is None:
        return Atom("null", "null")
    if isinstance(value, bool):
        return Atom("bool", "true" if value else "false")
    if isinstance(value, int):
        return Atom("int", str(value))
    if isinstance(value, str):
        return Atom("str", value)
    if isinstance(value, float):
        try:
            return Atom("number", canonical_text(value))
        except ValueError:
            return Opaque("nan" if value != value else "infinity")
    kinds = {dict: "object", list: "list", tuple: "list", bytes: "bytes"}
    return Opaque(next((name for kind, name in kinds.items() if isinstance(value, kind)), "function"))
