"""Small timed systems in two forms: with instants that grow for ever, and with ages that stop at a cap.

The first form is searched under its maps; the second has no maps and a finite graph, so that its counts and verdicts
are an independent origin.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any

from evenhand.core.licence import Licence
from evenhand.core.property import (
    Always,
    DeadlockFree,
    EachStep,
    Eventually,
    LeadsTo,
    LivelockFree,
    Monitor,
    Property,
    Reachable,
)
from evenhand.core.system import Abstraction, AnySystem, Fairness, System
from tests.models import random_systems

luck = lru_cache(maxsize=None)(random_systems.luck)

CAP = 3
"""No threshold is higher, so all older ages are equivalent."""


@dataclass(frozen=True)
class Timed:
    """A mode, the time, and the instant at which each alarm was last set (None: never)."""

    mode: int
    now: int
    since: tuple[int | None, ...]

    @property
    def ages(self) -> tuple[int | None, ...]:
        """Return the seconds since each alarm was set."""
        return tuple(None if one is None else self.now - one for one in self.since)


@dataclass(frozen=True)
class Aged:
    """The same with ages instead of instants."""

    mode: int
    ages: tuple[int | None, ...]


@dataclass(frozen=True)
class Rule:
    """In a mode an action needs an alarm of some age (None: needs nothing), leads to a mode, sets and clears alarms."""

    mode: int
    action: str
    alarm: int | None
    least: int
    to: int
    sets: int | None
    clears: int | None


def _drawn(seed: int) -> tuple[tuple[Rule, ...], int, int]:
    random = Random(f"timed {seed}")
    alarms, modes = 1 + seed % 2, 2 + seed % 3
    rules = tuple(
        Rule(
            mode,
            action,
            random.choice((None, *range(alarms))),
            random.randint(1, CAP),
            random.randrange(modes),
            random.choice((None, *range(alarms))),
            random.choice((None, None, *range(alarms))),
        )
        for mode in range(modes)
        for action in "ab"
        if random.random() < 0.8
    )
    return rules, alarms, modes


def _effect(rules: tuple[Rule, ...], mode: int, ages: tuple[int | None, ...], action: str) -> Rule | str:
    for rule in rules:
        if (rule.mode, rule.action) == (mode, action):
            age = None if rule.alarm is None else ages[rule.alarm]
            return rule if rule.alarm is None or (age is not None and age >= rule.least) else "not yet"
    return "no such rule"


def _marked(values: tuple[int | None, ...], rule: Rule, value: int) -> tuple[int | None, ...]:
    cleared = tuple(None if place == rule.clears else one for place, one in enumerate(values))
    return tuple(value if place == rule.sets else one for place, one in enumerate(cleared))


def _shifted(state: Timed, seconds: int) -> Timed:
    since = tuple(None if one is None else one + seconds for one in state.since)
    return Timed(state.mode, state.now + seconds, since)


def shift() -> Abstraction[None, Timed]:
    """Return the state with all instants counted from now."""
    return Abstraction(
        "shift",
        lambda _config, state: _shifted(state, -state.now),
        lambda _config, state: (_shifted(state, 1), _shifted(state, 1_000_000)),
    )


def saturation(cap: int = CAP) -> Abstraction[None, Timed]:
    """Return the state with ages above the cap set to the cap."""

    def capped(_config: None, s: Timed) -> Timed:
        return replace(s, since=tuple(None if one is None else max(one, s.now - cap) for one in s.since))

    def alike(_config: None, s: Timed) -> Iterator[Timed]:
        for older in (1, 1_000_000):
            yield replace(s, since=tuple(one if one is None or s.now - one < cap else one - older for one in s.since))

    return Abstraction("saturation", capped, alike)


def _fair(_config: None) -> dict[str, Fairness[Any, str]]:
    return {
        "time": Fairness("weak", lambda _state, action: action == "wait"),
        "a": Fairness("weak", lambda _state, action: action == "a"),
        "b": Fairness("strong", lambda state, action: action == "b" and state.mode == 0),
    }


def _offers(rules: tuple[Rule, ...], mode: int) -> Iterator[str]:
    yield "wait"
    yield from (rule.action for rule in rules if rule.mode == mode)


def timed(seed: int, maps: tuple[Abstraction[None, Timed], ...] | None = None) -> AnySystem:
    """Return a random system with a clock."""
    rules, alarms, _ = _drawn(seed)

    def step(_rules: None, _config: None, state: Timed, action: str) -> tuple[Timed, str]:
        if action == "wait":
            return replace(state, now=state.now + 1), "time"
        found = _effect(rules, state.mode, state.ages, action)
        if isinstance(found, str):
            return state, found
        return Timed(found.to, state.now, _marked(state.since, found, state.now)), "done"

    return System(
        name=f"timed_{seed}",
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (Timed(0, 0, (None,) * alarms), Timed(1, 0, (0,) * alarms)),
        step=step,
        actions=lambda _config, _scope, state: _offers(rules, state.mode),
        fair=_fair,
        abstractions=maps if maps is not None else (shift(), saturation()),
    )


def aged(seed: int) -> AnySystem:
    """Return the same system without a clock."""
    rules, alarms, _ = _drawn(seed)

    def step(_rules: None, _config: None, state: Aged, action: str) -> tuple[Aged, str]:
        if action == "wait":
            return replace(state, ages=tuple(None if age is None else min(age + 1, CAP) for age in state.ages)), "time"
        found = _effect(rules, state.mode, state.ages, action)
        if isinstance(found, str):
            return state, found
        return Aged(found.to, _marked(state.ages, found, 0)), "done"

    return System(
        name=f"aged_{seed}",
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (Aged(0, (None,) * alarms), Aged(1, (0,) * alarms)),
        step=step,
        actions=lambda _config, _scope, state: _offers(rules, state.mode),
        fair=_fair,
    )


def licences(system: AnySystem) -> list[Licence]:
    """Return a licence for each of its maps, as if their theorems were proved."""
    return [
        Licence(one.name, system.name, "reference", f"{one.name} theorem", "sha256:00") for one in system.abstractions
    ]


def _seen(state: Any) -> str:
    """Return the common part of both forms of state."""
    return f"{state.mode} {tuple(None if age is None else min(age, CAP) for age in state.ages)}"


def claims_about(seed: int) -> tuple[Property, ...]:
    """Return one or more random claims of each kind, about the common part of both forms."""
    random = Random(f"claims {seed}")

    def steps(chance: float) -> Callable[[Any], bool]:
        key = random.random()
        return lambda step: luck(f"{key} {_seen(step.before)} {step.action} {step.shown} {_seen(step.after)}") < chance

    def states(chance: float) -> Callable[[Any, Any], bool]:
        key = random.random()
        return lambda _config, state: luck(f"{key} {_seen(state)}") < chance

    fairness = tuple(name for name in ("time", "a", "b") if random.random() < 0.6)
    counts, resets = steps(0.25), steps(0.3)
    return (
        Always(name="always", sentence="", check=states(0.93), when=states(0.8)),
        EachStep(name="each_step", sentence="", check=steps(0.95), when=steps(0.7)),
        Reachable(name="reachable", sentence="", goal=steps(0.05)),
        Monitor(
            name="monitor",
            sentence="",
            start=lambda _config: 0,
            update=lambda value, step: 0 if resets(step) else min(4, value + counts(step)),
            ok=lambda _config, value: value != 4,
        ),
        DeadlockFree(name="deadlock_free", sentence="", wants=states(0.5), completes=steps(0.3)),
        Eventually(name="eventually", sentence="", goal=steps(0.2), fairness=fairness),
        LeadsTo(name="leads_to", sentence="", trigger=steps(0.3), goal=steps(0.3), fairness=fairness),
        LivelockFree(name="livelock_free", sentence="", attempts=steps(0.4), progress=steps(0.4), fairness=fairness),
    )
