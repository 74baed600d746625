"""Read what picks one of a list: `next`, `min`, `max`, `index`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evenhand.smt.logic import TRUE, Formula, Term
from evenhand.source.choosing import extreme, member, taken
from evenhand.source.comprehensions import places_of
from evenhand.source.constants import known
from evenhand.source.expressions import Expressions
from evenhand.source.frames import Frame, only
from evenhand.source.refusal import refuse
from evenhand.source.simplify import all_of, negation
from evenhand.source.values import (
    FRESH,
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Leaf,
    Places,
    Value,
    cases,
    equals,
    merged,
    named,
    thing,
)


class Picks(Expressions):
    """Reads calls that pick one of a list."""

    def first_of(self, function: Any, node: ast.Call, frame: Frame) -> Value | None:
        """`next(... for ...)`: what the first member gives, perhaps with a default; None for another call."""
        if function is not next or node.keywords or not node.args or not isinstance(node.args[0], ast.GeneratorExp):
            return None
        over = self.rows(node.args[0], frame)
        if over is None:
            raise refuse("the first of what has no order", "go through agents, or tuples by agent")
        return self._or_default(over, member(self.world, over), node.args[1:], frame)

    def _or_default(self, over: Places, found: Value, default: Sequence[ast.expr], frame: Frame) -> Value:
        """A member of a list, or the default where the list is empty, which raises without one."""
        there = taken(over)
        if not default:
            self.errors.add(frame.path, negation(there))
            return found
        return merged(there, found, self.read(default[0], frame.under(negation(there))))

    def least_of(self, function: Any, node: ast.Call, frame: Frame) -> Value | None:
        """`min` and `max` of a list with places, perhaps by a key: the first of those that are least, or greatest."""
        more = {one.arg: one.value for one in node.keywords}
        if function not in (min, max) or len(node.args) != 1 or not set(more) <= {"key", "default"}:
            return None
        over = self.rows(node.args[0], frame)
        if over is None:
            return None
        default = [more["default"]] if "default" in more else []
        if "key" not in more:
            return self._or_default(over, self._extreme(over, function is max, frame), default, frame)
        by = only(self.read(more["key"], frame))
        if by is None:
            raise refuse("a key that is not known", "write a lambda")

        def key(value: Value) -> Value:
            since = len(self.errors.found)
            found = self.invoked(by, [value], {}, frame)
            del self.errors.found[since:]
            return found

        x = FRESH(over.sort)
        since = len(self.errors.found)
        self.invoked(by, [over.at(x)], {}, frame.under(over.there(x)))  # notes what raises
        self.errors.close(since, [x])
        return self._or_default(over, member(self.world, over, key=key, most=function is max), default, frame)

    def _extreme(self, over: Places, most: bool, frame: Frame) -> Value:
        """The least or greatest of a list; None in it raises."""

        def at(term: Term) -> Value:
            since = len(self.errors.found)
            found = self.present(over.at(term), frame.under(over.there(term)))
            del self.errors.found[since:]
            return found

        x = FRESH(over.sort)
        since = len(self.errors.found)
        self.present(over.at(x), frame.under(over.there(x)))  # notes what raises
        self.errors.close(since, [x])
        return extreme(self.world, replace(over, at=at), most=most)

    def place(self, value: Value, wanted: Value, frame: Frame) -> Value | None:
        """Where a value stands first: an element is its own place among all; None if no places are known."""
        if isinstance(value, Group) and value.kind == "agents" and isinstance(wanted, Cases):
            found: list[tuple[Formula, Leaf]] = []
            for guard, one in wanted.parts:
                if isinstance(one, Elem) and one.term.sort == value.sort:
                    found.append((guard, one))
                elif isinstance(one, Const) and (one.value is None or isinstance(one.value, str)):
                    self.errors.add(frame.path, guard)
                else:
                    raise refuse(f"the place of {named(wanted)}", "ask for the place of an agent")
            return cases(found) if found else None
        if isinstance(value, Fixed):
            place, left = known(0), TRUE
            for number, part in reversed(list(enumerate(value.parts))):
                here = equals(part, wanted)
                place, left = merged(here, known(number), place), all_of((left, negation(here)))
            self.errors.add(frame.path, left)
            return place
        over = places_of(value)
        if over is None or not over.whole:
            return None

        def holds(term: Term) -> Formula:
            return all_of((over.there(term), equals(over.at(term), wanted)))

        fits = replace(over, there=holds, at=thing)
        self.errors.add(frame.path, negation(taken(fits)))
        return member(self.world, fits)
