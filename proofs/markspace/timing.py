"""Between two activations of an agent lies at least its interval (P56), for any number of agents and seconds.

The claim counts the seconds since an activation by a clock of its own, which stops at the longest interval on offer;
the scheduler remembers the instant of the activation.  The invariant of both clocks: the claim's shows the time that
has gone by since the instant, up to where it stops, and both know the same intervals.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from evenhand.model.markspace.clocked_vocabulary import ClockConfig, ClockStep
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
from evenhand.properties.markspace import composing
from evenhand.smt.arithmetic import at_least, at_most, below, minus, number, plus, zero
from evenhand.smt.logic import Formula, Function, Term, conjunction, exists, forall, iff, ite, same
from evenhand.smt.preludes import define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import constant, ones, props
from evenhand.smt.theorem import Lemma
from evenhand.smt.theory import Axiom, Theory
from evenhand.smt.transitions.invariant import Invariant, Steps
from evenhand.smt.transitions.machine import Machine, after

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
_SYMBOLS = (now, last, interval, since, told)


def _next(symbol: Function, *arguments: Term) -> Term:
    return Function(f"{symbol.name}.after", symbol.domain, symbol.codomain)(*arguments)


def _kept(*symbols: Any) -> Formula:
    """Return that these symbols are of agent `a` after the step what they were before."""
    truths = [iff(after(one)(a), one(a)) for one in symbols if one not in _SYMBOLS]
    return conjunction([*truths, *(same(_next(one, a), one(a)) for one in symbols if one in _SYMBOLS)])


_INTERVALS = _kept(scheduled, interval, known, told)
_INSTANTS = _kept(ran, last, counted, since)
_SECOND = plus(since(a), number(1))
_WAITED = same(_next(now), plus(now(), number(1))) & forall(
    [a],
    _INTERVALS
    & _kept(ran, last, counted)
    & (counted(a) >> ite(at_least(_SECOND, _LONGEST), same(_next(since, a), _LONGEST), same(_next(since, a), _SECOND))),
)
_LATE_ENOUGH = forall([a], activated(a) >> (known(a) & (counted(a) >> at_least(since(a), told(a)))))
_LOOKED = forall(
    [a],
    _INTERVALS
    & ite(
        activated(a),
        after(ran)(a) & same(_next(last, a), now()) & after(counted)(a) & zero(_next(since, a)),
        _INSTANTS,
    ),
)
_CHANGED = forall(
    [a],
    _INSTANTS
    & ite(
        named(a),
        iff(after(scheduled)(a), gives())
        & iff(after(known)(a), gives())
        & (gives() >> (same(_next(interval, a), given()) & same(_next(told, a), given()))),
        _INTERVALS,
    ),
)

TIMED = Machine(
    theory=Theory.of(
        "markspace_two_clocks",
        since,
        told,
        waits,
        activates,
        updates,
        named,
        counted,
        known,
        right,
        axioms=(
            Axiom(
                "given_intervals_are_on_offer",
                gives() >> (below(number(0), given()) & at_most(given(), _LONGEST)),
                "14.2: positive, and at most the longest on offer",
            ),
        ),
        definitions=(_ACTIVATED,),
    ),
    state=("now", "last", "interval", "since", "told", "scheduled", "ran", "counted", "known", "right"),
    inputs=("waits", "activates", "updates", "gives", "named", "given"),
    init=right()
    & zero(now())
    & forall(
        [a],
        ~ran(a)
        & ~counted(a)
        & iff(known(a), scheduled(a))
        & (scheduled(a) >> (same(told(a), interval(a)) & at_most(interval(a), _LONGEST) & below(number(0), told(a)))),
    ),
    step=ite(
        waits(),
        _WAITED & after(right)(),
        same(_next(now), now())
        & ite(
            activates(),
            _LOOKED & iff(after(right)(), _LATE_ENOUGH),
            ite(updates(), _CHANGED, forall([a], _INTERVALS & _INSTANTS)) & after(right)(),
        ),
    ),
)

_CLAIM = composing.schedule_interval_p56


def view(run: Steps, place: int) -> Structure | None:
    """Return step `place` of a run with what the claim remembers."""
    step = run[place]
    config: ClockConfig = step.config
    act = step.action
    asked = act if isinstance(act, Update) and not step.shown.refused else None
    value = None if asked is None else asked.interval
    memory = _CLAIM.memory(config)
    for earlier in run[:place]:
        memory = _CLAIM.follow(memory, earlier)
    truths = {
        "waits": isinstance(act, Wait),
        "activates": isinstance(act, Activate),
        "updates": asked is not None,
        "gives": value is not None,
    }
    extents = {"named": ones(() if asked is None else (asked.agent,))}
    functions = {"given": constant(value or 0)}
    for end, state, (times, fit) in (("", step.before, memory), (".after", step.after, _CLAIM.follow(memory, step))):
        truths[f"right{end}"] = fit
        own = list(zip(config.names, state.intervals, state.last, times, strict=True))
        extents[f"scheduled{end}"] = ones(name for name, every, _, _ in own if every is not None)
        extents[f"ran{end}"] = ones(name for name, _, when, _ in own if when is not None)
        extents[f"counted{end}"] = ones(name for name, _, _, (gone, _) in own if gone is not None)
        extents[f"known{end}"] = ones(name for name, _, _, (_, every) in own if every is not None)
        functions[f"now{end}"] = constant(state.now)
        functions[f"interval{end}"] = {(name,): str(every or 0) for name, every, _, _ in own}
        functions[f"last{end}"] = {(name,): str(when or 0) for name, _, when, _ in own}
        functions[f"since{end}"] = {(name,): str(gone or 0) for name, _, _, (gone, _) in own}
        functions[f"told{end}"] = {(name,): str(every or 0) for name, _, _, (_, every) in own}
    return Structure({"Agent": config.names}, {**props(truths), **extents}, functions)


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


APART_IN_TIME = Invariant(
    claim=_CLAIM,
    protocol="markspace",
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
