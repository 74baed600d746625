"""Rate limits of a scope (§9.12): per agent and in total, per window that tumbles or slides."""

from __future__ import annotations

from evenhand.model.markspace.layers_vocabulary import LayersConfig, Rates


def exceeded(config: LayersConfig, rates: Rates, agent: str, scope: str) -> bool:
    """Whether one more write would exceed a limit of the window."""
    here = [who for who, where in (*rates.before, *rates.now) if where == scope]
    each, every = config.rate
    return (each is not None and here.count(agent) >= each) or (every is not None and len(here) >= every)


def rated(rates: Rates, agent: str, scope: str, accepted: bool) -> Rates:
    """A write is counted if no later layer refuses it."""
    if not accepted:
        return rates
    return Rates(tuple(sorted((*rates.now, (agent, scope)))), rates.before)


def moved_on(config: LayersConfig, rates: Rates, half: int) -> Rates:
    """Half a window passes; a tumbling window is emptied at its end, a sliding one drops the older half."""
    if config.readings.rate_window == "sliding" or half == 0:
        return Rates((), rates.now)
    return Rates()
