"""The package's functions of strength: decay, trust, warnings, reinforcement.

A double is translated to the exact strength that it approximates. This is a rational number times the power of two of
the half-lives that have passed, or the difference of such a strength and the package's own strengths of the warnings.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import markspace

from evenhand.core.codec import decode, encode
from evenhand.core.kernel import Unsupported
from evenhand.model.markspace.adapter.ids import BEGIN
from evenhand.model.markspace.adapter.space import WEIGHTS, recovered
from evenhand.model.markspace.exact import Amount, plain, total
from evenhand.model.markspace.marks import Kind, Source
from evenhand.model.markspace.signals_vocabulary import TYPES, Combine, Measure, Measured, SignalConfig

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from evenhand.core.canonical import Json


class PublishedSignals:
    """One measurement by the package's pure functions."""

    def __init__(self, config: SignalConfig) -> None:
        if config.weights != WEIGHTS:
            raise Unsupported("the package fixes the trust weights 1, 0.7, 0.3")
        if (config.factor, config.cap) != (Fraction(3, 10), Fraction(2)):
            raise Unsupported("the package fixes the reinforcement factor 0.3 and the cap 2")
        if config.readings.zero_strength != "allowed" or config.readings.warning_trust != "none":
            raise Unsupported("the package allows strength 0 and gives warnings no trust")
        self.lives = config.lives
        self.decay = markspace.DecayConfig(
            observation_half_life=config.lives.observation_half_life,
            warning_half_life=config.lives.warning_half_life,
            intent_ttl=config.lives.intent_ttl,
        )

    def step(self, action: Json, /) -> Json:
        """Take one action.  Raises ValueError for one that does not decode."""
        act: Measure | Combine = decode(action, *TYPES)
        return encode(self._combined(act) if isinstance(act, Combine) else self._measured(act))

    def _combined(self, act: Combine) -> Measured:
        if any(one < 0 for one in (*act.strengths, act.more)):
            return Measured(refused="negative strength")  # impossible in its marks, but `reinforce` takes numbers
        before = markspace.reinforce([float(one) for one in act.strengths])
        after = markspace.reinforce([float(one) for one in (*act.strengths, act.more)])
        return Measured(aggregate=(_amount(before), _amount(after)))

    def _measured(self, act: Measure) -> Measured:
        if act.age < 0 or act.later < 0:
            return Measured(refused="negative strength or age")  # the package's clocks do not run backwards
        try:
            mark = _mark(act, act.source)
            warnings = [
                markspace.Warning(initial_strength=float(w.strength), created_at=BEGIN - w.age, invalidates=mark.id)
                for w in act.warnings
            ]
        except ValueError:
            return Measured(refused="negative strength or age")
        passed = [self._passed(act.kind, age) for age in (act.age, act.age + act.later)]
        base, effective, reduced = list[Amount](), list[Amount](), list[Amount]()
        for later, halvings in zip((0, act.later), passed, strict=True):
            now = BEGIN + later
            base.append(_amount(markspace.compute_strength(mark, now, self.decay), halvings))
            effective.append(_amount(markspace.effective_strength(mark, now, self.decay), halvings))
            worth = [markspace.effective_strength(one, now, self.decay) for one in warnings]
            decayed = [self._passed(Kind.WARNING, w.age + later) for w in act.warnings]
            left = markspace.effective_strength_with_warnings(mark, warnings, now, self.decay)
            reduced.append(_left(left, effective[-1], [*map(_amount, worth, decayed)]))
        return Measured(
            base=(base[0], base[1]),
            effective=(effective[0], effective[1]),
            reduced=(reduced[0], reduced[1]),
            by_source=tuple(
                _amount(markspace.effective_strength(_mark(act, source), BEGIN, self.decay), passed[0])
                for source in Source
            ),
        )

    def _passed(self, kind: Kind, age: int) -> Fraction:
        """Return how many half-lives of its kind have passed."""
        if kind is Kind.OBSERVATION:
            return Fraction(age, self.lives.observation_half_life)
        return Fraction(age, self.lives.warning_half_life) if kind is Kind.WARNING else Fraction(0)


def _mark(act: Measure, source: Source) -> Any:
    usual: dict[str, Any] = {"initial_strength": float(act.strength), "created_at": BEGIN - act.age}
    match act.kind:
        case Kind.INTENT:
            return markspace.Intent(**usual)
        case Kind.ACTION:
            return markspace.Action(**usual)
        case Kind.OBSERVATION:
            return markspace.Observation(source=markspace.Source(source.value), **usual)
        case Kind.WARNING:
            return markspace.Warning(**usual)
        case Kind.NEED:
            resolved: uuid.UUID | None = markspace.Need().id if act.resolved else None
            return markspace.Need(resolved_by=resolved, **usual)


def _amount(value: float, halvings: Fraction = Fraction(0)) -> Amount:
    """Return the strength that a double approximates after so many half-lives."""
    rest = halvings % 1
    found = recovered(value * 2.0 ** float(rest))
    return Amount(((rest, found),) if found else ())


def _left(value: float, effective: Amount, against: Sequence[Amount]) -> Amount:
    """Return the strength that warnings leave: the exact difference if the double is close to it, else the recovered
    double.
    """
    difference = effective - total(against)
    exact = sum(float(coefficient) * 2.0 ** -float(halvings) for halvings, coefficient in difference.terms)
    if value and abs(value - exact) <= 1e-12:
        return difference
    return plain(recovered(value))
