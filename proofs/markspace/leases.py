"""No two tool calls that intents still cover are in flight on one resource, for any number of agents (P4, 6.1, 9.2).

Under FIRST_WRITER without a lock: an agent is allowed only where no other agent's intent lives, because its own is the
newest.  So of the agents that are allowed or whose tools run, one at most has an intent that lives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.model.markspace.guard_vocabulary import Config, Policy, State, Verdict, What
from evenhand.model.markspace.mutants import guarding
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.acts import AGENT, RESOURCE, a, acted, allowed, at, b, by, idle, mine, phases, r, running
from evenhand.proofs.markspace.stating import invariant
from evenhand.proofs.markspace.walks import walks
from evenhand.properties.markspace import contesting
from evenhand.smt.logic import TRUE, Formula, conjunction, differ, exists, forall, same
from evenhand.smt.preludes import define, mutation, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows
from evenhand.smt.theorem import Lemma
from evenhand.smt.transitions.invariant import Steps, around
from evenhand.smt.transitions.machine import Machine, Turn

lives, survives = relations("lives survives", AGENT, RESOURCE)
"""The intent of an agent on a resource lives, and outlives a second."""
asks, claimed, calls, leaves, reports, passes = relations("asks claimed calls leaves reports passes")
"""The step: a request, where another agent's action claims the resource or none does; a tool is called; it ends (and is
reported) or is given up; a second passes."""

_ALONE = define(
    "alone", (), forall([a], differ(a, by()) >> ~lives(a, at())), "6.1: of several the earliest intent wins"
)
_MAY_CALL = define("may_call", (), allowed(by(), at()), "9.2: only what was allowed")
_others = differ(a, by())
_asked = mine & ~claimed()

LEASES = Machine.of(
    "markspace_leases",
    (allowed(a, r), running(a, r), lives(a, r)),
    Turn(asks(), {allowed: allowed(a, r) | (_asked & _ALONE.relation()), lives: lives(a, r) | _asked}, idle),
    Turn(calls(), {allowed: allowed(a, r) & _others, running: running(a, r) | mine}, _MAY_CALL.relation()),
    Turn(
        leaves(),
        {
            allowed: allowed(a, r) & _others,
            running: running(a, r) & _others,
            lives: lives(a, r) & ~(reports() & mine),
        },
    ),
    Turn(passes(), {lives: lives(a, r) & survives(a, r)}),
    init=forall([a, r], conjunction([~allowed(a, r), ~running(a, r), ~lives(a, r)])),
    definitions=(_ALONE, _MAY_CALL),
)


def view(run: Steps, number: int) -> Structure | None:
    """Return step `number` of a run under FIRST_WRITER; None under other policies and readings."""
    step = run[number]
    config: Config = step.config
    if config.readings != Readings() or config.policy is not Policy.FIRST_WRITER or config.deferred or config.meddling:
        return None
    act, shown = step.action, step.shown
    done = not shown.rejected and act.agent in config.agents

    def told(state: State) -> dict[str, Rows]:
        return {**phases(config, state), "lives": frozenset((one.agent, one.resource) for one in state.intents)}

    both = around(run, number, told)
    truths = {
        "asks": done and shown.verdict in (Verdict.ALLOW, Verdict.CONFLICT),
        "claimed": shown.claimed_by is not None,
        "calls": done and act.what is What.CALL,
        "leaves": done and act.what in (What.ABANDON, What.POST),
        "reports": done and act.what is What.POST,
        "passes": act.what is What.TICK,
        "survives": both["lives.after"],
    }
    return acted(config, act.agent, act.resource, {**both, **truths})


def samples(system: Any) -> Iterator[Steps]:
    """Return seeded walks of any variant."""
    return walks(system, "leases", 40, (2, 1, 1, 12), (2, 1, 3, 12), (3, 1, 1, 4), (2, 2, 0, 4))


def _busy(one: Any) -> Formula:
    return (allowed(one, r) | running(one, r)) & lives(one, r)


LEASED = invariant(
    claim=contesting.exclusion_within_the_lease,
    system="first_writer",
    machine=LEASES,
    always=forall([a, b, r], conjunction([running(a, r), lives(a, r), running(b, r), lives(b, r)]) >> same(a, b)),
    lemmas=(Lemma("one_is_leased", forall([a, b, r], (_busy(a) & _busy(b)) >> same(a, b))),),
    witness=exists([a, r], running(a, r) & lives(a, r)),
    view=view,
    samples=samples,
    scope="any number of agents and resources, under FIRST_WRITER",
    mutants=(
        mutation(LEASES.theory, guarding.last_writer_wins, {"alone": TRUE}),
        mutation(LEASES.theory, guarding.tools_run_unasked, {"may_call": TRUE}),
    ),
)
"""The invariant of leases."""
