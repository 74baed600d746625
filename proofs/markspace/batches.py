"""The decision of a boundary, for any number of agents and intents (P15, P17 with P39, P18, §6.2.1).

Each agent has one intent, the default of `own_intents`.  An agent with an action there bars all the others.  What the
agents hear is read from the functions of the guard and of its mutants.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status
from evenhand.model.markspace.guard import REFERENCE
from evenhand.model.markspace.guard_vocabulary import Act, GuardStep, Policy, Verdict, What
from evenhand.model.markspace.mutants import guarding
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.intents import (
    ROOM,
    author,
    called,
    claimed,
    earlier,
    holder,
    i,
    j,
    k,
    listed,
    surer,
    surest,
    ways_of,
)
from evenhand.proofs.markspace.rules import fired
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace import contesting
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import Formula, conjunction, differ, exists, forall, same
from evenhand.smt.preludes import define, ordered
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Lemma
from evenhand.smt.theory import Axiom, Theory
from evenhand.source.rules import Faults


def _fit(one: Any) -> Formula:
    """Return that no other agent's action bars the intent."""
    return ~claimed() | same(holder(), author(one))


def _anyone(one: Any) -> Formula:
    return same(one, one)


def _end(fit: Any, ahead: Any) -> Formula:
    """Return that of the intents that are fit, if there are any, one is ahead of the others."""
    first = exists([i], fit(i) & forall([j], fit(j) >> (same(i, j) | ahead(i, j))))
    return exists([i], fit(i)) >> first


BOUNDARY = Theory.of(
    "markspace_boundary",
    axioms=(
        Axiom("intents_are_ranked", ordered(earlier, i, j, k), "P32"),
        Axiom(
            "nobody_is_surer_than_the_surer",
            forall([i, j], surer(i, j) >> ~surer(j, i)),
            "6.1: all that is needed of confidences",
        ),
        Axiom("one_intent_each", forall([i, j], same(author(i), author(j)) >> same(i, j)), "own_intents"),
        Axiom(
            "finitely_many",
            conjunction([_end(fit, ahead) for fit in (_fit, _anyone) for ahead in (surest, earlier)]),
            "a list has an end",
        ),
    ),
    definitions=tuple(define(name, (i,), body, "6.1, 6.2.1, P39") for name, body in fired(REFERENCE).items()),
)
FAULTS = Faults(BOUNDARY, fired)

# Conformance.


def view(taken: GuardStep) -> Structure | None:
    """Return a boundary on the one resource with intents to resolve, as a structure."""
    act, config, before, shown = taken.action, taken.config, taken.before, taken.shown
    if act.what is not What.BOUNDARY or shown.rejected or config.readings != Readings() or not config.deferred:
        return None
    if config.resources != (ROOM,) or config.meddling or config.policy is not Policy.HIGHEST_CONFIDENCE:
        return None
    intents = before.on(ROOM)
    if not intents or len({one.agent for one in intents}) < len(intents):
        return None
    there, ranked = listed([(one.agent, one.confidence) for one in intents])

    def hears(verdict: Verdict) -> list[str]:
        return [called(agent) for agent, said in shown.told if said is verdict]

    told = {
        **ranked,
        "claimed": before.claims[0] is not None,
        "elected": [] if shown.winner is None else [called(shown.winner.agent)],
        "allowed": hears(Verdict.ALLOW),
        "blocked": hears(Verdict.BLOCKED),
        "refused": hears(Verdict.CONFLICT),
        "holder": before.claims[0] or intents[0].agent,
    }
    return structure({"Agent": config.agents, "Intent": there}, told)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield boundaries in many states of two and three agents, by any variant; every third of those of three."""
    for agents, spread in ((2, 1), (3, 3)):
        found = ways_of(agents, Policy.HIGHEST_CONFIDENCE, True, 40 * agents).items()
        for state, way in islice(((state, way) for state, way in found if state.on(ROOM)), 0, None, spread):
            yield end_at(system, way, state, Act(What.BOUNDARY, resource=ROOM))


_theorem = partial(
    theorem,
    system="deferred",
    theory=BOUNDARY,
    view=view,
    samples=samples,
    scope="any number of agents and intents",
)


_says = BOUNDARY.word
_one_at_most = forall([i, j], (_says("allowed", i) & _says("allowed", j)) >> same(i, j))
_entitled = forall([i], _says("allowed", i) >> _fit(i))
_apart = ~(_says("allowed", i) & _says("blocked", i)) & ~(
    _says("refused", i) & (_says("allowed", i) | _says("blocked", i))
)

AS_WRITTEN = _theorem(
    claim=contesting.deferred_mutual_exclusion_p17,
    sentence="Exactly one agent hears ALLOW, all others BLOCKED: false where an action claims the resource.",
    goal=_one_at_most & exists([i], _says("allowed", i)) & forall([i], _says("allowed", i) | _says("blocked", i)),
    expected=Status.REFUTED,
)

REPAIRED = _theorem(
    claim=contesting.one_winner_per_boundary,
    goal=_one_at_most & _entitled & (exists([i], _fit(i)) >> exists([i], _fit(i) & _says("allowed", i))),
    needs=("intents_are_ranked", "finitely_many"),
    lemmas=(
        Lemma("alone", _one_at_most & _entitled),
        Lemma("somebody", forall([i], _fit(i) >> exists([j], _says("allowed", j)))),
    ),
    opaque=("allowed", "blocked", "refused"),
    witness=exists([i, j], differ(i, j) & ~surer(i, j) & ~surer(j, i) & _says("allowed", i)),
    mutants=(
        *FAULTS.refuted(guarding.everybody_is_allowed, guarding.claims_ignored, guarding.batch_of_one),
        FAULTS.unseen(guarding.confidence_ignored, "the wrong one wins, but one alone"),
    ),
)

HEARD = _theorem(
    claim=contesting.deferred_inclusion_p18,
    sentence="Every agent with an active intent hears a verdict at the boundary, and no two.",
    variables=(i,),
    goal=conjunction([_says("allowed", i) | _says("blocked", i) | _says("refused", i), _apart]),
    witness=exists([i, j, k], _says("allowed", i) & _says("blocked", j) & ~same(k, i) & ~same(k, j)),
    mutants=(
        *FAULTS.refuted(guarding.batch_of_one),
        FAULTS.unseen(guarding.claims_ignored, "it hears something, if not what is due"),
        FAULTS.unseen(guarding.everybody_is_allowed, "losers hear something, if not what is due"),
    ),
)

SUREST = _theorem(
    claim=contesting.deferred_priority_fidelity_p15,
    sentence="Where no action stands the winner is ahead of every active intent: surer, or as sure and earlier.",
    assumes=~claimed(),
    goal=exists([i], _says("elected", i)) & forall([i, j], _says("elected", i) >> (same(i, j) | surest(i, j))),
    needs=("finitely_many",),
    witness=exists([i, j], surer(j, i) & earlier(i, j)),
    mutants=(
        *FAULTS.refuted(guarding.confidence_ignored, guarding.batch_of_one),
        FAULTS.unseen(guarding.everybody_is_allowed, "all are allowed, and the right one wins"),
    ),
)
