"""Proofs that every Issue ends: a ranking function falls with each tick, for any number of agents, phases and ticks.

The ranking function is the most ticks that can still be needed: those of the phases ahead, plus one, plus the *spare*
ticks of this phase.  In PROPOSE a late agent stays late and its timer is that of all late agents, so one timer counts.
In other phases READY lasts one tick and agents may be late in turn, so the spare ticks of all of them add up.  The law
of finite sums is assumed: a sum falls where one part falls and none rises (`sums_fall`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.core.trace import Lasso, Scenario
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.menus import agents_of, offers
from evenhand.model.conviction.mutants import play
from evenhand.model.conviction.rules import REFERENCE
from evenhand.model.conviction.step import initial, progress
from evenhand.proofs.conviction.rules import AGENT, a, assigned, done, ending, ends, most, proposing, timer
from evenhand.proofs.conviction.single import both, configuration, theorem
from evenhand.proofs.conviction.walks import walks
from evenhand.properties.conviction import ticking
from evenhand.properties.conviction.predicates import OPEN, RunStep, accepted, is_open, longest_issue, ticks_left
from evenhand.properties.conviction.predicates import done as is_done
from evenhand.properties.conviction.predicates import finalizes as does_finalize
from evenhand.smt.arithmetic import at_least, at_most, below, minus, number, plus, zero
from evenhand.smt.ends import End, Ends, ends_of
from evenhand.smt.logic import (
    TRUE,
    Definition,
    Formula,
    Function,
    Relation,
    Term,
    conjunction,
    exists,
    forall,
    ite,
    same,
)
from evenhand.smt.preludes import define, numbers, relations
from evenhand.smt.ranking import Ranking
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Lemma, Mutation
from evenhand.smt.theory import Axiom, Theory
from evenhand.smt.transitions.invariant import Invariant, Steps, around
from evenhand.smt.transitions.machine import Machine, Turn
from evenhand.source.rules import Faults

b = AGENT("b")


(done2,) = relations("done2", AGENT)
ticks, idle, inside, offered, offered2, closed2 = relations("ticks idle inside offered offered2 closed2")
"""The step is a tick of the scheduler; no Issue is open; agents act in this phase; it is PROPOSE; a tick is on offer
before and after; every Issue is over after the step."""
timer2, room, room2 = numbers("timer2 room room2", AGENT)
"""An agent's laggard timer before and after the step; the ticks it can still miss before the timer is full."""
ahead, ahead2, spare, spare2, left, left2, following = numbers("ahead ahead2 spare spare2 left left2 following")
"""MaxThinkTicks; ticks of the phases ahead, spare ticks, ticks that can be needed (before and after); the most ticks of
the next phase."""

late, late2 = relations("late late2", AGENT)

_next = plus(timer(a), number(1))
_LATE = Definition(late, (a,), assigned(a) & ~done(a), "9.1: who has not completed the phase")
_LATE2 = Definition(late2, (a,), assigned(a) & ~done2(a), "9.1: likewise, after a step that does not end the phase")
_KICKED, _ENDS = (
    define(name, (a,)[: name != "ends"], body, "9.1, 9.3, 12.4") for name, body in ending(REFERENCE).items()
)
_OPENS = define("opens", (), ticks() & idle(), "3.2: a tick opens the next Issue")
_FINALIZES = define("finalizes", (), ticks() & ~idle() & ~inside(), "17, 18: a tick after the last phase")
_MOVES_ON = define("moves_on", (), ticks() & (~inside() | ends()), "9.1, 12.4: ticks alone change the phase")
opens, finalizes, moves_on = (one.relation for one in (_OPENS, _FINALIZES, _MOVES_ON))
_OWES2 = define("open2", (), opens() | (~idle() & ~finalizes()), "3.2, 18: an Issue is open until it is finalized")
open2 = _OWES2.relation

_counting = inside() & ticks() & ~ends()
_stays = inside() & ~(ticks() & ends())


def _rooms(of: Function, rest: Function) -> Formula:
    """Return that the rooms are what the timers of participants leave, at least 0."""
    left_ = minus(most(), plus(of(a), number(1)))
    return forall([a], ite(assigned(a) & at_least(left_, number(0)), same(rest(a), left_), zero(rest(a))))


def _alike(of: Relation, rest: Function, total: Function) -> Formula:
    """Return that each late agent leaves the spare ticks; without one there are none."""
    return forall([a], of(a) >> same(total(), rest(a))) & (forall([a], ~of(a)) >> zero(total()))


CLOCK = Theory.of(
    "conviction_clock",
    axioms=(
        Axiom("an_idle_clock_has_no_phase", ~(idle() & inside()), "3.2, 12"),
        Axiom("rooms", inside() >> (_rooms(timer, room) & _rooms(timer2, room2)), "5, 9.1: MaxThinkTicks"),
        Axiom(
            "timers_count",
            forall([a], _counting >> ite(late(a), same(timer2(a), _next), same(timer2(a), timer(a)))),
            "9.1: a tick counts for who is late",
        ),
        Axiom(
            "agents_move_no_timer",
            forall([a], (inside() & ~ticks()) >> same(timer2(a), timer(a))),
            "9.1: timers count ticks alone",
        ),
        Axiom(
            "sums_fall",
            (inside() & ~proposing() & forall([a], at_most(room2(a), room(a))))
            >> forall([a], _stays >> at_most(minus(spare2(), spare()), minus(room2(a), room(a)))),
            "of finite sums: where no part rises, the sum falls by as much as any part",
        ),
        Axiom(
            "late_proposers_are_alike",
            (inside() & proposing()) >> (_alike(late, room, spare) & (_stays >> _alike(late2, room2, spare2))),
            "6.1, 9.1: who has no proposal has missed every tick of the phase",
        ),
        Axiom(
            "a_proposal_lasts",
            forall([a], (_stays & proposing() & late2(a)) >> late(a)),
            "6.1: who has proposed is done for the phase",
        ),
        Axiom("nothing_is_below_zero", conjunction(at_least(one(), number(0)) for one in (spare, spare2)), "5"),
        Axiom(
            "needed",
            inside()
            >> (same(left(), plus(ahead(), number(1), spare())) & same(left2(), plus(ahead2(), number(1), spare2()))),
            "12, 16.1: the phases ahead, this tick, and what is spare",
        ),
        Axiom(
            "a_phase_that_goes_on_is_not_behind",
            _stays >> same(ahead2(), ahead()),
            "12: the phases ahead are the same",
        ),
        Axiom(
            "a_phase_is_left_behind",
            (inside() & ticks() & ends())
            >> (same(plus(ahead2(), following()), ahead()) & at_most(plus(spare2(), number(1)), following())),
            "12, 16.1, 9.1: the next phase is no longer ahead, and takes at most its most, for timers begin anew",
        ),
        Axiom(
            "opening_and_finalizing_count_one",
            (~inside() & ticks()) >> at_most(plus(left2(), number(1)), left()),
            "3.2, 17, 18: a tick opens an Issue, a tick finalizes it",
        ),
        Axiom("agents_neither_open_nor_finalize", (~inside() & ~ticks()) >> same(left2(), left()), "3.2, 17: ticks do"),
        Axiom("ticks_are_on_offer", offered() & (closed2() | offered2()), "2.3, 9.4: the scheduler's, until the end"),
        Axiom("the_last_issue_is_finalized", closed2() >> (finalizes() & ~open2()), "18: before all are over"),
    ),
    definitions=(_LATE, _LATE2, _KICKED, _ENDS, _OPENS, _FINALIZES, _MOVES_ON, _OWES2),
)


def _rooms_of(step: Any, state: model.State) -> dict[str, int]:
    most_ = step.config.constants.think_ticks
    return {seat.agent: max(most_ - 1 - seat.timer, 0) if seat.assigned else 0 for seat in state.seats}


def _spare(step: Any, state: model.State) -> int:
    """Return the spare ticks of a state: the sum over the agents, but in PROPOSE the least of them."""
    if state.phase not in OPEN:
        return 0
    rooms = _rooms_of(step, state)
    if state.phase == model.PROPOSE:
        return min((rooms[s.agent] for s in state.seats if s.assigned and not s.proposal), default=0)
    return sum(rooms.values())


def view(step: RunStep) -> Structure | None:
    """Return a step before the end as a structure; None for Issues without their mandatory fields."""
    before, later, issues = step.before, step.after, step.config.issues
    if before.phase == model.CLOSED or not before.seats:
        return None
    if any(issue.problem is None or issue.background is None for issue in issues):
        return None
    within, ticking_ = before.phase in OPEN, step.action == model.Tick(model.SCHEDULER)

    def doing(state: model.State) -> dict[str, Any]:
        left_, spare_ = ticks_left(step.config, state), _spare(step, state)
        return {
            **{"left": left_, "spare": spare_, "ahead": left_ - 1 - spare_},
            "done": {seat.agent for seat in state.seats if is_done(step.config, state, seat)},
            "timer": {seat.agent: seat.timer for seat in state.seats},
            "room": _rooms_of(step, state),
            "offered": any(act == model.Tick() for act in offers(step.config, state, ready=True)),
            "closed": state.phase == model.CLOSED,
            "open": is_open(step.config, state),
        }

    told = both(step, doing, "", "2")
    return structure(
        {"Agent": [seat.agent for seat in before.seats]},
        {
            **told,
            **{"most": step.config.constants.think_ticks, "following": told["ahead"] - told["ahead2"]},
            "assigned": {seat.agent for seat in before.seats if seat.assigned},
            "ticks": ticking_,
            "idle": before.phase == model.IDLE,
            "inside": within,
            "proposing": before.phase == model.PROPOSE,
            "opens": before.phase == model.IDLE and later.phase == model.PROPOSE,
            "finalizes": does_finalize(step),
            "moves_on": progress(step),
            **({"ends": progress(step)} if within and ticking_ else {}),
        },
    )


def _company(found: Structure) -> tuple[tuple[model.Agent, ...], list[model.Agent]]:
    """Return the participants of a structure: all, and those that are done."""
    elements = [e for e in found.universe["Agent"] if (e,) in found.relations["assigned"]]
    agents = agents_of(max(len(elements), 1), granted=0)
    done_ = found.relations["done"]
    return agents, [agent for e, agent in zip(elements, agents, strict=False) if (e,) in done_]


_QUICK = model.Constants(think_ticks=1, self_stake=0)


def hanging(found: Structure) -> Lasso[model.Config, model.State, model.Act] | None:
    """Return a run that stays in a phase for ever while the agents that are done say so; None outside a phase."""
    if not found.relations["inside"]:
        return None
    agents, ready = _company(found)
    config = configuration(agents, _QUICK)
    again: tuple[model.Act, ...] = (*(model.SignalReady(agent.uid, agent.credential) for agent in ready), model.Tick())
    proposals = [model.Propose(agent.uid, agent.credential, None) for agent in agents]
    stem: tuple[model.Act, ...] = (model.Tick(), *proposals, model.Tick(), *again)
    return Lasso(config, initial(config)[0], stem, again)


def stuck(found: Structure) -> Scenario[model.Config, model.State, model.Act] | None:
    """Return a run to the first phase of an Issue; None without a phase."""
    if not found.relations["inside"]:
        return None
    config = replace(configuration(_company(found)[0], _QUICK), texts=())
    return Scenario(config, initial(config)[0], (model.Tick(),))


_PLACES = (
    {"think": 2, "cycles": 1, "budget": 2},
    {"think": 3, "texts": 0, "rounds": 2, "ready": 1},
    {"think": 1, "cycles": 1, "budget": 2},
    {"think": 2, "agents": 3, "outsiders": 1, "texts": 0, "issues": 2, "rounds": 1},
)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Return the steps of walks with slow and fast clocks: every tick, and every third act of an agent."""
    for run in walks(system, _PLACES):
        found = enumerate(ends_of(run))
        yield from (end for place, end in found if isinstance(end[1].action, model.Tick) or place % 3 == 0)


FAULTS = Faults(CLOCK, ending)

_falls, _stands = below(left2(), left()), at_most(left2(), left())
_NEEDS = ("rooms", "timers_count", "sums_fall", "late_proposers_are_alike", "a_proposal_lasts", "needed")
_clock = partial(
    theorem,
    theory=CLOCK,
    view=view,
    samples=samples,
    scope="any number of agents, Issues with their mandatory fields, phases and ticks",
)
_TOO_EARLY = FAULTS.unseen(play.every_tick_ends_a_phase, "a phase that ends too early is left behind all the same")
_WAITING = inside() & ~proposing() & ticks() & ~ends() & exists([a], late(a))

CLOSER = _clock(
    claim=ticking.every_tick_comes_closer,
    assumes=ticks(),
    goal=_falls,
    needs=_NEEDS,
    witness=_WAITING,
    mutants=(*FAULTS.refuted(play.silent_agents_hang_a_phase, play.no_tick_ends_a_phase), _TOO_EARLY),
)

# Whole runs: the same number ranks them, and ticks help.

_RANKING = Ranking(rank=ticks_left, owes=is_open, helps=lambda _config, _state: "ticks")
_run = partial(_clock, realise=hanging, ranking=_RANKING, needs=_NEEDS, witness=_WAITING)

FINALIZED = _run(
    claim=ticking.every_issue_is_finalized,
    assumes=(~idle() | opens()) & ~finalizes(),
    goal=open2() & offered2() & (~idle() >> (_stands & (ticks() >> _falls))),
    needs=(*_NEEDS, "agents_move_no_timer", "ticks_are_on_offer", "the_last_issue_is_finalized"),
    mutants=(*FAULTS.refuted(play.silent_agents_hang_a_phase, play.no_tick_ends_a_phase), _TOO_EARLY),
)

NO_LIVELOCK = _run(
    claim=ticking.no_phase_goes_on_for_ever,
    assumes=~moves_on(),
    goal=_stands & (ticks() >> _falls),
    needs=(*_NEEDS, "agents_move_no_timer"),
    mutants=(
        *FAULTS.refuted(play.silent_agents_hang_a_phase, play.no_tick_ends_a_phase),
        FAULTS.unseen(play.every_tick_ends_a_phase, "a phase that ends too early goes on all the less"),
    ),
)

NO_DEADLOCK = _run(
    claim=ticking.an_issue_can_be_finalized,
    realise=stuck,
    ranking=Ranking(rank=ticks_left, helps=lambda _config, _state: model.Tick()),
    goal=offered() & (closed2() | offered2()) & ((ticks() & ~finalizes()) >> (~closed2() & _falls)),
    needs=(*_NEEDS, "ticks_are_on_offer", "the_last_issue_is_finalized"),
    mutants=(*FAULTS.refuted(play.no_tick_ends_a_phase), _TOO_EARLY),
)

# How many: the ticks so far and those that can still be needed never exceed the bound together, because a tick of the
# open Issue adds one to the former and takes at least one from the latter, as CLOSER says.

count, bound, needed, spent, fresh = numbers("count bound needed spent fresh")
"""Ticks since the Issue was opened; the most there may be; those that can still be needed.  What a step takes from the
last, and the bound of the Issue that it opens."""
open_, begins, counted, closes = relations("open begins counted closes")
"""An Issue is open; the step opens one; it is a tick of the open one; it finalizes it."""

_COSTS = define("costs", (), at_least(spent(), number(1)), "9.1, 12: a tick takes one from what can be needed")
costs = _COSTS.relation


def _lessens(end: Term) -> Formula:
    return conjunction([same(end, minus(needed(), spent())), at_least(end, number(0)), at_least(spent(), number(0))])


def _counts(end: Term) -> Formula:
    return ite(at_most(count(), bound()), same(end, plus(count(), number(1))), same(end, count()))


def _fits(end: Term) -> Formula:
    return at_most(plus(end, number(1)), fresh()) & at_least(end, number(0))


TICKS = Machine.of(
    "conviction_ticks",
    (count(), bound(), needed(), open_()),
    Turn(begins(), {open_: TRUE, count: number(1), bound: fresh(), needed: _fits}, ~open_()),
    Turn(counted(), {open_: ~closes(), count: _counts}, open_() & costs()),
    usual={needed: _lessens},
    init=conjunction([~open_(), zero(count()), at_least(bound(), number(0)), zero(needed())]),
    definitions=(_COSTS,),
)
"""Ticks alone are counted; agents never put the end off."""

_CLAIM = ticking.an_issue_takes_at_most_so_many_ticks


def _needed(config: model.Config, state: model.State) -> int:
    """Return the ticks that the open Issue can still need; 0 without one."""
    if not is_open(config, state):
        return 0
    return ticks_left(config, state) - sum(longest_issue(config, one) for one in config.issues[state.issue + 1 :])


def view_count(run: Steps, number: int) -> Structure | None:
    """Return step `number` of a run as a structure, with what the claim remembers; None where no Issue is given."""
    step = run[number]
    config: model.Config = step.config
    before: model.State = step.before
    if not config.issues:
        return None
    opened = accepted(step, model.Tick) and before.phase == model.IDLE

    def tally(state: model.State, memory: tuple[int, int]) -> dict[str, Any]:
        so_far, issue = memory
        most = longest_issue(config, config.issues[issue])
        return {"count": so_far, "bound": most, "needed": _needed(config, state), "open": is_open(config, state)}

    return structure(
        {},
        {
            "spent": 0 if opened else _needed(config, before) - _needed(config, step.after),
            "fresh": longest_issue(config, config.issues[min(before.issue, len(config.issues) - 1)]),
            "begins": opened,
            "counted": accepted(step, model.Tick) and not opened,
            "closes": does_finalize(step),
            **around(run, number, tally, _CLAIM),
        },
    )


BOUNDED_TICKS = Invariant(
    claim=_CLAIM,
    protocol="conviction",
    system="issue",
    machine=TICKS,
    always=at_most(count(), bound()),
    lemmas=(
        Lemma("nothing_needed_is_below_zero", at_least(needed(), number(0))),
        Lemma("so_far_and_still", open_() >> at_most(plus(count(), needed()), bound())),
    ),
    witness=open_() & same(count(), number(2)),
    view=view_count,
    samples=walks,
    memory=("count", "bound"),
    scope="any number of agents, Issues with their mandatory fields, phases and ticks",
    mutants=tuple(
        Mutation(mutant=mutant, definitions=(TICKS.theory.means("costs", TRUE, because),))
        for mutant, because in (
            (play.silent_agents_hang_a_phase, "while somebody is silent nothing comes closer"),
            (play.no_tick_ends_a_phase, "nothing comes closer"),
        )
    ),
)
"""The invariant of ticks."""
