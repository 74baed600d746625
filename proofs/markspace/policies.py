"""The answer of pre_action under every policy, immediate or deferred (6.1, 6.2.1, P36, P38, P39, §9.2).

Each policy has its criterion: confidence, rank, or nothing (YIELD_ALL); any number of agents and intents, ties of
confidence included.  The policy of a deployment is a constant that no axiom fixes.  The words of an answer are read
from the functions of the guard and of its mutants; those of the claims (`claimed`, `leads`) are written here, and no
mutant replaces them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status
from evenhand.model.markspace.guard import REFERENCE
from evenhand.model.markspace.guard_vocabulary import Act, GuardStep, Phase, Policy, Verdict, What
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.intents import (
    ROOM,
    a,
    asked_before,
    asker,
    author,
    b,
    by_confidence,
    c,
    called,
    claims,
    deferred,
    earlier,
    i,
    j,
    k,
    listed,
    named_before,
    new,
    running,
    surer,
    surest,
    ways_of,
    yields,
)
from evenhand.proofs.markspace.rules import answered
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace import guarding
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import Definition, Formula, conjunction, differ, exists, forall, iff, ite, same
from evenhand.smt.preludes import Twice, define, ordered
from evenhand.smt.structure import Structure
from evenhand.smt.tables import beside, line, structure
from evenhand.smt.theory import Axiom, Theory
from evenhand.source.rules import Faults

Order: TypeAlias = Callable[[Any, Any], Formula]


def _ahead(one: Any, two: Any) -> Formula:
    return ite(by_confidence(), surest(one, two), earlier(one, two))


def leads(ahead: Order) -> Formula:
    """Return that the intent i is ahead of all others."""
    return forall([j], same(i, j) | ahead(i, j))


def _least_sure(one: Any, two: Any) -> Formula:
    return surer(two, one) | (~surer(one, two) & earlier(one, two))


def _latest_of_the_surest(one: Any, two: Any) -> Formula:
    return surer(one, two) | (~surer(two, one) & earlier(two, one))


def _by_name(one: Any, two: Any) -> Formula:
    return named_before(author(one), author(two))


_ORDERS: tuple[Order, ...] = (earlier, _least_sure, _latest_of_the_surest, _by_name)
"""What mutants go by, whatever the policy."""


def read(words: Mapping[str, Formula]) -> tuple[Definition, ...]:
    """Return words that were read as definitions."""
    return tuple(
        define(name, (i,) if name in ("picks", "wins") else (), words[name], "9.2, 6.1, 6.2.1") for name in words
    )


CLAIMED = define("claimed", (), exists([a], claims(a) & differ(a, asker())), "9.2 step 2, for the claims")
"""An action of another agent stands on the resource."""


def ends(usual: Order, *mutants: Order) -> tuple[Axiom, ...]:
    """Return that some intent is ahead of all others in the usual order, and in each that a mutant goes by."""
    first = Axiom("finitely_many", exists([i], leads(usual)), "some intent is ahead of all others")
    names = ((f"finitely_many_{place}", one) for place, one in enumerate(mutants, 1))
    return (first, *(Axiom(name, exists([i], leads(one)), "as a mutant ranks them") for name, one in names))


PRE_ACTION = Theory.of(
    "markspace_policies",
    asked_before,
    axioms=(
        Axiom("intents_are_ranked", ordered(earlier, i, j, k), "P32"),
        Axiom("agents_are_named", ordered(named_before, a, b, c), "what a mutant goes by"),
        Axiom("the_new_one_is_the_askers", same(author(new()), asker()), "9.2 step 3"),
        Axiom("the_new_one_is_last", forall([i], same(i, new()) | earlier(i, new())), "P32: id_order, own_intents"),
        Axiom("one_intent_each", forall([i, j], same(author(i), author(j)) >> same(i, j)), "own_intents"),
        Axiom("the_asker_is_idle", ~running(asker()), "9.2"),
        Axiom("one_claim", forall([a, b], (claims(a) & claims(b)) >> same(a, b)), "6.3"),
        Axiom("nobody_is_surer_than_the_surer", forall([i, j], surer(i, j) >> ~surer(j, i)), "6.1"),
        *ends(_ahead),
        Axiom("one_policy", ~(by_confidence() & yields()), "7.2"),
    ),
    definitions=(
        CLAIMED,
        define("leads", (i,), leads(_ahead), "6.1, for the claims"),
        *read(answered(REFERENCE)),
    ),
)
FAULTS = Faults(PRE_ACTION, answered)

# Conformance.

PLACES = (
    (Policy.FIRST_WRITER, False),
    (Policy.HIGHEST_CONFIDENCE, False),
    (Policy.YIELD_ALL, False),
    (Policy.HIGHEST_CONFIDENCE, True),
)
"""Policies, and whether the scope defers."""


def view(taken: GuardStep) -> Structure | None:
    """Return a request for the one resource by an idle agent, under any policy; None for any other step."""
    act, config, before, shown = taken.action, taken.config, taken.before, taken.shown
    if act.what is not What.PRE or act.agent not in config.agents or shown.rejected or shown.verdict is None:
        return None
    if config.readings != Readings() or config.meddling or config.resources != (ROOM,) or act.resource != ROOM:
        return None
    others = [(one.agent, one.confidence) for one in before.on(ROOM) if one.agent != act.agent]
    looked_at = [*others, (act.agent, act.confidence)]
    if shown.claimed_by is None:  # the request was written: the model gives its place
        written = [(one.agent, one.confidence) for one in taken.after.on(ROOM)]
        if sorted(written) != sorted(looked_at):
            return None
        looked_at = written
    if len({name for name, _ in looked_at}) != len(looked_at):
        return None
    holder, winner = before.claims[0], shown.winner
    there, ranked = listed(looked_at)
    told = {
        **ranked,
        "claims": [] if holder is None else [holder],
        "running": [who for who, one in zip(config.agents, before.doing, strict=True) if one.phase is Phase.RUNNING],
        "named_before": line(sorted(config.agents)),
        "asked_before": any(one.agent == act.agent for one in before.on(ROOM)),
        "by_confidence": config.policy is Policy.HIGHEST_CONFIDENCE,
        "yields": config.policy is Policy.YIELD_ALL,
        "deferred": config.deferred,
        "found": shown.claimed_by is not None,
        "wins": [] if winner is None else [called(winner.agent)],
        "allowed": shown.verdict is Verdict.ALLOW,
        "blocked": shown.verdict is Verdict.BLOCKED,
        "refused": shown.verdict is Verdict.CONFLICT,
        "asker": act.agent,
        "new": called(act.agent),
    }
    return structure({"Agent": config.agents, "Intent": there}, told)


def view_at_once(taken: GuardStep) -> Structure | None:
    """Return a request where the scope does not defer."""
    return None if taken.config.deferred else view(taken)


_SPREAD = {2: 1, 3: 3}


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield requests under every policy from many states of two agents and every third of three, by any variant."""
    for agents, spread in _SPREAD.items():
        for policy, waits in PLACES:
            for state, way in islice(ways_of(agents, policy, waits, 40 * (agents - 1)).items(), 0, None, spread):
                for agent in way.config.agents:
                    yield end_at(system, way, state, Act(What.PRE, agent, ROOM))


_theorem = partial(
    theorem,
    system="highest_confidence",
    theory=PRE_ACTION,
    view=view,
    samples=samples,
    scope="any number of agents and intents, under every policy",
)
_says = PRE_ACTION.word
_claimed, _allowed, _blocked, _refused = map(_says, ("claimed", "allowed", "blocked", "refused"))
_NOTHING = "no action is in the way"

PRECEDENCE = _theorem(
    claim=guarding.action_precedence_p39,
    sentence="Where another agent's action stands, pre_action answers CONFLICT, whatever the policy, deferred or not.",
    source="P39, 9.2 step 2",
    assumes=_claimed,
    goal=_refused & ~_allowed & ~_blocked,
    mutants=(
        *FAULTS.refuted(faulty.claims_ignored, faulty.claims_hidden_by_intents),
        FAULTS.unseen(faulty.ties_to_the_latest, "no intent is looked at"),
    ),
)

UNCONTESTED = _theorem(
    claim=guarding.uncontested_is_allowed,
    sentence="Without another agent's intent or action the request is allowed at once, unless the scope defers.",
    source="6.1 step 2",
    view=view_at_once,
    assumes=~_claimed & ~deferred() & forall([i], same(author(i), asker())),
    goal=_allowed & ~_blocked & ~_refused,
    mutants=(
        *FAULTS.refuted(faulty.holders_kept_out),
        FAULTS.unseen(faulty.claims_ignored, _NOTHING),
    ),
)

DECIDED = _theorem(
    claim=guarding.policy_decides_as_written,
    sentence="Among several the earliest wins (FIRST_WRITER), the surest and of those the earliest "
    "(HIGHEST_CONFIDENCE), it alone, and its agent alone is allowed; under YIELD_ALL nobody wins and all wait.",
    source="6.1, P11",
    view=view_at_once,
    variables=(i, j),
    assumes=~_says("found") & ~deferred() & exists([k], differ(author(k), asker())),
    goal=conjunction(
        [
            iff(_says("wins", i), _says("leads", i) & ~yields()),
            (_says("wins", i) & _says("wins", j)) >> same(i, j),
            iff(_allowed, _says("leads", new()) & ~yields()),
            iff(_blocked, yields()),
            iff(_refused, ~_allowed & ~_blocked),
        ]
    ),
    needs=("intents_are_ranked",),
    witness=by_confidence() & exists([i], _says("wins", i) & exists([j], earlier(j, i))),
    mutants=(
        *FAULTS.refuted(faulty.last_writer_wins, faulty.name_wins, faulty.least_confident_wins),
        *FAULTS.refuted(faulty.ties_to_the_latest, faulty.yield_all_allows),
        FAULTS.unseen(faulty.claims_ignored, _NOTHING),
    ),
)

TRANSPARENT = _theorem(
    claim=guarding.guard_transparency_p38,
    sentence="Every CONFLICT names the intent that won: false under every policy where an action claims the resource.",
    assumes=_refused,
    goal=exists([i], _says("wins", i)),
    expected=Status.REFUTED,
)

_ENDED = replace(PRE_ACTION, axioms=(*PRE_ACTION.axioms, *ends(_ahead, *_ORDERS)[1:]))
"""With what makes somebody win under mutants as well."""

CAUSED = _theorem(
    theory=_ENDED,
    claim=guarding.refusals_name_their_cause,
    sentence="A CONFLICT names the intent that won or the agent whose action claims the resource; BLOCKED comes under "
    "YIELD_ALL and deferral alone.",
    source="P38 with 9.2 step 2, repaired",
    goal=(_refused >> (_says("found") | exists([i], _says("wins", i)))) & (_blocked >> (yields() | deferred())),
    needs=("finitely_many",),
    witness=by_confidence() & _refused & exists([i], _says("wins", i)),
    mutants=(
        *FAULTS.refuted(faulty.winner_withheld),
        FAULTS.unseen(faulty.claims_ignored, "an intent is named instead"),
    ),
)

# Two requests in states with the same marks.

TWICE = Twice(PRE_ACTION, (name for name in PRE_ACTION.symbols if name != running.name))
view_twice = beside(view, "running", "found", "wins", "allowed", "blocked", "refused")
"""Two requests of one agent, with the same marks on the resource."""


DETERMINED = _theorem(
    claim=guarding.guard_determinism_p36,
    sentence="The same marks, the same request and the same policy, the same answer: whatever tools run meanwhile.",
    source="P36",
    theory=TWICE.theory,
    view=view_twice,
    variables=(i,),
    goal=conjunction([TWICE.alike(name) for name in ("allowed", "blocked", "refused", "found")])
    & TWICE.alike("wins", i),
    witness=yields() & exists([a], running(a)) & ~exists([a], TWICE.second("running", a)),
    mutants=TWICE.mutants(
        *FAULTS.refuted(faulty.running_tools_claim),
        FAULTS.unseen(faulty.yield_all_allows, "the same for the same marks"),
    ),
)
