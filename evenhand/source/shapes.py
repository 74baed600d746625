"""Read types as shapes, and give each shape symbols: what a state of any size looks like in logic.

| written | read as |
|---|---|
| `bool` | a proposition |
| `Literal["idle", "busy"]`, an `Enum` | one proposition for each value, of which exactly one is true |
| `Agent` (`NewType("Agent", int)`) | an element of the sort Agent |
| `Agent \\| None`, and other types than `bool` beside None | its value, and a proposition that there is none |
| `int` | a number |
| `frozenset[...]` of the above, of tuples and records of them | a relation |
| `tuple[..., ...]`, or `Annotated[tuple[..., ...], Agent]` | one of these for each agent |
| `tuple[A, B]`, a frozen dataclass, a NamedTuple | its parts |

What is in an agent's place becomes an argument: the flag of each agent is a relation over agents.
"""

from __future__ import annotations

import itertools
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NewType, TypeAlias, cast

from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.logic import TRUE, Formula, Function, Relation, Sort, Term, Var, conjunction, forall
from evenhand.smt.theory import Axiom
from evenhand.source.classes import frozen, is_record, names_of, place_of, types_of
from evenhand.source.described import closed
from evenhand.source.refusal import Unreadable, refuse
from evenhand.source.simplify import all_of, any_of, negation
from evenhand.source.values import (
    FRESH,
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Item,
    Num,
    Record,
    Table,
    Truth,
    Value,
    Whole,
    cases,
    equals,
    leaf,
    named,
)


@dataclass(frozen=True)
class Flag:
    """True or False."""


@dataclass(frozen=True)
class Choice:
    """One of some known values."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Element:
    """An element of a sort, or None where `optional`."""

    sort: Sort
    optional: bool = False


@dataclass(frozen=True)
class Count:
    """A whole number."""


@dataclass(frozen=True)
class Members:
    """A set of values of a shape without sets, tables and numbers."""

    member: Shape


@dataclass(frozen=True)
class Row:
    """One value for each element of a sort."""

    sort: Sort
    entry: Shape


@dataclass(frozen=True)
class Parts:
    """A tuple of fixed length (`cls` is tuple), or a dataclass, with the names and shapes of its parts."""

    cls: type
    names: tuple[str, ...]
    shapes: tuple[Shape, ...]


@dataclass(frozen=True)
class Maybe:
    """A value of a shape, or None."""

    there: Shape


Shape: TypeAlias = Flag | Choice | Element | Count | Members | Row | Parts | Maybe

_WRITE = "use bool, int, Literal, Enum, the NewType of the agents, frozenset, tuple and frozen dataclasses"


def shape_of(written: Any, sorts: Mapping[Any, Sort]) -> Shape:
    """Return the shape of a type; `sorts` gives the sort of each NewType.  Raises Unreadable."""
    origin, arguments = typing.get_origin(written), typing.get_args(written)
    if written is bool:
        return Flag()
    if written is int:
        return Count()
    if isinstance(written, NewType):
        if written not in sorts:
            raise refuse(f"{written.__name__} is no field of the config", "list its elements in the config")
        return Element(sorts[written])
    if origin is Literal:
        return _choice(arguments)
    if isinstance(written, type) and issubclass(written, Enum):
        return _choice(tuple(written))
    if origin in (typing.Union, types.UnionType):
        return _optional(written, arguments, sorts)
    if origin is frozenset and len(arguments) == 1:
        member = shape_of(arguments[0], sorts)
        if not _flat(member):
            mend = "sets hold agents, choices, truths, and tuples or records of them; give a number a type of its own,"
            raise refuse(f"a set of {_written(arguments[0])}", f"{mend} listed in the config: it has an order")
        return Members(member)
    if origin is Annotated:
        return _row(arguments[0], arguments[1], sorts)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        if len(sorts) != 1:
            raise refuse("a tuple by which things?", "write Annotated[tuple[..., ...], Client]")
        return _row(written, next(iter(sorts)), sorts)
    if origin is tuple and arguments:
        shapes = tuple(shape_of(one, sorts) for one in arguments)
        return Parts(tuple, tuple(map(str, range(len(shapes)))), shapes)
    if is_record(written):
        return record_shape(cast("type", written), sorts)
    raise refuse(f"the type {_written(written)}", _WRITE)


def _written(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind))


def record_shape(cls: type, sorts: Mapping[Any, Sort]) -> Parts:
    """Return the shape of a frozen dataclass.  Raises Unreadable."""
    if not frozen(cls):
        raise refuse(f"the class {_written(cls)}", "make it a frozen dataclass, or a NamedTuple")
    hints, names = types_of(cls), names_of(cls)
    shapes: list[Shape] = []
    for name in names:
        try:
            shapes.append(shape_of(hints[name], sorts))
        except RecursionError:
            raise refuse(f"{cls.__name__}.{name} holds itself", "use a relation between agents") from None
        except Unreadable as error:
            raise error.at(*place_of(cls, name)) from None
    return Parts(cls, names, tuple(shapes))


def _choice(values: tuple[Any, ...]) -> Choice:
    if any(isinstance(one, int) and not isinstance(one, Enum) for one in values):
        raise refuse("a Literal of numbers or truths", "use texts, bool or int")
    if len(set(values)) < len(values):
        raise refuse("a Literal of equal values", "name each value once")
    return Choice(values)


def _optional(written: Any, arguments: tuple[Any, ...], sorts: Mapping[Any, Sort]) -> Shape:
    others = [one for one in arguments if one is not type(None)]
    if len(others) == 1 and len(arguments) == 2:
        inner = shape_of(others[0], sorts)
        if isinstance(inner, Element):
            return Element(inner.sort, optional=True)
        if isinstance(inner, Choice):
            return inner if None in inner.values else Choice((*inner.values, None))
        if not isinstance(inner, Flag):
            return Maybe(inner)
    raise refuse(f"the type {written}", "of several types only None may be one, and not beside bool")


def _row(written: Any, by: Any, sorts: Mapping[Any, Sort]) -> Row:
    arguments = typing.get_args(written)
    if by not in sorts or typing.get_origin(written) is not tuple or arguments[1:] != (Ellipsis,):
        raise refuse(f"the type {written}", "write Annotated[tuple[..., ...], Client]")
    return Row(sorts[by], shape_of(arguments[0], sorts))


def _flat(shape: Shape) -> bool:
    if isinstance(shape, Parts):
        return all(map(_flat, shape.shapes))
    return isinstance(shape, Flag | Choice) or (isinstance(shape, Element) and not shape.optional)


Key: TypeAlias = tuple[tuple[Any, ...], tuple[Sort, ...]]


def combinations(shape: Shape) -> Iterator[Key]:
    """Yield the known parts of a set's member in every combination, each with the sorts of its other parts."""
    match shape:
        case Flag():
            yield from (((value,), ()) for value in (False, True))
        case Choice(values):
            yield from (((value,), ()) for value in values)
        case Element(sort):
            yield (), (sort,)
        case Parts():
            for chosen in itertools.product(*(tuple(combinations(one)) for one in shape.shapes)):
                consts = tuple(itertools.chain.from_iterable(one for one, _ in chosen))
                yield consts, tuple(itertools.chain.from_iterable(one for _, one in chosen))
        case _:
            raise AssertionError(f"no member of a set: {shape}")


def assembled(shape: Shape, consts: Iterator[Any], terms: Iterator[Term]) -> Value:
    """Return the member of a set with these known parts and terms."""
    match shape:
        case Flag():
            return Truth(TRUE if next(consts) else negation(TRUE))
        case Choice():
            return leaf(Const(next(consts)))
        case Element():
            return leaf(Elem(next(terms)))
        case Parts():
            parts = tuple(assembled(one, consts, terms) for one in shape.shapes)
            return Fixed(parts) if shape.cls is tuple else Record(shape.cls, dict(zip(shape.names, parts, strict=True)))
        case _:
            raise AssertionError(f"no member of a set: {shape}")


At: TypeAlias = Callable[[tuple[Term, ...]], Value]
"""The value at the places that terms name."""


@dataclass
class Vocabulary:
    """The symbols of a state, and what is true of them by their types."""

    sorts: tuple[Sort, ...]
    functions: list[Function] = field(default_factory=list[Function])
    relations: list[Relation] = field(default_factory=list[Relation])
    axioms: list[Axiom] = field(default_factory=list[Axiom])

    def symbolic(self, shape: Shape, name: str, by: tuple[Var, ...] = ()) -> Value:
        """Return the value of a shape in any state, at these places, and declare its symbols under this name."""
        return self._made(shape, name, tuple(one.sort for one in by))(by)

    def _made(self, shape: Shape, name: str, by: tuple[Sort, ...]) -> At:
        """A function from the terms of the places to the value there."""
        match shape:
            case Flag():
                relation = self._relation(name, by)
                return lambda terms: Truth(relation(*terms))
            case Choice(values):
                return self._chosen(name, by, values)
            case Element(sort, optional):
                function = Function(name, by, sort)
                self.functions.append(function)
                if not optional:
                    return lambda terms: leaf(Elem(function(*terms)))
                none = self._relation(f"{name}.none", by)
                return lambda terms: cases(
                    [(none(*terms), Const(None)), (negation(none(*terms)), Elem(function(*terms)))]
                )
            case Count():
                number = Function(name, by, NUMBER)
                self.functions.append(number)
                return lambda terms: leaf(Num(number(*terms)))
            case Members(member):
                return self._set(name, by, member)
            case Maybe(there):
                absent, held = self._relation(none_name(name), by), self._made(there, name, by)
                return lambda terms: maybe(absent(*terms), held(terms))
            case Row(sort, entry):
                inner = self._made(entry, name, (*by, sort))
                return lambda terms: Table(sort, lambda term: inner((*terms, term)))
            case Parts():
                parts = [
                    self._made(one, f"{name}.{part}" if name else part, by)
                    for part, one in zip(shape.names, shape.shapes, strict=True)
                ]
                if shape.cls is tuple:
                    return lambda terms: Fixed(tuple(part(terms) for part in parts))
                return lambda terms: Record(
                    shape.cls, {one: part(terms) for one, part in zip(shape.names, parts, strict=True)}
                )

    def _relation(self, name: str, by: tuple[Sort, ...]) -> Relation:
        relation = Relation(name, by)
        self.relations.append(relation)
        return relation

    def _chosen(self, name: str, by: tuple[Sort, ...], values: tuple[Any, ...]) -> At:
        relations = [self._relation(choice_name(name, place), by) for place in range(len(values))]
        variables = tuple(FRESH(sort) for sort in by)
        held = [one(*variables) for one in relations]
        pairs = (any_of((negation(a), negation(b))) for a, b in itertools.combinations(held, 2))
        self.axioms.append(Axiom(f"one.{name}", forall(variables, conjunction([any_of(held), *pairs]))))
        return lambda terms: cases([(r(*terms), Const(v)) for r, v in zip(relations, values, strict=True)])

    def _set(self, name: str, by: tuple[Sort, ...], member: Shape) -> At:
        keys = tuple(combinations(member))
        relations = [self._relation(set_name(name, place), (*by, *sorts)) for place, (_, sorts) in enumerate(keys)]

        def made(terms: tuple[Term, ...]) -> Group:
            def items() -> list[Item]:
                found: list[Item] = []
                for (consts, sorts), relation in zip(keys, relations, strict=True):
                    variables = tuple(FRESH(sort) for sort in sorts)
                    value = assembled(member, iter(consts), iter(variables))
                    found.append(Item(variables, relation(*terms, *variables), value))
                return found

            def has(value: Value) -> Formula:
                parts: list[Formula] = []
                for (consts, sorts), relation in zip(keys, relations, strict=True):
                    for guard, picked in _picked(member, value, consts):
                        if tuple(term.sort for term in picked) == sorts:
                            parts.append(all_of((guard, closed(relation(*terms, *picked)))))
                return any_of(parts)

            return Group("set", items, has)

        return made


def maybe(absent: Formula, value: Value) -> Cases:
    """Return a value that may be None.  Raises Unreadable for a truth."""
    if isinstance(value, Truth):
        raise refuse("a truth that may be None", "use a Literal")
    held = value.parts if isinstance(value, Cases) else ((TRUE, Whole(value)),)
    return cases([(absent, Const(None)), *((all_of((negation(absent), guard)), one) for guard, one in held)])


def none_name(name: str) -> str:
    """Return the name of the relation that there is None; no field of a record has this name."""
    return f"{name}.0none"


def choice_name(name: str, place: int) -> str:
    """Return the name of the relation of one value of a choice."""
    return f"{name}.is{place}"


def set_name(name: str, place: int) -> str:
    """Return the name of the relation of one combination of a set's members."""
    return f"{name}.has{place}"


def _picked(shape: Shape, value: Value, consts: Sequence[Any]) -> Iterator[tuple[Formula, tuple[Term, ...]]]:
    """The terms of a value whose known parts are `consts`, each with its condition.  Raises Unreadable."""
    waiting = list(consts)

    def take(shape: Shape, value: Value) -> list[tuple[Formula, tuple[Term, ...]]]:
        match shape, value:
            case Flag(), Truth():
                wanted = waiting.pop(0)
                return [(value.formula if wanted else negation(value.formula), ())]
            case Choice(), Cases():
                wanted = waiting.pop(0)
                return [(equals(value, leaf(Const(wanted))), ())]
            case Element(sort), Cases():
                found: list[tuple[Formula, tuple[Term, ...]]] = []
                for guard, part in value.parts:
                    if isinstance(part, Elem) and part.term.sort == sort:
                        found.append((guard, (part.term,)))
                    elif not (isinstance(part, Const) and (part.value is None or isinstance(part.value, str))):
                        raise refuse(f"{named(value)} in a set of {sort.name}", "look for things of the set's type")
                return found
            case Parts(), (Record() | Fixed()):
                if isinstance(value, Record) != (shape.cls is not tuple):
                    raise refuse(f"{named(value)} in a set of {shape.cls.__name__}", "look for the set's type")
                if isinstance(value, Record) and value.cls is not shape.cls:
                    raise refuse(f"{named(value)} in a set of {shape.cls.__name__}", "look for the set's type")
                inner = list(value.fields.values()) if isinstance(value, Record) else list(value.parts)
                if len(inner) != len(shape.shapes):
                    raise refuse(f"{named(value)} in a set of tuples of {len(shape.shapes)}", "use the set's type")
                made: list[tuple[Formula, tuple[Term, ...]]] = [(TRUE, ())]
                for inside, one in zip(shape.shapes, inner, strict=True):
                    taken = take(inside, one)
                    made = [(all_of((g, h)), (*a, *b)) for g, a in made for h, b in taken]
                return made
            case _:
                raise refuse(f"{named(value)} looked for in a set of other things", "look for the set's type")

    yield from take(shape, value)


def order(sort: Sort) -> Relation:
    """Return the relation that an agent comes before another."""
    return Relation(f"{sort.name}.before", (sort, sort))


def order_axioms(sort: Sort) -> list[Axiom]:
    """Return that the order is total."""
    before = order(sort)
    x, y, z = (Var(name, sort) for name in "xyz")
    facts = {
        "strict": forall([x], negation(before(x, x))),
        "transitive": forall([x, y, z], any_of((negation(before(x, y)), negation(before(y, z)), before(x, z)))),
        "total": forall([x, y], any_of((equals(leaf(Elem(x)), leaf(Elem(y))), before(x, y), before(y, x)))),
    }
    return [Axiom(f"{sort.name}.{name}", formula) for name, formula in facts.items()]
