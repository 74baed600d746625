"""Proof that every Issue ends: a ranking function falls with each tick, for any number of agents, phases and ticks.

The ranking function is the most ticks that can still be needed: those of the phases ahead, plus one, plus the *spare*
ticks of this phase.  In PROPOSE a late agent stays late, so only the fullest timer of the late agents counts.  In
other phases READY lasts one tick and agents may be late in turn, so the spare ticks of all of them add up.  The law of
finite sums is assumed: a sum falls where one part falls and none rises (`sums_fall`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from evenhand.core.system import Step, System
from evenhand.core.trace import Scenario
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.menus import TEXTS, agents_of
from evenhand.model.conviction.mutants import play
from evenhand.model.conviction.step import initial
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.walks import walks
from evenhand.properties.conviction import ticking
from evenhand.properties.conviction.predicates import OPEN, ticks_left
from evenhand.properties.conviction.predicates import done as is_done
from evenhand.smt.arithmetic import at_least, at_most, below, element, minus, number, plus, value_of, zero
from evenhand.smt.logic import Definition, Formula, Function, Sort, conjunction, exists, forall, ite, same, variables
from evenhand.smt.preludes import Faults, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, constant, ones, prop
from evenhand.smt.theory import Axiom, Theory

AGENT = Sort("Agent")
a, b = variables(AGENT, "a b")


assigned, done = relations("assigned done", AGENT)
inside, proposing = relations("inside proposing")
"""The tick comes inside a phase in which agents act; that phase is PROPOSE."""
timer, timer2, room, room2 = numbers("timer timer2 room room2", AGENT)
"""An agent's laggard timer before and after the tick; the ticks it can still miss before the timer is full."""
most, ahead, ahead2, spare, spare2, left, left2, following = numbers(
    "most ahead ahead2 spare spare2 left left2 following"
)
"""MaxThinkTicks; ticks of the phases ahead, spare ticks, ticks that can be needed (before and after); the most ticks of
the next phase."""

late, full = relations("late full", AGENT)
(ends,) = relations("ends")

_next = plus(timer(a), number(1))
_LATE = Definition(late, (a,), assigned(a) & ~done(a), "9.1: who has not completed the phase")
_FULL = Definition(full, (a,), late(a) & at_least(_next, most()), "9.1, 9.3: the timer reaches MaxThinkTicks")
_ENDS = Definition(
    ends, (), forall([a], ~late(a)) | exists([a], full(a)), "9.1, 12.4: all are done, or some timer is full"
)
_counting = inside() & ~ends()


def _rooms(of: Function, rest: Function) -> Formula:
    """Return that the rooms are what the timers of participants leave, at least 0."""
    left_ = minus(most(), plus(of(a), number(1)))
    return forall([a], ite(assigned(a) & at_least(left_, number(0)), same(rest(a), left_), zero(rest(a))))


CLOCK = Theory(
    name="conviction_clock",
    sorts=(AGENT,),
    functions=(most, timer, timer2, room, room2, ahead, ahead2, spare, spare2, left, left2, following),
    relations=(assigned, done, inside, proposing),
    axioms=(
        Axiom("rooms", inside() >> (_rooms(timer, room) & _rooms(timer2, room2)), "5, 9.1: MaxThinkTicks"),
        Axiom(
            "timers_count",
            forall([a], _counting >> ite(late(a), same(timer2(a), _next), same(timer2(a), timer(a)))),
            "9.1: a tick counts for who is late",
        ),
        Axiom(
            "sums_fall",
            (inside() & ~proposing() & forall([a], at_most(room2(a), room(a))))
            >> forall([a], _counting >> at_most(minus(spare2(), spare()), minus(room2(a), room(a)))),
            "of finite sums: where no part rises, the sum falls by as much as any part",
        ),
        Axiom(
            "who_is_late_in_propose_stays_late",
            (_counting & proposing())
            >> (
                forall([a], late(a) >> (at_most(spare(), room(a)) & at_most(spare2(), room2(a))))
                & exists([b], late(b) & same(spare(), room(b)))
            ),
            "6.1, 9.1: a proposal lasts for its phase, so the fullest timer of the others counts",
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
            _counting >> same(ahead2(), ahead()),
            "12: the phases ahead are the same",
        ),
        Axiom(
            "a_phase_is_left_behind",
            (inside() & ends())
            >> (same(plus(ahead2(), following()), ahead()) & at_most(plus(spare2(), number(1)), following())),
            "12, 16.1, 9.1: the next phase is no longer ahead, and takes at most its most, for timers begin anew",
        ),
        Axiom(
            "opening_and_finalizing_count_one",
            ~inside() >> at_most(plus(left2(), number(1)), left()),
            "3.2, 17, 18: a tick opens an Issue, a tick finalizes it",
        ),
    ),
    definitions=(_LATE, _FULL, _ENDS),
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


def view(step: Step[model.Config, model.State, model.Act, model.Shown]) -> Structure | None:
    """Return a tick of the scheduler as a structure; None for any other step."""
    if step.action != model.Tick(model.SCHEDULER) or step.before.phase == model.CLOSED or not step.before.seats:
        return None
    before, later = step.before, step.after
    left_, left2_ = ticks_left(step.config, before), ticks_left(step.config, later)
    spare_, spare2_ = _spare(step, before), _spare(step, later)
    within = before.phase in OPEN
    ended = (before.issue, before.phase, before.turn) != (later.issue, later.phase, later.turn)
    values = {
        "most": step.config.constants.think_ticks,
        "left": left_,
        "left2": left2_,
        "spare": spare_,
        "spare2": spare2_,
        "ahead": left_ - 1 - spare_,
        "ahead2": left2_ - 1 - spare2_,
        "following": left_ - spare_ - (left2_ - spare2_),
    }
    names = {seat.agent: f"agent:{seat.agent}" for seat in before.seats}

    def some(test: Callable[[model.Seat], bool]) -> Rows:
        return ones(names[seat.agent] for seat in before.seats if test(seat))

    functions = {name: constant(n) for name, n in values.items()}
    for name, state in (("timer", before), ("timer2", later)):
        functions[name] = {(names[seat.agent],): element(seat.timer) for seat in state.seats}
    for name, state in (("room", before), ("room2", later)):
        functions[name] = {(names[uid],): element(n) for uid, n in _rooms_of(step, state).items()}
    return Structure(
        {"Agent": tuple(names.values())},
        {
            "assigned": some(lambda seat: seat.assigned),
            "done": some(lambda seat: is_done(step.config, before, seat)),
            "inside": prop(within),
            "proposing": prop(before.phase == model.PROPOSE),
            **({"ends": prop(ended)} if within else {}),
        },
        functions,
    )


def scene(structure: Structure) -> Scenario[model.Config, model.State, model.Act] | None:
    """Return a scenario with agents in FEEDBACK: some done, some late, some with a full timer; None outside a phase.

    MaxThinkTicks is as small as the late agents that still have time allow.
    """
    if not structure.relations["inside"]:
        return None
    rows = structure.relations["assigned"]
    elements = [e for e in structure.universe["Agent"] if (e,) in rows]
    agents = agents_of(len(elements), granted=0)
    said = {agent: e for agent, e in zip(agents, elements, strict=True)}
    ready = [agent for agent, e in said.items() if (e,) in structure.relations["done"]]
    most_ = structure.functions["most"][()]

    def is_full(e: str) -> bool:
        return value_of(structure.functions["timer"][(e,)]) + 1 >= value_of(most_)

    filled = [agent for agent, e in said.items() if agent not in ready and is_full(e)]
    slow = [agent for agent in agents if agent not in ready and agent not in filled]
    think = 2 if slow else 1
    issue = model.Issue("issue_1", tuple(agent.uid for agent in agents), cycles=1)
    config = model.Config(agents, (issue,), model.Constants(think_ticks=think, self_stake=0), TEXTS)
    acts: list[model.Act] = [
        model.Tick(),
        *(model.Propose(agent.uid, agent.credential, None) for agent in agents),
        model.Tick(),
    ]
    if think == 2 and filled:
        acts += [
            *(model.SignalReady(agent.uid, agent.credential) for agent in agents if agent not in filled),
            model.Tick(),
        ]
    acts += [*(model.SignalReady(agent.uid, agent.credential) for agent in ready), model.Tick()]
    return Scenario(config, initial(config)[0], tuple(acts))


_PLACES = (
    {"think": 2, "cycles": 1, "budget": 2},
    {"think": 3, "texts": 0, "rounds": 2, "ready": 1},
    {"think": 1, "cycles": 1, "budget": 2},
    {"think": 2, "agents": 3, "outsiders": 1, "texts": 0, "issues": 2, "rounds": 1},
)


def samples(system: System[Any, Any, Any, Any, Any]) -> Iterator[Any]:
    """Return the ticks of walks with slow and fast clocks."""
    for run in walks(system, _PLACES):
        yield from (step for step in run if isinstance(step.action, model.Tick))


FAULTS = Faults(
    (play.silent_agents_hang_a_phase, CLOCK.means("ends", forall([a], ~late(a)), "only completion ends a phase")),
    (play.every_tick_ends_a_phase, CLOCK.means("ends", ~proposing() | CLOCK.meanings["ends"].body, "whoever is late")),
)

CLOSER = theorem(
    claim=ticking.every_tick_comes_closer,
    sentence="The number of ticks that can still be needed falls with every tick, whatever agents do.",
    source="2.3, 9.1, 9.4, 12, 16.1",
    theory=CLOCK,
    goal=below(left2(), left()),
    needs=("rooms", "timers_count", "sums_fall", "who_is_late_in_propose_stays_late", "needed"),
    witness=inside() & ~proposing() & ~ends() & exists([a], late(a)),
    view=view,
    realise=scene,
    samples=samples,
    scope="any number of agents, Issues, phases and ticks",
    mutants=(
        *FAULTS.refuted(play.silent_agents_hang_a_phase),
        FAULTS.unseen(play.every_tick_ends_a_phase, "a phase that ends too early is left behind all the same"),
    ),
)
