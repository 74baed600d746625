"""Fields of an observation whose content the source text leaves to an implementation.

A model has to write some sentence, code or order where the text demands only that there is one.  A kernel that writes
another one is not wrong.  Such a field says so where it is declared:

    rejected: str = free_field("texts", "")

Kernels are compared on free fields only on request.  Whether a free text or code is empty is always compared, because
an empty reason means that there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, field, fields
from functools import cache
from typing import Any, Literal, get_args

Free = Literal["texts", "codes", "orders"]
"""What is free: a sentence for people, a name that programs read, the order of an array."""

FREE: tuple[Free, ...] = get_args(Free)


def free_field(free: Free, default: Any = MISSING) -> Any:
    """Return a field of a frozen dataclass whose content the text leaves open."""
    if free not in FREE:
        raise ValueError(f"a field is free in its {', '.join(FREE)}, not {free!r}")
    return field(default=default, metadata={"free": free})


@cache
def freedom_of(kind: Any) -> Mapping[str, Free]:
    """Return the free fields of a dataclass."""
    return {one.name: one.metadata["free"] for one in fields(kind) if "free" in one.metadata}
