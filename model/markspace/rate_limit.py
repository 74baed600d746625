"""Rate limits of a scope (§9.12): per agent and in total, per tumbling or sliding window."""

from __future__ import annotations

from evenhand.model.markspace.layers_vocabulary import LayersConfig, Rates


def exceeded(config: LayersConfig, rates: Rates, agent: str, scope: str) -> bool:
    """Return whether one more write would exceed a limit of the window."""
    here = [who for who, where in (*rates.before, *rates.now) if where == scope]
    each, every = config.rate
    return (each is not None and here.count(agent) >= each) or (every is not None and len(here) >= every)


def rated(rates: Rates, agent: str, scope: str, accepted: bool) -> Rates:
    """Return the rates with this write counted, if every later layer accepts it."""
    if not accepted:
        return rates
    return Rates(tuple(sorted((*rates.now, (agent, scope)))), rates.before)


def moved_on(config: LayersConfig, rates: Rates, half: int) -> Rates:
    """Return the rates half a window later: a tumbling window empties at its end, a sliding one drops a half."""
    if config.readings.rate_window == "sliding" or half == 0:
        return Rates((), rates.now)
    return Rates()
