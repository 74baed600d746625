"""Subscriptions, manifests, schedules (P48 to P56)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeGuard, TypeVar

from evenhand.core.plan import Expectation, holds, refuted
from evenhand.core.property import Monitor, determined_by, each_step, monitor, two_run
from evenhand.core.records import replace
from evenhand.core.system import Step
from evenhand.model.markspace.clocked_vocabulary import ClockStep
from evenhand.model.markspace.composing_vocabulary import (
    Activate,
    Composed,
    ComposingAct,
    ComposingConfig,
    ComposingState,
    ComposingStep,
    Get,
    Manifest,
    Pattern,
    Pipeline,
    Publish,
    Subscribe,
    Unsubscribe,
    Update,
    Wait,
)
from evenhand.properties.markspace.composing_predicates import (
    ONLY,
    GetStep,
    delivered,
    fits,
    polls,
    publishes,
    reaches,
    under,
)
from evenhand.properties.markspace.predicates import same_action, same_config, there

PipelineStep: TypeAlias = Step[ComposingConfig, ComposingState, Pipeline, Composed]

T = TypeVar("T")


def _put(parts: tuple[T, ...], place: int, one: T) -> tuple[T, ...]:
    return (*parts[:place], one, *parts[place + 1 :])


# The monitor keeps its own record: the patterns of each agent, and the marks due to it, each once.

Books: TypeAlias = tuple[tuple[tuple[Pattern, ...], ...], tuple[tuple[int, ...], ...], str]


def _no_books(config: ComposingConfig) -> Books:
    return ((),) * len(config.agents), ((),) * len(config.agents), ""


def _booked(value: Books, step: ComposingStep) -> Books:
    patterns, due, _ = value
    names, act = step.config.names, step.action
    wrong = ""
    match act:
        case Subscribe() | Unsubscribe() | Get() if act.agent not in names:
            pass
        case Subscribe() if act.patterns:
            patterns = _put(patterns, names.index(act.agent), act.patterns)
        case Unsubscribe():
            place = names.index(act.agent)
            patterns, due = _put(patterns, place, ()), _put(due, place, ())
        case Publish() if not step.shown.refused:
            mark = step.after.marks[-1]
            hears = [reaches(step.config, *agent, mark) for agent in zip(names, patterns, strict=True)]
            due = tuple((*queue, mark.number) if heard else queue for queue, heard in zip(due, hears, strict=True))
        case Get():
            place = names.index(act.agent)
            numbers = tuple(mark.number for mark in there(step.shown.delivered))
            if set(numbers) - set(due[place]):
                wrong = "more"
            elif set(due[place]) - set(numbers):
                wrong = "less"
            elif numbers != due[place]:
                wrong = "order"
            if act.clear:
                due = _put(due, place, ())
        case _:
            pass
    return patterns, due, wrong


def _books(
    sentence: str, source: str, *expected: Expectation
) -> Callable[[Callable[[ComposingConfig, Books], bool]], Monitor]:
    return monitor(sentence, source=source, systems=ONLY, start=_no_books, update=_booked, expected=expected)


@_books(
    "Subscribing again replaces the subscription and delivers nothing twice.",
    "P48, 13.4",
)
def subscription_idempotency_p48(_config: ComposingConfig, value: Books) -> bool:
    """The record is kept per mark, so a second delivery is one too many; no agent receives its own writes."""
    return value[2] != "more"


@each_step(
    "Subscribing delivers nothing that was written before.",
    source="P49",
    systems=ONLY,
    when=lambda step: isinstance(step.action, Subscribe) and bool(step.before.marks),
)
def subscription_prospective_p49(step: ComposingStep) -> bool:
    """The queues are unchanged."""
    return step.after.queues == step.before.queues


@each_step(
    "What is queued for an agent matches one of the patterns that it is subscribed to.",
    source="P50",
    systems=ONLY,
    when=lambda step: publishes(step) and step.after.queues != step.before.queues,
)
def watch_subset_p50(step: ComposingStep) -> bool:
    """Checked at the time of writing, because patterns may be replaced before the poll."""
    mark = step.after.marks[-1]
    for patterns, before, after in zip(step.before.patterns, step.before.queues, step.after.queues, strict=True):
        if after != before and not any(fits(pattern, mark) for pattern in patterns or ()):
            return False
    return True


@each_step(
    "get_watched_marks returns only marks that match a pattern of the present subscription.",
    source="P50, as written",
    systems=ONLY,
    when=lambda step: polls(step) and bool(delivered(step)),
    expected=(refuted("P48, P50: a replaced subscription leaves its queue", system="composing"),),
)
def deliveries_match_the_present_subscription(step: GetStep) -> bool:
    """False where a subscription is replaced while marks are queued: P48 does not mention the queue."""
    patterns = step.before.patterns[step.config.names.index(step.action.agent)] or ()
    return all(any(fits(pattern, mark) for pattern in patterns) for mark in delivered(step))


@_books(
    "A mark that was delivered with clear is never delivered again, and none is lost before.",
    "P51",
    refuted("10: superseded before the poll is never delivered", system="composing", superseded_in_queue="left_out"),
    refuted(
        "10: by its author, too",
        system="composing",
        superseded_in_queue="left_out",
        reference_authority="same_agent_or_principal",
    ),
)
def at_most_once_delivery_p51(_config: ComposingConfig, value: Books) -> bool:
    """At most once, and at least once if the agent polls."""
    return value[2] not in ("more", "less")


@each_step(
    "Marks are delivered in the order of writing.",
    source="P52",
    systems=ONLY,
    when=lambda step: polls(step) and len(delivered(step)) > 1,
)
def write_order_delivery_p52(step: GetStep) -> bool:
    """Earlier writes come first."""
    places = [step.before.marks.index(mark) for mark in delivered(step)]
    return places == sorted(places)


def _validates(step: ComposingStep) -> TypeGuard[PipelineStep]:
    return isinstance(step.action, Pipeline)


@determined_by(
    "Whether a pipeline connects depends on the manifests and on nothing that was written.",
    source="P53",
    systems=ONLY,
    key=lambda step: (step.config.agents, step.action),
    when=_validates,
)
def pipeline_structural_validation_p53(step: PipelineStep) -> bool | None:
    """A pure function of declared inputs and outputs."""
    return step.shown.connected


def _feeds(one: Manifest, other: Manifest) -> bool:
    return any(
        under(pattern.scope, scope) and pattern.kind in ("", kind.value)
        for scope, kind in one.outputs
        for pattern in other.inputs
    )


@each_step(
    "A pipeline connects exactly if each agent has an output that an input of the next one takes.",
    source="13.5",
    systems=ONLY,
    when=_validates,
)
def pipelines_connect_as_declared(step: PipelineStep) -> bool:
    """Compared scope by scope and kind by kind."""
    known = dict(step.config.agents)
    manifests = [known.get(name) or Manifest() for name in step.action.agents]
    return step.shown.connected == all(map(_feeds, manifests, manifests[1:]))


@each_step(
    "A manifest that promises an output which its agent may not write is reported.",
    source="P54",
    systems=ONLY,
    when=_validates,
)
def manifest_permission_consistency_p54(step: PipelineStep) -> bool:
    """No other manifest is reported."""
    known = dict(step.config.agents)
    over: list[str] = []
    for name in step.action.agents:
        manifest = known.get(name) or Manifest()
        granted = manifest.permitted
        if any(not any(of is kind and under(up, scope) for up, of in granted) for scope, kind in manifest.outputs):
            over.append(name)
    return step.shown.overpromised == tuple(over)


@determined_by(
    "Whether a mark is queued for an agent depends on the patterns, the mark and who wrote it, on nothing else.",
    source="P55",
    systems=ONLY,
    key=lambda step: (step.config, step.before.patterns, replace(step.after.marks[-1], number=0)),
    when=publishes,
)
def pattern_match_purity_p55(step: ComposingStep) -> tuple[int, ...]:
    """The matcher neither deduplicates nor counts."""
    pairs = zip(step.before.queues, step.after.queues, strict=True)
    return tuple(len(after) - len(before) for before, after in pairs)


# Confidentiality of subscription.


def _observer(config: ComposingConfig, state: ComposingState, act: ComposingAct) -> Iterator[str]:
    if isinstance(act, Get) and act.agent not in config.cleared and any(mark.classified for mark in state.marks):
        yield act.agent


def _purged(_w: str, _config: ComposingConfig, state: ComposingState) -> ComposingState:
    kept = tuple(mark for mark in state.marks if not mark.classified)
    numbers = {mark.number for mark in kept}
    return replace(state, marks=kept, queues=tuple(tuple(n for n in queue if n in numbers) for queue in state.queues))


@two_run(
    "What a poll delivers does not depend on classified marks that the subscriber is not cleared for.",
    source="13.4, 7.4: confidentiality of subscription",
    systems=ONLY,
    twins=_observer,
    config=same_config,
    state=_purged,
    other=same_action,
    starts=False,
    expected=(
        refuted("13.4: delivery knows no visibility", system="composing"),
        holds("7.4: nothing classified is queued", system="composing", classified_in_queue="left_out"),
    ),
)
def subscriptions_do_not_leak(_w: str, step: ComposingStep, other: ComposingStep | None) -> bool:
    """False where delivery knows no visibility."""
    assert other is not None
    return step.shown == other.shown


# Scheduling.


TimedStep: TypeAlias = ComposingStep | ClockStep
Times: TypeAlias = tuple[tuple[tuple[int | None, int | None], ...], bool]


def _at_rest(config: ComposingConfig) -> Times:
    start = tuple((None, None if manifest is None else manifest.interval) for _, manifest in config.agents)
    return start, True


def _timed(value: Times, step: TimedStep) -> Times:
    """Seconds since the last activation, by the monitor's own clock, and the interval in force."""
    times, _ = value
    names, act = step.config.names, step.action
    match act:
        case Wait():
            return tuple((None if since is None else min(since + 1, 2), every) for since, every in times), True
        case Update() if act.agent in names and (act.interval is None or act.interval > 0):
            place = names.index(act.agent)
            return _put(times, place, (times[place][0], act.interval)), True
        case Activate():
            now = [name in step.shown.activated for name in names]
            early = any(
                active and (every is None or (since is not None and since < every))
                for active, (since, every) in zip(now, times, strict=True)
            )
            after = tuple((0 if active else t[0], t[1]) for active, t in zip(now, times, strict=True))
            return after, not early
        case _:
            return times, True


@monitor(
    "Between two activations of an agent lies at least its interval, whatever is updated in between.",
    source="P56, 14.2",
    systems=("scheduling", "clock"),
    start=_at_rest,
    update=_timed,
)
def schedule_interval_p56(_config: ComposingConfig, value: Times) -> bool:
    """An update keeps the last activation; an agent without an interval is never activated."""
    return value[1]


@each_step(
    "Whoever is due is activated: at once if never activated, else when the interval has passed.",
    source="14.2",
    systems=("scheduling", "clock"),
    when=lambda step: isinstance(step.action, Activate),
)
def due_agents_are_activated(step: TimedStep) -> bool:
    """No due agent is left out, and no other is activated."""
    due = [
        name
        for name, since, every in zip(step.config.names, step.before.since, step.before.intervals, strict=True)
        if every is not None and (since is None or since >= every)
    ]
    return step.shown.activated == tuple(due)
