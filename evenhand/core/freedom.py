"""Fields of an observation whose content the source text leaves to an implementation.

A model has to write some sentence, code or order where the text demands only that there is one.  A kernel that writes
another one is not wrong.  Such a field says so where it is declared:

    rejected: str = free_field("texts", "")

Kernels are compared on free fields only on request.  Some things are always compared: whether a free text or code is
empty, because an empty reason means that there is none; how often each entry occurs in an array whose order is free;
and codes that the text does name.  In an array of pairs such as (agent, reason) the last part of each is free, and the
order of the pairs.  What stands beside a code and means something by it alone is free where the code is (`beside`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, get_args

from evenhand.core.parts import Part, part

Free = Literal["texts", "codes", "orders"]
"""What is free: a sentence for people, a name that programs read, the order of an array."""

FREE: tuple[Free, ...] = get_args(Free)


@dataclass(frozen=True)
class Freedom:
    """What is free in a field, and the values that the text names nevertheless.

    With `beside` the field is free where that of this name is, whatever it holds.
    """

    free: Free
    named: frozenset[str] = frozenset()
    beside: str = ""


def free(what: Free, *, named: Collection[str] = (), beside: str = "") -> Mapping[str, Freedom]:
    """Return the metadata of a field whose content the text leaves open, except for the values `named`."""
    if what not in FREE:
        raise ValueError(f"a field is free in its {', '.join(FREE)}, not {what!r}")
    return {"freedom": Freedom(what, frozenset(named), beside)}


def free_field(what: Free, default: Any, *, named: Collection[str] = (), tells: Part = "decision") -> Any:
    """Return a field with a default whose content the text leaves open; it tells of a `Part`."""
    return field(default=default, metadata={**free(what, named=named), **part(tells)})


@cache
def freedom_of(kind: Any) -> Mapping[str, Freedom]:
    """Return the free fields of a dataclass."""
    return {one.name: one.metadata["freedom"] for one in fields(kind) if "freedom" in one.metadata}
