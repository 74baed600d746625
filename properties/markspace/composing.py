"""Subscriptions, manifests, schedules (P48 to P56)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from evenhand.core.property import AnyStep, Monitor, Property, determined_by, each_step, monitor, two_run
from evenhand.model.markspace.composing_vocabulary import (
    Activate,
    ComposingConfig,
    ComposingState,
    Get,
    Manifest,
    Pattern,
    Pipeline,
    Publish,
    Subscribe,
    Unsubscribe,
    Update,
    Wait,
    Written,
)

__all__ = ["COMPOSING"]

ONLY = ("composing",)


def _under(parent: str, scope: str) -> bool:
    return (scope + "/").startswith(parent + "/")


def _fits(pattern: Pattern, mark: Written) -> bool:
    return (
        _under(pattern.scope, mark.scope)
        and (not pattern.kind or pattern.kind == mark.kind.value)
        and (not pattern.subject or pattern.subject == mark.subject)
    )


def _place(step: AnyStep) -> int:
    place: int = step.config.names.index(step.action.agent)
    return place


# The monitor writes its own books: who subscribed to what, and which marks are due to whom, each once.

Books = tuple[tuple[tuple[Pattern, ...], ...], tuple[tuple[int, ...], ...], str]


def _blank(config: ComposingConfig) -> Books:
    return ((),) * len(config.agents), ((),) * len(config.agents), ""


def _booked(value: Books, step: AnyStep) -> Books:
    patterns, due, _ = value
    act = step.action
    wrong = ""
    match act:
        case Subscribe() if act.patterns:
            place = _place(step)
            patterns = (*patterns[:place], act.patterns, *patterns[place + 1 :])
        case Unsubscribe():
            place = _place(step)
            patterns = (*patterns[:place], (), *patterns[place + 1 :])
            due = (*due[:place], (), *due[place + 1 :])
        case Publish() if not step.shown.refused:
            mark = step.after.marks[-1]
            due = tuple(
                (*queue, mark.number)
                if name != act.agent and any(_fits(pattern, mark) for pattern in patterns[place])
                else queue
                for place, (name, queue) in enumerate(zip(step.config.names, due, strict=True))
            )
        case Get():
            place = _place(step)
            numbers = tuple(mark.number for mark in step.shown.delivered)
            if set(numbers) - set(due[place]):
                wrong = "more"
            elif set(due[place]) - set(numbers):
                wrong = "less"
            elif numbers != due[place]:
                wrong = "order"
            if act.clear:
                due = (*due[:place], (), *due[place + 1 :])
        case _:
            pass
    return patterns, due, wrong


def _books(sentence: str, source: str) -> Callable[[Callable[[Any, Any], bool]], Monitor]:
    return monitor(sentence, source=source, systems=ONLY, start=_blank, update=_booked)


@_books(
    "Subscribing again replaces the subscription and delivers nothing twice.",
    "P48, 13.4",
)
def subscription_idempotency_p48(_config: Any, value: Books) -> bool:
    """The books are kept per mark, so that a second delivery is one too many; nobody hears of its own writes."""
    return value[2] != "more"


def _gets(step: AnyStep) -> bool:
    return isinstance(step.action, Get)


def _published(step: AnyStep) -> bool:
    return isinstance(step.action, Publish) and not step.shown.refused


def _when_subscription_prospective_p49(step: AnyStep) -> bool:
    return bool(isinstance(step.action, Subscribe) and bool(step.before.marks))


@each_step(
    "Subscribing delivers nothing that was written before.",
    source="P49",
    systems=ONLY,
    when=_when_subscription_prospective_p49,
)
def subscription_prospective_p49(step: AnyStep) -> bool:
    """The queue is as it was."""
    return bool(step.after.queues == step.before.queues)


def _when_watch_subset_p50(step: AnyStep) -> bool:
    return bool(_published(step) and step.after.queues != step.before.queues)


@each_step(
    "What is queued for an agent matches one of the patterns that it is subscribed to.",
    source="P50",
    systems=ONLY,
    when=_when_watch_subset_p50,
)
def watch_subset_p50(step: AnyStep) -> bool:
    """At the time of writing: patterns may be replaced before the poll."""
    mark = step.after.marks[-1]
    for patterns, before, after in zip(step.before.patterns, step.before.queues, step.after.queues, strict=True):
        if after != before and not any(_fits(pattern, mark) for pattern in patterns or ()):
            return False
    return True


def _when_deliveries_match_the_present_subscription(step: AnyStep) -> bool:
    return bool(_gets(step) and bool(step.shown.delivered))


@each_step(
    "get_watched_marks returns only marks that match a pattern of the present subscription.",
    source="P50, as written",
    systems=ONLY,
    when=_when_deliveries_match_the_present_subscription,
)
def deliveries_match_the_present_subscription(step: AnyStep) -> bool:
    """False where a subscription is replaced while marks are queued: P48 says nothing of the queue."""
    patterns = step.before.patterns[_place(step)] or ()
    return all(any(_fits(pattern, mark) for pattern in patterns) for mark in step.shown.delivered)


@_books("A mark that was delivered with clear is never delivered again, and none is lost before.", "P51")
def at_most_once_delivery_p51(_config: Any, value: Books) -> bool:
    """At most once, and at least once if it is asked for."""
    return value[2] not in ("more", "less")


def _when_write_order_delivery_p52(step: AnyStep) -> bool:
    return bool(_gets(step) and len(step.shown.delivered) > 1)


@each_step(
    "Marks are delivered in the order of writing.",
    source="P52",
    systems=ONLY,
    when=_when_write_order_delivery_p52,
)
def write_order_delivery_p52(step: AnyStep) -> bool:
    """Earlier writes first."""
    places = [step.before.marks.index(mark) for mark in step.shown.delivered]
    return places == sorted(places)


def _key_pipeline_structural_validation_p53(step: AnyStep) -> Any:
    return (step.config.agents, step.action)


def _when_pipeline_structural_validation_p53(step: AnyStep) -> bool:
    return bool(isinstance(step.action, Pipeline))


@determined_by(
    "Whether a pipeline connects depends on the manifests and on nothing that was written.",
    source="P53",
    systems=ONLY,
    key=_key_pipeline_structural_validation_p53,
    when=_when_pipeline_structural_validation_p53,
)
def pipeline_structural_validation_p53(step: AnyStep) -> Any:
    """A pure function of declared inputs and outputs."""
    return step.shown.connected


def _feeds(one: Manifest, other: Manifest) -> bool:
    return any(
        _under(pattern.scope, scope) and pattern.kind in ("", kind.value)
        for scope, kind in one.outputs
        for pattern in other.inputs
    )


def _when_pipelines_connect_as_declared(step: AnyStep) -> bool:
    return bool(isinstance(step.action, Pipeline))


@each_step(
    "A pipeline connects exactly if each agent has an output that an input of the next one takes.",
    source="13.5",
    systems=ONLY,
    when=_when_pipelines_connect_as_declared,
)
def pipelines_connect_as_declared(step: AnyStep) -> bool:
    """Scope by scope, kind by kind."""
    known = dict(step.config.agents)
    manifests = [known.get(name) or Manifest() for name in step.action.agents]
    return bool(step.shown.connected == all(map(_feeds, manifests, manifests[1:])))


def _when_manifest_permission_consistency_p54(step: AnyStep) -> bool:
    return bool(isinstance(step.action, Pipeline))


@each_step(
    "A manifest that promises an output which its agent may not write is reported.",
    source="P54",
    systems=ONLY,
    when=_when_manifest_permission_consistency_p54,
)
def manifest_permission_consistency_p54(step: AnyStep) -> bool:
    """And no other is."""
    known = dict(step.config.agents)
    over: list[str] = []
    for name in step.action.agents:
        manifest = known.get(name) or Manifest()
        granted = manifest.permitted
        if any(not any(of is kind and _under(up, scope) for up, of in granted) for scope, kind in manifest.outputs):
            over.append(name)
    return bool(step.shown.overpromised == tuple(over))


def _key_pattern_match_purity_p55(step: AnyStep) -> Any:
    return (step.config, step.before.patterns, replace(step.after.marks[-1], number=0))


def _when_pattern_match_purity_p55(step: AnyStep) -> bool:
    return _published(step)


@determined_by(
    "Whether a mark is queued for an agent depends on the patterns, the mark and who wrote it, on nothing else.",
    source="P55",
    systems=ONLY,
    key=_key_pattern_match_purity_p55,
    when=_when_pattern_match_purity_p55,
)
def pattern_match_purity_p55(step: AnyStep) -> Any:
    """No deduplication, no counting inside the matcher."""
    pairs = zip(step.before.queues, step.after.queues, strict=True)
    return tuple(len(after) - len(before) for before, after in pairs)


# Confidentiality of subscription.


def _observer(config: ComposingConfig, state: ComposingState, act: Any) -> Iterator[str]:
    if isinstance(act, Get) and act.agent not in config.cleared and any(mark.classified for mark in state.marks):
        yield act.agent


def _purged(_w: str, _config: ComposingConfig, state: ComposingState) -> ComposingState:
    kept = tuple(mark for mark in state.marks if not mark.classified)
    numbers = {mark.number for mark in kept}
    return replace(state, marks=kept, queues=tuple(tuple(n for n in queue if n in numbers) for queue in state.queues))


def _config_subscriptions_do_not_leak(_w: Any, config: Any) -> Any:
    return config


def _other_subscriptions_do_not_leak(_w: Any, act: Any) -> Any:
    return (act,)


@two_run(
    "What a poll delivers does not depend on classified marks that the subscriber is not cleared for.",
    source="13.4, 7.4: confidentiality of subscription",
    systems=ONLY,
    twins=_observer,
    config=_config_subscriptions_do_not_leak,
    state=_purged,
    other=_other_subscriptions_do_not_leak,
    starts=False,
)
def subscriptions_do_not_leak(_w: str, step: AnyStep, other: AnyStep | None) -> bool:
    """False as the text stands: delivery knows no visibility."""
    assert other is not None
    return bool(step.shown == other.shown)


# Scheduling.


def _activates(step: AnyStep) -> bool:
    return isinstance(step.action, Activate)


Times = tuple[tuple[tuple[int | None, int | None], ...], bool]


def _at_rest(config: ComposingConfig) -> Times:
    start = tuple((None, None if manifest is None else manifest.interval) for _, manifest in config.agents)
    return start, True


def _timed(value: Times, step: AnyStep) -> Times:
    """Seconds since the last activation, by the monitor's own clock, against the interval in force."""
    times, _ = value
    match step.action:
        case Wait():
            return tuple((None if since is None else min(since + 1, 2), every) for since, every in times), True
        case Update() if step.action.interval is None or step.action.interval > 0:
            place = _place(step)
            return (*times[:place], (times[place][0], step.action.interval), *times[place + 1 :]), True
        case Activate():
            now = [name in step.shown.activated for name in step.config.names]
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
def schedule_interval_p56(_config: Any, value: Times) -> bool:
    """An update keeps the last activation; nobody without an interval is activated."""
    return value[1]


@each_step(
    "Whoever is due is activated: at once if never activated, else when the interval has passed.",
    source="14.2",
    systems=("scheduling", "clock"),
    when=_activates,
)
def due_agents_are_activated(step: AnyStep) -> bool:
    """Neither starved nor early."""
    due = [
        name
        for name, since, every in zip(step.config.names, step.before.since, step.before.intervals, strict=True)
        if every is not None and (since is None or since >= every)
    ]
    return bool(step.shown.activated == tuple(due))


COMPOSING: tuple[Property, ...] = (
    subscription_idempotency_p48,
    subscription_prospective_p49,
    watch_subset_p50,
    deliveries_match_the_present_subscription,
    at_most_once_delivery_p51,
    write_order_delivery_p52,
    pipeline_structural_validation_p53,
    pipelines_connect_as_declared,
    manifest_permission_consistency_p54,
    pattern_match_purity_p55,
    subscriptions_do_not_leak,
    schedule_interval_p56,
    due_agents_are_activated,
)
"""The claims of this module."""
