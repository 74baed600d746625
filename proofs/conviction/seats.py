"""Theorem: every assigned agent has exactly one proposal after PROPOSE, for any number of agents and Issues."""

from __future__ import annotations

from typing import Any

from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.mutants import play
from evenhand.proofs.conviction.walks import walks
from evenhand.properties.conviction import proposing as about_proposing
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    Definition,
    Formula,
    Function,
    Sort,
    conjunction,
    exists,
    forall,
    iff,
    ite,
    same,
)
from evenhand.smt.preludes import relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import constant, ones, prop, props
from evenhand.smt.theorem import Lemma, Mutation
from evenhand.smt.theory import Theory
from evenhand.smt.transitions.invariant import Invariant, Steps
from evenhand.smt.transitions.machine import Machine, after

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

_still = iff(after(proposing)(), proposing()) & iff(after(proposed)(), proposed())


def _next(assigned_: Formula, has_: Formula, there_: Formula) -> Formula:
    """Return the three relations of each agent after a step."""
    told = ((assigned, assigned_), (has, has_), (there, there_))
    return conjunction(forall([a], iff(after(one)(a), body)) for one, body in told)


_same = _next(assigned(a), has(a), there(a)) & _still
_OPENS = conjunction(
    [~proposing() & ~proposed() & after(proposing)() & ~after(proposed)(), _next(joins(a), has(a), there(a))]
)
_PROPOSES = conjunction(
    [
        proposing() & assigned(by()) & ~has(by()) & _still,
        _next(assigned(a), has(a) | same(a, by()), there(a) | same(a, by())),
    ]
)
_substituted = kicked(a) & proposing()
_TICKS = conjunction(
    [
        forall([a], (kicked(a) & proposing()) >> (assigned(a) & ~done(a))),
        _next(assigned(a), has(a) | _substituted, there(a) | _substituted),
        (proposing() & after(proposed)()) >> forall([a], assigned(a) >> (done(a) | kicked(a))),
        (proposing() & ~after(proposed)()) >> after(proposing)(),
        proposed() >> (after(proposed)() & ~after(proposing)()),
        proposing() | proposed(),
        ~(after(proposing)() & after(proposed)()),
    ]
)
_FINALIZES = conjunction(
    [proposed() & ~after(proposing)() & ~after(proposed)(), _next(FALSE, has(a) & ~cleared(a), FALSE)]
)

SEATS = Machine(
    theory=Theory.of(
        "conviction_seats",
        by,
        assigned,
        there,
        proposing,
        proposed,
        opens,
        proposes,
        ticks,
        finalizes,
        kicked,
        joins,
        definitions=(_CLEARED, _DONE),
    ),
    state=("assigned", "has", "there", "proposing", "proposed"),
    inputs=("by", "opens", "proposes", "ticks", "finalizes", "kicked", "joins"),
    init=conjunction([~proposing(), ~proposed(), forall([a], ~assigned(a) & ~has(a) & ~there(a))]),
    step=ite(opens(), _OPENS, ite(proposes(), _PROPOSES, ite(ticks(), _TICKS, ite(finalizes(), _FINALIZES, _same)))),
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
    named = {uid: f"agent:{uid}" for uid in uids}
    done_ = not step.shown.rejected
    ticking = done_ and isinstance(step.action, model.Tick)
    opened = ticking and before.phase == model.IDLE and later.phase == model.PROPOSE
    truths = {
        "opens": opened,
        "proposes": done_ and isinstance(step.action, model.Propose),
        "ticks": ticking and before.phase not in (model.IDLE, model.FINALIZE),
        "finalizes": ticking and before.phase == model.FINALIZE,
    }
    relations_ = props(truths)
    kicks = {event.agent for event in step.shown.events if event.kind == "KickOut"}
    relations_["kicked"] = ones(named[uid] for uid in kicks if uid in named)
    relations_["joins"] = ones(named[seat.agent] for seat in later.seats if seat.assigned)
    for end, state in (("", before), (".after", later)):
        relations_[f"assigned{end}"] = ones(named[seat.agent] for seat in state.seats if seat.assigned)
        relations_[f"has{end}"] = ones(named[seat.agent] for seat in state.seats if seat.proposal)
        relations_[f"there{end}"] = ones(named[one.uid] for one in state.proposals)
        relations_[f"proposing{end}"] = prop(state.phase == model.PROPOSE)
        relations_[f"proposed{end}"] = prop(state.phase not in (model.IDLE, model.CLOSED, model.PROPOSE))
    actor = getattr(step.action, "agent", uids[0])
    functions = {"by": constant(named.get(actor, named[uids[0]]))}
    return Structure({"Agent": tuple(named.values())}, relations_, functions)


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
