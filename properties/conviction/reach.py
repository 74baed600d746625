"""What can happen: a model that refuses everything keeps every safety claim, so each event must be seen to occur."""

from __future__ import annotations

import re
from collections.abc import Callable

from evenhand.core.property import AnyStep, Property, Reachable
from evenhand.model.conviction.vocabulary import REJECTIONS, MoveStake, Revise, Tick
from evenhand.properties.conviction.predicates import accepted, events, finalizes, ticking
from evenhand.properties.conviction.winning import contested

__all__ = ["EVERYWHERE", "REACH", "UNDER_A_READING", "rejection_claim"]


def rejection_claim(name: str) -> str:
    """The name of the claim that a rejection of this name can occur."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() + "_occurs"


UNDER_A_READING = ("MaximumCreditExceeded", "NotOffered", "TickRefused")
"""Rejections that only a reading other than the default knows; `run` is drawn under the default."""


def _rejection(name: str) -> Reachable:
    return Reachable(
        name=rejection_claim(name),
        sentence=f"An action can be rejected as {name}.",
        source="11, 14.2, 16.5",
        systems=("issue",) if name in UNDER_A_READING else ("run", "issue"),
        goal=lambda step: step.shown.rejected == name,
    )


def _can(name: str, sentence: str, source: str, goal: Callable[[AnyStep], bool]) -> Reachable:
    return Reachable(name=name, sentence=sentence, source=source, goal=goal)


def _tie(step: AnyStep) -> str:
    return next(events(step.shown, "Finalize")).reason if finalizes(step) else ""


def _withdrawn(step: AnyStep) -> bool:
    return accepted(step, Revise) and any(event.kind == "Withdrawn" for event in step.shown.events)


def _reset(step: AnyStep) -> bool:
    a = step.action
    return accepted(step, MoveStake) and any(e.held and e.owner == a.agent for e in step.before.entries)


_REJECTIONS = tuple(_rejection(name) for name in REJECTIONS)

_FACTS: tuple[Property, ...] = (
    _can("an_issue_is_decided", "A proposal can win.", "17.2", lambda s: _tie(s) == "highest score"),
    _can(
        "time_decides", "A tie can be decided by LastStakeTick.", "17.3", lambda s: _tie(s) == "earliest LastStakeTick"
    ),
    _can("nobody_wins", "A full tie can leave no winner.", "17.3", lambda s: _tie(s) == "full tie"),
    _can("proposals_tie", "Two proposals can share the top score.", "17.3", contested),
    _can("a_revision_taps", "A revision can be paid out of one's own stake.", "14.2", _withdrawn),
    _can("a_move_resets", "Stake that has aged can be moved.", "A 16.3", _reset),
    _can(
        "an_agent_is_kicked_out",
        "An agent can be kicked out.",
        "9.3",
        lambda s: accepted(s, Tick) and any(events(s.shown, "KickOut")),
    ),
    _can(
        "a_phase_goes_on",
        "A tick can leave a phase as it is.",
        "9.1",
        lambda s: ticking(s) and (s.before.phase, s.before.turn) == (s.after.phase, s.after.turn),
    ),
)

EVERYWHERE = tuple(claim.name for claim in _FACTS)
"""The names of what can happen beside rejections."""

REACH: tuple[Property, ...] = (*_REJECTIONS, *_FACTS)
"""The claims of this module."""
