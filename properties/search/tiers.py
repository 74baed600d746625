"""Two ways to get the steps out of a state: run `step` on every action, or do equal work once.

Tier 0 is the reference and runs any model.  Tier 1 (`memo`) serves systems that say how their step separates;
it finds the same graph in the same order with the same multiplicities, which tests and samples compare.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.properties.search.found import AnySystem, named
from evenhand.properties.search.memo import Memo
from evenhand.properties.search.steps import Row, Tier, nth_action, stepped

__all__ = ["Plain", "tier_for"]


def tier_for(system: AnySystem, wanted: int | None) -> tuple[Tier, str]:
    """The tier to use and the reason for it.  Raises ValueError for a tier that the system does not allow."""
    able = system.separated is not None and system.joint is not None
    if wanted not in (None, 0, 1):
        raise ValueError(
            f"tier {wanted!r} is unknown; there is 0 (every action is run) and 1 (equal work is done once)"
        )
    if wanted == 1 and not able:
        raise ValueError(f"{named(system)} has no `separated` step, so tier 1 cannot run it; leave the tier out")
    if wanted == 0:
        return Plain(system), "tier 0 was asked for"
    if not able:
        return Plain(system), "the system does not separate judging from applying"
    return Memo(system), (
        "the step separates: judgements are shared and equal verdicts applied once; "
        "claims that look at the action are shown every joint action"
    )


class Plain:
    """Tier 0: run `step` on every action."""

    number = 0

    def __init__(self, system: AnySystem) -> None:
        self.system = system

    def begin(self, config: Any, number: int) -> None:
        """Nothing is remembered."""

    def rows(self, config: Any, state: Any) -> Iterator[Row]:
        """One row for each action."""
        system = self.system
        step, rules = system.step, system.rules
        for number, action in enumerate(system.enabled(config, state)):
            try:
                after, shown = step(rules, config, state, action)
            except Exception:
                after, shown = stepped(system, config, state, action)
            yield number, action, None, after, shown

    def action(self, config: Any, state: Any, number: int) -> Any:
        """The action of that number."""
        return nth_action(self.system, config, state, number)

    def step(self, rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        """The system's own step."""
        return self.system.step(rules, config, state, action)
