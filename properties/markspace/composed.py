"""What each operation on subscriptions and schedules does, and nothing else (§13, §14)."""

from __future__ import annotations

from typing import TypeVar

from evenhand.core.property import each_step
from evenhand.model.markspace.composing_vocabulary import (
    LONGEST,
    Activate,
    ComposingConfig,
    ComposingState,
    ComposingStep,
    Get,
    Pipeline,
    Publish,
    Subscribe,
    Unsubscribe,
    Update,
    Wait,
    Written,
)
from evenhand.properties.markspace.composing_predicates import ONLY, reaches, under
from evenhand.properties.markspace.predicates import holds_nothing_but

T = TypeVar("T")

BOTH = (*ONLY, "scheduling")


def _permitted(step: ComposingStep) -> bool:
    """Whether the text lets this operation through."""
    act = step.action
    if isinstance(act, Wait | Activate | Pipeline):
        return True
    if act.agent not in step.config.names:
        return False
    match act:
        case Publish(supersedes=number):
            return 0 <= number <= len(step.before.marks)
        case Subscribe(patterns=patterns):
            return bool(patterns)
        case Update(interval=interval):
            return interval is None or interval > 0
        case _:
            return True


def _put(values: tuple[T, ...], step: ComposingStep, value: T) -> tuple[T, ...]:
    """The values with another one for the acting agent."""
    agent = getattr(step.action, "agent", "")
    return tuple(value if name == agent else old for name, old in zip(step.config.names, values, strict=True))


def _of(values: tuple[T, ...], step: ComposingStep) -> T:
    return values[step.config.names.index(getattr(step.action, "agent", ""))]


@each_step(
    "An operation is refused, with a reason, exactly if agent, superseded mark, patterns or interval are none.",
    source="13.3, 14.1",
    systems=BOTH,
)
def composing_refuses_for_cause_alone(step: ComposingStep) -> bool:
    """A refusal changes nothing."""
    refused = bool(step.shown.refused)
    return refused == (not _permitted(step)) and (not refused or step.after == step.before)


_ANSWERS: dict[type, tuple[str, ...]] = {
    Get: ("delivered",),
    Pipeline: ("connected", "overpromised"),
    Activate: ("activated",),
}


@each_step(
    "An answer holds what the operation returns, and nothing else; a refusal holds its reason alone.",
    source="13.4, 13.5, 14.2",
    systems=BOTH,
)
def answers_hold_what_was_asked(step: ComposingStep) -> bool:
    """Publishing delivers nothing, polling validates nothing."""
    names = () if step.shown.refused else _ANSWERS.get(type(step.action), ())
    return holds_nothing_but(step.shown, "refused", *names)


def _written(step: ComposingStep) -> tuple[Written, ...]:
    act = step.action
    if not isinstance(act, Publish) or not _permitted(step):
        return ()
    secret = any(under(scope, act.scope) for scope in step.config.classified)
    number = len(step.before.marks) + 1
    return (Written(number, act.agent, act.scope, act.kind, act.subject, secret, act.supersedes),)


@each_step(
    "A published mark is stored as it was submitted, after all others, and nothing else stores or changes a mark.",
    source="13.4, 8.1",
    systems=ONLY,
)
def published_marks_are_as_submitted(step: ComposingStep) -> bool:
    """Its number is the next one; it is classified if its scope is."""
    return step.after.marks == step.before.marks + _written(step)


@each_step(
    "A published mark joins the queue of every other agent with a pattern that it fits; a poll that clears, and the "
    "end of a subscription, empty the agent's own; nothing else touches a queue.",
    source="13.3, 13.4, P48 to P51",
    systems=ONLY,
)
def queues_change_as_asked(step: ComposingStep) -> bool:
    """Own writes are never queued."""
    before, due = step.before, step.before.queues
    act = step.action
    if isinstance(act, Publish):
        due = tuple(
            queue + tuple(mark.number for mark in _written(step) if reaches(step.config, name, patterns, mark))
            for name, patterns, queue in zip(step.config.names, before.patterns, before.queues, strict=True)
        )
    elif isinstance(act, Unsubscribe) or (isinstance(act, Get) and act.clear):
        due = _put(before.queues, step, ())
    return step.after.queues == due


@each_step(
    "Subscribing sets the agent's patterns, unsubscribing removes them, and nothing else touches them.",
    source="13.3",
    systems=ONLY,
)
def patterns_change_as_asked(step: ComposingStep) -> bool:
    """A refused subscription leaves the old one."""
    before, act = step.before, step.action
    due = before.patterns
    if isinstance(act, Subscribe) and _permitted(step):
        due = _put(before.patterns, step, act.patterns)
    elif isinstance(act, Unsubscribe):
        due = _put(before.patterns, step, None)
    return step.after.patterns == due


def _superseded(config: ComposingConfig, state: ComposingState, mark: Written) -> bool:
    own = config.readings.reference_authority == "same_agent_or_principal"
    return any(one.supersedes == mark.number and (not own or one.agent == mark.agent) for one in state.marks)


@each_step(
    "A poll delivers the agent's queue in order of writing, without superseded marks where it is read so; nothing else "
    "delivers.",
    source="13.4, P47, P50",
    systems=ONLY,
)
def polls_deliver_the_queue(step: ComposingStep) -> bool:
    """Whether or not the poll clears."""
    if not isinstance(step.action, Get) or not _permitted(step):
        return step.shown.delivered is None
    passes = step.config.readings.superseded_in_queue == "left_out"
    queue = _of(step.before.queues, step)
    due = tuple(mark for mark in step.before.marks if mark.number in queue)
    if passes:
        due = tuple(mark for mark in due if not _superseded(step.config, step.before, mark))
    return step.shown.delivered == due


@each_step(
    "Activation is of every agent whose interval has passed and of nobody else; it and time alone move the clocks, and "
    "an update sets the interval that it names.",
    source="14.1, 14.2, P55, P56",
    systems=BOTH,
)
def schedules_change_as_asked(step: ComposingStep) -> bool:
    """An update keeps the last activation."""
    before, after, act = step.before, step.after, step.action
    intervals, since = before.intervals, before.since
    names: tuple[str, ...] = ()
    match act:
        case Update(interval=interval) if _permitted(step):
            intervals = _put(intervals, step, interval)
        case Wait():
            since = tuple(None if one is None else min(one + 1, LONGEST) for one in since)
        case Activate():
            due = [
                interval is not None and (one is None or one >= interval)
                for one, interval in zip(since, intervals, strict=True)
            ]
            since = tuple(0 if now else one for now, one in zip(due, since, strict=True))
            names = tuple(name for now, name in zip(due, step.config.names, strict=True) if now)
        case _:
            pass
    return (after.intervals, after.since, step.shown.activated) == (intervals, since, names)
