"""What an entry of the benchmark is: a system, its planted fault, and the answers that the literature gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from evenhand.core.property import Property
from evenhand.core.system import AnySystem

T = TypeVar("T")


@dataclass(frozen=True)
class Known:
    """A system of the literature.

    `make(False)` is the system, of which `claim` holds for any number of agents; `make(True)` has the planted `fault`,
    by which the claim fails.  `source` says where the system comes from.  `hints` are claims that are proved beside it,
    for a claim whose invariants are not guessed.
    """

    name: str
    source: str
    fault: str
    make: Callable[[bool], AnySystem]
    claim: Property
    hints: tuple[Property, ...] = ()


def put(row: tuple[T, ...], place: int, entry: T) -> tuple[T, ...]:
    """Return the tuple with one entry changed."""
    return (*row[:place], entry, *row[place + 1 :])


def each(value: T, things: tuple[Any, ...]) -> tuple[T, ...]:
    """Return a tuple with the value for each thing."""
    return tuple(value for _ in things)


Action = tuple[Any, ...]
