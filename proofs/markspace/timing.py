"""Between two activations of an agent lies at least its interval (P56), for any number of agents and seconds.

The claim counts the seconds since an activation by a clock of its own, which stops at the longest interval on offer;
the scheduler remembers the instant of the activation.  The invariant of both clocks: the claim's shows the time that
has gone by since the instant, up to where it stops, and both know the same intervals.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from evenhand.model.markspace.clocked_vocabulary import ClockConfig, ClockState, ClockStep
from evenhand.model.markspace.composing_vocabulary import LONGEST, Activate, Update, Wait
from evenhand.model.markspace.mutants import layers
from evenhand.proofs.markspace.clocked import (
    AGENT,
    a,
    activates,
    given,
    gives,
    interval,
    last,
    named,
    now,
    ran,
    scheduled,
    updates,
    waits,
)
from evenhand.proofs.markspace.stating import invariant
from evenhand.properties.markspace import composing
from evenhand.smt.arithmetic import at_least, at_most, below, minus, number, plus, zero
from evenhand.smt.logic import TRUE, Formula, Function, Term, exists, forall, iff, ite, same
from evenhand.smt.preludes import define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Lemma
from evenhand.smt.theory import Axiom
from evenhand.smt.transitions.invariant import Steps, around
from evenhand.smt.transitions.machine import Machine, Turn

counted, known = relations("counted known", AGENT)
"""The claim saw an agent activated; the claim knows an interval of it."""
since, told = numbers("since told", AGENT)
"""The claim's clock, and the interval that it knows."""
(right,) = relations("right")
_LONGEST = number(LONGEST)
_AGE = minus(now(), last(a))


def _activated(due: Formula) -> Formula:
    return scheduled(a) & (~ran(a) | due)


_ACTIVATED = define("activated", (a,), _activated(at_least(_AGE, interval(a))), "14.2: last + interval <= now")
activated = _ACTIVATED.relation
_SECOND = plus(since(a), number(1))
_LATE_ENOUGH = forall([a], activated(a) >> (known(a) & (counted(a) >> at_least(since(a), told(a)))))


def _counts(then: Term) -> Formula:
    """Return what the claim's clock shows after a second."""
    return counted(a) >> ite(at_least(_SECOND, _LONGEST), same(then, _LONGEST), same(then, _SECOND))


def _where(changed: Formula, then: Term, new: Formula, one: Function) -> Formula:
    return ite(changed, new, same(then, one(a)))


TIMED = Machine.of(
    "markspace_two_clocks",
    (
        *(now(), last(a), interval(a), since(a), told(a)),
        *(scheduled(a), ran(a), counted(a), known(a), right()),
    ),
    Turn(waits(), {now: plus(now(), number(1)), since: _counts}),
    Turn(
        activates(),
        {
            ran: ran(a) | activated(a),
            counted: counted(a) | activated(a),
            last: lambda then: _where(activated(a), then, same(then, now()), last),
            since: lambda then: _where(activated(a), then, zero(then), since),
            right: _LATE_ENOUGH,
        },
    ),
    Turn(
        updates(),
        {
            scheduled: ite(named(a), gives(), scheduled(a)),
            known: ite(named(a), gives(), known(a)),
            interval: lambda then: _where(named(a), then, gives() >> same(then, given()), interval),
            told: lambda then: _where(named(a), then, gives() >> same(then, given()), told),
        },
    ),
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


def view(run: Steps, place: int) -> Structure | None:
    """Return step `place` of a run with what the claim remembers."""
    step = run[place]
    config: ClockConfig = step.config
    act = step.action
    asked = act if isinstance(act, Update) and not step.shown.refused else None
    value = None if asked is None else asked.interval

    def remembered(state: ClockState, memory: Any) -> dict[str, Any]:
        times, fit = memory
        own = list(zip(config.names, state.intervals, state.last, times, strict=True))
        return {
            "right": fit,
            "scheduled": [name for name, every, _, _ in own if every is not None],
            "ran": [name for name, _, when, _ in own if when is not None],
            "counted": [name for name, _, _, (gone, _) in own if gone is not None],
            "known": [name for name, _, _, (_, every) in own if every is not None],
            "now": state.now,
            "interval": {name: every or 0 for name, every, _, _ in own},
            "last": {name: when or 0 for name, _, when, _ in own},
            "since": {name: gone or 0 for name, _, _, (gone, _) in own},
            "told": {name: every or 0 for name, _, _, (_, every) in own},
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


def samples(system: Any) -> Iterator[Steps]:
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
    view=view,
    samples=samples,
    memory=("counted", "known", "since", "told", "right"),
    scope=f"any number of agents and seconds, and intervals of up to {LONGEST} seconds, the longest on offer",
    mutants=(
        mutation(TIMED.theory, layers.due_by_the_time, {"activated": _activated(at_least(now(), interval(a)))}),
        mutation(
            TIMED.theory,
            layers.due_on_the_second_alone,
            {"activated": _activated(same(_AGE, interval(a)))},
            "whom it activates, it activates late enough; that it leaves others out, no interval shows",
        ),
    ),
)
"""The invariant of the scheduler's clock and the claim's."""
