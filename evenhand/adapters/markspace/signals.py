"""The package's functions of strength: decay, trust, warnings, reinforcement."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import markspace

from evenhand.adapters.markspace.ids import BEGIN
from evenhand.adapters.markspace.space import WEIGHTS, recovered
from evenhand.adapters.protocol import Unsupported
from evenhand.model.codec import decode, encode
from evenhand.model.markspace.exact import Amount, plain
from evenhand.model.markspace.marks import Kind, Source
from evenhand.model.markspace.signals_words import TYPES, Combine, Measure, Measured, SignalConfig

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from evenhand.model.canonical import Json

__all__ = ["PublishedSignals"]


class PublishedSignals:
    """One measurement by the package's pure functions."""

    def __init__(self, config: SignalConfig) -> None:
        if config.weights != WEIGHTS:
            raise Unsupported("the package fixes the trust weights 1, 0.7, 0.3")
        if (config.factor, config.cap) != (Fraction(3, 10), Fraction(2)):
            raise Unsupported("the package fixes the reinforcement factor 0.3 and the cap 2")
        if (config.lives.observation_half_life, config.lives.warning_half_life) != (1, 1):
            raise Unsupported("doubles name exact strengths only at half-lives of one second")
        if config.readings.zero_strength != "allowed" or config.readings.warning_trust != "none":
            raise Unsupported("the package allows strength 0 and gives warnings no trust")
        self.decay = markspace.DecayConfig(
            observation_half_life=1, warning_half_life=1, intent_ttl=config.lives.intent_ttl
        )

    def step(self, action: Json, /) -> Json:
        """Take one action.  Raises ValueError for one that does not decode."""
        act: Measure | Combine = decode(action, *TYPES)
        return encode(self._combined(act) if isinstance(act, Combine) else self._measured(act))

    def _combined(self, act: Combine) -> Measured:
        if any(one < 0 for one in (*act.strengths, act.more)):
            return Measured(refused="negative strength")  # its marks cannot have one; `reinforce` takes bare numbers
        before = markspace.reinforce([float(one) for one in act.strengths])
        after = markspace.reinforce([float(one) for one in (*act.strengths, act.more)])
        return Measured(aggregate=(_amount(before), _amount(after)))

    def _measured(self, act: Measure) -> Measured:
        if act.age < 0 or act.later < 0:
            return Measured(refused="negative strength or age")  # no clock of the package runs backwards
        try:
            mark = _mark(act, act.source)
            warnings = [
                markspace.Warning(initial_strength=float(w.strength), created_at=BEGIN - w.age, invalidates=mark.id)
                for w in act.warnings
            ]
        except ValueError:
            return Measured(refused="negative strength or age")
        instants = (BEGIN, BEGIN + act.later)
        return Measured(
            base=_both([markspace.compute_strength(mark, now, self.decay) for now in instants]),
            effective=_both([markspace.effective_strength(mark, now, self.decay) for now in instants]),
            reduced=_both(
                [markspace.effective_strength_with_warnings(mark, warnings, now, self.decay) for now in instants]
            ),
            by_source=tuple(
                _amount(markspace.effective_strength(_mark(act, source), BEGIN, self.decay)) for source in Source
            ),
        )


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


def _amount(value: float) -> Amount:
    return plain(recovered(value))


def _both(values: Sequence[float]) -> tuple[Amount, Amount]:
    return _amount(values[0]), _amount(values[1])
