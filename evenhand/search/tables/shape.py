"""The columns of a configuration's states: which parts stay containers, and which are leaves.

A tuple or record that has one shape in all states seen is a container, and its parts have columns of their own.
Anything else (numbers, texts, sets, tuples of changing length) is a leaf with one column of values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

from evenhand.search.tables.expressions import SCALARS, NotLearned, Values, make_record, record_fields
from evenhand.search.tables.proxies import Lazy

MOST = 512
"""Columns that a state may have."""

Path = tuple[int, ...]
"""The place of a part: the number of the part in each container on the way."""


class Reshaped(Exception):
    """A container turned out to have no fixed shape; says where."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path


def parts_of(value: Any) -> tuple[Any, tuple[Any, ...]] | None:
    """Return the class and the parts of a container; None for anything else."""
    kind: Any = type(value)
    if kind is tuple:
        return tuple, value
    if kind is Lazy or kind in SCALARS or issubclass(kind, Enum):
        return None
    names = record_fields(kind)
    return None if names is None else (kind, tuple(getattr(value, name) for name in names))


class Shape:
    """The layout of the states: a tree of containers with numbered leaves, and the values of each leaf."""

    def __init__(self, states: Sequence[Any], opaque: Iterable[Path] = ()) -> None:
        self.opaque = set(opaque)
        self.paths: list[Path] = []
        self.tree = self._tree(states, ())
        self._take = self._taker(self.tree, ())
        self.columns = [Values(strict=True) for _ in self.paths]
        if len(self.paths) > MOST:
            raise NotLearned(f"a state has {len(self.paths)} parts")

    def _tree(self, values: Sequence[Any], path: Path) -> Any:
        """A leaf's number, or the class of a container and its parts."""
        first = None if path in self.opaque else parts_of(values[0])
        if first is not None and first[1]:
            every = [parts_of(value) for value in values]
            if all(one is not None and one[0] is first[0] and len(one[1]) == len(first[1]) for one in every):
                rows = [one[1] for one in every if one is not None]
                return first[0], tuple(
                    self._tree([row[place] for row in rows], (*path, place)) for place in range(len(first[1]))
                )
        self.paths.append(path)
        return len(self.paths) - 1

    def leaves(self, state: Any) -> list[Any]:
        """Return the value of each leaf.  Raises Reshaped."""
        found: list[Any] = []
        self._take(state, found)
        return found

    def _taker(self, tree: Any, path: Path) -> Callable[[Any, list[Any]], None]:
        """A function that appends the leaves of a value of this layout to a list."""
        if isinstance(tree, int):
            return lambda value, found: found.append(value)
        kind, trees = tree
        size, names = len(trees), record_fields(kind) if kind is not tuple else None
        inner = [None if isinstance(one, int) else self._taker(one, (*path, at)) for at, one in enumerate(trees)]

        def take(value: Any, found: list[Any]) -> None:
            parts: Any = None
            if type(value) is kind:
                parts = value if names is None else [getattr(value, name) for name in names]
            elif type(value) is Lazy and isinstance(value, kind):
                parts = tuple(getattr(value, name) for name in record_fields(kind) or ()) or tuple(value)
            if parts is None or len(parts) != size:
                raise Reshaped(path)
            for deeper, part in zip(inner, parts, strict=True):
                if deeper is None:
                    found.append(part)
                else:
                    deeper(part, found)

        return take

    def numbers(self, state: Any) -> list[int]:
        """Return the number of each leaf's value.  Raises Reshaped or NotLearned."""
        return [column.number(value) for column, value in zip(self.columns, self.leaves(state), strict=True)]

    def built(self, leaves: Sequence[Any]) -> Any:
        """Return the state with these leaves, real values or proxies."""

        def build(tree: Any) -> Any:
            if isinstance(tree, int):
                return leaves[tree]
            kind, trees = tree
            made = [build(one) for one in trees]
            return tuple(made) if kind is tuple else make_record(kind, made)

        return build(self.tree)

    def state(self, numbers: Sequence[int]) -> Any:
        """Return the state of these numbers."""
        return self.built([column.values[number] for column, number in zip(self.columns, numbers, strict=True)])

    def named(self) -> Iterator[tuple[str, int]]:
        """Yield each leaf's path in words, and how many values it has had."""
        for path, column in zip(self.paths, self.columns, strict=True):
            kind, words, tree = self.tree, "state", self.tree
            for place in path:
                kind, trees = tree
                names = record_fields(kind)
                words += f".{names[place]}" if names else f"[{place}]"
                tree = trees[place]
            yield words, len(column)
