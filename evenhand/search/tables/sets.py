"""Sets with a column for each element met so far, true where the set has it, and one with the set of all others.

A proxy of such a set is an expression over all of them.  To ask for an element reads one column; union, difference and
intersection give each column's expression anew; comparisons stop at the first column that settles them.  A loop reads
one column after another, see `loops`.  Whatever is not listed here makes every column decide, and happens to the set
itself.
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from evenhand.core.alike import alike
from evenhand.core.text import describe
from evenhand.search.tables.expressions import COUNT, Expression, plain
from evenhand.search.tables.loops import Wanted, counted, is_steady, is_steady_within, wanted_of
from evenhand.search.tables.orders import exactly_ordered
from evenhand.search.tables.proxies import EXPRESSION, RUN, Lazy, Run, applied, new, settled, settled_within
from evenhand.search.witness import NotLearned

BOTH: dict[str, Callable[[Any, Any], Any]] = {
    "__or__": operator.or_,
    "__and__": operator.and_,
    "__sub__": lambda one, other: one - other if isinstance(one, frozenset) else one and not other,
    "__xor__": operator.xor,
}
"""What gives another set: of columns of truth values, and of the sets of all other elements."""

_METHODS = {
    "union": "__or__",
    "intersection": "__and__",
    "difference": "__sub__",
    "issubset": "__le__",
    "issuperset": "__ge__",
    "isdisjoint": "disjoint",
}


class Members:
    """What is known of the elements of a set: those that have columns, in the order of these."""

    def __init__(self, elements: Iterable[Any]) -> None:
        self.elements = tuple(sorted(elements, key=describe))
        with suppress(Exception):  # no order, or one of the model's own that raises
            self.elements = tuple(sorted(self.elements))
        self.steady = all(map(is_steady_within, self.elements))
        self.index = {element: place for place, element in enumerate(self.elements)}

    def parts(self, value: frozenset[Any]) -> list[Any]:
        """Return the columns of a set.  Raises NotLearned for an element that equals another and is not alike."""
        found, others = [False] * len(self.elements), list[Any]()
        for element in value:
            place = self.index.get(element)
            if place is None:
                others.append(element)
            elif not alike(self.elements[place], element):
                raise NotLearned("a set has elements that are equal and not alike")
            else:
                found[place] = True
        return [*found, frozenset(others)]

    def whole(self, *parts: Any) -> frozenset[Any]:
        """Return the set of these columns."""
        others: frozenset[Any] = parts[-1]
        return others.union(one for one, there in zip(self.elements, parts, strict=False) if there)

    def built(self, parts: Sequence[Any]) -> Any:
        """Return the set of these columns, real values or proxies."""
        run = next((RUN.__get__(one) for one in parts if type(one) is Lazy), None)
        return self.whole(*parts) if run is None else self._set(run, [run.expression(one) for one in parts])

    def columns(self, value: Any) -> list[Any]:
        """Return the columns of a set, which may be a proxy."""
        if type(value) is Lazy and EXPRESSION.__get__(value).members is self:
            return [self._part(value, place) for place in range(len(self.elements) + 1)]
        return self.parts(settled_within(value))

    def _set(self, run: Run, parts: Sequence[Expression]) -> Any:
        expression = run.expressions.made(self, self.whole, parts)
        expression.members = self
        value = self.whole(*map(run.value, parts))
        return new(run, expression, value) if expression.columns else value

    def _part(self, lazy: Any, place: int) -> Any:
        return _held(RUN.__get__(lazy), EXPRESSION.__get__(lazy).args[place])

    def applied(self, run: Run, key: Any, act: Callable[..., Any], given: Sequence[Any]) -> Any:
        """Return the result of an operation on a set of this kind, and perhaps on others."""
        name = _METHODS.get(key[1], "") if isinstance(key, tuple) and key[0] == "call" and not key[2] else key
        first, *more = given
        if name in ("__or__", "__and__", "__xor__") and type(first) is frozenset:
            first, more = more[0], [first]
        mine = type(first) is Lazy and EXPRESSION.__get__(first).members is self
        if mine and name == "truth":
            return any(self._part(first, place) for place in range(len(self.elements) + 1))
        if mine and name == "len":
            counted = run.expressions.made(COUNT, _count, EXPRESSION.__get__(first).args)
            return new(run, counted, len(self._value(first)))
        if mine and name == "in":
            return self._has(first, more[0], act)
        if mine and len(more) == 1 and (name in BOTH or name in _COMPARED):
            other = more[0] if isinstance(key, str) else _as_set(more[0])
            if (parts := self._of(run, other)) is not None:
                if name in BOTH:
                    pairs = zip(EXPRESSION.__get__(first).args, parts, strict=True)
                    return self._set(run, [_both(run, name, one, two) for one, two in pairs])
                asked = [self._part(first, place) for place in range(len(parts))]
                return _COMPARED[name](list(zip(asked, [_held(run, part) for part in parts], strict=True)))
            given = first, other
        return act(*map(settled_within, given))

    @staticmethod
    def _value(lazy: Any) -> Any:
        return RUN.__get__(lazy).value(EXPRESSION.__get__(lazy))

    def _has(self, lazy: Any, item: Any, act: Callable[..., Any]) -> Any:
        item = settled_within(item)
        if not plain(item):
            return act(settled(lazy), item)
        place = self.index.get(item)
        if place is not None:
            return self._part(lazy, place)
        others = self._part(lazy, len(self.elements))
        return applied("in", act, (others, item), total=True) if type(others) is Lazy else item in others

    def _of(self, run: Run, value: Any) -> list[Expression] | None:
        """The columns of another set; None for what is none, or has elements that are not followed."""
        if type(value) is Lazy:
            if EXPRESSION.__get__(value).members is self:
                return list(EXPRESSION.__get__(value).args)
            value = settled(value)
        if type(value) not in (set, frozenset):
            return None
        value = frozenset(map(settled_within, value))
        return [run.expression(one) for one in self.parts(value)] if plain(value) else None

    def iterated(self, lazy: Any) -> Iterable[Any]:
        """Iterate over the elements: by columns where their order does not matter, else over the set as it is."""
        frame = sys._getframe(3)  # pyright: ignore[reportPrivateUsage]
        wanted = wanted_of(frame) if self.steady else None
        if wanted is None:
            return tuple(settled(lazy))
        if wanted.counts and not settled(self._part(lazy, len(self.elements))):
            with suppress(_Raised):
                counted(frame, self._counted(lazy, wanted))
                return ()  # the loop ends at once, and `len` is called next
        return self._wanted(lazy, wanted)

    def _wanted(self, lazy: Any, wanted: Wanted) -> Iterator[Any]:
        """The elements that are wanted; whether those with columns that are not wanted are in the set is not asked."""
        others = settled(self._part(lazy, len(self.elements)))
        parts = [
            *((element, self._part(lazy, place)) for place, element in enumerate(self.elements)),
            *((element, True) for element in others),
        ]
        found, made = list[tuple[Any, Any]](), list[Any]()
        for element, part in parts:
            try:
                values = part is not False and wanted.of(element)
                if values:
                    found.append((element, part))
                    made += values
            except NotLearned:
                raise
            except Exception:
                if part:  # the loop will raise the same, unless the order of the set lets it end before
                    return iter(settled(lazy))
        if wanted.kept is None or not wanted.kept(made):
            there = [element for element, part in found if part]
            return iter(there if len(there) < 2 else settled(lazy))  # one has no order
        return (element for element, part in found if part)

    def _counted(self, lazy: Any, wanted: Wanted) -> Any:
        """How many values a loop makes of the elements."""
        run, made = RUN.__get__(lazy), RUN.__get__(lazy).expressions.made
        groups: dict[Any, list[Expression]] = {}
        for place, element in enumerate(self.elements):
            part = EXPRESSION.__get__(lazy).args[place]
            if part.columns or run.value(part):
                try:
                    values = [*map(settled_within, wanted.of(element))]
                except NotLearned:
                    raise
                except Exception as error:
                    raise _Raised from error
                for value in values:
                    groups.setdefault(value if wanted.distinct else place, []).append(part)
        parts = [some[0] if len(some) == 1 else made("any of", _any, some) for some in groups.values()]
        return _held(run, made(COUNT, _count, [*parts, run.expressions.constant(frozenset())]))

    def in_order(self, lazy: Any, mark: Any, **how: Any) -> Iterator[Any]:
        """What `sorted` gives, with a mark before each element if there is one order whatever else is in the set."""
        order = None if settled(self._part(lazy, len(self.elements))) else self._order(**how)
        return iter(sorted(lazy, **how)) if order is None else self._in_turn(lazy, mark, order)

    def _order(self, key: Any = None, reverse: Any = False) -> Sequence[int] | None:
        if key is not None and not (is_steady(key) and self.steady):
            return None
        try:
            keys = self.elements if key is None else tuple(settled_within(key(one)) for one in self.elements)
            if not exactly_ordered(keys):
                return None
            order = sorted(range(len(keys)), key=lambda place: keys[place], reverse=bool(reverse))
            if any(keys[one] == keys[other] for one, other in pairwise(order)):
                return None
            return range(len(keys)) if order == [*range(len(keys))] else order
        except NotLearned:
            raise
        except Exception:
            return None  # what cannot be compared may never be in one set

    def _in_turn(self, lazy: Any, mark: Any, order: Sequence[int]) -> Iterator[Any]:
        for place in order:
            if self._part(lazy, place) is not False:
                yield mark
                if self._part(lazy, place):
                    yield self.elements[place]


class _Raised(Exception):
    """What a loop makes of an element raises, if it is in the set."""


def _any(*parts: Any) -> bool:
    return any(parts)


def _count(*parts: Any) -> int:
    return sum(map(bool, parts[:-1])) + len(parts[-1])


def _as_set(value: Any) -> Any:
    """What a method of sets takes: any iterable."""
    return value if type(value) in (Lazy, set) else frozenset(map(settled_within, value))


def _held(run: Run, part: Expression) -> Any:
    return new(run, part, run.value(part)) if part.columns else run.value(part)


def _both(run: Run, name: str, one: Expression, other: Expression) -> Expression:
    if not one.columns and not other.columns:
        return run.expressions.constant(BOTH[name](run.value(one), run.value(other)))
    if not other.columns and type(run.value(other)) is bool:
        there = run.value(other)
        if there is (name == "__and__"):
            return one
        if name != "__xor__":
            return run.expressions.constant(name == "__or__")
    if not other.columns and not run.value(other) and name != "__and__":
        return one
    return run.expressions.made((name, "of a column"), BOTH[name], (one, other))


Compared = list[tuple[Any, Any]]
"""The columns of two sets; the last are sets of other elements."""


def _is_within(pairs: Compared) -> bool:
    *columns, (mine, others) = pairs
    return all(other is True or not one or other for one, other in columns) and bool(mine <= others)


def _is_disjoint(pairs: Compared) -> bool:
    *columns, (mine, others) = pairs
    return not any(other is not False and one and other for one, other in columns) and not mine & others


def _turned(pairs: Compared) -> Compared:
    return [(other, one) for one, other in pairs]


def _is_equal(pairs: Compared) -> bool:
    return _is_within(pairs) and _is_within(_turned(pairs))


_COMPARED: dict[str, Callable[[Compared], bool]] = {
    "eq": _is_equal,
    "ne": lambda pairs: not _is_equal(pairs),
    "__le__": _is_within,
    "__lt__": lambda pairs: _is_within(pairs) and not _is_equal(pairs),
    "__ge__": lambda pairs: _is_within(_turned(pairs)),
    "__gt__": lambda pairs: _is_within(_turned(pairs)) and not _is_equal(pairs),
    "disjoint": _is_disjoint,
}
