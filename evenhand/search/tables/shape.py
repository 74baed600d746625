"""The columns of a configuration's states: which parts stay containers, and which are leaves.

A tuple or record that has one shape in all states seen is a container, and its parts have columns of their own.
Anything else (numbers, texts, tuples of changing length) is a leaf with one column of values.  A set is one until
it has had many values; then the elements that it has had have columns of their own, see `sets`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

from evenhand.search.containers import fields_of, make_record, parts_of, record_fields
from evenhand.search.tables.expressions import Values
from evenhand.search.tables.proxies import Lazy
from evenhand.search.tables.sets import Members
from evenhand.search.witness import NotLearned

MOST = 512
"""Columns that a state may have."""

CROWD, OTHERS = 64, 8
"""Sets in one column, and sets of elements without columns, from which their elements get columns."""

Path = tuple[int, ...]
"""The place of a part: the number of the part in each container on the way."""


class Reshaped(Exception):
    """A container turned out to have no fixed shape, or a set to have more elements; says where, and which."""

    def __init__(self, path: Path, elements: frozenset[Any] = frozenset()) -> None:
        super().__init__(path)
        self.path, self.elements = path, elements


class Divided(NamedTuple):
    """A set whose elements have columns, from the `first` on."""

    members: Members
    first: int


class Shape:
    """The layout of the states: a tree of containers with numbered leaves, and the values of each leaf."""

    def __init__(
        self, states: Sequence[Any], opaque: Iterable[Path] = (), sets: Mapping[Path, frozenset[Any]] | None = None
    ) -> None:
        self.opaque = set(opaque)
        self.sets = sets
        self.of_sets: dict[int, int] = {}  # columns that may hold many sets, and how many are many
        self.paths: list[Path] = []
        self.tree = self._tree(states, ())
        self._take = self._taker(self.tree, ())
        self.built = self._builder(self.tree)
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
        column = len(self.paths) - 1
        if self.sets is None or path in self.opaque:
            return column
        if path not in self.sets:
            self.of_sets[column] = CROWD
            return column
        members = Members(self.sets[path])
        self.paths += [path] * len(members.elements)
        self.of_sets[len(self.paths) - 1] = OTHERS
        return Divided(members, column)

    def leaves(self, state: Any) -> list[Any]:
        """Return the value of each leaf.  Raises Reshaped."""
        found: list[Any] = []
        self._take(state, found)
        return found

    def _taker(self, tree: Any, path: Path) -> Callable[[Any, list[Any]], None]:
        """A function that appends the leaves of a value of this layout to a list."""
        if isinstance(tree, int):
            return lambda value, found: found.append(value)
        if isinstance(tree, Divided):
            return lambda value, found: found.extend(self._divided(tree, value, path))
        kind, trees = tree
        size, names = len(trees), record_fields(kind) if kind is not tuple else None
        inner = [None if isinstance(one, int) else self._taker(one, (*path, at)) for at, one in enumerate(trees)]

        def take(value: Any, found: list[Any]) -> None:
            parts: Any = None
            if type(value) is kind:
                if names is not None and fields_of(value) is None:
                    raise NotLearned(f"a {kind.__name__} holds more than its fields")
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

    @staticmethod
    def _divided(tree: Divided, value: Any, path: Path) -> list[Any]:
        kind = value.__class__ if type(value) is Lazy else type(value)
        if kind is not frozenset:
            raise Reshaped(path)
        return tree.members.columns(value)

    def crowded(self) -> None:
        """Raise Reshaped for a set that has had many values, or more elements than have columns."""
        for column, least in self.of_sets.items():
            values = self.columns[column].values
            if len(values) < least:
                continue
            self.of_sets[column] = 2 * len(values)
            if all(type(one) is frozenset for one in values):
                elements = frozenset[Any]().union(*values)
                if least == OTHERS or 2 * len(elements) < len(values):
                    raise Reshaped(self.paths[column], elements)

    def numbers(self, state: Any) -> list[int]:
        """Return the number of each leaf's value.  Raises Reshaped or NotLearned."""
        return [column.number(value) for column, value in zip(self.columns, self.leaves(state), strict=True)]

    def _builder(self, tree: Any) -> Callable[[Sequence[Any]], Any]:
        """A function that returns the value of this layout that has these leaves, real values or proxies."""
        if isinstance(tree, int):
            return itemgetter(tree)
        if isinstance(tree, Divided):
            last = tree.first + len(tree.members.elements) + 1
            return lambda leaves: tree.members.built(leaves[tree.first : last])
        kind, trees = tree
        make: Callable[[Sequence[Any]], Any] = tuple if kind is tuple else partial(make_record, kind)
        if all(isinstance(one, int) for one in trees):
            return lambda leaves: make(leaves[trees[0] : trees[-1] + 1])
        inner = [self._builder(one) for one in trees]
        return lambda leaves: make([build(leaves) for build in inner])

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
