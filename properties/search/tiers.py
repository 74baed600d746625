"""Ways to get the steps out of a state: run `step` on every action, do equal work once, or compile it.

Tier 0 is the reference and runs any model.  Tier 1 (`memo`) serves systems that say how their step separates;
it finds the same graph in the same order with the same multiplicities, which tests and samples compare.
Tier 2 (`rows`) serves systems that declare finite domains, and claims about states and single steps.  Tier 3
(`symmetry`) serves the same under a licensed quotient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.properties.property import Property
from evenhand.properties.search.found import AnySystem, LicenceMissing, named
from evenhand.properties.search.memo import Memo
from evenhand.properties.search.rows.compiler import Unfit
from evenhand.properties.search.rows.labels import about_steps
from evenhand.properties.search.rows.tier import Compiled, reason_against
from evenhand.properties.search.steps import Row, Tier, nth_action, stepped
from evenhand.properties.search.symmetry.moves import AnyQuotient
from evenhand.properties.search.symmetry.tier import Orbits

__all__ = ["Plain", "chosen_tier", "tier_for"]


def chosen_tier(
    system: AnySystem,
    wanted: int | None,
    claims: Sequence[Property],
    configs: Sequence[Any],
    quotient: AnyQuotient | None = None,
) -> tuple[Tier | Compiled | Orbits, str]:
    """The tier to explore with and the reason for it, compiled rows and a licensed quotient of states included.

    Raises ValueError for a tier that system or claims do not allow, LicenceMissing for tier 3 without a quotient.
    """
    if wanted == 3 and quotient is None:
        raise LicenceMissing(f"tier 3 divides the states of {named(system)} by a quotient, and none is licensed")
    if quotient is None or wanted not in (None, 3):
        return _plain_tier(system, wanted, claims, configs)
    against = reason_against(system, claims if wanted is None else (), about_steps)
    if not configs:
        against = "there is no configuration"
    if not against:
        below = None if wanted == 3 else _plain_tier(system, None, claims, ())[0]
        chosen = Orbits(system, quotient, tuple(claims), below)
        try:
            return chosen, chosen.why(configs[0])
        except Unfit as error:
            against = str(error)
    if wanted == 3:
        raise ValueError(f"tier 3 cannot explore {named(system)}: {against}")
    lower, why = _plain_tier(system, None, claims, configs)
    return lower, f"{why}; not tier 3, for {against}"


def _plain_tier(
    system: AnySystem, wanted: int | None, claims: Sequence[Property], configs: Sequence[Any]
) -> tuple[Tier | Compiled, str]:
    if wanted in (0, 1) or (wanted is None and system.domains is None):
        return tier_for(system, wanted)
    if wanted not in (None, 2):
        raise ValueError(
            f"tier {wanted!r} is unknown; there is 0 (every action is run), 1 (equal work is done once), "
            "2 (compiled rows) and 3 (compiled rows, one state of each orbit)"
        )
    against = reason_against(system, claims)
    if wanted == 2 and against:
        raise ValueError(f"tier 2 cannot explore {named(system)}: {against}")
    below, why = tier_for(system, None)
    if against:
        return below, f"{why}; not tier 2, for {against}"
    chosen = Compiled(system, claims, None if wanted == 2 else below)
    try:
        return chosen, chosen.why(configs[0]) if configs else "there is no configuration"
    except Unfit as error:
        if wanted == 2:
            raise ValueError(f"tier 2 cannot explore {error}") from error
        return below, f"{why}; not tier 2, for {error}"


def tier_for(system: AnySystem, wanted: int | None) -> tuple[Tier, str]:
    """Tier 0 or 1 and the reason for it.  Raises ValueError for a tier that the system does not allow."""
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
