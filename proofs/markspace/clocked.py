"""A scheduler with a clock, for any number of agents, seconds and intervals (§14.2): two quotients of its states, and
what lies between two activations (P56).

Each map is a functional bisimulation: instants counted from now, and last activations no farther back than the longest
interval.  The theorem compares one step of a state with the same step of its image: the same agents are activated, and
both successors have one image.  It does not say that both states offer the same actions; the menu depends on the
configuration alone where time has no end.  Each theorem licenses its own map.

Of P56 the claim counts the seconds since an activation by a clock of its own, which stops at the longest interval on
offer; the scheduler remembers the instant of the activation.  The invariant of both clocks: the claim's shows the time
that has gone by since the instant, up to where it stops, and both know the same intervals.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyScenario, Scenario
from evenhand.model.markspace.clocked_vocabulary import ClockConfig, ClockState, ClockStep
from evenhand.model.markspace.composing_vocabulary import LONGEST, Activate, Update, Wait
from evenhand.model.markspace.mutants import layers
from evenhand.proofs.markspace.stating import invariant, theorem
from evenhand.properties.markspace import clocked, composing
from evenhand.smt.arithmetic import at_least, at_most, below, minus, number, plus, zero
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import TRUE, Formula, Sort, Term, conjunction, exists, forall, iff, ite, same, variables
from evenhand.smt.preludes import Faults, Twice, define, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Lemma
from evenhand.smt.theory import Axiom, Theory
from evenhand.smt.transitions.invariant import Steps, around
from evenhand.smt.transitions.machine import Changes, Machine, Turn, after, stepping

AGENT = Sort("Agent")
(a,) = variables(AGENT, "a")
waits, activates, updates, gives = relations("waits activates updates gives")
"""The kind of action; whether an update gives an interval (else it takes it away)."""
named, scheduled, ran = relations("named scheduled ran", AGENT)
"""The agent that an update names; the agents with an interval, and those ever activated."""
now, given, longest = numbers("now given longest")
last, interval = numbers("last interval", AGENT)
SHARED = ("waits", "activates", "updates", "gives", "named", "given", "longest")
"""Symbols that a state and its image share: the action, and the configuration."""


def _activated(due: Formula) -> Formula:
    return activates() & scheduled(a) & (~ran(a) | due)


_AGE = minus(now(), last(a))
(activated,) = relations("activated", AGENT)
_ACTIVATED = define("activated", (a,), _activated(at_least(_AGE, interval(a))), "14.2: last + interval <= now")


_STATE = (now(), last(a), interval(a), scheduled(a), ran(a))
_WAITS = Turn(waits(), {now: plus(now(), number(1))})
_ACTIVATES = Turn(activates(), {ran: ran(a) | activated(a), last: (activated(a), now())})
_UPDATES = Turn(updates(), {scheduled: (named(a), gives()), interval: (named(a), given())})
CLOCK = Theory.of(
    "markspace_clock",
    axioms=(
        Axiom(
            "one_thing_at_a_time",
            ~(waits() & activates()) & ~(waits() & updates()) & ~(activates() & updates()),
            "14.2",
        ),
        Axiom("one_agent_is_named", forall([a], named(a) >> updates()), "14.2"),
        Axiom("a_step", stepping(_STATE, (_WAITS, _ACTIVATES, _UPDATES)), "14.2: an update keeps the last activation"),
        Axiom("intervals_are_positive", forall([a], scheduled(a) >> below(number(0), interval(a))), "14.2"),
        Axiom(
            "intervals_on_offer",
            forall([a], scheduled(a) >> at_most(interval(a), longest()))
            & (gives() >> (at_most(given(), longest()) & below(number(0), given()))),
            "the longest interval on offer",
        ),
    ),
    definitions=(_ACTIVATED,),
)
_FAULTS = Faults.of(
    CLOCK,
    {
        layers.due_by_the_time: {"activated": _activated(at_least(now(), interval(a)))},
        layers.due_on_the_second_alone: {"activated": _activated(same(_AGE, interval(a)))},
    },
)
_TWICE = Twice(CLOCK, SHARED)
_now2, _last2 = map(_TWICE.function, (now, last))
_KEPT = Axiom(
    "the_rest_is_as_it_was",
    forall(
        [a],
        conjunction(
            [
                iff(_TWICE.second("scheduled", a), scheduled(a)),
                same(_TWICE.function(interval)(a), interval(a)),
                iff(_TWICE.second("ran", a), ran(a)),
            ]
        ),
    ),
    "the map changes instants alone",
)
_BEGINS = Axiom(
    "time_has_begun",
    at_least(now(), number(0)) & forall([a], ran(a) >> (at_least(last(a), number(0)) & at_most(last(a), now()))),
    "14.2: nobody is activated before the start, or later than now",
)


def _image(name: str, formula: Formula, source: str) -> Theory:
    """Return a theory of a step and the same step of the image that the formula describes."""
    return _TWICE.extended(f"{CLOCK.name}_{name}", _KEPT, _BEGINS, Axiom(name, formula, source))


SHIFTED = _image(
    "counted_from_now",
    zero(_now2()) & forall([a], ran(a) >> same(_last2(a), minus(last(a), now()))),
    "now is 0, and every instant so much less",
)
SATURATED = _image(
    "no_older_than_the_longest",
    same(_now2(), now())
    & forall(
        [a],
        ran(a) >> ite(at_least(_AGE, longest()), same(_last2(a), minus(now(), longest())), same(_last2(a), last(a))),
    ),
    "what lies farther back than the longest interval lies as far back as that",
)

_then_now, _then_last = after(now)(), after(last)(a)
_then_now2, _then_last2 = _TWICE.function(after(now))(), _TWICE.function(after(last))(a)
_then_age, _then_age2 = minus(_then_now, _then_last), minus(_then_now2, _then_last2)
_old, _old2 = at_least(_then_age, longest()), at_least(_then_age2, longest())


def _goal(instants: Formula) -> Formula:
    """Return that the same agents are activated, and that the states after the step have one image."""
    return conjunction(
        [
            _TWICE.alike("activated", a),
            _TWICE.alike("ran.after", a),
            _TWICE.alike("scheduled.after", a),
            after(scheduled)(a) >> same(after(interval)(a), _TWICE.function(after(interval))(a)),
            after(ran)(a) >> instants,
        ]
    )


# Conformance.

Case = tuple[Any, ClockStep, ClockStep | None]


def view(case: Case) -> Structure | None:
    """Return a step and the step of its image as one structure; None for actions without effect on time."""
    _, step, other = case
    act, config = step.action, step.config
    if other is None or not isinstance(act, Activate | Update | Wait):
        return None
    refused = bool(step.shown.refused)
    asked = act if isinstance(act, Update) and not refused else None
    told: dict[str, Any] = {
        "waits": isinstance(act, Wait),
        "activates": isinstance(act, Activate),
        "updates": asked is not None,
        "gives": asked is not None and asked.interval is not None,
        "named": [] if asked is None else [asked.agent],
        "given": 0 if asked is None else asked.interval or 0,
        "longest": config.longest,
    }
    for copy, one in (("", step), ("2", other)):
        for end, state in (("", one.before), (".after", one.after)):
            told |= {f"{name}{end}{copy}": what for name, what in _state_of(config, state).items()}
        told[f"activated{copy}"] = one.shown.activated
    return structure({"Agent": config.names}, told)


def _state_of(config: ClockConfig, state: ClockState) -> dict[str, Any]:
    """Return the scheduler's state."""
    known = list(zip(config.names, state.intervals, state.last, strict=True))
    return {
        "scheduled": [agent for agent, every, _ in known if every is not None],
        "ran": [agent for agent, _, when in known if when is not None],
        "now": state.now,
        "interval": {agent: every or 0 for agent, every, _ in known},
        "last": {agent: when or 0 for agent, _, when in known},
    }


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield walks of seven steps and more, with and without patience, and every action on their way, by any variant."""
    endless = system.at(horizon=0)
    for config in endless.all_configs():
        for patience in range(4):
            state = next(iter(endless.initial(config)))
            way: AnyScenario = Scenario(config, state, ())
            for turn in range(7):
                offered = list(endless.enabled(config, state))
                yield from (end_at(endless, way, state, act) for act in offered)
                for act in (offered[(turn * (patience + 2)) % len(offered)], *[Wait()] * patience):
                    way, taken = end_at(endless, way, state, act)
                    state = taken.after


_theorem = partial(
    theorem,
    system="clock",
    variables=(a,),
    view=view,
    samples=samples,
    scope="any number of agents, seconds and intervals",
)

SHIFT = _theorem(
    claim=clocked.only_ages_matter,
    theory=SHIFTED,
    goal=_goal(same(_then_age, _then_age2)),
    needs=("a_step", "counted_from_now", "the_rest_is_as_it_was"),
    witness=activates() & exists([a], ran(a) & activated(a)),
    quotient="shift",
    mutants=_TWICE.mutants(
        *_FAULTS.refuted(layers.due_by_the_time),
        _FAULTS.unseen(layers.due_on_the_second_alone, "it looks at seconds since, not at the time"),
    ),
)

SATURATION = _theorem(
    claim=clocked.old_activations_are_alike,
    theory=SATURATED,
    goal=_goal(same(_then_last2, _then_last) | (_old & _old2)) & same(_then_now, _then_now2),
    needs=("intervals_on_offer", "a_step", "no_older_than_the_longest"),
    witness=activates() & exists([a], ran(a) & ~same(_last2(a), last(a)) & activated(a)),
    quotient="saturation",
    mutants=_TWICE.mutants(
        *_FAULTS.refuted(layers.due_on_the_second_alone),
        _FAULTS.unseen(layers.due_by_the_time, "it looks at the time, which saturates nowhere"),
    ),
)

# Between two activations of an agent lies at least its interval (P56).

counted, known = relations("counted known", AGENT)
"""The claim saw an agent activated; the claim knows an interval of it."""
since, told = numbers("since told", AGENT)
"""The claim's clock, and the interval that it knows."""
(right,) = relations("right")
_LONGEST = number(LONGEST)


_SECOND = plus(since(a), number(1))
_LATE_ENOUGH = forall([a], activated(a) >> (known(a) & (counted(a) >> at_least(since(a), told(a)))))


def _counts(then: Term) -> Formula:
    """Return what the claim's clock shows after a second."""
    return counted(a) >> ite(at_least(_SECOND, _LONGEST), same(then, _LONGEST), same(then, _SECOND))


def _also(turn: Turn, changes: Changes) -> Turn:
    return replace(turn, changes={**turn.changes, **changes})


TIMED = Machine.of(
    "markspace_two_clocks",
    (*_STATE, since(a), told(a), counted(a), known(a), right()),
    _also(_WAITS, {since: _counts}),
    _also(
        _ACTIVATES,
        {
            counted: counted(a) | activated(a),
            since: (activated(a), number(0)),
            right: _LATE_ENOUGH,
        },
    ),
    _also(_UPDATES, {known: (named(a), gives()), told: (named(a), given())}),
    usual={right: TRUE},
    init=right()
    & zero(now())
    & forall(
        [a],
        ~ran(a)
        & ~counted(a)
        & iff(known(a), scheduled(a))
        & (scheduled(a) >> (same(told(a), interval(a)) & at_most(interval(a), _LONGEST) & below(number(0), told(a)))),
    ),
    axioms=(
        Axiom(
            "given_intervals_are_on_offer",
            gives() >> (below(number(0), given()) & at_most(given(), _LONGEST)),
            "14.2: positive, and at most the longest on offer",
        ),
    ),
    definitions=(_ACTIVATED,),
)

_CLAIM = composing.schedule_interval_p56


def view_intervals(run: Steps, place: int) -> Structure | None:
    """Return step `place` of a run with what the claim remembers."""
    step = run[place]
    config: ClockConfig = step.config
    act = step.action
    asked = act if isinstance(act, Update) and not step.shown.refused else None
    value = None if asked is None else asked.interval

    def remembered(state: ClockState, memory: Any) -> dict[str, Any]:
        times, fit = memory
        own = list(zip(config.names, times, strict=True))
        return {
            **_state_of(config, state),
            "right": fit,
            "counted": [name for name, (gone, _) in own if gone is not None],
            "known": [name for name, (_, every) in own if every is not None],
            "since": {name: gone or 0 for name, (gone, _) in own},
            "told": {name: every or 0 for name, (_, every) in own},
        }

    happens = {
        "waits": isinstance(act, Wait),
        "activates": isinstance(act, Activate),
        "updates": asked is not None,
        "gives": value is not None,
        "named": [] if asked is None else [asked.agent],
        "given": value or 0,
    }
    return structure({"Agent": config.names}, {**happens, **around(run, place, remembered, _CLAIM)})


def samples_of_intervals(system: Any) -> Iterator[Steps]:
    """Yield seeded walks of any variant, without an end of time; every second act looks at the clock or lets it go."""
    endless = system.at(horizon=0)
    for number_of, config in enumerate(endless.all_configs()):
        for draw in range(3):
            choose = random.Random(f"two clocks {number_of} {draw}")
            state, run = next(iter(endless.initial(config))), list[ClockStep]()
            for turn in range(24):
                offered = [
                    act
                    for act in endless.enabled(config, state)
                    if isinstance(act, Wait | Activate) or (turn % 2 and isinstance(act, Update))
                ]
                run.append(endless.take(config, state, choose.choice(offered)))
                state = run[-1].after
            yield tuple(run)


APART_IN_TIME = invariant(
    claim=_CLAIM,
    system="clock",
    machine=TIMED,
    always=right(),
    lemmas=(
        Lemma(
            "both_know_the_intervals",
            forall(
                [a],
                iff(known(a), scheduled(a))
                & (scheduled(a) >> (same(told(a), interval(a)) & at_most(interval(a), _LONGEST))),
            ),
        ),
        Lemma(
            "both_clocks_agree",
            forall(
                [a],
                iff(counted(a), ran(a))
                & (ran(a) >> ite(at_least(_AGE, _LONGEST), same(since(a), _LONGEST), same(since(a), _AGE))),
            ),
        ),
    ),
    needs=("given_intervals_are_on_offer",),
    witness=activates() & exists([a], ran(a) & activated(a)),
    view=view_intervals,
    samples=samples_of_intervals,
    memory=("counted", "known", "since", "told", "right"),
    scope=f"any number of agents and seconds, and intervals of up to {LONGEST} seconds, the longest on offer",
    mutants=(
        *_FAULTS.refuted(layers.due_by_the_time),
        _FAULTS.unseen(
            layers.due_on_the_second_alone,
            "whom it activates, it activates late enough; that it leaves others out, no interval shows",
        ),
    ),
)
"""The invariant of the scheduler's clock and the claim's."""
