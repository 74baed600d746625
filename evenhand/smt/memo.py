"""Caches of values computed from formulas, keyed by object identity.

Formulas are large and shared: the axioms of a theory enter each of its queries.  Hashing one walks all of it, so a
value computed from it (expansion, text, arrows between sorts) is kept under the identity of its inputs.  The inputs
are kept too, so that no identity is reused while it is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class Cache(Generic[V]):
    """Values by the identity of their inputs; beyond `most` values the oldest are dropped.

    >>> memo, one = Cache[int](), [1, 2]
    >>> memo.get((one,), lambda: sum(one)), memo.get((one,), lambda: 0)
    (3, 3)
    """

    def __init__(self, most: int = 8192) -> None:
        self._most = most
        self._kept: dict[tuple[int, ...], tuple[tuple[object, ...], V]] = {}

    def get(self, of: tuple[object, ...], make: Callable[[], V]) -> V:
        """Return the cached value for these very objects, computed by `make` on first use."""
        place = tuple(map(id, of))
        found = self._kept.get(place)
        if found is None:
            while len(self._kept) >= self._most:
                self._kept.pop(next(iter(self._kept)))
            found = self._kept[place] = (of, make())
        return found[1]
