"""The one of a list that is asked for: its first or last member, or the one that a key puts first.

Of the places that are taken it is the one ahead of all others; a list has finitely many, so there is exactly one where
any is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from evenhand.smt.logic import FALSE, Formula, Term, free, same
from evenhand.source.described import chosen, closed, described
from evenhand.source.operators import less
from evenhand.source.refusal import refuse
from evenhand.source.simplify import all_of, any_of, equal, every, implication, negation, placed, some
from evenhand.source.values import (
    FRESH,
    Cases,
    Elem,
    Fixed,
    Group,
    Item,
    Kept,
    Leaf,
    Listing,
    Num,
    Places,
    Record,
    Table,
    Truth,
    Value,
    Whole,
    equals,
    gathered,
    leaf,
)
from evenhand.source.world import World


def taken(places: Places) -> Formula:
    """Return whether a list has a member."""
    x = FRESH(places.sort)
    return some([x], places.there(x))


def member(
    world: World, places: Places, *, last: bool = False, key: Callable[[Value], Value] | None = None, most: bool = False
) -> Value:
    """Return the first (or last) member of a list that has any; with a key, of those with the least (or `most`).

    Raises Unreadable where the sort of the places has no order.
    """
    ahead = _ahead(world, places, last=last, key=key, most=most)

    def leads(term: Term) -> Formula:
        return _leads(places, ahead, term)

    if key is None or _in_line(key(places.at(FRESH(places.sort)))):
        _there_is(world, places, leads)
    return settled(places.at(chosen(places.sort, leads)))


def _there_is(world: World, places: Places, leads: Callable[[Term], Formula]) -> None:
    """Tell the solvers that a list that has members has one that leads, as it has finitely many."""
    x = FRESH(places.sort)
    first = implication(taken(places), some([x], leads(x)))
    names = sorted(free(first), key=lambda one: one.name)
    if not any(map(described, names)):
        world.firsts.append(every(names, first))


def _in_line(value: Value) -> bool:
    """Whether of any two values of this kind one is less, or they are alike.  Raises Unreadable for sets."""
    match value:
        case Truth():
            return True
        case Group():
            raise refuse("the least of collections, of two of which neither may be less", "compare numbers or agents")
        case Fixed(parts):
            return all([_in_line(one) for one in parts])  # each is asked, for one may be refused
        case Cases(((_, Elem(term) | Num(term)),)):
            return not described(term)
        case _:
            return False


def extreme(world: World, places: Places, *, most: bool) -> Value:
    """Return the least value in a list that has any, or the greatest: which one of equal ones does not matter."""

    def beats(one: Value, other: Value) -> Formula:
        return less(world, other, one) if most else less(world, one, other)

    def means(term: Term) -> Formula:
        return _leads(places, lambda one, other: negation(beats(places.at(other), places.at(one))), term)

    def same_as(one: Term, other: Term) -> Formula | None:
        """Whether a number is this value: it is one of the list, and nothing in the list beats it."""
        if not isinstance(number, Num | Kept) or placed(number.term, {x: it}) != other:
            return None
        value = leaf(replace(number, term=one))
        within = any_of((_stands(places, one), some([x], all_of((places.there(x), equals(value, places.at(x)))))))
        beaten = all_of((places.there(x), beats(places.at(x), value)))
        return all_of((within, every([x], negation(beaten))))

    x = FRESH(places.sort)
    number = _number(places.at(x))
    # The places themselves have an order; of equal values of several cases, case and number must be of the same place.
    if number is None or (isinstance(number, Elem) and number.term == x):
        return member(world, places, key=lambda value: value, most=most)
    if _in_line(places.at(x)):
        _there_is(world, places, means)
    it = chosen(places.sort, means, equals=same_as)
    return settled(places.at(it))


def _number(value: Value) -> Leaf | None:
    return value.parts[0][1] if isinstance(value, Cases) and len(value.parts) == 1 else None


def _stands(places: Places, number: Term) -> Formula:
    """Whether a number is that of a place which it names itself, so that it is one of the list."""
    named = [one for one in free(same(number, number)) if one.sort == places.sort]
    leaves = ((one, _number(places.at(one))) for one in named)
    return any_of(places.there(one) for one, it in leaves if isinstance(it, Num | Kept) and it.term == number)


def end(world: World, places: Places, *, last: bool = False) -> Group:
    """Return the list of the first (or last) member alone, empty if there is none."""
    ahead = _ahead(world, places, last=last, key=None, most=False)

    def leads(term: Term) -> Formula:
        return _leads(places, ahead, term)

    only = replace(places, there=leads, whole=False)

    def items() -> list[Item]:
        x = FRESH(places.sort)
        return [Item((x,), only.there(x), only.at(x))]

    return replace(gathered(items, "list"), more=Listing(repeats=FALSE, places=only))


def dictionary(world: World, places: Places, entry: Callable[[Term], tuple[Value, Value]]) -> Group:
    """Return the dictionary that a loop fills with an entry for each member; of those with one key the last stands."""

    def pairs() -> list[Item]:
        x, y = FRESH(places.sort), FRESH(places.sort)
        key, value = entry(x)
        later = all_of((places.there(y), before(world, places, x, y), equals(entry(y)[0], key)))
        return [Item((x,), all_of((places.there(x), every([y], negation(later)))), Fixed((key, value)))]

    def keys() -> list[Item]:
        x = FRESH(places.sort)
        return [Item((x,), places.there(x), entry(x)[0])]

    more = Listing(repeats=FALSE, pairs=gathered(pairs, "list"))
    return replace(gathered(keys, "list"), kind="keys", more=more)


def _leads(places: Places, ahead: Callable[[Term, Term], Formula], term: Term) -> Formula:
    other = FRESH(places.sort)
    rest = implication(places.there(other), any_of((equal(term, other), ahead(term, other))))
    return all_of((places.there(term), every([other], rest)))


def before(world: World, places: Places, one: Term, other: Term) -> Formula:
    """Return that a place of a list comes before another.  Raises Unreadable where they have no order."""
    return world.before(other, one) if places.turned else world.before(one, other)


def _ahead(
    world: World, places: Places, *, last: bool, key: Callable[[Value], Value] | None, most: bool
) -> Callable[[Term, Term], Formula]:
    def ahead(one: Term, other: Term) -> Formula:
        sooner = before(world, places, other, one) if last else before(world, places, one, other)
        if key is None:
            return sooner
        mine, theirs = key(places.at(one)), key(places.at(other))
        if most:
            mine, theirs = theirs, mine
        return any_of((less(world, mine, theirs), all_of((negation(less(world, theirs, mine)), sooner))))

    return ahead


class _Settled(Mapping[str, Value]):
    """The fields of a record, each settled when it is looked at."""

    def __init__(self, fields: Mapping[str, Value]) -> None:
        self.fields = fields

    def __getitem__(self, name: str) -> Value:
        return settled(self.fields[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


def settled(value: Value) -> Value:
    """Return a value whose formulas mention no element that is described, but its terms may."""
    match value:
        case Truth(formula):
            return Truth(closed(formula))
        case Cases(parts):
            return Cases(tuple((closed(guard), _settled_leaf(one)) for guard, one in parts))
        case Record(cls, fields):
            return Record(cls, _Settled(fields))
        case Fixed(parts):
            return Fixed(tuple(map(settled, parts)))
        case Table(sort, at):
            return Table(sort, lambda term: settled(at(term)))
        case Group():

            def items() -> list[Item]:
                return [Item(one.variables, closed(one.guard), settled(one.value)) for one in value.items()]

            def has(one: Value) -> Formula:
                return closed(value.has(one))

            return replace(value, items=items, has=has, more=None)


def _settled_leaf(one: Leaf) -> Leaf:
    found = settled(one.value) if isinstance(one, Whole) else None
    return one if found is None or isinstance(found, Truth | Cases) else Whole(found)
