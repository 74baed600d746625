"""What Python's operators mean on values: comparison, order, membership, union, arithmetic, first members."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import partial

from evenhand.smt.arithmetic import below, divided, minus, number, plus, times, undivided
from evenhand.smt.logic import FALSE, TRUE, Formula, Term
from evenhand.source.constants import Lookup, known
from evenhand.source.described import closed
from evenhand.source.refusal import refuse
from evenhand.source.simplify import all_of, any_of, equal, every, implication, negation, some
from evenhand.source.values import (
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Item,
    Listing,
    Num,
    Table,
    Truth,
    Value,
    as_group,
    cases,
    element,
    equals,
    gathered,
    merged,
    named,
    numeral,
    order_of,
    truth,
    within,
)
from evenhand.source.world import World


def compared(world: World, node: ast.cmpop, left: Value, right: Value) -> Formula:
    """Return what a comparison says.  Raises Unreadable."""
    match node:
        case ast.Eq():
            return equals(left, right)
        case ast.NotEq():
            return negation(equals(left, right))
        case ast.Is() | ast.IsNot():
            found = identical(left, right)
            return found if isinstance(node, ast.Is) else negation(found)
        case ast.In() | ast.NotIn():
            found = contained(left, right)
            return found if isinstance(node, ast.In) else negation(found)
        case ast.Lt():
            return less(world, left, right)
        case ast.Gt():
            return less(world, right, left)
        case ast.LtE():
            return at_most(world, left, right)
        case _:
            return at_most(world, right, left)


def identical(left: Value, right: Value) -> Formula:
    """Return `left is right`, which is read of None and of members of an Enum alone."""
    for one, other in ((left, right), (right, left)):
        if _all_are(one, lambda value: value is None):
            return equals(one, other) if isinstance(other, Cases) else FALSE
    if _all_are(left, _single) and _all_are(right, _single):
        return equals(left, right)
    raise refuse("`is` asks which object it is", "write `==`; `is` is for None and for members of an Enum")


def _single(value: object) -> bool:
    return value is None or isinstance(value, Enum)


def _all_are(value: Value, test: Callable[[object], bool]) -> bool:
    return isinstance(value, Cases) and all(isinstance(one, Const) and test(one.value) for _, one in value.parts)


def contained(left: Value, right: Value) -> Formula:
    """Return `left in right`."""
    if isinstance(right, Cases):
        raise refuse(f"whether something is in {named(right)}", "look in a set, the agents, or a tuple")
    return as_group(right).has(left)


def less(world: World, left: Value, right: Value) -> Formula:
    """Return `left < right`; of tuples, the first parts that differ decide."""
    match left, right:
        case Cases(), Cases():
            pairs = [(g, h, a, b) for g, a in left.parts for h, b in right.parts]
            return any_of(all_of((g, h, _less_leaf(world, a, b))) for g, h, a, b in pairs)
        case Truth(), Truth():
            return all_of((negation(left.formula), right.formula))
        case Fixed(), Fixed() if len(left.parts) == len(right.parts):
            found: Formula = FALSE
            for one, other in reversed(list(zip(left.parts, right.parts, strict=True))):
                found = any_of((less(world, one, other), all_of((equals(one, other), found))))
            return found
        case Group(), Group() if left.kind == right.kind == "set":
            return all_of((within(left, right), negation(within(right, left))))
        case _:
            raise refuse(f"{named(left)} beside {named(right)} in an order", "order numbers, agents or tuples of them")


def _less_leaf(world: World, one: object, other: object) -> Formula:
    match one, other:
        case Elem(), Elem():
            return closed(world.before(one.term, other.term))
        case ((Num() | Const()), (Num() | Const())):
            left, right = numeral(one), numeral(other)
            if left is not None and right is not None:
                return _below(left, right)
            raise refuse("None or a text in an order", "order numbers or agents")
        case _:
            raise refuse("an agent beside a number in an order", "order things of one type")


def _below(left: Term, right: Term) -> Formula:
    """`left < right`; a whole number is above the whole part of a quotient where it is above the quotient."""
    quotient = undivided(left)
    return FALSE if left == right else closed(below(quotient or left, right))


def at_most(world: World, left: Value, right: Value) -> Formula:
    """Return `left <= right`."""
    if isinstance(left, Group) and isinstance(right, Group):
        if not left.kind == right.kind == "set":
            raise refuse("lists in an order", "compare sets")
        return within(left, right)
    return any_of((less(world, left, right), equals(left, right)))


def operated(node: ast.operator, left: Value, right: Value) -> Value:
    """Return what a binary operator gives.  Raises Unreadable."""
    match node, left, right:
        case ast.Add(), Cases(((_, Const(str(text))),)), Cases(((_, Const(str(more))),)):
            return known(text + more)
        case ast.Mult(), Cases(((_, Const(str(text))),)), Cases(((_, Const(int(by))),)) if by <= 1000:
            return known(text * by)
        case ast.Add(), Cases(), Cases():
            return _calculated(plus, left, right)
        case ast.Sub(), Cases(), Cases():
            return _calculated(minus, left, right)
        case ast.Mult(), Cases(), Cases(((_, Const(int(by))),)) if not isinstance(by, bool | Enum):
            return _calculated(partial(_product, by), left, right)
        case ast.Mult(), Cases(((_, Const(int(by))),)), Cases() if not isinstance(by, bool | Enum):
            return _calculated(partial(_product, by), right, left)
        case ((ast.FloorDiv() | ast.Mod()), Cases(), Cases(((_, Const(int(by))),))) if by > 0 and not isinstance(
            by, bool
        ):
            return _calculated(partial(_rest if isinstance(node, ast.Mod) else _quotient, by), left, right)
        case ast.BitOr(), Truth(), Truth():
            return Truth(any_of((left.formula, right.formula)))
        case ast.BitAnd(), Truth(), Truth():
            return Truth(all_of((left.formula, right.formula)))
        case ((ast.BitOr() | ast.BitAnd() | ast.Sub()), Group(), Group()) if left.kind == right.kind == "set":
            return _combined(node, left, right)
        case ast.Add(), Fixed(), Fixed():
            return Fixed((*left.parts, *right.parts))
        case ast.Add(), (Group() | Fixed()), (Group() | Fixed()):
            one, other = as_group(left), as_group(right)
            if one.kind == "list" == other.kind:
                return joined([one, other], "list")
        case _:
            pass
    signs: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
    what = signs.get(type(node), type(node).__name__)
    raise refuse(
        f"{what} of {named(left)} and {named(right)}",
        "numbers take + and -, // and % by a known number above 0, sets |, & and -, lists +; "
        "go round a ring by (me + 1) % len(config.nodes)",
    )


def _quotient(by: int, one: Term, _by: Term) -> Term:
    return divided(one, by)


def _product(by: int, one: Term, _by: Term) -> Term:
    return times(number(by), one)


def _rest(by: int, one: Term, _by: Term) -> Term:
    return minus(one, times(number(by), divided(one, by)))


def _calculated(act: Callable[[Term, Term], Term], left: Cases, right: Cases) -> Value:
    found: list[tuple[Formula, Const | Elem | Num]] = []
    for guard, one in left.parts:
        for other_guard, other in right.parts:
            if isinstance(one, Elem) or isinstance(other, Elem):
                raise refuse("a calculation with an agent", "go round a ring by (me + 1) % len(config.nodes)")
            a, b = numeral(one), numeral(other)
            if a is None or b is None:
                raise refuse(f"a calculation with {named(left)} and {named(right)}", "calculate with numbers")
            found.append((all_of((guard, other_guard)), Num(act(a, b))))
    return cases(found)


def _combined(node: ast.operator, left: Group, right: Group) -> Group:
    if isinstance(node, ast.BitOr):
        return joined([left, right], "set")
    keeps = isinstance(node, ast.BitAnd)

    def test(value: Value) -> Formula:
        found = right.has(value)
        return found if keeps else negation(found)

    def items() -> list[Item]:
        return [Item(one.variables, all_of((one.guard, test(one.value))), one.value) for one in left.items()]

    return Group("set", items, lambda value: all_of((left.has(value), test(value))))


def joined(groups: list[Group], kind: str) -> Group:
    """Return the members of several collections in one."""

    def items() -> list[Item]:
        return [one for group in groups for one in group.items()]

    def has(value: Value) -> Formula:
        return any_of(group.has(value) for group in groups)

    return Group("set" if kind == "set" else "list", items, has)


def at_least(group: Group, count: int) -> Formula:
    """Return that a set has so many members, all different.  Raises Unreadable for a list, and above three."""
    if count > 3:
        raise refuse(f"a count of {count}", "compare a length with numbers up to 2, or with len(config.agents)")
    if group.more is not None and group.more.apart:
        return _places(group, count)
    if group.kind == "list":
        raise refuse("the length of a list, in which a member may stand twice", "count a set: len({...})")

    def chosen(left: int, before: list[Value]) -> Formula:
        if left == 0:
            return TRUE
        parts: list[Formula] = []
        for one in group.items():
            apart = [negation(equals(one.value, other)) for other in before]
            rest = chosen(left - 1, [*before, one.value])
            parts.append(some(one.variables, all_of((one.guard, *apart, rest))))
        return any_of(parts)

    return chosen(count, []) if count > 0 else TRUE


def _places(group: Group, count: int) -> Formula:
    """Whether so many places of a list are taken, of which each item and each value of its variables is one."""

    def chosen(left: int, before: list[tuple[int, Item]]) -> Formula:
        if left == 0:
            return TRUE
        parts: list[Formula] = []
        for place, one in enumerate(group.items()):
            others = [other for at, other in before if at == place]
            pairs = (zip(one.variables, other.variables, strict=True) for other in others)
            apart = (negation(all_of(equal(a, b) for a, b in pair)) for pair in pairs)
            rest = chosen(left - 1, [*before, (place, one)])
            parts.append(some(one.variables, all_of((one.guard, *apart, rest))))
        return any_of(parts)

    return chosen(count, [])


def counted(group: Group, node: ast.cmpop, count: int) -> Formula:
    """Return the comparison of a set's size with a number."""
    match node:
        case ast.Eq():
            return all_of((at_least(group, count), negation(at_least(group, count + 1)))) if count >= 0 else FALSE
        case ast.NotEq():
            return negation(counted(group, ast.Eq(), count))
        case ast.Lt():
            return negation(at_least(group, count))
        case ast.LtE():
            return negation(at_least(group, count + 1))
        case ast.Gt():
            return at_least(group, count + 1)
        case ast.GtE():
            return at_least(group, count)
        case _:
            raise refuse("a length in this comparison", "compare a length with a number")


def beginning(group: Group) -> Group | None:
    """Return the list of the first member alone, empty if there is none; None if the first is not known."""
    first = group.more.first if group.more is not None else None
    if first is None:
        return _least(group)
    filled = truth(group)
    return Group(
        "list",
        lambda: [Item((), filled, first)],
        lambda value: all_of((filled, equals(first, value))),
        more=Listing(first, repeats=FALSE, twice=FALSE),
    )


def _least(group: Group) -> Group | None:
    """The list of the member before which no other stands; None if no order is known, or members are no elements."""
    before = order_of(group)
    if before is None or any(element(one.value) is None for one in group.items()):
        return None

    def is_least(value: Value) -> Formula:
        parts: list[Formula] = []
        for other in group.items():
            one, two = element(other.value), element(value)
            assert one is not None and two is not None
            parts.append(every(other.variables, implication(other.guard, negation(before(one, two)))))
        return all_of(parts)

    def items() -> list[Item]:
        return [Item(one.variables, all_of((one.guard, is_least(one.value))), one.value) for one in group.items()]

    return replace(gathered(items, "list"), more=Listing(repeats=FALSE, rising=before))


def changed(row: Value, index: Value, entry: Value) -> Value:
    """Return a tuple by agent with the entry of one changed.  Raises Unreadable."""
    if not isinstance(row, Table) or not isinstance(index, Cases):
        raise refuse(f"one entry of {named(row)} changed at {named(index)}", "change the entry of an agent")
    terms: list[tuple[Formula, Term]] = []
    for guard, one in index.parts:
        if not isinstance(one, Elem) or one.term.sort != row.sort:
            raise refuse(f"a place that is {named(index)}", f"change the entry of one {row.sort.name}")
        terms.append((guard, one.term))

    def at(term: Term) -> Value:
        here = any_of(all_of((guard, closed(equal(term, one)))) for guard, one in terms)
        return merged(here, entry, row.at(term))

    return Table(row.sort, at)


def looked_up(entries: object, key: Cases) -> tuple[Value, Formula] | None:
    """Return the entry for a key and the condition that there is none; None if this is no dictionary."""
    if not isinstance(entries, Lookup):
        return None
    found: Value | None = None
    missing: list[Formula] = []
    for guard, leaf in key.parts:
        if not isinstance(leaf, Const):
            raise refuse("a key that is not known", "look up a text or a member of an Enum")
        values = [one for other, one in entries.entries if other == leaf.value and type(other) is type(leaf.value)]
        if not values:
            missing.append(guard)
            continue
        found = values[0] if found is None else merged(guard, values[0], found)
    if found is None:
        raise refuse("no key of it is in the dictionary", "add the key")
    return found, any_of(missing)
