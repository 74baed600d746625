"""Theorem: every assigned agent has exactly one proposal after PROPOSE, for any number of agents and Issues."""

from __future__ import annotations

from typing import Any

from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.mutants import play
from evenhand.proofs.conviction.walks import walks
from evenhand.properties.conviction import proposing as about_proposing
from evenhand.properties.conviction.predicates import actor, events
from evenhand.smt.logic import FALSE, TRUE, Definition, Function, Sort, conjunction, exists, forall, iff, same
from evenhand.smt.preludes import relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Lemma, Mutation
from evenhand.smt.transitions.invariant import Invariant, Steps, around
from evenhand.smt.transitions.machine import Machine, Turn, after

AGENT = Sort("Agent")
a = AGENT("a")

assigned, has, there, kicked, joins = relations("assigned has there kicked joins", AGENT)
"""The agents assigned to the open Issue; those that have a proposal; whose proposal exists; the agents kicked out;
those that join."""
proposing, proposed = relations("proposing proposed")
"""The Issue is in PROPOSE; PROPOSE has ended and the Issue has not."""
opens, proposes, ticks, finalizes = relations("opens proposes ticks finalizes")
by = Function("by", (), AGENT)

cleared, done = relations("cleared done", AGENT)
_CLEARED = Definition(cleared, (a,), TRUE, "18.1: only the balance persists")
_DONE = Definition(done, (a,), has(a), "9.1, 6.1: whoever has a proposal has completed PROPOSE")

_substituted = kicked(a) & proposing()
SEATS = Machine.of(
    "conviction_seats",
    (assigned(a), has(a), there(a), proposing(), proposed()),
    Turn(opens(), {proposing: TRUE, assigned: joins(a)}, ~proposing() & ~proposed()),
    Turn(
        proposes(),
        {has: has(a) | same(a, by()), there: there(a) | same(a, by())},
        proposing() & assigned(by()) & ~has(by()),
    ),
    Turn(
        ticks(),
        {
            **{has: has(a) | _substituted, there: there(a) | _substituted},
            **{proposing: after(proposing)(), proposed: after(proposed)()},  # whatever the demands below allow
        },
        conjunction(
            [
                forall([a], (kicked(a) & proposing()) >> (assigned(a) & ~done(a))),
                (proposing() & after(proposed)()) >> forall([a], assigned(a) >> (done(a) | kicked(a))),
                (proposing() & ~after(proposed)()) >> after(proposing)(),
                proposed() >> (after(proposed)() & ~after(proposing)()),
                proposing() | proposed(),
                ~(after(proposing)() & after(proposed)()),
            ]
        ),
    ),
    Turn(
        finalizes(),
        {proposing: FALSE, proposed: FALSE, assigned: FALSE, has: has(a) & ~cleared(a), there: FALSE},
        proposed(),
    ),
    init=conjunction([~proposing(), ~proposed(), forall([a], ~assigned(a) & ~has(a) & ~there(a))]),
    definitions=(_CLEARED, _DONE),
)


def view(run: Steps, number: int) -> Structure | None:
    """Return step `number` of a run as a structure; None where an agent holds another's proposal."""
    step = run[number]
    before, later = step.before, step.after
    uids = [seat.agent for seat in before.seats]
    if any(seat.proposal not in ("", seat.agent) for state in (before, later) for seat in state.seats):
        return None
    if any(one.uid not in uids for state in (before, later) for one in state.proposals):
        return None
    done_ = not step.shown.rejected
    ticking = done_ and isinstance(step.action, model.Tick)

    def seated(state: model.State) -> dict[str, Any]:
        return {
            "assigned": {seat.agent for seat in state.seats if seat.assigned},
            "has": {seat.agent for seat in state.seats if seat.proposal},
            "there": {one.uid for one in state.proposals},
            "proposing": state.phase == model.PROPOSE,
            "proposed": state.phase not in (model.IDLE, model.CLOSED, model.PROPOSE),
        }

    return structure(
        {"Agent": uids},
        {
            "opens": ticking and before.phase == model.IDLE and later.phase == model.PROPOSE,
            "proposes": done_ and isinstance(step.action, model.Propose),
            "ticks": ticking and before.phase not in (model.IDLE, model.FINALIZE),
            "finalizes": ticking and before.phase == model.FINALIZE,
            "kicked": {event.agent for event in events(step.shown, "KickOut")} & {*uids},
            "joins": {seat.agent for seat in later.seats if seat.assigned},
            "by": uid if (uid := actor(step.action)) in uids else uids[0],
            **around(run, number, seated),
        },
    )


_PLACES = (
    {"issues": 2, "texts": 1, "rounds": 1},
    {"issues": 2, "texts": 0, "rounds": 1, "agents": 1, "outsiders": 1},
    {"issues": 2, "texts": 1, "rounds": 1, "agents": 2, "strangers": 1, "hostile": 1},
    {"texts": 1, "think": 2, "cycles": 1},
)


def samples(system: Any) -> tuple[Steps, ...]:
    """Return walks through two Issues, with outsiders, strangers and a slow clock."""
    return walks(system, _PLACES)


_whole = conjunction([forall([a], iff(assigned(a), has(a))), forall([a], iff(assigned(a), there(a)))])

ONE_EACH = Invariant(
    claim=about_proposing.one_proposal_each,
    protocol="conviction",
    system="issue",
    machine=SEATS,
    always=proposed() >> _whole,
    lemmas=(
        Lemma("who_has_takes_part", forall([a], has(a) >> assigned(a))),
        Lemma("who_has_one_has_it_there", forall([a], iff(has(a), there(a)))),
        Lemma("nobody_takes_part_in_nothing", (~proposing() & ~proposed()) >> forall([a], ~assigned(a))),
    ),
    witness=proposed() & exists([a], has(a)),
    view=view,
    samples=samples,
    reach=6,
    scope="any number of agents, Issues and ticks",
    mutants=(
        Mutation(
            mutant=play.cross_issue_queue,
            definitions=(Definition(cleared, (a,), FALSE, "a proposal waits for the next Issue"),),
        ),
    ),
)
