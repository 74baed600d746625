"""No tool is called unless the guard's last answer was ALLOW (P37), for any number of agents and resources.

Under every policy, deferred or not.  The claim remembers to whom the guard said ALLOW, and whether the last call was
right; an agent that the guard has allowed is always one that was told so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evenhand.model.markspace.guard_vocabulary import Config, Phase, Verdict, What
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.acts import AGENT, RESOURCE, a, acted, allowed, at, by, mine, r
from evenhand.proofs.markspace.walks import in_phase, walk
from evenhand.properties.markspace import guarding
from evenhand.properties.markspace.predicates import allowed_agents
from evenhand.smt.logic import (
    TRUE,
    Formula,
    differ,
    exists,
    forall,
    iff,
    ite,
    same,
)
from evenhand.smt.preludes import define, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, ones
from evenhand.smt.theorem import Lemma, Mutation
from evenhand.smt.theory import Theory
from evenhand.smt.transitions.invariant import Invariant, Steps
from evenhand.smt.transitions.machine import Machine, after

(told,) = relations("told", AGENT, RESOURCE)
"""The claim remembers that an agent was told ALLOW on a resource and nothing else since."""
hears, wins = relations("hears wins", AGENT)
"""At a boundary: the agents that are told ALLOW, and those that are then allowed."""
right, asks, refused, calls, abandons, boundary = relations("right asks refused calls abandons boundary")

_MAY_CALL = define("may_call", (), allowed(by(), at()), "9.2: only what was allowed")
may_call = _MAY_CALL.relation


def _becomes(let: Formula, said: Formula, fit: Formula = TRUE) -> Formula:
    """Return who is allowed, what the claim remembers, and whether the step was right."""
    return forall([a, r], iff(after(allowed)(a, r), let) & iff(after(told)(a, r), said)) & iff(after(right)(), fit)


_ASKED = forall([r], ~allowed(by(), r)) & ite(
    refused(),
    _becomes(allowed(a, r), told(a, r) & ~mine),
    _becomes(allowed(a, r) | mine, told(a, r) | mine),
)
_USED = allowed(a, r) & differ(a, by())
_AT_BOUNDARY = forall([a], wins(a) >> hears(a)) & _becomes(
    allowed(a, r) | (wins(a) & same(r, at())), told(a, r) | (hears(a) & same(r, at()))
)
ANSWERS = Machine(
    theory=Theory.of(
        "markspace_answers",
        told,
        right,
        hears,
        wins,
        asks,
        refused,
        calls,
        abandons,
        boundary,
        definitions=(_MAY_CALL,),
    ),
    state=("allowed", "told", "right"),
    inputs=("by", "at", "hears", "wins", "asks", "refused", "calls", "abandons", "boundary"),
    init=right() & forall([a, r], ~allowed(a, r) & ~told(a, r)),
    step=ite(
        asks(),
        _ASKED,
        ite(
            calls(),
            may_call() & _becomes(_USED, told(a, r) & ~mine, told(by(), at())),
            ite(
                abandons(),
                _becomes(_USED, told(a, r) & ~mine),
                ite(boundary(), _AT_BOUNDARY, _becomes(allowed(a, r), told(a, r))),
            ),
        ),
    ),
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
    truths = {
        "asks": done and act.what is What.PRE,
        "refused": shown.verdict in (Verdict.CONFLICT, Verdict.BLOCKED),
        "calls": done and act.what is What.CALL,
        "abandons": done and act.what is What.ABANDON,
        "boundary": not shown.rejected and act.what is What.BOUNDARY,
    }
    memory = _CLAIM.memory(config)
    for earlier in run[:number]:
        memory = _CLAIM.follow(memory, earlier)
    extents: dict[str, Rows] = {}
    for end, state, (fit, said) in (("", step.before, memory), (".after", step.after, _CLAIM.follow(memory, step))):
        extents[f"allowed{end}"] = in_phase(config, state, Phase.ALLOWED)
        extents[f"told{end}"] = frozenset(pair for pair in said if pair[0] in config.agents)
        truths[f"right{end}"] = fit
    moved = zip(config.agents, step.before.doing, step.after.doing, strict=True)
    extents["wins"] = ones(agent for agent, old, new in moved if old.phase is Phase.IDLE and new.phase is Phase.ALLOWED)
    extents["hears"] = ones(allowed_agents(step))
    return acted(config, act.agent, act.resource, truths, extents)


def samples(system: Any) -> Iterator[Steps]:
    """Yield seeded walks of any variant, under FIRST_WRITER and in a scope that defers."""
    for agents, resources, deferred in ((2, 1, False), (3, 2, False), (2, 1, True), (3, 1, True)):
        small = system.at(agents=agents, resources=resources)
        config = replace(next(iter(small.all_configs())), deferred=deferred)
        for draw in range(3):
            yield tuple(walk(small, config, f"answers {agents} {draw}", 30))


ATOMIC = Invariant(
    claim=_CLAIM,
    protocol="markspace",
    system="first_writer",
    machine=ANSWERS,
    always=right(),
    lemmas=(Lemma("who_is_allowed_was_told", forall([a, r], allowed(a, r) >> told(a, r))),),
    witness=exists([a, r], allowed(a, r)) & calls(),
    view=view,
    samples=samples,
    memory=("told", "right"),
    scope="any number of agents and resources, under every policy, deferred or not",
    mutants=(
        Mutation(
            mutant=faulty.tools_run_unasked, definitions=(ANSWERS.theory.means("may_call", TRUE, "without ALLOW"),)
        ),
    ),
)
"""The invariant of answers."""
