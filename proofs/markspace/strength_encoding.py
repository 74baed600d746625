"""Abstraction of strength: measurements as structures.

A measurement with irrational numbers lies outside: structures hold rational numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

from evenhand.core.trace import Scenario
from evenhand.model.markspace.exact import ZERO, Amount, decayed, total
from evenhand.model.markspace.marks import Kind, Source
from evenhand.model.markspace.readings import Readings
from evenhand.model.markspace.signals import WEIGHTS
from evenhand.model.markspace.signals_vocabulary import Against, Combine, Measure, SignalConfig, SignalStep, Still
from evenhand.model.markspace.strength import Lives
from evenhand.smt.ends import Ends, ends_along
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, line, structure

Scene = Scenario[SignalConfig, Still, Measure | Combine]
"""A measurement in a deployment."""
NOW, LATER = "instant:now", "instant:later"
INSTANTS = (NOW, LATER)


def rational(amounts: Iterable[Amount]) -> list[Fraction] | None:
    """Return the amounts as fractions; None where one is irrational."""
    found = [amount.rational for amount in amounts]
    return None if None in found else [one for one in found if one is not None]


def table(values: Iterable[Fraction | int]) -> dict[str, Fraction | int]:
    """Return a function of the instants, by its values in their order."""
    return dict(zip(INSTANTS, values, strict=True))


def _pairs(values: tuple[Amount, Amount], *, up: bool) -> Rows:
    """Return the pairs of instants between which the amount rises, or falls."""
    named = tuple(zip(INSTANTS, values, strict=True))
    return frozenset((a, b) for a, one in named for b, two in named if (one < two if up else two < one))


def measured(step: SignalStep) -> bool:
    """Return whether the step is no refusal and taken under the default readings."""
    return not step.shown.refused and step.config.readings == Readings()


def ages_of(act: Measure) -> tuple[int, int]:
    """Return the age of the mark at both instants, in seconds."""
    return act.age, act.age + act.later


def view_decay(step: SignalStep) -> Structure | None:
    """Return an observation or a warning at two instants as a structure."""
    act = step.action
    if not isinstance(act, Measure) or not measured(step) or act.kind not in (Kind.OBSERVATION, Kind.WARNING):
        return None
    lives = step.config.lives
    half = lives.observation_half_life if act.kind is Kind.OBSERVATION else lives.warning_half_life
    factors = rational(decayed(Fraction(1), age, half) for age in ages_of(act))
    if factors is None:
        return None
    told = {
        "upto": [(NOW, NOW), (LATER, LATER), (NOW, LATER), *([] if act.later else [(LATER, NOW)])],
        "observed": act.kind is Kind.OBSERVATION,
        "grows": _pairs(step.shown.base, up=True),
        "initial": act.strength,
        "factor": table(factors),
        "age": table(ages_of(act)),
    }
    return structure({"Instant": INSTANTS}, told)


def view_trust(step: SignalStep) -> Structure | None:
    """Return an observation at two instants, and by every source at the first, as a structure."""
    act = step.action
    if not isinstance(act, Measure) or not measured(step) or act.kind is not Kind.OBSERVATION:
        return None
    bases = rational(step.shown.base)
    if bases is None or list(step.config.weights) != sorted(set(step.config.weights), reverse=True):
        return None
    names = [f"source:{one.value}" for one in Source]
    shown = dict(zip(names, step.shown.by_source, strict=True))
    both = tuple(zip(INSTANTS, step.shown.effective, step.shown.base, strict=True))
    mine = f"source:{act.source.value}"
    if mine == names[1]:  # the middle source has no mirror
        return None
    told = {
        "more_trusted": line(names),
        "above": [(a, b) for a in names for b in names if shown[b] < shown[a]],
        "amplified": [name for name, effective, base in both if base < effective],
        "negative": [name for name, effective, _ in both if effective < ZERO],
        "base": table(bases),
        "weight": dict(zip(names, step.config.weights, strict=True)),
        "own": mine,
        "mirror": dict(zip(names, reversed(names), strict=True)),
        "now": NOW,
    }
    return structure({"Instant": INSTANTS, "Source": names}, told)


def view_warned(step: SignalStep) -> Structure | None:
    """Return a mark with warnings against it at two instants as a structure."""
    act = step.action
    if not isinstance(act, Measure) or not measured(step) or not act.warnings:
        return None
    half = step.config.lives.warning_half_life
    loads = [[decayed(w.strength, w.age + later, half) for w in act.warnings] for later in (0, act.later)]
    worth, load = rational(step.shown.effective), rational(total(one) for one in loads)
    each = [rational(one) for one in loads]
    reduced = rational(step.shown.reduced)
    if worth is None or load is None or reduced is None or None in each:
        return None
    best = [max(one or [Fraction(0)]) for one in each]
    told = {
        "before": [(NOW, LATER)] if act.later else [],
        "lasts": [name for name, one in zip(INSTANTS, step.shown.base, strict=True) if one.sign > 0],
        "gone": [name for name, one in zip(INSTANTS, reduced, strict=True) if one == 0],
        "sinks": [name for name, one in zip(INSTANTS, reduced, strict=True) if one < 0],
        "falls": _pairs(step.shown.reduced, up=False),
        "rises": _pairs(step.shown.reduced, up=True),
        "effective": table(worth),
        "against": table(load),
        "strongest": table(best),
    }
    return structure({"Instant": INSTANTS}, told)


def view_aggregate(step: SignalStep) -> Structure | None:
    """Return the aggregates of marks, and with one more, as a structure."""
    act = step.action
    if not isinstance(act, Combine) or step.shown.refused:
        return None
    found = rational(step.shown.aggregate)
    if found is None:
        return None
    old, new = found
    best = max(act.strengths, default=Fraction(0))
    number, cap = len(act.strengths) + 1, step.config.cap
    told = {
        "best": best,
        "rest": sum(act.strengths, Fraction(0)) - best,
        "more": act.more,
        "share": step.config.factor,
        "cap": cap,
        "count": number,
        "identical": bool(act.strengths) and set(act.strengths) == {act.more},
        "over": max(old, new) > cap,
        "drops": new < old,
        "sublinear": new < number * act.more,
    }
    return structure({}, told)


# Back: a measurement that looks like a structure.


def taken(act: Measure | Combine, **more: Any) -> Scene:
    """Return the one measurement, in a default deployment changed by `more`."""
    usual: dict[str, Any] = {"weights": WEIGHTS, "factor": Fraction(3, 10), "cap": Fraction(2), "lives": Lives(1, 1, 1)}
    return Scenario(SignalConfig(**{**usual, **more}, readings=Readings()), Still(), (act,))


# Samples: each theorem has its own steps.


def _deployments() -> Iterator[SignalConfig]:
    for lives in (Lives(1, 1, 1), Lives(2, 1, 1), Lives(1, 2, 2)):
        yield SignalConfig(WEIGHTS, Fraction(3, 10), Fraction(2), lives, Readings())
    worthless = (Fraction(1), Fraction(1, 2), Fraction(0))
    yield SignalConfig(worthless, Fraction(9, 10), Fraction(3, 2), Lives(1, 1, 1), Readings())


HALF, ONE, NOTHING = Fraction(1, 2), Fraction(1), Fraction(0)


def _measures(*kinds: Kind) -> Iterator[Measure]:
    for kind in kinds:
        for strength in (ONE, HALF, NOTHING):
            for age, later in ((0, 0), (0, 1), (1, 1), (0, 2), (2, 2)):
                for source in Source if kind is Kind.OBSERVATION else (Source.FLEET,):
                    yield Measure(kind, strength, source, age, later)


def _warned() -> Iterator[Measure]:
    for kind in (Kind.ACTION, Kind.OBSERVATION, Kind.INTENT):
        for loads in ((HALF,), (ONE,), (HALF, Fraction(1, 4)), (ONE, ONE)):
            for later in (0, 1, 2):
                yield Measure(kind, ONE, later=later, warnings=tuple(map(Against, loads)))
    yield Measure(Kind.OBSERVATION, ONE, later=2, warnings=(Against(Fraction(1, 8)),))
    yield Measure(Kind.ACTION, ONE, later=1, warnings=(Against(NOTHING),))


def _combined() -> Iterator[Combine]:
    several = ((ONE, HALF), (ONE, ONE), (HALF, HALF, HALF), (ONE, ONE, ONE, ONE))
    for strengths in ((), (ONE,), (HALF,), (NOTHING,), *several):
        for more in (NOTHING, HALF, ONE, Fraction(2)):
            yield Combine(strengths, more)


def _ends(acts: Callable[[], Iterable[Measure | Combine]]) -> Ends:
    """Return the samples of these measurements in every deployment."""
    return Ends(
        lambda system: (
            end for config in _deployments() for act in acts() for end in ends_along(system, config, Still(), act)
        )
    )


SAMPLES_OF_DECAY = _ends(lambda: _measures(Kind.OBSERVATION, Kind.WARNING))
"""Observations and warnings at two instants."""
SAMPLES_OF_TRUST = _ends(lambda: _measures(Kind.OBSERVATION))
"""Observations by every source."""
SAMPLES_OF_WARNINGS = _ends(_warned)
"""Marks with warnings against them."""
SAMPLES_OF_AGGREGATES = _ends(_combined)
"""Marks that are combined."""
