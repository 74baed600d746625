"""No tool is called unless the guard's last answer was ALLOW (P37), for any number of agents and resources.

Under every policy, deferred or not.  The claim remembers to whom the guard said ALLOW, and whether the last call was
right; an agent that the guard has allowed is always one that was told so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.model.markspace.guard_vocabulary import Config, Phase, State, Verdict, What
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.acts import AGENT, RESOURCE, a, acted, allowed, at, by, mine, phases, r
from evenhand.proofs.markspace.stating import invariant
from evenhand.proofs.markspace.walks import walks
from evenhand.properties.markspace import guarding
from evenhand.properties.markspace.predicates import allowed_agents
from evenhand.smt.logic import TRUE, differ, exists, forall, same
from evenhand.smt.preludes import define, mutation, relations
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Lemma
from evenhand.smt.transitions.invariant import Steps, around
from evenhand.smt.transitions.machine import Machine, Turn

(told,) = relations("told", AGENT, RESOURCE)
"""The claim remembers that an agent was told ALLOW on a resource and nothing else since."""
hears, wins = relations("hears wins", AGENT)
"""At a boundary: the agents that are told ALLOW, and those that are then allowed."""
right, asks, refused, calls, abandons, boundary = relations("right asks refused calls abandons boundary")

_MAY_CALL = define("may_call", (), allowed(by(), at()), "9.2: only what was allowed")
_unless = told(a, r) & ~mine
_used = allowed(a, r) & differ(a, by())
_there = same(r, at())
ANSWERS = Machine.of(
    "markspace_answers",
    (allowed(a, r), told(a, r), right()),
    Turn(asks() & refused(), {told: _unless}, forall([r], ~allowed(by(), r))),
    Turn(asks(), {allowed: allowed(a, r) | mine, told: told(a, r) | mine}, forall([r], ~allowed(by(), r))),
    Turn(calls(), {allowed: _used, told: _unless, right: told(by(), at())}, _MAY_CALL.relation()),
    Turn(abandons(), {allowed: _used, told: _unless}),
    Turn(
        boundary(),
        {allowed: allowed(a, r) | (wins(a) & _there), told: told(a, r) | (hears(a) & _there)},
        forall([a], wins(a) >> hears(a)),
    ),
    usual={right: TRUE},
    init=right() & forall([a, r], ~allowed(a, r) & ~told(a, r)),
    definitions=(_MAY_CALL,),
)

_CLAIM = guarding.guard_atomicity_p37


def view(run: Steps, number: int) -> Structure | None:
    """Return step `number` of a run with what the claim remembers; None under other readings."""
    step = run[number]
    config: Config = step.config
    if config.readings != Readings() or config.meddling:
        return None
    act, shown = step.action, step.shown
    done = not shown.rejected and act.agent in config.agents
    moved = zip(config.agents, step.before.doing, step.after.doing, strict=True)

    def remembered(state: State, memory: tuple[bool, frozenset[tuple[str, str]]]) -> dict[str, Any]:
        fit, said = memory
        those = [pair for pair in said if pair[0] in config.agents]
        return {"allowed": phases(config, state)["allowed"], "told": those, "right": fit}

    happens = {
        "asks": done and act.what is What.PRE,
        "refused": shown.verdict in (Verdict.CONFLICT, Verdict.BLOCKED),
        "calls": done and act.what is What.CALL,
        "abandons": done and act.what is What.ABANDON,
        "boundary": not shown.rejected and act.what is What.BOUNDARY,
        "wins": [who for who, old, new in moved if old.phase is Phase.IDLE and new.phase is Phase.ALLOWED],
        "hears": allowed_agents(step),
    }
    return acted(config, act.agent, act.resource, {**around(run, number, remembered, _CLAIM), **happens})


def samples(system: Any) -> Iterator[Steps]:
    """Yield seeded walks of any variant, under FIRST_WRITER and in a scope that defers."""
    yield from walks(system, "answers", 30, (2, 1, 1, 3), (3, 2, 1, 3))
    yield from walks(system, "answers", 30, (2, 1, 1, 3), (3, 1, 1, 3), deferred=True)


ATOMIC = invariant(
    claim=_CLAIM,
    system="first_writer",
    machine=ANSWERS,
    always=right(),
    lemmas=(Lemma("who_is_allowed_was_told", forall([a, r], allowed(a, r) >> told(a, r))),),
    witness=exists([a, r], allowed(a, r)) & calls(),
    view=view,
    samples=samples,
    memory=("told", "right"),
    scope="any number of agents and resources, under every policy, deferred or not",
    mutants=(mutation(ANSWERS.theory, faulty.tools_run_unasked, {"may_call": TRUE}),),
)
"""The invariant of answers."""
