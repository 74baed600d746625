"""Token budgets (§9.10): totals in two dimensions, one warning per dimension, a hard stop, a ceiling that can be
raised.
"""

from __future__ import annotations

from fractions import Fraction

from evenhand.core.records import replace
from evenhand.model.markspace.layers_vocabulary import Budget, LayersConfig


def empty(config: LayersConfig) -> Budget:
    """Return the budget with no token used."""
    count = len(config.agents)
    return Budget(((0, 0),) * count, ((False, False),) * count, (config.budget,) * count)


def stopped(used: tuple[int, int], ceiling: tuple[int | None, int | None]) -> bool:
    """Return whether the total of some dimension is reached (P61)."""
    return any(limit is not None and tokens >= limit for tokens, limit in zip(used, ceiling, strict=True))


def warns(tokens: int, limit: int | None, fraction: Fraction) -> bool:
    """Return whether lifetime usage has crossed the warning fraction (P60)."""
    return limit is not None and tokens >= fraction * limit


def spent(config: LayersConfig, budget: Budget, agent: str, tokens: tuple[int, int]) -> tuple[Budget, tuple[int, ...]]:
    """Return the budget after a round, and the dimensions that cross the warning fraction for the first time."""
    place = config.agents.index(agent)
    used = (budget.used[place][0] + tokens[0], budget.used[place][1] + tokens[1])
    over = [warns(used[d], budget.ceiling[place][d], config.fraction) for d in (0, 1)]
    new = tuple(d for d in (0, 1) if over[d] and not budget.warned[place][d])
    warned = (budget.warned[place][0] or over[0], budget.warned[place][1] or over[1])
    return (
        replace(
            budget,
            used=(*budget.used[:place], used, *budget.used[place + 1 :]),
            warned=(*budget.warned[:place], warned, *budget.warned[place + 1 :]),
        ),
        new,
    )


def raised(config: LayersConfig, budget: Budget, agent: str, more: tuple[int, int]) -> Budget:
    """Return the budget after the principal raises the ceiling; used tokens stay used (P63)."""
    place = config.agents.index(agent)
    old = budget.ceiling[place]
    ceiling = (None if old[0] is None else old[0] + more[0], None if old[1] is None else old[1] + more[1])
    return replace(budget, ceiling=(*budget.ceiling[:place], ceiling, *budget.ceiling[place + 1 :]))
