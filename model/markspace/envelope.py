"""The statistical envelope (§9.7): rate spikes, shifts of type, concentration; exact, without a square root."""

from __future__ import annotations

from fractions import Fraction

from evenhand.core.records import replace
from evenhand.model.markspace.layers_vocabulary import Envelope, Health, LayersConfig, Watched
from evenhand.model.markspace.marks import Kind


def empty(config: LayersConfig) -> Envelope:
    """Return the envelope without observations."""
    return Envelope((Watched(),) * len(config.agents))


def ready(config: LayersConfig, watched: Watched) -> bool:
    """Return whether there is a baseline: enough completed windows, or a declared one."""
    return config.baseline is not None or len(watched.past) >= config.samples


def attempted(config: LayersConfig, envelope: Envelope, agent: str, scope: str, kind: Kind) -> Envelope:
    """Return the envelope with one more attempt of an agent, whether or not it is let through (P64)."""
    place = config.agents.index(agent)
    watched = envelope.watched[place]
    changed = replace(watched, now=tuple(sorted((*watched.now, (scope, kind)), key=lambda one: (one[0], one[1].value))))
    return Envelope((*envelope.watched[:place], changed, *envelope.watched[place + 1 :]))


def judged(config: LayersConfig, before: Envelope, counted: Envelope) -> Envelope:
    """Return the counts that a write is judged by: without it, or with it by the reading `envelope_records`."""
    return counted if config.readings.envelope_records == "before_the_check" else before


def rotated(config: LayersConfig, envelope: Envelope) -> Envelope:
    """Return the envelope at the end of the window; completed windows are kept up to the bound."""

    def one(watched: Watched) -> Watched:
        counts = (_count(watched.now, Kind.OBSERVATION), _count(watched.now, Kind.NEED))
        past = (*watched.past, counts)[-config.windows :] if config.windows else ()
        return replace(watched, now=(), before=watched.now, past=past)

    return Envelope(tuple(one(watched) for watched in envelope.watched))


def _count(attempts: tuple[tuple[str, Kind], ...], kind: Kind) -> int:
    return sum(1 for _, one in attempts if one is kind)


def spikes(config: LayersConfig, watched: Watched, kind: Kind) -> bool:
    """Return whether this count exceeds mean + k * stddev, or the mean of this and the last window does; by squares."""
    place = 0 if kind is Kind.OBSERVATION else 1
    history = [Fraction(counts[place]) for counts in watched.past]
    if config.baseline is not None and place == 0:  # stddev = mean / 2: two samples at half and three halves of it
        history += [Fraction(config.baseline, 2), Fraction(3 * config.baseline, 2)]
    if not history:
        return False
    mean = sum(history, Fraction(0)) / len(history)
    variance = sum(((one - mean) ** 2 for one in history), Fraction(0)) / len(history)
    now, before = _count(watched.now, kind), _count(watched.before, kind)
    single = now - mean
    double = Fraction(now + before, 2) - mean
    limit = config.sigmas**2 * variance
    return any(excess > 0 and excess**2 > limit for excess in (single, double))


def shifted(config: LayersConfig, watched: Watched) -> bool:
    """Return whether the share of observations differs from the historical one by more than the threshold."""
    seen = sum(first + second for first, second in watched.past)
    now = _count(watched.now, Kind.OBSERVATION) + _count(watched.now, Kind.NEED)
    if not seen or not now:
        return False
    usual = Fraction(sum(first for first, _ in watched.past), seen)
    return abs(Fraction(_count(watched.now, Kind.OBSERVATION), now) - usual) > config.shift


def check(config: LayersConfig, envelope: Envelope, agent: str) -> Health:
    """Return the health: RESTRICTED is sticky (P40); NORMAL until ready (P41); concentration alone is FLAGGED."""
    watched = envelope.watched[config.agents.index(agent)]
    if watched.restricted:
        return Health.RESTRICTED
    if not ready(config, watched):
        return Health.NORMAL
    if any(spikes(config, watched, kind) for kind in (Kind.OBSERVATION, Kind.NEED)) or shifted(config, watched):
        return Health.RESTRICTED
    for topic in _topics(watched):
        if sum(topic in _topics(one) for one in envelope.watched) >= 3:
            return Health.FLAGGED
    return Health.NORMAL


def _topics(watched: Watched) -> frozenset[str]:
    """Return the scopes of this window's marks with a topic, which is the same for all here; a need has none (§2.6)."""
    return frozenset(scope for scope, kind in watched.now if kind is not Kind.NEED)


def with_restricted(config: LayersConfig, envelope: Envelope, agent: str, restricted: bool) -> Envelope:
    """Return the envelope with the flag set, or cleared by `reset`."""
    place = config.agents.index(agent)
    changed = replace(envelope.watched[place], restricted=restricted)
    return Envelope((*envelope.watched[:place], changed, *envelope.watched[place + 1 :]))
