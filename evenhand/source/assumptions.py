"""Read what a claim about whole runs names: the fairness it assumes, of each agent or of all together, and its rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from evenhand.core.fairness import OF, per_agent
from evenhand.core.system import Fairness
from evenhand.smt.arithmetic import at_most, number
from evenhand.smt.logic import TRUE, Formula, Var
from evenhand.source.constants import Lookup
from evenhand.source.described import closed
from evenhand.source.frames import Frame, only
from evenhand.source.operators import less
from evenhand.source.reading import plain, source_of
from evenhand.source.refusal import Unreadable, refuse
from evenhand.source.simplify import all_of, any_of, implication
from evenhand.source.statements import Translator
from evenhand.source.values import (
    FRESH,
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Record,
    Truth,
    Value,
    element,
    equals,
    leaf,
    named,
    numeral,
    thing,
)
from evenhand.source.world import World


@dataclass(frozen=True, eq=False)
class Assumption:
    """A fairness assumption: its kind, who serves it, and, if it is one of each agent, the variable for the agent."""

    kind: str
    taken: Any
    variables: tuple[Var, ...] = ()


def assumptions(world: World, fair: Any, names: Sequence[str]) -> dict[str, Assumption]:
    """Return the assumptions of these names, read from the function that gives all of them.  Raises Unreadable."""
    found = _read(world, plain(fair)) if names else {}
    for name in names:
        if any(one.startswith(name + OF) for one in found):
            raise Unreadable(name, "it is short for several assumptions", "give them names that begin differently")
        if name not in found:
            raise Unreadable(name, "it is an assumption of some agents", "assume it of all of them")
    return {name: found[name] for name in names}


def _read(world: World, fair: Any) -> dict[str, Assumption]:
    source = source_of(fair)
    frame = Frame(source, {})

    def one(values: Sequence[Value]) -> Value:
        return Record(Fairness, dict(zip(("kind", "taken"), values, strict=True)))

    def each(values: Sequence[Value]) -> Value:
        name, agents, function = values
        if not isinstance(agents, Group) or agents.kind != "agents" or agents.sort is None:
            raise refuse("assumptions of some agents", "assume them of all that a field of the config lists")
        x = thing(FRESH(agents.sort))
        made = translator.invoked(only(function), [x], {}, frame)
        return leaf(Const(Lookup(((only(name), Fixed((made, x))),))))

    translator = Translator(world, {Fairness: one, per_agent: each})
    takes = [world.config] if source.function.__code__.co_argcount else []
    value = only(translator.invoked(fair, takes, {}, frame))
    if not isinstance(value, Lookup) or translator.errors.found:
        raise source.refused(source.tree, "it does not always give the same names", "give one dictionary, without `if`")
    return {str(name): _assumption(source, str(name), entry) for name, entry in value.entries}


def _assumption(source: Any, name: str, entry: Value) -> Assumption:
    variables: tuple[Var, ...] = ()
    if isinstance(entry, Fixed):
        entry, agent = entry.parts
        term = element(agent)
        assert isinstance(term, Var)
        variables = (term,)
    if isinstance(entry, Record) and entry.cls is Fairness:
        kind, taken = only(entry.fields["kind"]), only(entry.fields["taken"])
        if isinstance(kind, str) and taken is not None:
            return Assumption(kind, taken, variables)
    raise source.refused(source.tree, f"{name} is {named(entry)}", 'write `Fairness("weak", taken)`')


def falls(world: World, function: Any, before: Value, after: Value) -> tuple[Formula, Formula]:
    """Return that a rank falls, as `<` says, to what is not below nothing; and that it falls or stays as it is.

    Raises Unreadable for a value that could fall for ever.
    """
    try:
        lower = all_of((less(world, after, before), _grounded(after)))
        return lower, any_of((lower, equals(after, before)))
    except Unreadable as error:
        source = source_of(plain(function))
        raise source.refused(source.tree, error.why, error.instead) if not error.file else error from None


def _grounded(value: Value) -> Formula:
    """That a value can fall finitely often alone: a truth, an agent, a set, a number not below 0, or several."""
    match value:
        case Truth() | Group(kind="set"):
            return TRUE
        case Fixed(parts):
            return all_of(map(_grounded, parts))
        case Cases(parts):
            return all_of(implication(guard, _grounded_leaf(one)) for guard, one in parts)
        case _:
            raise refuse(f"a rank that is {named(value)}", "give a number, a truth, a set, or a tuple of these")


def _grounded_leaf(one: Any) -> Formula:
    term = None if isinstance(one, Elem) else numeral(one)
    if term is None and not isinstance(one, Elem):
        raise refuse(f"a rank that is {named(leaf(one))}", "give a number, a truth, a set, or a tuple of these")
    return TRUE if term is None else closed(at_most(number(0), term))


def smaller(after: Any, before: Any) -> bool:
    """Return in Python what `falls` says first."""
    return bool(after < before) and _is_grounded(after)


def _is_grounded(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_grounded, cast("tuple[Any, ...]", value)))
    return isinstance(value, frozenset) or value >= 0
