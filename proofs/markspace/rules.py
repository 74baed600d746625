"""The guard's answers as formulas, read from the functions of `model/markspace/guard.py` and of its mutants.

Here stands what their arguments are in logic: an intent is an element, its author an agent, its confidence a level of
an order.  The list of intents has a place for each of them, by rank.  That a request is written last, and an agent is
idle, is given; all else of `pre_action` and of a boundary is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

from evenhand.model.markspace import guard
from evenhand.model.markspace import guard_vocabulary as model
from evenhand.model.markspace.guard_vocabulary import Policy, Verdict
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.intents import (
    AGENT,
    INTENT,
    ROOM,
    a,
    asked_before,
    asker,
    author,
    by_confidence,
    claimed,
    claims,
    deferred,
    earlier,
    holder,
    i,
    named_before,
    new,
    running,
    surer,
    yields,
)
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    And,
    Apply,
    Equal,
    Exists,
    Forall,
    Formula,
    Function,
    Holds,
    Or,
    Relation,
    Sort,
    Term,
)
from evenhand.source.choosing import settled
from evenhand.source.comprehensions import places_of
from evenhand.source.constants import known
from evenhand.source.described import chosen
from evenhand.source.expressions import Given
from evenhand.source.refusal import refuse
from evenhand.source.rules import Orders, Reader, each, giving, one_of
from evenhand.source.simplify import (
    all_of,
    any_of,
    assumed,
    equal,
    every,
    negation,
    numbered,
    simply_rebuilt,
    some,
    sorted_out,
)
from evenhand.source.values import (
    FRESH,
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Item,
    Places,
    Record,
    Table,
    Truth,
    Value,
    as_group,
    equals,
    gathered,
    merged,
    thing,
    wholes,
)
from evenhand.source.world import agents

LEVEL = Sort("Level")
_level, _lower = Function("level", (INTENT,), LEVEL), Relation("lower", (LEVEL, LEVEL))
"""How confident an intent is: the theory says of two which is surer, and nothing else."""
_MARK = "the mark itself"
"""Beside the fields of an intent: which one it is."""


def _intent(one: Term) -> Record:
    usual = {"resource": known(ROOM), "fresh": known(False), "hidden": known(False)}
    return Record(
        model.Intent, {"agent": thing(author(one)), "confidence": thing(_level(one)), **usual, _MARK: thing(one)}
    )


def _there(_one: Term) -> Formula:
    return TRUE


_RANKED = each(INTENT, lambda one: (TRUE, _intent(one)), places=Places(INTENT, _there, _intent))
"""All intents on the resource, by rank."""


def _settled(formula: Formula) -> Formula:
    """Return a formula with what the axioms make the same.

    One agent has one intent, the asker's is the new one, and of confidences only is known which is higher.
    """
    match formula:
        case Equal(Apply(one, (left,)), Apply(other, (right,))) if one == other == author:
            return equal(left, right)
        case Equal(Apply(one, (left,)), right) | Equal(right, Apply(one, (left,))) if (
            one == author and right == asker()
        ):
            return equal(left, new())
        case Holds(relation, (left, right)) if relation == earlier and left == right:
            return FALSE
        case Holds(relation, (Apply(_, (left,)), Apply(_, (right,)))) if relation == _lower:
            return surer(right, left)
        case Exists(bound, body):
            return some(bound, _settled(body))
        case Forall(bound, body):
            denied = _settled(negation(body)) if not isinstance(body, Or) else all_of(map(negation, _parts(body)))
            found = some(bound, denied)
            return negation(found) if not isinstance(found, Exists) else every(bound, _settled(body))
        case Equal() | Holds():
            return formula
        case _:
            return simply_rebuilt(formula, _settled)


def _parts(body: Or) -> list[Formula]:
    return [_settled(one) for one in body.parts]


_CALLED = Reader(
    Orders({INTENT: earlier, LEVEL: _lower, AGENT: named_before}),
    {
        guard._written: giving(_RANKED),  # pyright: ignore[reportPrivateUsage]
        guard._doing: giving(known(model.IDLE)),  # pyright: ignore[reportPrivateUsage]
        guard._moved: lambda given: given[1],  # pyright: ignore[reportPrivateUsage]
    },
    lambda formula: numbered(_settled(formula)),
)


def _config(policy: Value, waits: Value) -> Record:
    usual = model.Config((), (ROOM,), Policy.FIRST_WRITER, 1, Readings())
    told = known(usual)
    assert isinstance(told, Record)
    return Record(model.Config, {**told.fields, "agents": agents(AGENT), "policy": policy, "deferred": waits})


_ANY_POLICY = _config(
    one_of(
        (by_confidence(), Policy.HIGHEST_CONFIDENCE),
        (all_of((negation(by_confidence()), yields())), Policy.YIELD_ALL),
        (all_of((negation(by_confidence()), negation(yields()))), Policy.FIRST_WRITER),
    ),
    Truth(deferred()),
)


def _state(claim: Value, intents: Group) -> Record:
    def doing(agent: Term) -> Value:
        runs = running(agent)
        phase = one_of((runs, model.Phase.RUNNING), (negation(runs), model.Phase.IDLE))
        return Record(model.Doing, {"phase": phase, "resource": one_of((runs, ROOM), (negation(runs), ""))})

    told = known(model.State((), (), (), (None,)))
    assert isinstance(told, Record)
    mine: dict[str, Value] = {"claims": Fixed((claim,)), "intents": intents, "doing": Table(AGENT, doing)}
    return Record(model.State, {**told.fields, **mine})


_SOMEBODY = some([a], claims(a))
_CLAIMANT = Cases(((_SOMEBODY, Elem(chosen(AGENT, lambda one: claims(one)))), (negation(_SOMEBODY), Const(None))))


def _before() -> Group:
    """The intents before the request: all but the new one, and the one that it replaces."""

    def items() -> list[Item]:
        x = FRESH(INTENT)
        old = Record(model.Intent, {"agent": thing(asker()), "resource": known(ROOM)})
        return [Item((x,), negation(equal(x, new())), _intent(x)), Item((), asked_before(), old)]

    return gathered(items, "list")


_REQUEST = Record(
    model.Act,
    {
        "what": known(model.What.PRE),
        "agent": thing(asker()),
        "resource": known(ROOM),
        "confidence": thing(_level(new())),
    },
)


def _is(value: Value, one: Term) -> Formula:
    """Return whether a value is this intent."""
    found = [(TRUE, value)] if isinstance(value, Record) else wholes(value) if isinstance(value, Cases) else []
    marks = [(guard, whole.fields[_MARK]) for guard, whole in found if isinstance(whole, Record)]
    return any_of(all_of((guard, equals(mark, thing(one)))) for guard, mark in marks)


_ANOTHER = "another agent"
_FOUND, _PICKS, _UNDECIDED = (
    Relation("found", ()),
    Relation("picks", (INTENT,)),
    Relation("undecided", ()),
)


def _shown(function: Any, rules: guard.Rules, said: Mapping[str, Value], *given: Value) -> Mapping[str, Value]:
    """What a function shows under these rules, of which some give what is `said`."""
    kept = {one.name: known(getattr(rules, one.name)) for one in fields(rules)}
    record = Record(guard.Rules, {**kept, **{name: known(name) for name in said}})
    instead: dict[Any, Given] = {name: giving(value) for name, value in said.items()}
    found = _CALLED(function, record, *given, instead=instead)
    assert isinstance(found, Fixed) and isinstance(found.parts[1], Record)
    return found.parts[1].fields


def _short(words: Mapping[str, Formula]) -> Mapping[str, Formula]:
    return {name: sorted_out(numbered(_settled(_settled(formula)))) for name, formula in words.items()}


def _found(rules: guard.Rules, config: Record, state: Record) -> Formula:
    """Whether an action is in the way."""
    claimant = _CALLED(rules.claimant, config, state, known(ROOM))
    return all_of((negation(equals(claimant, known(None))), negation(equals(claimant, thing(asker())))))


def _several(word: Callable[[Term], Formula]) -> Formula:
    x, y = FRESH(INTENT), FRESH(INTENT)
    return numbered(some([x], all_of((word(x), some([y], all_of((word(y), negation(equal(y, x)))))))))


def _resolved(rules: guard.Rules, config: Record) -> Mapping[str, Formula]:
    """Which intent a resolution of all names, and whether it names none: it is asked where there are several."""
    winner = _CALLED(rules.resolve, config, _CALLED(rules.active, config, _RANKED))
    found = {"picks": _is(winner, i), "undecided": equals(winner, known(None))}
    return {name: assumed(numbered(_settled(formula)), _several(_there)) for name, formula in found.items()}


@cache
def answered(rules: guard.Rules) -> Mapping[str, Formula]:
    """Return the words of a request's answer with their meanings under these rules.  Raises Unreadable."""
    state = _state(_CLAIMANT, _before())
    said: dict[str, Value] = {
        "claimant": one_of((_FOUND(), _ANOTHER), (negation(_FOUND()), None)),
        "resolve": merged(_UNDECIDED(), known(None), settled(_intent(chosen(INTENT, _PICKS)))),
    }
    shown = _shown(guard._pre, rules, said, _ANY_POLICY, state, _REQUEST)  # pyright: ignore[reportPrivateUsage]
    verdicts = {"allowed": Verdict.ALLOW, "blocked": Verdict.BLOCKED, "refused": Verdict.CONFLICT}
    return _short(
        {
            "found": _found(rules, _ANY_POLICY, state),
            **_resolved(rules, _ANY_POLICY),
            "wins": _is(shown["winner"], i),
            **{name: equals(shown["verdict"], known(verdict)) for name, verdict in verdicts.items()},
        }
    )


_BOUNDARY = Record(model.Act, {"what": known(model.What.BOUNDARY), "resource": known(ROOM)})


_CANDIDATE, _FIT, _ELECTED = (Relation(name, (INTENT,)) for name in ("candidate", "fit", "elected"))


def _listed(word: Relation) -> Group:
    return each(INTENT, lambda one: (word(one), _intent(one)), places=Places(INTENT, word, _intent))


def _where_one_fits(formula: Formula) -> Formula:
    """Return what is left of a condition where an intent may win: only then is a winner asked for."""
    nobody = numbered(negation(some([i], _FIT(i))))
    found = numbered(formula)
    return FALSE if nobody in (found.parts if isinstance(found, And) else (found,)) else found


def _elected(winner: Record) -> Formula:
    """Whether an intent is the one of those that may win which a resolution names.

    It is asked where there is such a one; where it is alone, it is that whatever decides among several.
    """
    found = assumed(numbered(_settled(_is(winner, i))), _several(_FIT))
    return assumed(found, numbered(some([i], _FIT(i))))


@cache
def fired(rules: guard.Rules) -> Mapping[str, Formula]:
    """Return the words of a boundary under HIGHEST_CONFIDENCE with their meanings under these rules.

    Raises Unreadable.
    """
    claim = Cases(((claimed(), Elem(holder())), (negation(claimed()), Const(None))))
    config, state = _config(known(Policy.HIGHEST_CONFIDENCE), known(True)), _state(claim, _RANKED)
    active = places_of(_CALLED(rules.active, config, _RANKED))
    claimant = _CALLED(rules.claimant, config, state, known(ROOM))
    winner = replace(_CALLED, settled=_where_one_fits)(rules.resolve, config, _listed(_FIT))
    if active is None or not isinstance(winner, Record):
        raise refuse("a batch in no order, or without a winner", "let it keep the order of the intents")
    said: dict[str, Value] = {"active": _listed(_CANDIDATE), "resolve": settled(_intent(chosen(INTENT, _ELECTED)))}
    shown = _shown(guard._boundary, rules, said, config, state, _BOUNDARY)  # pyright: ignore[reportPrivateUsage]
    told = as_group(shown["told"])
    verdicts = {"allowed": Verdict.ALLOW, "blocked": Verdict.BLOCKED, "refused": Verdict.CONFLICT}
    entitled = any_of((equals(claimant, known(None)), equals(claimant, thing(author(i)))))
    return _short(
        {
            "candidate": active.there(i),
            "fit": all_of((_CANDIDATE(i), entitled)),
            "elected": _elected(winner),
            **{name: told.has(Fixed((thing(author(i)), known(said)))) for name, said in verdicts.items()},
        }
    )
