"""Read expressions as values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from types import ModuleType
from typing import Any, TypeAlias

from evenhand.smt.logic import FALSE, TRUE, And, Formula
from evenhand.source.choosing import end, member, settled, taken
from evenhand.source.comprehensions import Comprehensions, as_list, places_of
from evenhand.source.constants import Lookup, known
from evenhand.source.described import chosen, described
from evenhand.source.frames import Closure, Errors, Frame, only
from evenhand.source.operators import beginning, changed, compared, counted, joined, looked_up, operated
from evenhand.source.reading import MISSING
from evenhand.source.refusal import Unreadable, refuse
from evenhand.source.simplify import all_of, any_of, negation, numbered
from evenhand.source.values import (
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Leaf,
    Num,
    Record,
    Table,
    Truth,
    Value,
    Whole,
    as_group,
    as_tuple,
    cases,
    gathered,
    leaf,
    merged,
    named,
    truth,
    wholes,
)
from evenhand.source.world import World

Given: TypeAlias = Callable[[Sequence[Value]], Value]


class Expressions(Comprehensions):
    """Reads expressions of functions that speak of one world; notes what would raise in `errors`.

    `given` are functions that are not unfolded: each with what it gives for values.
    """

    def __init__(self, world: World, given: Mapping[Any, Given] | None = None) -> None:
        self.world = world
        self.errors = Errors()
        self.given = given or {}

    def read(self, node: ast.expr, frame: Frame) -> Value:
        """Return the value of an expression.  Raises Unreadable with the place."""
        try:
            return self._read(node, frame)
        except Unreadable as error:
            source = frame.source
            raise source.refused(node, error.why, error.instead) if not error.file else error from None

    def _read(self, node: ast.expr, frame: Frame) -> Value:
        match node:
            case ast.Constant(value):
                return known(value)
            case ast.Name(name):
                return self._name(name, frame)
            case ast.Attribute(inner, name):
                return self.attribute(self.read(inner, frame), name, frame)
            case ast.Compare():
                return self._compare(node, frame)
            case ast.IfExp():
                return self._chosen(node, frame)
            case ast.BinOp():
                return self._binary(node, frame)
            case ast.Subscript(inner, index):
                return self._subscript(node, inner, index, frame)
            case ast.Call():
                return self.call(node, frame)
            case ast.Lambda():
                return leaf(Const(Closure(node, frame, self.defaults(node, frame))))
            case ast.BoolOp() | ast.UnaryOp():
                return self._logical(node, frame)
            case _:
                return self._collection(node, frame)

    def _chosen(self, node: ast.IfExp, frame: Frame) -> Value:
        asked = self.test(node.test, frame)
        if asked in (TRUE, FALSE):
            return self.read(node.body if asked == TRUE else node.orelse, frame)
        yes = self.read(node.body, frame.under(asked))
        return merged(asked, yes, self.read(node.orelse, frame.under(negation(asked))))

    def _logical(self, node: ast.BoolOp | ast.UnaryOp, frame: Frame) -> Value:
        match node:
            case ast.BoolOp():
                return self._either(node, frame)
            case ast.UnaryOp(ast.Not(), inner):
                return Truth(negation(self.test(inner, frame)))
            case ast.UnaryOp(ast.USub(), ast.Constant(value)) if type(value) is int:
                return known(-value)
            case ast.UnaryOp(ast.USub(), inner):
                return operated(ast.Sub(), known(0), self.present(self.read(inner, frame), frame))
            case _:
                raise refuse("this sign has no counterpart", "write `not`, or the number")

    def _collection(self, node: ast.expr, frame: Frame) -> Value:
        match node:
            case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts):
                return self._display(node, parts, frame)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                self.comprehended(node, frame)  # notes what raises
                if isinstance(node, ast.SetComp):
                    return gathered(lambda: self._again(node, frame), "set")
                found = gathered(lambda: self._again(node, frame), "list")
                return replace(found, more=self._listing(node, frame), once=isinstance(node, ast.GeneratorExp))
            case ast.Dict():
                return self._dictionary(node, frame)
            case _:
                raise refuse(
                    f"{type(node).__name__} has no counterpart", "write it with any, all, in, if, match and replace"
                )

    def _dictionary(self, node: ast.Dict, frame: Frame) -> Value:
        """A dictionary of known keys, each of them once; others may stand in it, as in `{**one, **other}`."""
        entries: list[tuple[Any, Value]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            read = self.read(value, frame)
            inner = only(read) if key is None else Lookup(((only(self.read(key, frame)), read),))
            if not isinstance(inner, Lookup) or not all(isinstance(one, str | int | Enum) for one, _ in inner.entries):
                raise refuse("a dictionary of unknown keys", "write `match` or `if`")
            twice = next((one for one, _ in inner.entries if any(one == other for other, _ in entries)), None)
            if twice is not None:
                raise refuse(f"a dictionary with the key {twice!r} twice", "name it once")
            entries += inner.entries
        return leaf(Const(Lookup(tuple(entries))))

    def call(self, node: ast.Call, frame: Frame) -> Value:
        """Return what a call gives."""
        raise NotImplementedError

    def invoked(self, function: Any, given: Sequence[Value], named_given: dict[str, Value], frame: Frame) -> Value:
        """Return what a function of the user's gives for values."""
        raise NotImplementedError

    def defaults(self, node: ast.FunctionDef | ast.Lambda, frame: Frame) -> dict[str, Value]:
        """Return the values of a function's defaults, which Python computes where it is defined."""
        listed_names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
        late = zip(reversed(listed_names), reversed(node.args.defaults), strict=False)
        found = {name: self.read(one, frame) for name, one in late}
        for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            if default is not None:
                found[one.arg] = self.read(default, frame)
        return found

    def _name(self, name: str, frame: Frame) -> Value:
        if name in frame.names:
            return frame.names[name]
        found = frame.source.outside(name)
        if found is MISSING:
            raise refuse(f"{name} is not defined here", "define it before")
        return known(found)

    def attribute(self, value: Value, name: str, frame: Frame) -> Value:
        """Return an attribute of a record, a class, a module, or a member of an Enum."""
        if isinstance(value, Record):
            if name in value.fields:
                return value.fields[name]
            found = getattr(value.cls, name, MISSING)
            if isinstance(found, property) and found.fget is not None:
                return self.invoked(found.fget, [value], {}, frame)
            raise refuse(f"{value.cls.__name__} has no field {name}", "read a field or a property of it")
        if not isinstance(value, Cases):
            raise refuse(f"the attribute {name} of {named(value)}", "read fields of records")
        found_value: Value | None = None
        for guard, one in value.parts:
            if all_of((frame.path, guard)) == FALSE:
                continue
            if isinstance(one, Const) and one.value is None:
                self.errors.add(frame.path, guard)
                continue
            if isinstance(one, Whole):
                inner = self.attribute(one.value, name, frame.under(guard))
                found_value = inner if found_value is None else merged(guard, inner, found_value)
                continue
            if not isinstance(one, Const) or not isinstance(one.value, ModuleType | type | Enum):
                raise refuse(f"the attribute {name} of {named(value)}", "read fields of records")
            if isinstance(one.value, Enum) and name not in ("value", "name"):
                raise refuse(f"{name} of a member of an Enum", "write a function of it")
            inner = known(getattr(one.value, name))
            found_value = inner if found_value is None else merged(guard, inner, found_value)
        if found_value is None:
            raise refuse(f"the attribute {name} of None", "test `is not None` first")
        return found_value

    def present(self, value: Value, frame: Frame) -> Value:
        """Return a record, a collection, a number or an agent that may be None where it is not; None raises."""
        if not isinstance(value, Cases) or not any(isinstance(one, Whole | Num | Elem) for _, one in value.parts):
            return value
        parts: list[tuple[Formula, Leaf]] = []
        for guard, one in value.parts:
            if isinstance(one, Const) and one.value is None:
                self.errors.add(frame.path, guard)
            elif all_of((frame.path, guard)) != FALSE:
                parts.append((guard, one))
        if not parts or not all(isinstance(one, Whole) for _, one in parts):
            return cases(parts) if parts else value
        whole = wholes(Cases(tuple(parts)))
        found = whole[-1][1]
        for guard, inner in whole[:-1]:
            found = merged(guard, inner, found)
        return found

    def _either(self, node: ast.BoolOp, frame: Frame) -> Value:
        """`and` and `or` as values: the last one that is looked at."""
        conjunct = isinstance(node.op, ast.And)
        read: list[tuple[Formula, Value]] = []
        here = frame
        for place, one in enumerate(node.values):
            value = self.read(one, here)
            last = place == len(node.values) - 1
            asked = TRUE if last else value.formula if isinstance(value, Truth) else truth(value)
            read.append((asked, value))
            if last or asked == (FALSE if conjunct else TRUE):
                break
            here = here.under(asked if conjunct else negation(asked))
        if all(isinstance(value, Truth) for _, value in read):
            formulas = [value.formula for _, value in read if isinstance(value, Truth)]
            return Truth(all_of(formulas) if conjunct else any_of(formulas))
        found = read[-1][1]
        for asked, value in reversed(read[:-1]):
            found = merged(asked, found, value) if conjunct else merged(asked, value, found)
        return found

    def _bool(self, node: ast.BoolOp, frame: Frame) -> Formula:
        """`and` and `or` as a test: what follows is reached only where what precedes leaves it open."""
        conjunct = isinstance(node.op, ast.And)
        parts: list[Formula] = []
        here = frame
        for one in node.values:
            asked = self.test(one, here)
            parts.append(asked)
            if asked == (FALSE if conjunct else TRUE):
                break
            here = here.under(asked if conjunct else negation(asked))
        return all_of(parts) if conjunct else any_of(parts)

    def test(self, node: ast.expr, frame: Frame) -> Formula:
        """Return whether an expression counts as true; the parts of `and` and `or` may be of any kind."""
        if isinstance(node, ast.BoolOp):
            return self._bool(node, frame)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return negation(self.test(node.operand, frame))
        value = self.read(node, frame)
        try:
            return truth(value)
        except Unreadable as error:
            raise frame.source.refused(node, error.why, error.instead) if not error.file else error from None

    def _compare(self, node: ast.Compare, frame: Frame) -> Value:
        """A chain: each comparison is reached only where those before it hold."""
        sides = [node.left, *node.comparators]
        parts: list[Formula] = []
        here = frame
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            size = self.size_compared(left, op, right, here)
            found = self._compared(left, op, right, here) if size is None else size
            parts.append(found)
            here = here.under(found)
        return Truth(all_of(parts))

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr, frame: Frame) -> Formula:
        one, other = self.read(left, frame), self.read(right, frame)
        if not isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            other = self.present(other, frame)
            one = one if isinstance(op, ast.In | ast.NotIn) else self.present(one, frame)
        return compared(self.world, op, one, other)

    def _binary(self, node: ast.BinOp, frame: Frame) -> Value:
        ring = self.ring(node, frame)
        if ring is not None:
            return ring
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Tuple | ast.List) and len(node.left.elts) == 1:
            by = self.measured(node.right, frame)
            if isinstance(by, Group) and by.kind == "agents" and by.sort is not None:
                entry = self.read(node.left.elts[0], frame)
                row = Table(by.sort, lambda _term: entry)
                return row if isinstance(node.left, ast.Tuple) else as_list(row)
        put = self._put(_sum(node), frame)
        if put is not None:
            return put
        left, right = (self.present(self.read(one, frame), frame) for one in (node.left, node.right))
        return operated(node.op, left, right)

    def _display(self, node: ast.expr, parts: list[ast.expr], frame: Frame) -> Value:
        put = self._put(parts, frame) if isinstance(node, ast.Tuple) else None
        if put is not None:
            return put
        starred = [isinstance(one, ast.Starred) for one in parts]
        values = [self.read(one.value if isinstance(one, ast.Starred) else one, frame) for one in parts]
        pieces = [value if star else Fixed((value,)) for value, star in zip(values, starred, strict=True)]
        if isinstance(node, ast.Tuple) and all(isinstance(one, Fixed) for one in pieces):
            return Fixed(tuple(part for one in pieces if isinstance(one, Fixed) for part in one.parts))
        return joined([as_group(one) for one in pieces], "set" if isinstance(node, ast.Set) else "list")

    def _put(self, parts: list[ast.expr], frame: Frame) -> Value | None:
        """`(*row[:i], entry, *row[i + 1:])`: the row with one entry changed."""
        match parts:
            case [
                ast.Starred(ast.Subscript(row, ast.Slice(None, here, None))),
                entry,
                ast.Starred(ast.Subscript(again, ast.Slice(ast.BinOp(there, ast.Add(), ast.Constant(1)), None, None))),
            ] if here is not None and ast.dump(row) == ast.dump(again) and ast.dump(here) == ast.dump(there):
                whole = self.read(row, frame)
                if isinstance(whole, Fixed):
                    return None
                return self.entered(whole, self.read(here, frame), self.read(entry, frame), frame)
            case _:
                return None

    def entered(self, row: Value, key: Value, entry: Value, frame: Frame) -> Value:
        """Return a tuple by agent with the entry of one changed; None as a place raises."""
        if isinstance(key, Cases):
            none = [guard for guard, one in key.parts if isinstance(one, Const) and one.value is None]
            for guard in none:
                self.errors.add(frame.path, guard)
            key = Cases(tuple((guard, one) for guard, one in key.parts if guard not in none))
        return changed(row, key, entry)

    def _subscript(self, node: ast.Subscript, inner: ast.expr, index: ast.expr, frame: Frame) -> Value:
        value = as_tuple(self.present(self.read(inner, frame), frame))
        if isinstance(index, ast.Slice):
            ends = self._ends(index, value)
            if ends is not None:
                return ends
            bounds = [self._limit(one, frame) for one in (index.lower, index.upper, index.step)]
            if isinstance(value, Fixed) and MISSING not in bounds and bounds[2] != 0:
                return Fixed(value.parts[slice(*bounds)])
            raise refuse("a slice", "write (*row[:i], entry, *row[i + 1:]) to change one entry")
        key = self.read(index, frame)
        if isinstance(value, Cases) and len(value.parts) == 1 and isinstance(key, Cases):
            only_leaf = value.parts[0][1]
            found = looked_up(only_leaf.value, key) if isinstance(only_leaf, Const) else None
            if found is not None:
                self.errors.add(frame.path, found[1])
                return found[0]
        place = only(key)
        if isinstance(value, Fixed) and type(place) is int and -len(value.parts) <= place < len(value.parts):
            return value.parts[place]
        if isinstance(value, Fixed) and value.parts and isinstance(key, Cases):
            return self._one_part(value.parts, key, frame)
        if isinstance(value, Group) and value.kind == "agents" and value.sort is not None:
            if place in (0, -1) and type(place) is int:
                return leaf(Elem(self.world.special("last" if place else "first", value.sort)))
            return self.entry(Table(value.sort, lambda term: leaf(Elem(term))), key, frame)
        if isinstance(value, Table):
            return self.entry(value, key, frame)
        entry = self._listed(value, key, frame) if isinstance(value, Group) else None
        if entry is not None:
            return entry
        raise refuse(f"entry {named(key)} of {named(value)}", "take the entry of an agent, or of a known place")

    def _listed(self, value: Group, key: Value, frame: Frame) -> Value | None:
        """The entry of a list; None where its place is not known."""
        more, place = value.more, only(key)
        if value.kind != "list" or more is None:
            return None
        if more.first is not None and type(place) is int and place == 0:
            self.errors.add(frame.path, negation(truth(value)))
            return more.first
        if more.places is not None and type(place) is int and place in (0, -1):
            if self._alone(value, frame):
                return settled(more.places.at(chosen(more.places.sort, more.places.there)))
            self.errors.add(frame.path, negation(taken(more.places)))
            return member(self.world, more.places, last=place == -1)
        if more.places is not None and more.places.whole and isinstance(key, Cases):
            return self.entry(Table(more.places.sort, more.places.at), key, frame)
        return None

    def _alone(self, group: Group, frame: Frame) -> bool:
        """Whether the conditions that led here say that a list has one member."""
        if group.more is None or not group.more.apart:
            return False
        said = counted(group, ast.Eq(), 1)
        path = frame.path.parts if isinstance(frame.path, And) else (frame.path,)
        here = {numbered(one) for one in path}
        return all(numbered(one) in here for one in (said.parts if isinstance(said, And) else (said,)))

    def _one_part(self, parts: tuple[Value, ...], key: Cases, frame: Frame) -> Value:
        """The part of a known tuple at one of several known places; beyond its end it raises."""
        found: Value | None = None
        for guard, one in key.parts:
            if not isinstance(one, Const) or type(one.value) is not int:
                raise refuse(f"entry {named(key)} of a tuple of {len(parts)}", "take the entry of a known place")
            if not -len(parts) <= one.value < len(parts):
                self.errors.add(frame.path, guard)
            else:
                found = parts[one.value] if found is None else merged(guard, parts[one.value], found)
        if found is None:
            raise refuse(f"no entry of a tuple of {len(parts)}", "take the entry of a known place")
        return found

    def _ends(self, index: ast.Slice, value: Value) -> Value | None:
        """The first or last member alone, as `[:1]` and `[-1:]` give it; None for another slice."""
        match index, value:
            case ast.Slice(None, ast.Constant(1), None), Group("list"):
                found = beginning(value)
                over = places_of(value)
                return found if found is not None or over is None else end(self.world, over)
            case ast.Slice(ast.UnaryOp(ast.USub(), ast.Constant(1)), None, None), Group("list"):
                over = places_of(value)
                return None if over is None else end(self.world, over, last=True)
            case _:
                return None

    def _limit(self, node: ast.expr | None, frame: Frame) -> Any:
        """A bound of a slice: None where there is none, MISSING where it is not known."""
        if node is None:
            return None
        found = only(self.read(node, frame))
        return found if type(found) is int else MISSING

    def entry(self, row: Table, key: Value, frame: Frame) -> Value:
        """Return the entry of an agent; None as a place raises."""
        if not isinstance(key, Cases):
            raise refuse(f"the entry of {named(key)}", f"take the entry of one {row.sort.name}")
        found: Value | None = None
        for guard, one in key.parts:
            if isinstance(one, Const) and (one.value is None or isinstance(one.value, str)):
                self.errors.add(frame.path, guard)
                continue
            if not isinstance(one, Elem) or one.term.sort != row.sort:
                raise refuse(f"the entry of {named(key)} in a tuple by {row.sort.name}", "take the entry of its agents")
            value = settled(row.at(one.term)) if described(one.term) else row.at(one.term)
            found = value if found is None else merged(guard, value, found)
        if found is None:
            raise refuse("the entry of None", "test `is not None` first")
        return found

    def assigned(self, target: ast.expr, value: Value, frame: Frame) -> Frame:
        """Return the frame in which names have a value, taken apart as the target says."""
        match target:
            case ast.Name(name):
                return frame.binding({name: value})
            case ast.Tuple(parts) | ast.List(parts):
                value = as_tuple(value)
                if not isinstance(value, Fixed) or len(value.parts) != len(parts):
                    raise frame.source.refused(
                        target, f"{named(value)} is taken apart", "take apart what has so many parts"
                    )
                for part, one in zip(parts, value.parts, strict=True):
                    frame = self.assigned(part, one, frame)
                return frame
            case _:
                raise frame.source.refused(
                    target, "something else than a name is assigned", "make a new record by replace"
                )


def _sum(node: ast.expr) -> list[ast.expr]:
    """`row[:i] + (entry,) + row[i + 1 :]` as the parts of the tuple that it makes."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_sum(node.left), *_sum(node.right)]
    return node.elts if isinstance(node, ast.Tuple) else [ast.Starred(node, ast.Load())]
