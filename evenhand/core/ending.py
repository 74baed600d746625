"""The claim that a system of one's own makes by saying where its runs may end.

A run ends in a state that offers no action.  That may be the goal, or a deadlock that nobody meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from evenhand.core.kinds import Always, Property
from evenhand.core.system import AnySystem, everywhere

NAME = "ends_only_where_it_may"
"""The name of the claim."""


def has_ended(system: AnySystem, config: Any, state: Any) -> bool:
    """Return whether no action is on offer in `state`, so that the run ends there."""
    return next(iter(system.enabled(config, state)), None) is None


def ending_claim(system: AnySystem) -> Always | None:
    """Return the claim that runs end only where `system.may_end` says; None if nothing is said, or all is allowed.

    It is made once for each system, so that a licence that speaks of it speaks of it everywhere.
    """
    may_end = system.may_end
    if may_end is None or may_end is everywhere:
        return None
    made: Any = vars(system)
    if "_ending" not in made:
        object.__setattr__(system, "_ending", goes_on(system, may_end))
    claim: Always = made["_ending"]
    return claim


def goes_on(system: AnySystem, may_end: Callable[[Any, Any], bool]) -> Always:
    """Return the claim that runs end only where `may_end(config, state)`."""
    return Always(
        name=NAME,
        sentence="A run ends only where the system says that it may.",
        check=lambda config, state: bool(may_end(config, state)) or not has_ended(system, config, state),
    )


def of_this(system: AnySystem, claims: Iterable[Property]) -> tuple[Property, ...]:
    """Return the claims with the one about ends as `system` makes it, at its scope and in its variant."""
    mine = ending_claim(system)
    return tuple(
        replace(mine, systems=claim.systems) if mine is not None and claim.name == NAME else claim for claim in claims
    )
