"""Runs that end: a system of one's own says where they may, or is told that they can.

A run ends in a state that offers no action.  That may be the goal, or a deadlock that nobody meant.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.kinds import Always
from evenhand.core.system import AnySystem, everywhere, nowhere
from evenhand.core.text import describe
from evenhand.core.trace import Scenario, replay
from evenhand.core.verdict import Status
from evenhand.evidence.judge import has_ended
from evenhand.evidence.story import evidence_length
from evenhand.search import explore

NAME = "ends_only_where_it_may"
"""The name of the claim that a system makes by saying where its runs may end."""

STATES = 20_000
"""States that are searched for an end where a system says nothing of its ends."""


class RunsEnd(UserWarning):
    """A run of a system can end, and the system does not say that it may."""


def ending_claim(system: AnySystem) -> Always | None:
    """Return the claim that runs end only where `system.may_end` says; None if nothing is said, or all is allowed."""
    may_end = system.may_end
    if may_end is None or may_end is everywhere:
        return None
    return _goes_on(system, may_end)


def unmeant_end(system: AnySystem) -> str:
    """Return how a run can end, where the system does not say that it may; empty if it says, or none was found."""
    if system.may_end is not None:
        return ""
    (found,) = explore(system, (_goes_on(system, nowhere),), max_states=STATES).verdicts
    if found.status is not Status.REFUTED or found.evidence is None:
        return ""
    assert isinstance(found.evidence, Scenario), "an invariant is refuted by a run"
    end = replay(system, found.evidence).final
    return (
        f"{system.label}: a run of {evidence_length(found.evidence)} actions ends in {describe(end, 80)}, where no "
        "action is on offer.  If it may, write "
        "ends=True in evenhand.system, or ends=lambda state: … for where; ends=False claims that no run ends"
    )


def _goes_on(system: AnySystem, may_end: Any) -> Always:
    return Always(
        name=NAME,
        sentence="A run ends only where the system says that it may.",
        check=lambda config, state: bool(may_end(config, state)) or not has_ended(system, config, state),
    )
