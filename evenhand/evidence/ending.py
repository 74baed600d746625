"""The claim that a system of one's own makes by saying where its runs may end.

A run ends in a state that offers no action.  That may be the goal, or a deadlock that nobody meant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenhand.core.kinds import Always
from evenhand.core.system import AnySystem, everywhere
from evenhand.evidence.judge import has_ended

NAME = "ends_only_where_it_may"
"""The name of the claim."""


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
