"""Runs that end although nobody said that they may: a system that says nothing of its ends is told where they are."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from evenhand.core.answers import ModelError
from evenhand.core.ending import goes_on
from evenhand.core.system import AnySystem, nowhere
from evenhand.core.text import describe
from evenhand.core.trace import AnyScenario, Scenario, replay
from evenhand.core.verdict import Status
from evenhand.evidence.story import evidence_length
from evenhand.search import explore

STATES = 20_000
"""States that are searched for an end where a system says nothing of its ends."""


class RunsEnd(UserWarning):
    """A run of a system can end, and the system does not say that it may."""


def unmeant_ends(systems: Iterable[AnySystem]) -> tuple[str, ...]:
    """Return what to tell a person of the ends of these systems; nothing of one that raises, which its search tells."""
    told: list[str] = []
    for system in systems:
        with suppress(ModelError):
            told.append(unmeant_end(system))
    return tuple(filter(None, told))


def unmeant_end(system: AnySystem) -> str:
    """Return how a run can end, where the system does not say that it may; empty if it says, or none was found."""
    if system.may_end is not None:
        return ""
    (found,) = explore(system, (goes_on(system, nowhere),), max_states=STATES, method="explicit").verdicts
    if found.status is not Status.REFUTED or found.evidence is None:
        return ""
    assert isinstance(found.evidence, Scenario), "an invariant is refuted by a run"
    return told_of_end(system, found.evidence)


def told_of_end(system: AnySystem, run: AnyScenario | None) -> str:
    """Return what to tell a person of a run that ends, where the system does not say that it may."""
    if system.may_end is not None or run is None:
        return ""
    end = describe(replay(system, run).final, 80)
    return (
        f"{system.label}: a run of {evidence_length(run)} actions ends in {end}, where no "
        "action is on offer.  If it may, write "
        "ends=True in evenhand.system, or ends=lambda state: … for where; ends=False claims that no run ends"
    )
