"""Strength at read time (§3, §4, §5, §9.5): decay, trust, warnings and reinforcement, computed exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from evenhand.core.records import dataclass
from evenhand.model.markspace.exact import ZERO, Amount, decayed, plain, total
from evenhand.model.markspace.marks import Kind, Source
from evenhand.model.markspace.readings import Readings


@dataclass(frozen=True, slots=True)
class Lives:
    """The lifetimes of marks in a scope, in seconds (§7.2)."""

    observation_half_life: int
    warning_half_life: int
    intent_ttl: int


@dataclass(frozen=True)
class StrengthRules:
    """One function for each sentence that a mutant may change.

    `decay` §3.1: kind, initial strength, age, whether resolved; `weight` §4.1; `weighed` §4.2: kind, source, base;
    `reduced` §9.5: effective strength and those of the warnings against it; `reinforced` §5.1: effective strengths,
    factor, cap.
    """

    decay: Callable[[Kind, Fraction, int, Lives, bool], Amount]
    weight: Callable[[tuple[Fraction, Fraction, Fraction], Source], Fraction]
    weighed: Callable[[Readings, Kind, Source], bool]
    reduced: Callable[[Amount, tuple[Amount, ...]], Amount]
    reinforced: Callable[[tuple[Amount, ...], Fraction, Fraction], Amount]

    def effective(
        self,
        weights: tuple[Fraction, Fraction, Fraction],
        readings: Readings,
        kind: Kind,
        source: Source,
        base: Amount,
    ) -> Amount:
        """Return the base strength times the weight of its source, for the kinds of marks with such a weight (§4.2)."""
        return base.scaled(self.weight(weights, source)) if self.weighed(readings, kind, source) else base


def _decay(kind: Kind, initial: Fraction, age: int, lives: Lives, resolved: bool) -> Amount:
    match kind:
        case Kind.INTENT:
            return plain(initial) if age <= lives.intent_ttl else ZERO
        case Kind.ACTION:
            return plain(initial)
        case Kind.OBSERVATION:
            return decayed(initial, age, lives.observation_half_life)
        case Kind.WARNING:
            return decayed(initial, age, lives.warning_half_life)
        case Kind.NEED:
            return ZERO if resolved else plain(initial)


def _weight(weights: tuple[Fraction, Fraction, Fraction], source: Source) -> Fraction:
    return weights[tuple(Source).index(source)]


def _weighed(readings: Readings, kind: Kind, _source: Source) -> bool:
    return kind is Kind.OBSERVATION or (kind is Kind.WARNING and readings.warning_trust == "source_capped")


def _reduced(effective: Amount, warnings: tuple[Amount, ...]) -> Amount:
    left = effective - total(warnings)
    return left if left.sign > 0 else ZERO


def _reinforced(strengths: tuple[Amount, ...], factor: Fraction, cap: Fraction) -> Amount:
    """Return the strongest in full plus the others times the factor, at most the cap."""
    if not strengths:
        return ZERO
    best = strengths[0]
    for one in strengths[1:]:
        best = one if best < one else best
    found = best + (total(strengths) - best).scaled(factor)
    return found if found <= plain(cap) else plain(cap)


STRENGTH = StrengthRules(_decay, _weight, _weighed, _reduced, _reinforced)
"""The rules of the text."""
