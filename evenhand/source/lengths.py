"""Read what is asked of lengths: comparisons with numbers, all agents, members; and steps round a ring of agents."""

from __future__ import annotations

import ast

from evenhand.smt.logic import FALSE, TRUE, Formula, Sort
from evenhand.source.constants import known
from evenhand.source.frames import Errors, Frame, only
from evenhand.source.operators import compared, counted
from evenhand.source.refusal import refuse
from evenhand.source.simplify import every, negation
from evenhand.source.values import (
    FRESH,
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Leaf,
    Listing,
    Num,
    Table,
    Value,
    as_group,
    cases,
    leaf,
)
from evenhand.source.world import World, agents


class Lengths:
    """Reads comparisons in which `len` stands."""

    world: World
    errors: Errors

    def read(self, node: ast.expr, frame: Frame) -> Value:
        """Return the value of an expression."""
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
            return self._sizes(as_group(one), op, other)
        count = only(self.read(right, frame))
        if type(count) is not int:
            raise refuse("a length compared with an unknown number", "compare it with a number up to 2")
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

    def _sizes(self, one: Group, op: ast.cmpop, other: Value) -> Formula:
        """A set of agents compared in size with all agents: as many only if all are in it."""
        if isinstance(other, Group) and other.kind == "agents" and other.sort is not None and one.kind == "set":
            sort = other.sort
            whole = self._all_in(one, sort)
            match op:
                case ast.Eq() | ast.GtE():
                    return whole
                case ast.NotEq() | ast.Lt():
                    return negation(whole)
                case _:
                    pass
        raise refuse("two lengths compared", "compare a set of agents with len(config.agents), by == or <")

    def _all_in(self, group: Group, sort: Sort) -> Formula:
        for one in group.items():
            leaves: tuple[tuple[Formula, Leaf], ...] = one.value.parts if isinstance(one.value, Cases) else ()
            if not leaves or not all(isinstance(part, Elem) and part.term.sort == sort for _, part in leaves):
                raise refuse(f"a set of other things than {sort.name}", "count agents")
        x = FRESH(sort)
        return every([x], group.has(leaf(Elem(x))))

    def measured(self, node: ast.expr, frame: Frame) -> Value | None:
        """Return what `len` is asked of; None where it is no such call."""
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name and name not in frame.names and frame.source.outside(name) is len:
                return self.read(node.args[0], frame)
        return None

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
