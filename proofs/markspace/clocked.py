"""A scheduler with a clock, for any number of agents, seconds and intervals: two quotients of its states (§14.2).

Each map is a functional bisimulation: instants counted from now, and last activations no farther back than the longest
interval.  The theorem compares one step of a state with the same step of its image: the same agents are activated, and
both successors have one image.  It does not say that both states offer the same actions; the menu depends on the
configuration alone where time has no end.  Each theorem licenses its own map.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyScenario, Scenario
from evenhand.model.markspace.clocked_vocabulary import ClockStep
from evenhand.model.markspace.composing_vocabulary import Activate, Update, Wait
from evenhand.model.markspace.mutants import layers
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace import clocked
from evenhand.smt.arithmetic import at_least, at_most, below, minus, number, plus, zero
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import Formula, Sort, conjunction, exists, forall, iff, ite, same, variables
from evenhand.smt.preludes import Twice, define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

AGENT = Sort("Agent")
(a,) = variables(AGENT, "a")
waits, activates, updates, gives = relations("waits activates updates gives")
"""The kind of action; whether an update gives an interval (else it takes it away)."""
named, scheduled, ran, then_scheduled, then_ran = relations("named scheduled ran then_scheduled then_ran", AGENT)
"""The agent that an update names; the agents with an interval, and those ever activated, before and after the step."""
now, then_now, given, longest = numbers("now then_now given longest")
last, then_last, interval, then_interval = numbers("last then_last interval then_interval", AGENT)
SHARED = ("waits", "activates", "updates", "gives", "named", "given", "longest")
"""Symbols that a state and its image share: the action, and the configuration."""


def _activated(due: Formula) -> Formula:
    return activates() & scheduled(a) & (~ran(a) | due)


_AGE = minus(now(), last(a))
(activated,) = relations("activated", AGENT)
CLOCK = Theory.of(
    "markspace_clock",
    axioms=(
        Axiom(
            "one_thing_at_a_time",
            ~(waits() & activates()) & ~(waits() & updates()) & ~(activates() & updates()),
            "14.2",
        ),
        Axiom("one_agent_is_named", forall([a], named(a) >> updates()), "14.2"),
        Axiom("seconds_pass", ite(waits(), same(then_now(), plus(now(), number(1))), same(then_now(), now())), "14.2"),
        Axiom(
            "activations_are_remembered",
            forall(
                [a],
                ite(
                    activated(a),
                    then_ran(a) & same(then_last(a), now()),
                    iff(then_ran(a), ran(a)) & same(then_last(a), last(a)),
                ),
            ),
            "14.2: an update keeps the last activation",
        ),
        Axiom(
            "updates_are_obeyed",
            forall(
                [a],
                ite(
                    updates() & named(a),
                    iff(then_scheduled(a), gives()) & (gives() >> same(then_interval(a), given())),
                    iff(then_scheduled(a), scheduled(a)) & same(then_interval(a), interval(a)),
                ),
            ),
            "14.2",
        ),
        Axiom("intervals_are_positive", forall([a], scheduled(a) >> below(number(0), interval(a))), "14.2"),
        Axiom(
            "intervals_on_offer",
            forall([a], scheduled(a) >> at_most(interval(a), longest()))
            & (gives() >> (at_most(given(), longest()) & below(number(0), given()))),
            "the longest interval on offer",
        ),
    ),
    definitions=(define("activated", (a,), _activated(at_least(_AGE, interval(a))), "14.2: last + interval <= now"),),
)
_TWICE = Twice(CLOCK, SHARED)
_now2, _then_now2 = numbers("now2 then_now2")
_last2, _then_last2, _then_interval2 = numbers("last2 then_last2 then_interval2", AGENT)
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

_then_age, _then_age2 = minus(then_now(), then_last(a)), minus(_then_now2(), _then_last2(a))
_old, _old2 = at_least(_then_age, longest()), at_least(_then_age2, longest())


def _goal(instants: Formula) -> Formula:
    """Return that the same agents are activated, and that the states after the step have one image."""
    return conjunction(
        [
            _TWICE.alike("activated", a),
            _TWICE.alike("then_ran", a),
            _TWICE.alike("then_scheduled", a),
            then_scheduled(a) >> same(then_interval(a), _then_interval2(a)),
            then_ran(a) >> instants,
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
        for prefix, state in (("", one.before), ("then_", one.after)):
            known = list(zip(config.names, state.intervals, state.last, strict=True))
            told[f"{prefix}scheduled{copy}"] = [agent for agent, every, _ in known if every is not None]
            told[f"{prefix}ran{copy}"] = [agent for agent, _, when in known if when is not None]
            told[f"{prefix}now{copy}"] = state.now
            told[f"{prefix}interval{copy}"] = {agent: every or 0 for agent, every, _ in known}
            told[f"{prefix}last{copy}"] = {agent: when or 0 for agent, _, when in known}
        told[f"activated{copy}"] = one.shown.activated
    return structure({"Agent": config.names}, told)


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

_LATE = {"activated": _activated(same(_AGE, interval(a)))}
_ABSOLUTE = {"activated": _activated(at_least(now(), interval(a)))}

SHIFT = _theorem(
    claim=clocked.only_ages_matter,
    theory=SHIFTED,
    goal=_goal(same(_then_age, _then_age2)),
    needs=("activations_are_remembered", "seconds_pass", "counted_from_now", "the_rest_is_as_it_was"),
    witness=activates() & exists([a], ran(a) & activated(a)),
    quotient="shift",
    mutants=_TWICE.mutants(
        mutation(CLOCK, layers.due_by_the_time, _ABSOLUTE),
        mutation(CLOCK, layers.due_on_the_second_alone, _LATE, "it looks at seconds since, not at the time"),
    ),
)

SATURATION = _theorem(
    claim=clocked.old_activations_are_alike,
    theory=SATURATED,
    goal=_goal(same(_then_last2(a), then_last(a)) | (_old & _old2)) & same(then_now(), _then_now2()),
    needs=("intervals_on_offer", "activations_are_remembered", "seconds_pass", "no_older_than_the_longest"),
    witness=activates() & exists([a], ran(a) & ~same(_last2(a), last(a)) & activated(a)),
    quotient="saturation",
    mutants=_TWICE.mutants(
        mutation(CLOCK, layers.due_on_the_second_alone, _LATE),
        mutation(CLOCK, layers.due_by_the_time, _ABSOLUTE, "it looks at the time, which saturates nowhere"),
    ),
)
