"""Queued marks that are superseded before the poll, and who receives the mark that supersedes (§10, §13.4).

The claims look supersession up in the marks themselves, never in the rules of the model.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from evenhand.core.plan import holds, refuted
from evenhand.core.property import each_step, reachable
from evenhand.model.markspace.composing_vocabulary import ComposingState, ComposingStep, Written
from evenhand.properties.markspace.composing_predicates import (
    ONLY,
    GetStep,
    PublishStep,
    delivered,
    fits,
    polls,
    publishes,
)

_LEFT_OUT: dict[str, Any] = {"superseded_in_queue": "left_out"}
_AND_OWN: dict[str, Any] = {**_LEFT_OUT, "reference_authority": "same_agent_or_principal"}


def _waiting(step: GetStep) -> tuple[Written, ...]:
    queue = step.before.queues[step.config.names.index(step.action.agent)]
    return tuple(mark for mark in step.before.marks if mark.number in queue)


def _replaced_by(state: ComposingState, mark: Written) -> tuple[str, ...]:
    """The authors of marks that supersede this one."""
    return tuple(other.agent for other in state.marks if other.supersedes == mark.number)


def _replaced(step: GetStep, mark: Written) -> bool:
    authors = _replaced_by(step.before, mark)
    return mark.agent in authors or (bool(authors) and step.config.readings.reference_authority == "anyone")


def _polls(step: ComposingStep) -> TypeGuard[GetStep]:
    return polls(step) and bool(_waiting(step))


def _polls_after_supersession(step: ComposingStep) -> bool:
    return _polls(step) and any(_replaced(step, mark) for mark in _waiting(step))


@each_step(
    "A poll delivers no mark that was superseded before it.",
    source="10, 13.4",
    systems=ONLY,
    when=_polls_after_supersession,
    expected=(
        refuted("13.4: a poll returns whatever was written", system="composing"),
        holds("a poll is a read", system="composing", readings=_LEFT_OUT),
        holds("a poll is a read", system="composing", readings=_AND_OWN),
    ),
)
def superseded_marks_are_not_delivered(step: GetStep) -> bool:
    """False where a poll returns all marks written since the last one; true where a poll is a read."""
    return not any(_replaced(step, mark) for mark in delivered(step))


@each_step(
    "A poll delivers every queued mark that nothing has superseded.",
    source="13.4, 10",
    systems=ONLY,
    when=_polls,
)
def standing_marks_are_delivered(step: GetStep) -> bool:
    """This holds under either reading, as P51's other half where superseded marks are left out."""
    return all(mark in delivered(step) for mark in _waiting(step) if not _replaced_by(step.before, mark))


@each_step(
    "A queued mark stays out of a poll only if its own author superseded it.",
    source="10, 2.5: integrity of queues",
    systems=ONLY,
    when=_polls,
    expected=(
        refuted("10: anyone may supersede", system="composing", readings=_LEFT_OUT),
        holds("authors only", system="composing", readings=_AND_OWN),
    ),
)
def queues_are_safe_from_others(step: GetStep) -> bool:
    """False where superseded marks are left out and anyone may supersede."""
    missing = [mark for mark in _waiting(step) if mark not in delivered(step)]
    return all(mark.agent in _replaced_by(step.before, mark) for mark in missing)


def _watchers(step: PublishStep) -> tuple[int, ...]:
    """The indices of the agents, except the writer, that subscribed to the mark being superseded."""
    target = step.before.marks[step.action.supersedes - 1]
    return tuple(
        place
        for place, (name, patterns) in enumerate(zip(step.config.names, step.before.patterns, strict=True))
        if name != step.action.agent and any(fits(pattern, target) for pattern in patterns or ())
    )


@each_step(
    "Whoever watches a mark hears of the one that supersedes it.",
    source="10, 13.4, P50",
    systems=ONLY,
    when=lambda step: publishes(step) and step.action.supersedes != 0 and bool(_watchers(step)),
    expected=(refuted("P50: what replaces a mark need not match the pattern", system="composing"),),
)
def watchers_hear_of_supersession(step: PublishStep) -> bool:
    """False: P50 queues marks that match the patterns, and the new mark need not match."""
    return all(step.after.queues[place] != step.before.queues[place] for place in _watchers(step))


@reachable("A mark can be superseded between its writing and the poll.", source="10, 13.4", systems=ONLY)
def superseded_while_queued(step: ComposingStep) -> bool:
    """Without this the claims above would be vacuous."""
    return _polls_after_supersession(step)
