"""What becomes of queued marks that are superseded before the poll, and who hears of what supersedes them (§10, §13.4).

The claims look supersession up in the marks themselves, never in the rules of the model.
"""

from __future__ import annotations

from evenhand.core.property import AnyStep, Property, each_step, reachable
from evenhand.model.markspace.composing_vocabulary import ComposingState, Get, Pattern, Publish, Written

__all__ = ["QUEUED"]

ONLY = ("composing",)


def _place(step: AnyStep) -> int:
    place: int = step.config.names.index(step.action.agent)
    return place


def _waiting(step: AnyStep) -> tuple[Written, ...]:
    """The marks in the queue of whoever polls."""
    queue = step.before.queues[_place(step)]
    return tuple(mark for mark in step.before.marks if mark.number in queue)


def _replaced_by(state: ComposingState, mark: Written) -> tuple[str, ...]:
    """Who wrote a mark that names this one as superseded."""
    return tuple(other.agent for other in state.marks if other.supersedes == mark.number)


def _replaced(step: AnyStep, mark: Written) -> bool:
    authors = _replaced_by(step.before, mark)
    return mark.agent in authors or (bool(authors) and step.config.readings.reference_authority == "anyone")


def _polls(step: AnyStep) -> bool:
    return isinstance(step.action, Get) and bool(_waiting(step))


def _polls_after_supersession(step: AnyStep) -> bool:
    return _polls(step) and any(_replaced(step, mark) for mark in _waiting(step))


@each_step(
    "A poll delivers no mark that was superseded before it.",
    source="10, 13.4",
    systems=ONLY,
    when=_polls_after_supersession,
)
def superseded_marks_are_not_delivered(step: AnyStep) -> bool:
    """False where a poll returns whatever was written since the last one; true where it is a read like others."""
    return not any(_replaced(step, mark) for mark in step.shown.delivered)


@each_step(
    "A poll delivers every queued mark that nothing has superseded.",
    source="13.4, 10",
    systems=ONLY,
    when=_polls,
)
def standing_marks_are_delivered(step: AnyStep) -> bool:
    """Under either reading: what P51's other half becomes where superseded marks are left out."""
    return all(mark in step.shown.delivered for mark in _waiting(step) if not _replaced_by(step.before, mark))


@each_step(
    "A queued mark stays out of a poll only if its own author superseded it.",
    source="10, 2.5: integrity of queues",
    systems=ONLY,
    when=_polls,
)
def queues_are_safe_from_others(step: AnyStep) -> bool:
    """False where superseded marks are left out and anyone may supersede."""
    missing = [mark for mark in _waiting(step) if mark not in step.shown.delivered]
    return all(mark.agent in _replaced_by(step.before, mark) for mark in missing)


def _fits(pattern: Pattern, mark: Written) -> bool:
    return (
        (mark.scope + "/").startswith(pattern.scope + "/")
        and pattern.kind in ("", mark.kind.value)
        and pattern.subject in ("", mark.subject)
    )


def _watchers(step: AnyStep) -> tuple[int, ...]:
    """The places of those, the writer left out, who subscribed to what is being superseded."""
    target = step.before.marks[step.action.supersedes - 1]
    return tuple(
        place
        for place, (name, patterns) in enumerate(zip(step.config.names, step.before.patterns, strict=True))
        if name != step.action.agent and any(_fits(pattern, target) for pattern in patterns or ())
    )


def _supersedes_something_watched(step: AnyStep) -> bool:
    act = step.action
    return isinstance(act, Publish) and bool(act.supersedes) and not step.shown.refused and bool(_watchers(step))


@each_step(
    "Whoever watches a mark hears of the one that supersedes it.",
    source="10, 13.4, P50",
    systems=ONLY,
    when=_supersedes_something_watched,
)
def watchers_hear_of_supersession(step: AnyStep) -> bool:
    """False: P50 queues what matches the patterns, and the new mark need not."""
    return all(step.after.queues[place] != step.before.queues[place] for place in _watchers(step))


@reachable("A mark can be superseded between its writing and the poll.", source="10, 13.4", systems=ONLY)
def superseded_while_queued(step: AnyStep) -> bool:
    """Without it the claims above would speak of nothing."""
    return _polls_after_supersession(step)


QUEUED: tuple[Property, ...] = (
    superseded_marks_are_not_delivered,
    standing_marks_are_delivered,
    queues_are_safe_from_others,
    watchers_hear_of_supersession,
    superseded_while_queued,
)
"""The claims of this module."""
