"""One lock from pre_action to post_action excludes: at most one tool call is in flight, for any number of agents.

The reading `guard_atomicity=through_tool_call`; under the default no lock is held between the three steps, and the
search refutes `mutual_exclusion`.  The lock is the guard's and covers every resource.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from evenhand.model.markspace.guard_vocabulary import Config, Doing, Phase
from evenhand.model.markspace.mutants import guarding
from evenhand.proofs.markspace.acts import a, acted, allowed, at, b, by, idle, mine, phases, r, running, s
from evenhand.proofs.markspace.stating import invariant
from evenhand.proofs.markspace.walks import walks
from evenhand.properties.markspace import contesting
from evenhand.smt.logic import TRUE, differ, exists, forall, same
from evenhand.smt.preludes import define, mutation, relations
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Lemma
from evenhand.smt.transitions.invariant import Steps, around
from evenhand.smt.transitions.machine import Machine, Turn

enters, calls, leaves = relations("enters calls leaves")
_FREE = define("free", (), forall([a, r], ~allowed(a, r) & ~running(a, r)), "6.1, 9.2: the guard's lock, as read")
_others = differ(a, by())
LOCK = Machine.of(
    "markspace_lock",
    (allowed(a, r), running(a, r)),
    Turn(enters(), {allowed: allowed(a, r) | mine}, _FREE.relation() & idle),
    Turn(calls(), {allowed: allowed(a, r) & _others, running: running(a, r) | mine}, allowed(by(), at())),
    Turn(leaves(), {allowed: allowed(a, r) & _others, running: running(a, r) & _others}),
    init=forall([a, r], ~allowed(a, r) & ~running(a, r)),
    definitions=(_FREE,),
)


def view(run: Steps, number: int) -> Structure:
    """Return step `number` of a run: which agent enters, calls its tool or leaves, and the phases around it."""
    step = run[number]
    config: Config = step.config
    pairs = zip(config.agents, step.before.doing, step.after.doing, strict=True)
    moved = [(agent, old, new) for agent, old, new in pairs if old != new] or [(config.agents[0], Doing(), Doing())]
    agent, old, new = moved[0]
    told = {
        "enters": new.phase is Phase.ALLOWED,
        "calls": new.phase is Phase.RUNNING,
        "leaves": new.phase is Phase.IDLE is not old.phase,
    }
    return acted(config, agent, new.resource or old.resource, told | around(run, number, partial(phases, config)))


def samples(system: Any) -> Iterator[Steps]:
    """Return seeded walks of any variant: intents soon run out."""
    return walks(system, "lock", 40, (2, 1, 0, 6), (3, 2, 0, 6), (2, 2, 0, 4))


EXCLUSION = invariant(
    claim=contesting.mutual_exclusion,
    name="mutual_exclusion_under_a_lock",
    sentence="Under one lock from pre_action to post_action no two tool calls are in flight on one resource.",
    system="first_writer",
    readings={"guard_atomicity": "through_tool_call"},
    machine=LOCK,
    always=forall([a, b, r], (running(a, r) & running(b, r)) >> same(a, b)),
    lemmas=(
        Lemma(
            "one_is_inside",
            forall([a, b, r, s], ((allowed(a, r) | running(a, r)) & (allowed(b, s) | running(b, s))) >> same(a, b)),
        ),
    ),
    witness=exists([a, r], running(a, r)),
    view=view,
    samples=samples,
    scope="any number of agents and resources",
    mutants=(mutation(LOCK.theory, guarding.lock_not_held, {"free": TRUE}),),
)
