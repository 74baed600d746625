"""Read what is asked of lengths: comparisons with numbers, all agents, members; and steps round a ring of agents."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenhand.smt.arithmetic import number
from evenhand.smt.logic import FALSE, TRUE, Formula, Sort, Term, Var
from evenhand.source.constants import known
from evenhand.source.frames import Errors, Frame, only
from evenhand.source.operators import compared, counted, operated
from evenhand.source.refusal import refuse
from evenhand.source.simplify import all_of, every, negation
from evenhand.source.values import (
    FRESH,
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Item,
    Leaf,
    Listing,
    Num,
    Record,
    Table,
    Truth,
    Value,
    as_group,
    cases,
    gathered,
    leaf,
    named,
    numeral,
)
from evenhand.source.world import World, agents


class Lengths:
    """Reads comparisons in which `len` stands."""

    world: World
    errors: Errors

    def read(self, node: ast.expr, frame: Frame) -> Value:
        """Return the value of an expression."""
        raise NotImplementedError

    def present(self, value: Value, frame: Frame) -> Value:
        """Return a value where it is not None; None raises."""
        raise NotImplementedError

    def size_compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr, frame: Frame) -> Formula | None:
        """Return the comparison of a length; None if neither side is one."""
        turned: dict[type[ast.cmpop], ast.cmpop] = {ast.Lt: ast.Gt(), ast.Gt: ast.Lt(), ast.LtE: ast.GtE()}
        turned[ast.GtE] = ast.LtE()
        repeated = self._repeated(left, op, right, frame)
        if repeated is not None:
            return repeated
        one, other = self.measured(left, frame), self.measured(right, frame)
        if one is None and other is None:
            return None
        if one is None:
            return self.size_compared(right, turned.get(type(op), op), left, frame)
        if isinstance(one, Group) and one.more is not None and one.more.size is not None and other is None:
            return compared(self.world, op, leaf(Num(one.more.size)), self.read(right, frame))
        if isinstance(one, Fixed):
            one = known(len(one.parts))
            return compared(self.world, op, one, self.read(right, frame))
        if other is not None:
            return self._sizes(one, op, other)
        value = self.present(self.read(right, frame), frame)
        count = only(value)
        if type(count) is not int or count > 2:
            return compared(self.world, op, self.size(one), value)
        if isinstance(one, Table):
            one = Group("agents", lambda: [], lambda _: TRUE, one.sort)
        if isinstance(one, Group) and one.kind == "agents" and one.sort is not None:
            return counted(agents(one.sort), op, count)
        return counted(as_group(one), op, count)

    def _repeated(self, left: ast.expr, op: ast.cmpop, right: ast.expr, frame: Frame) -> Formula | None:
        """`len(set(xs)) != len(xs)`, or of the keys of pairs: whether a member stands twice; None if it is no such."""
        match left, right:
            case ast.Call(_, [ast.Call(ast.Name("set"), [inner])]), ast.Call(_, [whole]):
                keys = False
                if "set" in frame.names or frame.source.outside("set") is not set:
                    return None
            case (
                ast.Call(
                    _,
                    [
                        ast.SetComp(
                            ast.Name(key),
                            [ast.comprehension(ast.Tuple([ast.Name(one), ast.Name(two)]), inner, [])],
                        )
                    ],
                ),
                ast.Call(_, [whole]),
            ) if key == one != two:
                keys = True
            case _:
                return None
        if ast.dump(inner) != ast.dump(whole) or self.measured(left, frame) is None:
            return None
        measured = self.measured(right, frame)
        if isinstance(measured, Fixed) and len(measured.parts) < 2:
            measured = Group("list", lambda: [], lambda _: FALSE, more=Listing(repeats=FALSE, twice=FALSE))
        more = measured.more if isinstance(measured, Group) else None
        repeats = None if more is None else more.twice if keys else more.repeats
        if repeats is None:
            return None
        match op:
            case ast.NotEq() | ast.Lt():
                return repeats
            case ast.Eq() | ast.GtE():
                return negation(repeats)
            case _:
                return None

    def _sizes(self, one: Value, op: ast.cmpop, other: Value) -> Formula:
        """Two sizes compared; a set of agents is as large as all only if all are in it."""
        match one, other, op:
            case (
                Group("set"),
                Group("agents", sort=Sort() as sort),
                ast.Eq() | ast.GtE() | ast.NotEq() | ast.Lt(),
            ):
                whole = self._all_in(one, sort)
                return whole if isinstance(op, ast.Eq | ast.GtE) else negation(whole)
            case _:
                pass
        return compared(self.world, op, self.size(one), self.size(other))

    def size(self, value: Value) -> Value:
        """Return how many members a collection has, as a number.  Raises Unreadable."""
        if isinstance(value, Fixed):
            return known(len(value.parts))
        if isinstance(value, Table) or (isinstance(value, Group) and value.kind == "agents"):
            assert value.sort is not None
            return leaf(Num(self.world.total([FRESH(value.sort)], [(TRUE, number(1))])))
        if not isinstance(value, Group):
            raise refuse(f"the length of {named(value)}", "count agents, or the members of a set")
        if value.more is not None and value.more.size is not None:
            return leaf(Num(value.more.size))
        if value.more is not None and value.more.apart:
            return self.summed([Item(one.variables, one.guard, known(1)) for one in value.items()])
        if value.kind != "set":
            raise refuse(f"the length of {named(value)}, in which a member may stand twice", "count a set: len({...})")
        one = likeness(value)
        return self.summed([] if one is None else [Item(one.variables, value.has(one.value), known(1))])

    def summed(self, items: Sequence[Item]) -> Value:
        """Return the sum of numbers and truths, of which each item and each value of its variables gives one."""
        found: Value = known(0)
        for one in items:
            match one.value:
                case Truth(formula):
                    parts = [(all_of((one.guard, formula)), number(1))]
                case Cases(leaves):
                    numbers = [(all_of((one.guard, guard)), numeral(part)) for guard, part in leaves]
                    parts = [(guard, term) for guard, term in numbers if term is not None]
                    if len(parts) < len(numbers):
                        raise refuse(f"a sum of {named(one.value)}", "add numbers or truths")
                case _:
                    raise refuse(f"a sum of {named(one.value)}", "add numbers or truths")
            found = operated(ast.Add(), found, leaf(Num(self.world.total(one.variables, parts))))
        return found

    def addends(self, value: Value) -> list[Item]:
        """Return what `sum` adds up: the members of a list, as often as they stand there.  Raises Unreadable."""
        group = as_group(value)
        if isinstance(value, Table | Fixed) or group.kind == "agents" or (group.more is not None and group.more.apart):
            return list(group.items())
        raise refuse("a sum over what may stand there twice", "go through config.agents or a set, by one `for`")

    def _all_in(self, group: Group, sort: Sort) -> Formula:
        for one in group.items():
            leaves: tuple[tuple[Formula, Leaf], ...] = one.value.parts if isinstance(one.value, Cases) else ()
            if not leaves or not all(isinstance(part, Elem) and part.term.sort == sort for _, part in leaves):
                raise refuse(f"a set of other things than {sort.name}", "count agents")
        x = FRESH(sort)
        return every([x], group.has(leaf(Elem(x))))

    def measured(self, node: ast.expr, frame: Frame) -> Value | None:
        """Return what `len` is asked of, or what `sum` counts one by one; None where it is no such call."""
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            function = frame.source.outside(name) if name and name not in frame.names else None
            if function is len:
                return self.read(node.args[0], frame)
            if function is sum:
                return self._ones(self.read(node.args[0], frame))
        return None

    def _ones(self, value: Value) -> Group | None:
        """The list of what `sum` counts, if it adds ones and truths alone."""
        if any(not isinstance(one.value, Truth) and not _is_one(one.value) for one in self.addends(value)):
            return None

        def items() -> list[Item]:
            tests = [(one, one.value.formula if isinstance(one.value, Truth) else TRUE) for one in self.addends(value)]
            return [Item(one.variables, all_of((one.guard, test)), one.value) for one, test in tests]

        return replace(gathered(items, "list"), more=Listing(apart=True))

    def ring(self, node: ast.BinOp, frame: Frame) -> Value | None:
        """Read `(me + 1) % len(config.nodes)` and `(me - 1) % len(config.nodes)`; None for another calculation."""
        match node:
            case ast.BinOp(ast.BinOp(inner, (ast.Add() | ast.Sub()) as op, ast.Constant(1)), ast.Mod(), size):
                by = self.measured(size, frame)
            case _:
                return None
        me = self.read(inner, frame)
        if not isinstance(by, Group) or by.kind != "agents" or by.sort is None or not isinstance(me, Cases):
            return None
        what = "next" if isinstance(op, ast.Add) else "previous"
        found: list[tuple[Formula, Leaf]] = []
        for guard, one in me.parts:
            if isinstance(one, Const) and one.value is None:
                self.errors.add(frame.path, guard)
                continue
            if not isinstance(one, Elem) or one.term.sort != by.sort:
                return None
            found.append((guard, Elem(self.world.special(what, by.sort, one.term))))
        return cases(found)


def likeness(group: Group) -> Item | None:
    """Return a member of a set with variables for its agents; None for an empty set.  Raises Unreadable."""
    found: list[Item] = []
    for one in group.items():
        variables: list[Var] = []
        value = _like(one.value, variables)
        found.append(Item(tuple(variables), TRUE, value))
        if _form(value) != _form(found[0].value):
            raise refuse("the length of a set of several kinds of things", "count a set of one kind")
    return found[0] if found else None


def _like(value: Value, variables: list[Var]) -> Value:
    match value:
        case Cases(parts) if all(type(one) is Elem for _, one in parts):
            sorts = {one.term.sort for _, one in parts if isinstance(one, Elem)}
            if len(sorts) == 1:
                variables.append(FRESH(sorts.pop()))
                return leaf(Elem(variables[-1]))
        case Record(cls, fields):
            return Record(cls, {name: _like(one, variables) for name, one in fields.items()})
        case Fixed(parts):
            return Fixed(tuple(_like(one, variables) for one in parts))
        case _:
            pass
    raise refuse(f"the length of a set in which there is {named(value)}", "count agents, or tuples or records of them")


def _form(value: Value) -> object:
    match value:
        case Record(cls, fields):
            return cls, tuple(map(_form, fields.values()))
        case Fixed(parts):
            return tuple(map(_form, parts))
        case _:
            return (
                [one.term.sort for _, one in value.parts if isinstance(one, Elem)] if isinstance(value, Cases) else []
            )


def _is_one(value: Value) -> bool:
    count = only(value)
    return type(count) is int and count == 1


def each_once(group: Group) -> bool:
    """Return whether each value of an item's variables gives a set another member."""
    items = group.items()
    if group.kind != "set" or len(items) != 1:
        return False
    return set(items[0].variables) <= set(_elements(items[0].value))


def _elements(value: Value) -> Iterator[Term]:
    match value:
        case Cases(((_, Elem(term)),)):
            yield term
        case Record(_, fields):
            for one in fields.values():
                yield from _elements(one)
        case Fixed(parts):
            for one in parts:
                yield from _elements(one)
        case _:
            return
