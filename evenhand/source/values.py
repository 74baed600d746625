"""The values that a translated function computes with, and what they are compared by.

A value that is one of several (`"idle"` here, `"waiting"` there) is a list of cases, each under its condition; truths
are formulas; records and tuples of fixed length hold values; a `Group` is a collection of which neither order nor
multiplicity is known, and a `Table` a tuple with an entry for each agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, Literal, TypeAlias, TypeVar

from evenhand.smt.arithmetic import number, zero
from evenhand.smt.logic import FALSE, TRUE, Formula, Sort, Term, Var
from evenhand.source.classes import is_named_tuple, plainly_compared
from evenhand.source.described import Fresh, closed
from evenhand.source.refusal import refuse
from evenhand.source.simplify import all_of, any_of, choice, equal, equivalence, every, implication, negation, some

V = TypeVar("V")


@dataclass(frozen=True)
class Const:
    """A Python value that is known: a text, None, an Enum's member, a whole number, a function, a class."""

    value: Any


@dataclass(frozen=True)
class Elem:
    """An agent, or another thing of which there may be any number."""

    term: Term


@dataclass(frozen=True)
class Word(Elem):
    """A text of which there may be any number: not empty, and none of those that the rules name."""


@dataclass(frozen=True)
class Kept(Elem):
    """A value of a class of which only the methods are known that a theory gives."""

    cls: type


@dataclass(frozen=True)
class Num:
    """A whole number that is not known."""

    term: Term


@dataclass(frozen=True, eq=False)
class Whole:
    """A record, a tuple or a collection, as one of several values: what else there may be is None, or a text."""

    value: Record | Fixed | Group | Table


Leaf: TypeAlias = Const | Elem | Num | Whole


@dataclass(frozen=True)
class Cases:
    """One of several leaves; the conditions exclude each other, and one of them is true."""

    parts: tuple[tuple[Formula, Leaf], ...]


@dataclass(frozen=True)
class Truth:
    """True or False, as a formula says."""

    formula: Formula


@dataclass(frozen=True)
class Record:
    """A dataclass instance."""

    cls: type
    fields: Mapping[str, Value]


@dataclass(frozen=True)
class Fixed:
    """A tuple of known length."""

    parts: tuple[Value, ...]


@dataclass(frozen=True)
class Item:
    """The members of a collection that one rule gives: `value` for all values of the variables that pass `guard`."""

    variables: tuple[Var, ...]
    guard: Formula
    value: Value


@dataclass(frozen=True)
class Group:
    """A collection: `items()` gives its members under fresh variables, `has` says what is in it.

    `kind`: a `set` has no order, a `list` has one that is not known, `agents` are all of a sort in their order, and
    `keys` are those of a dict, of which only membership and order are read.  `of` is the element that a collection is,
    where collections are things with names: two are equal where their elements are.  `once`: a generator, which is
    empty after its first use.
    """

    kind: Literal["set", "list", "agents", "keys"]
    items: Callable[[], Sequence[Item]]
    has: Callable[[Value], Formula]
    sort: Sort | None = None
    more: Listing | None = None
    of: Term | None = None
    once: bool = False


@dataclass(frozen=True)
class Places:
    """Where the members of a list stand: `at` an element of the sort where one is `there`, in the sort's order.

    `turned`: in the other order.  The places have the numbers that Python gives them only where the list is `whole`,
    and no part of another.
    """

    sort: Sort
    there: Callable[[Term], Formula]
    at: Callable[[Term], Value]
    turned: bool = False
    whole: bool = True


@dataclass(frozen=True)
class Listing:
    """What is known of a list beside its members; whoever says so vouches for it.

    `first`: its first member, if it has any; `repeats`: whether two of its members are equal; `twice`: whether the
    first parts of two of its pairs are; `rising`: the order in which its members stand, none of them twice; `apart`:
    that each item, and each value of its variables, is a place of its own, so that members can be counted; `pairs`: the
    keys of a dictionary, each with its value; `size`: how many members it has, as a number.
    """

    first: Value | None = None
    repeats: Formula | None = None
    twice: Formula | None = None
    places: Places | None = None
    rising: Callable[[Term, Term], Formula] | None = None
    apart: bool = False
    pairs: Group | None = None
    size: Term | None = None


@dataclass(frozen=True)
class Table:
    """A tuple with one entry for each element of a sort."""

    sort: Sort
    at: Callable[[Term], Value]


Value: TypeAlias = Cases | Truth | Record | Fixed | Group | Table


FRESH = Fresh("v")


def listed(values: Sequence[Value], kind: Literal["set", "list"]) -> Group:
    """Return the collection of these values."""
    return Group(
        kind,
        lambda: [Item((), TRUE, one) for one in values],
        lambda value: any_of(equals(one, value) for one in values),
    )


def gathered(items: Callable[[], Sequence[Item]], kind: Literal["set", "list"]) -> Group:
    """Return the collection that items give."""

    def has(value: Value) -> Formula:
        return any_of(some(one.variables, all_of((one.guard, equals(one.value, value)))) for one in items())

    return Group(kind, items, has)


def element(value: Value) -> Term | None:
    """Return the term of a value that is an element in every case; None for another."""
    if isinstance(value, Cases) and len(value.parts) == 1 and isinstance(value.parts[0][1], Elem):
        return value.parts[0][1].term
    return None


def order_of(group: Group) -> Callable[[Term, Term], Formula] | None:
    """Return the order in which a list's members stand, none of them twice; None if there is none."""
    return group.more.rising if group.kind == "list" and group.more is not None else None


def _rising(one: Group, two: Group) -> Listing | None:
    """What is known of a list that is one of these two: its order, if both have it or are empty."""
    orders = [order_of(group) for group in (one, two) if group.items()]
    if orders and orders[0] is not None and all(order == orders[0] for order in orders):
        return Listing(repeats=FALSE, rising=orders[0])
    return None


def _one_place(test: Formula, then: Group, other: Group) -> Group | None:
    """The list that is one of these two, place by place; None where they are lists of different places."""
    lists = [group.more for group in (then, other) if group.kind == "list" and group.more is not None]
    places = [one.places for one in lists if one.places is not None]
    if len(places) < 2 or len({(one.sort, one.turned) for one in places}) > 1:
        return None
    one, two = places

    def there(term: Term) -> Formula:
        return choice(test, one.there(term), two.there(term))

    def at(term: Term) -> Value:
        return merged(test, one.at(term), two.at(term))

    def items() -> list[Item]:
        x = FRESH(one.sort)
        return [Item((x,), there(x), at(x))]

    both = replace(one, there=there, at=at, whole=one.whole and two.whole)
    return replace(gathered(items, "list"), more=Listing(places=both, apart=all(one.apart for one in lists)))


def as_tuple(value: Value) -> Value:
    """Return a named tuple as the tuple that it is; another value as it is."""
    return Fixed(tuple(value.fields.values())) if isinstance(value, Record) and is_named_tuple(value.cls) else value


def leaf(value: Leaf) -> Cases:
    """Return the value that is this leaf."""
    return Cases(((TRUE, value),))


def thing(term: Term) -> Value:
    """Return an element as a value."""
    return leaf(Elem(term))


def cases(parts: Iterable[tuple[Formula, Leaf]]) -> Cases:
    """Return a value from its cases, equal leaves together and impossible ones left out."""
    found: dict[tuple[type, Any], tuple[list[Formula], Leaf]] = {}
    for guard, one in parts:
        if guard != FALSE:
            found.setdefault((type(one), _identity(one)), ([], one))[0].append(guard)
    if len(found) == 1:
        return leaf(next(iter(found.values()))[1])
    return Cases(tuple((any_of(guards), one) for guards, one in found.values()))


def _identity(one: Leaf) -> Any:
    if isinstance(one, Const):
        return type(one.value), one.value
    return id(one.value) if isinstance(one, Whole) else one.term


def bare(value: Value) -> bool:
    """Return whether a value is None, a text, or a whole one, as the case may be."""
    return isinstance(value, Cases) and all(
        isinstance(one, Whole) or (isinstance(one, Const) and (one.value is None or isinstance(one.value, str)))
        for _, one in value.parts
    )


def wholes(value: Cases) -> list[tuple[Formula, Value]]:
    """Return the records, tuples and collections that a value may be, each with its condition."""
    return [(guard, one.value) for guard, one in value.parts if isinstance(one, Whole)]


def merged(test: Formula, then: Value, other: Value) -> Value:
    """Return `then` where `test` is true, else `other`.  Raises Unreadable for values of two kinds."""
    if test == TRUE or then is other:
        return then
    if test == FALSE:
        return other
    no = negation(test)
    match then, other:
        case Cases(), (Record() | Fixed() | Group() | Table()) if bare(then):
            return merged(test, then, leaf(Whole(other)))
        case ((Record() | Fixed() | Group() | Table()), Cases()) if bare(other):
            return merged(test, leaf(Whole(then)), other)
        case Truth(), Truth():
            return Truth(choice(test, then.formula, other.formula))
        case Cases(), Cases():
            yes = [(all_of((test, guard)), one) for guard, one in then.parts]
            found = cases([*yes, *((all_of((no, guard)), one) for guard, one in other.parts)])
            first = found.parts[0][1]
            return first.value if len(found.parts) == 1 and isinstance(first, Whole) else found
        case Record(), Record() if then.cls is other.cls:
            both = {name: merged(test, then.fields[name], other.fields[name]) for name in then.fields}
            return Record(then.cls, both)
        case Fixed(), Fixed() if len(then.parts) == len(other.parts):
            return Fixed(tuple(merged(test, a, b) for a, b in zip(then.parts, other.parts, strict=True)))
        case Table(), Table() if then.sort == other.sort:
            return Table(then.sort, lambda term: merged(test, then.at(term), other.at(term)))
        case ((Group() | Fixed()), (Group() | Fixed())):
            one, two = as_group(then), as_group(other)
            if (one.kind == "set") != (two.kind == "set"):
                raise refuse("a set in one case and a list in the other", "return the same kind in both")
            placed = _one_place(test, one, two)
            if placed is not None:
                return replace(placed, once=one.once or two.once)

            def items() -> list[Item]:
                yes = [Item(i.variables, all_of((test, i.guard)), i.value) for i in one.items()]
                return [*yes, *(Item(i.variables, all_of((no, i.guard)), i.value) for i in two.items())]

            kind: Literal["set", "list"] = "set" if one.kind == "set" else "list"
            more = None if kind == "set" else _rising(one, two)
            made = Group(kind, items, lambda value: choice(test, one.has(value), two.has(value)), more=more)
            return replace(made, once=one.once or two.once)
        case _:
            raise refuse(f"{named(then)} in one case and {named(other)} in the other", "return values of one type")


def named(value: Value) -> str:
    """Return what a value is, for messages."""
    match value:
        case Truth():
            return "a truth"
        case Record():
            return f"a {value.cls.__name__}"
        case Fixed():
            return f"a tuple of {len(value.parts)}"
        case Group():
            return {"set": "a set", "list": "a list", "agents": "the agents", "keys": "a dict"}[value.kind]
        case Table():
            return f"a tuple by {value.sort.name}"
        case Cases():
            return " or ".join(sorted({_said(one) for _, one in value.parts}))


def _said(one: Leaf) -> str:
    match one:
        case Word():
            return "a text"
        case Elem():
            return "an agent"
        case Num():
            return "a number"
        case Whole():
            return named(one.value)
        case Const():
            return "None" if one.value is None else f"a {type(one.value).__name__}"


def kept(value: V) -> V:
    """Return a value that is asked itself, or gets a name or a field.  Raises Unreadable for a generator."""
    if isinstance(value, Group) and value.once:
        raise refuse("a generator is empty after its first use, and true before", "make it a list: [… for … in …]")
    return value


def truth(value: Value) -> Formula:
    """Return whether Python counts a value as true.  Raises Unreadable where that depends on more than its kind."""
    match value:
        case Truth():
            return value.formula
        case Record():
            if hasattr(value.cls, "__bool__") or hasattr(value.cls, "__len__"):
                raise refuse("a record with a truth of its own", "compare it")
            return TRUE
        case Fixed():
            return TRUE if value.parts else FALSE
        case Group():
            return any_of(some(one.variables, one.guard) for one in kept(value).items())
        case Table():
            return TRUE
        case Cases():
            return any_of(all_of((guard, _leaf_truth(one))) for guard, one in value.parts)


def _leaf_truth(one: Leaf) -> Formula:
    match one:
        case Const():
            return TRUE if one.value else FALSE
        case Num():
            return closed(negation(zero(one.term)))
        case Whole():
            return truth(one.value)
        case Word():
            return TRUE
        case Elem():
            raise refuse("the first agent is 0, and 0 counts as false", "write `is not None`")


def equals(left: Value, right: Value) -> Formula:
    """Return whether Python's `==` holds.  Raises Unreadable where the order of a list decides."""
    left, right = as_tuple(left), as_tuple(right)
    match left, right:
        case Cases(), (Record() | Fixed() | Group() | Table()) if wholes(left):
            return equals(left, leaf(Whole(right)))
        case ((Record() | Fixed() | Group() | Table()), Cases()) if wholes(right):
            return equals(leaf(Whole(left)), right)
        case Truth(), Truth():
            return equivalence(left.formula, right.formula)
        case Cases(), Cases():
            pairs = ((g, h, one, other) for g, one in left.parts for h, other in right.parts if not _differ(one, other))
            return any_of(
                all_of((g, h, _same_leaf(one, other))) for g, h, one, other in pairs if all_of((g, h)) != FALSE
            )
        case Fixed(one), Fixed(other):
            same = len(one) == len(other)
            return all_of(equals(a, b) for a, b in zip(one, other, strict=True)) if same else FALSE
        case Record(), Record():
            if left.cls is not right.cls:
                return FALSE
            if not plainly_compared(left.cls):
                raise refuse(f"{left.cls.__name__} is compared in a way of its own", "compare its fields")
            compared = [one.name for one in fields(left.cls) if one.compare]
            return all_of(equals(left.fields[name], right.fields[name]) for name in compared)
        case Table(), Table() if left.sort == right.sort:
            x = FRESH(left.sort)
            return every([x], equals(left.at(x), right.at(x)))
        case Group(), Group() if left.of is not None and right.of is not None and left.of.sort == right.of.sort:
            return equal(left.of, right.of)
        case Group(), Group() if left.kind == right.kind == "set" or order_of(left) == order_of(right) is not None:
            return all_of((within(left, right), within(right, left)))
        case _ if _never_equal(left, right):
            return FALSE
        case _:
            raise refuse(f"{named(left)} compared with {named(right)}", "compare values of one type")


def _never_equal(left: Value, right: Value) -> bool:
    """Whether Python finds values of these kinds different: None or a text beside a record, say."""
    return (bare(left) and not isinstance(right, Cases)) or (bare(right) and not isinstance(left, Cases))


def _differ(one: Leaf, other: Leaf) -> bool:
    return isinstance(one, Const) and isinstance(other, Const) and bool(one.value != other.value)


def _same_leaf(one: Leaf, other: Leaf) -> Formula:
    match one, other:
        case Whole(), Whole():
            return equals(one.value, other.value)
        case (Whole(), Const(value)) | (Const(value), Whole()) if value is None or isinstance(value, str):
            return FALSE
        case Const(), Const():
            return TRUE if one.value == other.value else FALSE
        case Elem(), Elem():
            if one.term.sort != other.term.sort:
                why = f"{one.term.sort.name} and {other.term.sort.name} are numbered apart"
                raise refuse(why, "compare things of one type")
            return closed(equal(one.term, other.term))
        case ((Num() | Const()), (Num() | Const())):
            left, right = numeral(one), numeral(other)
            return FALSE if left is None or right is None else closed(equal(left, right))
        case (Elem(), Const(value)) | (Const(value), Elem()):
            if isinstance(value, int):
                raise refuse(f"the agent with the number {value}", "take `config.agents[0]` for the first")
            return FALSE
        case _:
            raise refuse("an agent compared with a number", "compare things of one type")


def numeral(one: Leaf) -> Term | None:
    """Return a number as a term; None for what is none.  Raises Unreadable for True and for an Enum's number."""
    if isinstance(one, Num):
        return one.term
    if isinstance(one, Const) and isinstance(one.value, int) and not isinstance(one.value, bool | Enum):
        return number(one.value)
    if isinstance(one, Const) and isinstance(one.value, int):
        raise refuse(f"{one.value!r} as a number", "write the number")
    return None


def within(left: Group, right: Group) -> Formula:
    """Return whether every member of one collection is in another."""
    return all_of(every(one.variables, implication(one.guard, right.has(one.value))) for one in left.items())


def as_group(value: Value) -> Group:
    """Return a value as a collection to go through.  Raises Unreadable for what is none."""
    match value:
        case Group():
            return value
        case Fixed():
            return listed(value.parts, "list")
        case Cases(((_, Const(type() as cls)),)) if issubclass(cls, Enum):
            return listed([leaf(Const(one)) for one in cls], "list")
        case Table():
            return gathered(lambda: [Item((x := FRESH(value.sort),), TRUE, value.at(x))], "list")
        case _:
            raise refuse(f"{named(value)} is no collection", "go through a set, the agents, or a tuple by agent")
