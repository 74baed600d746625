"""The record of every module of this folder: a system, its published number of reachable states, claims about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

import evenhand
from evenhand.core.property import Property

T = TypeVar("T")


@dataclass(frozen=True)
class Known:
    """A system of the literature.

    `states` is the published number of distinct states, without those outside a constraint, as TLC counts; `true` and
    `reached` are claims that hold, `false` claims that do not, the last two with the number of steps of a shortest run.
    """

    system: evenhand.System[Any, Any, Any, Any, Any]
    states: int
    true: tuple[Property, ...]
    reached: tuple[tuple[Property, int], ...] = ()
    false: tuple[tuple[Property, int], ...] = ()


def put(row: tuple[T, ...], index: int, entry: T) -> tuple[T, ...]:
    """Return the row with one entry changed; TLA+ writes `[row EXCEPT ![index] = entry]`."""
    entries = list(row)
    entries[index] = entry
    return tuple(entries)


def some_of(items: Iterable[int]) -> list[frozenset[int]]:
    """Return the non-empty subsets, small ones first."""
    row = sorted(items)
    return [frozenset(few) for size in range(1, len(row) + 1) for few in combinations(row, size)]
