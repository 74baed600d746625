"""What each symbol of a state means after a step (or in an initial state), and formulas rewritten to it.

A formula `f` about the state after a step, rewritten so, is a formula about the state before it: its weakest
precondition.  No symbol is doubled, and nothing need be said of what a step leaves as it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.smt import logic as fol
from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.rewriting import rebuilt
from evenhand.source.described import closed
from evenhand.source.refusal import refuse
from evenhand.source.shapes import (
    Choice,
    Count,
    Element,
    Flag,
    Maybe,
    Members,
    Parts,
    Row,
    Shape,
    assembled,
    choice_name,
    combinations,
    maybe,
    none_name,
    set_name,
)
from evenhand.source.simplify import all_of, any_of, equal, placed, replaced, simply_rebuilt
from evenhand.source.values import (
    FRESH,
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
    equals,
    leaf,
    listed,
    merged,
    named,
    numeral,
)


@dataclass(frozen=True)
class Meaning:
    """The value of a relation (a formula) or a function (terms under conditions) for variables in its places."""

    variables: tuple[fol.Var, ...]
    formula: fol.Formula | None = None
    cases: tuple[tuple[fol.Formula, fol.Term], ...] = ()


Meanings = Mapping[str, Meaning]


def meanings(shape: Shape, value: Value, name: str) -> dict[str, Meaning]:
    """Return what each symbol of a shape means where the state has this value.

    Raises Unreadable for a value that is not of the shape.
    """
    return dict(_meanings(shape, value, name, ()))


def _meanings(shape: Shape, value: Value, name: str, by: tuple[fol.Var, ...]) -> Iterator[tuple[str, Meaning]]:
    match shape, value:
        case Flag(), Truth(formula):
            yield name, Meaning(by, formula)
        case Choice(values), Cases(parts):
            if not all(isinstance(one, Const) and any(_like(one.value, v) for v in values) for _, one in parts):
                raise refuse(f"{name.partition('.')[2]} becomes {named(value)}", "give it one of its values")
            for place, one in enumerate(values):
                yield choice_name(name, place), Meaning(by, equals(value, leaf(Const(one))))
        case Element(sort, optional), Cases():
            yield from _element(sort, value, name, by, optional=optional)
        case Count(), Cases():
            yield name, Meaning(by, None, tuple((guard, _number(one, name)) for guard, one in value.parts))
        case Members(member), Group():
            if value.kind != "set":
                raise refuse(f"{name.partition('.')[2]} becomes a list", "make it a frozenset")
            for place, (consts, sorts) in enumerate(combinations(member)):
                variables = tuple(FRESH(sort) for sort in sorts)
                found = value.has(assembled(member, iter(consts), iter(variables)))
                yield set_name(name, place), Meaning((*by, *variables), found)
        case Row(sort, entry), Table():
            x = FRESH(sort)
            yield from _meanings(entry, value.at(x), name, (*by, x))
        case Parts(), (Fixed() | Record()):
            inner = list(value.parts) if isinstance(value, Fixed) else list(value.fields.values())
            cls = tuple if isinstance(value, Fixed) else value.cls
            if cls is not shape.cls or len(inner) != len(shape.shapes):
                raise refuse(f"{name.partition('.')[2]} becomes {named(value)}", f"give it a {shape.cls.__name__}")
            for part, one, given in zip(shape.names, shape.shapes, inner, strict=True):
                yield from _meanings(one, given, f"{name}.{part}", by)
        case Maybe(there), _:
            yield from _maybe(there, value, name, by)
        case _:
            raise refuse(f"{name.partition('.')[2]} becomes {named(value)}", "give it a value of its type")


def _maybe(there: Shape, value: Value, name: str, by: tuple[fol.Var, ...]) -> Iterator[tuple[str, Meaning]]:
    """What may be None: whether it is, and what is there."""
    parts = maybe(fol.FALSE, value).parts
    nothing = [guard for guard, one in parts if isinstance(one, Const) and one.value is None]
    yield none_name(name), Meaning(by, any_of(nothing))
    held = [(guard, one.value if isinstance(one, Whole) else leaf(one)) for guard, one in parts]
    held = [(guard, one) for guard, one in held if guard not in nothing]
    last = _unread(there, name, by) if nothing else held.pop()[1]
    for guard, one in held:
        last = merged(guard, one, last)
    yield from _meanings(there, last, name, by)


def _unread(shape: Shape, name: str, by: tuple[fol.Term, ...]) -> Value:
    """What stands where there is None: the first value, as in `instances`; an element stays what it was."""
    match shape:
        case Flag():
            return Truth(fol.FALSE)
        case Choice(values):
            return leaf(Const(values[0]))
        case Element(sort):
            return leaf(Elem(fol.Function(name, tuple(one.sort for one in by), sort)(*by)))
        case Count():
            return leaf(Const(0))
        case Members():
            return listed([], "set")
        case Maybe():
            return leaf(Const(None))
        case Row(sort, entry):
            return Table(sort, lambda term: _unread(entry, name, (*by, term)))
        case Parts():
            parts = [_unread(one, f"{name}.{part}", by) for part, one in zip(shape.names, shape.shapes, strict=True)]
            return (
                Fixed(tuple(parts))
                if shape.cls is tuple
                else Record(shape.cls, dict(zip(shape.names, parts, strict=True)))
            )


def _like(one: object, other: object) -> bool:
    return one == other and type(one) is type(other)


def _element(
    sort: fol.Sort, value: Cases, name: str, by: tuple[fol.Var, ...], *, optional: bool
) -> Iterator[tuple[str, Meaning]]:
    found: list[tuple[fol.Formula, fol.Term]] = []
    nothing: list[fol.Formula] = []
    for guard, one in value.parts:
        if isinstance(one, Elem) and one.term.sort == sort:
            found.append((guard, one.term))
        elif optional and isinstance(one, Const) and one.value is None:
            nothing.append(guard)
        else:
            raise refuse(f"{name.partition('.')[2]} becomes {named(value)}", f"give it a {sort.name}")
    none = any_of(nothing)
    if optional:
        yield f"{name}.none", Meaning(by, none)
        if nothing:  # nobody reads it where there is none: it stays what it was
            found.append((none, fol.Function(name, tuple(one.sort for one in by), sort)(*by)))
    yield name, Meaning(by, None, tuple(found))


def _number(one: Leaf, name: str) -> fol.Term:
    term = one.term if isinstance(one, Num) else numeral(one) if isinstance(one, Const) else None
    if term is None or term.sort != NUMBER:
        raise refuse(f"{name.partition('.')[2]} becomes no number", "give it a number")
    return term


def after(formula: fol.Formula, means: Meanings) -> fol.Formula:
    """Return the formula with every symbol of the state replaced by what it means."""
    match formula:
        case fol.Holds(relation, arguments):
            meaning = means.get(relation.name)
            parts: list[fol.Formula] = []
            for guard, terms in _combined(arguments, means):
                if meaning is None or meaning.formula is None:
                    parts.append(closed(all_of((guard, fol.Holds(relation, terms)))))
                else:
                    values = dict(zip(meaning.variables, terms, strict=True))
                    parts.append(closed(all_of((guard, _put(meaning.formula, values)))))
            return any_of(parts)
        case fol.Equal(left, right):
            pairs = _combined((left, right), means)
            return any_of(closed(all_of((guard, equal(*terms)))) for guard, terms in pairs)
        case fol.Forall(variables, body) | fol.Exists(variables, body):
            fresh = tuple(FRESH(one.sort) for one in variables)
            renamed = replaced(body, dict(zip(variables, fresh, strict=True)))
            inner = after(renamed, means)
            return fol.Forall(fresh, inner) if isinstance(formula, fol.Forall) else fol.Exists(fresh, inner)
        case _:
            return simply_rebuilt(formula, lambda part: after(part, means))


def after_parts(
    parts: Sequence[tuple[fol.Formula, fol.Term]], means: Meanings
) -> tuple[tuple[fol.Formula, fol.Term], ...]:
    """Return terms under conditions with every symbol of the state replaced by what it means."""
    return tuple(
        (closed(all_of((after(guard, means), also))), found)
        for guard, term in parts
        for also, found in _terms(term, means)
    )


def _put(formula: fol.Formula, values: dict[fol.Var, fol.Term]) -> fol.Formula:
    """A meaning with terms in its places, its bound variables renamed: it may be used inside itself."""
    return replaced(fresh_bound(formula), values)


def fresh_bound(formula: fol.Formula) -> fol.Formula:
    """Return the formula with new names for its bound variables."""
    match formula:
        case fol.Forall(variables, body) | fol.Exists(variables, body):
            fresh = tuple(FRESH(one.sort) for one in variables)
            inner = fresh_bound(replaced(body, dict(zip(variables, fresh, strict=True))))
            return fol.Forall(fresh, inner) if isinstance(formula, fol.Forall) else fol.Exists(fresh, inner)
        case fol.Holds() | fol.Equal():
            return formula
        case _:
            return rebuilt(formula, fresh_bound)


def _combined(terms: Sequence[fol.Term], means: Meanings) -> Iterator[tuple[fol.Formula, tuple[fol.Term, ...]]]:
    for chosen in itertools.product(*(tuple(_terms(one, means)) for one in terms)):
        guard = all_of(one for one, _ in chosen)
        yield guard, tuple(one for _, one in chosen)


def _terms(term: fol.Term, means: Meanings) -> Iterator[tuple[fol.Formula, fol.Term]]:
    if isinstance(term, fol.Var):
        yield fol.TRUE, term
        return
    meaning = means.get(term.function.name)
    for guard, arguments in _combined(term.arguments, means):
        if meaning is None:
            yield guard, fol.Apply(term.function, arguments)
            continue
        values: dict[fol.Var, fol.Term] = dict(zip(meaning.variables, arguments, strict=True))
        for condition, one in meaning.cases:
            yield all_of((guard, _put(condition, values))), placed(one, values)
