"""What a field of an observation tells of: an effect on the world, a decision, a record, or a label.

A model says it where the field is declared; a field that says nothing tells of a decision:

    effects: tuple[Effect, ...] = field(default=(), metadata=part("effect"))

Findings about a kernel are ordered by it, the gravest first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Literal, get_args

Part = Literal["effect", "decision", "record", "label"]
"""A record is what is kept or told of a step; a label is a name, class or reason for what was decided anyway."""

PARTS: tuple[Part, ...] = get_args(Part)


def part(what: Part) -> Mapping[str, Part]:
    """Return the metadata of a field that tells of `what`."""
    if what not in PARTS:
        raise ValueError(f"a field tells of {', '.join(PARTS)}, not {what!r}")
    return {"part": what}


@cache
def parts_of(kind: Any) -> Mapping[str, Part]:
    """Return the part of each field of a dataclass that declares one."""
    return {one.name: one.metadata["part"] for one in fields(kind) if "part" in one.metadata}
