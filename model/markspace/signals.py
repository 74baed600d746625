"""The pure functions of strength as a system of one step: it measures every mark, source, age and set of warnings.

Exhaustive runs take ages from a grid on which every decay is rational; drawn runs take any age, since amounts are
compared exactly off the grid as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

from evenhand.core.system import Scope, System
from evenhand.model.markspace.exact import Amount, plain
from evenhand.model.markspace.marks import HALF, ONE, Kind, Source
from evenhand.model.markspace.readings import Readings
from evenhand.model.markspace.signals_vocabulary import TYPES, Against, Combine, Measure, Measured, SignalConfig, Still
from evenhand.model.markspace.strength import STRENGTH, Lives, StrengthRules

WEIGHTS = (ONE, Fraction(7, 10), Fraction(3, 10))
_STRENGTHS = (ONE, HALF, Fraction(0))
LIVES = (Lives(2, 1, 1), Lives(1, 1, 2), Lives(1, 2, 1))
"""Warnings shorter than observations as §2.5 recommends, equal, and longer, which is allowed too."""


def step(rules: StrengthRules, config: SignalConfig, state: Still, act: Measure | Combine) -> tuple[Still, Measured]:
    """Measure or combine.  Negative strengths and ages are refused (§2.1); zero by the reading."""
    if isinstance(act, Combine):
        if any(strength < 0 for strength in (*act.strengths, act.more)):
            return state, Measured(refused="negative strength")
        before = rules.reinforced(tuple(map(plain, act.strengths)), config.factor, config.cap)
        after = rules.reinforced(tuple(map(plain, (*act.strengths, act.more))), config.factor, config.cap)
        return state, Measured(aggregate=(before, after))
    if act.strength < 0 or act.age < 0 or act.later < 0:
        return state, Measured(refused="negative strength or age")
    if act.strength == 0 and config.readings.zero_strength == "excluded":
        return state, Measured(refused="no strength")
    ages = (act.age, act.age + act.later)
    base = [rules.decay(act.kind, act.strength, age, config.lives, act.resolved) for age in ages]

    against = [tuple(_warning(rules, config, w, later) for w in act.warnings) for later in (0, act.later)]
    found = [rules.effective(config.weights, config.readings, act.kind, act.source, one) for one in base]
    reduced = [rules.reduced(one, warnings) for one, warnings in zip(found, against, strict=True)]
    sources = tuple(rules.effective(config.weights, config.readings, act.kind, source, base[0]) for source in Source)
    return state, Measured((base[0], base[1]), (found[0], found[1]), (reduced[0], reduced[1]), sources)


def _warning(rules: StrengthRules, config: SignalConfig, warning: Against, later: int) -> Amount:
    base = rules.decay(Kind.WARNING, warning.strength, warning.age + later, config.lives, False)
    return rules.effective(config.weights, config.readings, Kind.WARNING, warning.source, base)


def _configs(_scope: Scope, readings: Readings) -> Iterator[SignalConfig]:
    for lives in LIVES:
        for factor in (Fraction(3, 10), Fraction(9, 10)):
            for cap in (Fraction(2), Fraction(3, 2)):
                yield SignalConfig(WEIGHTS, factor, cap, lives, readings)


def _actions(_config: SignalConfig, scope: Scope, _state: Still) -> Iterator[Measure | Combine]:
    ages = range(0, scope["ages"] + 1)
    for kind in Kind:
        sources = tuple(Source) if kind in (Kind.OBSERVATION, Kind.WARNING) else (Source.FLEET,)
        for strength in _STRENGTHS:
            for source in sources:
                for resolved in (False, True) if kind is Kind.NEED else (False,):
                    for age in ages:
                        for later in ages:
                            yield Measure(kind, strength, source, age, later, resolved)
        yield Measure(kind, Fraction(2))  # the text bounds strength from below alone (§2.1)
    for kind in Kind:
        for strength in (ONE, HALF):
            for warnings in _against(scope["warnings"]):
                for later in ages:
                    yield Measure(kind, strength, later=later, warnings=warnings)
    for size in range(scope["marks"] + 1):
        for strengths in combinations_with_replacement(_STRENGTHS, size):
            for more in (*_STRENGTHS, Fraction(2)):
                yield Combine(strengths, more)


def _against(most: int) -> Iterator[tuple[Against, ...]]:
    one = [Against(strength, age, source) for strength in (ONE, HALF) for age in (0, 2) for source in Source]
    for size in range(1, most + 1):
        yield from combinations_with_replacement([w for w in one if size == 1 or w.source is Source.FLEET], size)


SIGNALS: System[SignalConfig, Still, Measure | Combine, Measured, StrengthRules] = System(
    name="signals",
    rules=STRENGTH,
    configs=_configs,
    initial=lambda _config: (Still(),),
    step=step,
    actions=_actions,
    scope=Scope(ages=4, warnings=2, marks=3),
    readings=Readings(),
    allows=lambda _config, _state, _act: True,
    types=TYPES,
)
"""Every measurement in one step."""
