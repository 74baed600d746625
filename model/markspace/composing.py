"""Subscription, composition validation and scheduling (§13, §14) in one system: the ways in which an agent is
activated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeVar

from evenhand.core.records import dataclass, replace
from evenhand.core.system import Scope, System
from evenhand.model.markspace.composing_vocabulary import (
    LONGEST,
    TYPES,
    Activate,
    Composed,
    ComposingAct,
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
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.readings import Readings
from evenhand.model.markspace.scopes import covers

T = TypeVar("T")


@dataclass(frozen=True)
class Rules:
    """The functions that a mutant may change.

    `matches` §13.1; `hears` §13.4 (whether an agent is told of a mark); `subscribed` §13.3 (the queue afterwards);
    `order` P52; `emptied` P51; `connects` §13.5; `permits` P54; `due` §14.2; `kept` §14.2 (seconds since the last
    activation after an update); `announces` P50 with §10 (the marks of which one must match, so that a subscriber hears
    of a new one); `left_out` §10 with §13.4 (whether a poll passes over a queued mark).
    """

    matches: Callable[[Pattern, Written], bool]
    hears: Callable[[str, Written], bool]
    subscribed: Callable[[ComposingState, tuple[int, ...], tuple[Pattern, ...]], tuple[int, ...]]
    replaced: Callable[[tuple[Pattern, ...] | None, tuple[Pattern, ...]], tuple[Pattern, ...]]
    order: Callable[[tuple[Written, ...]], tuple[Written, ...]]
    emptied: Callable[[tuple[int, ...], bool], tuple[int, ...]]
    connects: Callable[[Manifest, Manifest, ComposingState], bool]
    permits: Callable[[Manifest, tuple[str, Kind]], bool]
    due: Callable[[int | None, int | None], bool]
    kept: Callable[[int | None, int | None], int | None]
    announces: Callable[[ComposingState, Written], tuple[Written, ...]]
    left_out: Callable[[ComposingConfig, ComposingState, Written], bool]


def _matches(pattern: Pattern, mark: Written) -> bool:
    return (
        covers(pattern.scope, mark.scope)
        and pattern.kind in ("", mark.kind.value)
        and pattern.subject in ("", mark.subject)
    )


def _hears(agent: str, mark: Written) -> bool:
    return mark.agent != agent


def _subscribed(_state: ComposingState, queue: tuple[int, ...], _patterns: tuple[Pattern, ...]) -> tuple[int, ...]:
    """Return the queue unchanged: queued marks stay, and earlier marks are not added (P49)."""
    return queue


def _replaced(_old: tuple[Pattern, ...] | None, new: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    return new


def _order(marks: tuple[Written, ...]) -> tuple[Written, ...]:
    return marks


def _emptied(queue: tuple[int, ...], clear: bool) -> tuple[int, ...]:
    return () if clear else queue


def _connects(one: Manifest, other: Manifest, _state: ComposingState) -> bool:
    """Return whether an input of `other` covers the scope of an output of `one` and accepts its kind."""
    return any(
        covers(pattern.scope, scope) and pattern.kind in ("", kind.value)
        for scope, kind in one.outputs
        for pattern in other.inputs
    )


def _permits(manifest: Manifest, output: tuple[str, Kind]) -> bool:
    scope, kind = output
    return any(kind is of and covers(parent, scope) for parent, of in manifest.permitted)


def _due(since: int | None, interval: int | None) -> bool:
    return interval is not None and (since is None or since >= interval)


def _kept(since: int | None, _interval: int | None) -> int | None:
    return since


def _announces(_state: ComposingState, mark: Written) -> tuple[Written, ...]:
    """Return the new mark alone, whichever mark it supersedes."""
    return (mark,)


def _refers(config: ComposingConfig, mark: Written, target: Written) -> bool:
    """Return whether `mark` supersedes `target`; this system checks no write permissions."""
    authored = config.readings.reference_authority == "same_agent_or_principal"
    return mark.supersedes == target.number and (not authored or mark.agent == target.agent)


def _left_out(config: ComposingConfig, state: ComposingState, mark: Written) -> bool:
    """Return whether a poll passes over a superseded mark (P47); a superseded successor counts too."""
    hides = config.readings.superseded_in_queue == "left_out"
    return hides and any(_refers(config, other, mark) for other in state.marks)


REFERENCE = Rules(
    matches=_matches,
    hears=_hears,
    subscribed=_subscribed,
    replaced=_replaced,
    order=_order,
    emptied=_emptied,
    connects=_connects,
    permits=_permits,
    due=_due,
    kept=_kept,
    announces=_announces,
    left_out=_left_out,
)
"""The functions of the text."""


def initial(config: ComposingConfig) -> tuple[ComposingState, ...]:
    """Return the initial state: no marks, no subscriptions, no agent activated yet."""
    count = len(config.agents)
    intervals = tuple(None if manifest is None else manifest.interval for _, manifest in config.agents)
    return (ComposingState((), (None,) * count, ((),) * count, intervals, (None,) * count),)


def _put(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    return (*values[:place], value, *values[place + 1 :])


def step(
    rules: Rules, config: ComposingConfig, state: ComposingState, act: ComposingAct
) -> tuple[ComposingState, Composed]:
    """Take one operation, or let one second pass."""
    match act:
        case Wait():
            since = tuple(None if one is None else min(one + 1, LONGEST) for one in state.since)
            return replace(state, since=since), Composed()
        case Activate():
            due = [rules.due(since, interval) for since, interval in zip(state.since, state.intervals, strict=True)]
            since = tuple(0 if now else old for now, old in zip(due, state.since, strict=True))
            names = tuple(name for name, now in zip(config.names, due, strict=True) if now)
            return replace(state, since=since), Composed(activated=names)
        case Pipeline():
            return state, _pipeline(rules, config, state, act)
        case _ if act.agent not in config.names:
            return state, Composed(refused="no such agent")
        case Publish() if act.supersedes not in range(len(state.marks) + 1):
            return state, Composed(refused="no such mark to supersede")
        case Publish():
            return _publish(rules, config, state, act), Composed()
        case Subscribe():
            return _subscribe(rules, config, state, act)
        case Unsubscribe():
            place = config.names.index(act.agent)
            patterns, queues = _put(state.patterns, place, None), _put(state.queues, place, ())
            return replace(state, patterns=patterns, queues=queues), Composed()
        case Get():
            place = config.names.index(act.agent)
            queue = state.queues[place]
            queued = tuple(mark for mark in state.marks if mark.number in queue)
            delivered = rules.order(tuple(mark for mark in queued if not rules.left_out(config, state, mark)))
            after = replace(state, queues=_put(state.queues, place, rules.emptied(queue, act.clear)))
            return after, Composed(delivered=delivered)
        case Update():
            place = config.names.index(act.agent)
            if act.interval is not None and act.interval <= 0:
                return state, Composed(refused="an interval must be positive")
            since = _put(state.since, place, rules.kept(state.since[place], act.interval))
            return replace(state, intervals=_put(state.intervals, place, act.interval), since=since), Composed()


def _may_know(config: ComposingConfig, agent: str, mark: Written) -> bool:
    """Return whether the scope of the mark lets it be queued for the agent (§7.4)."""
    return config.readings.classified_in_queue == "delivered" or not mark.classified or agent in config.cleared


def _publish(rules: Rules, config: ComposingConfig, state: ComposingState, act: Publish) -> ComposingState:
    number = len(state.marks) + 1
    classified = any(covers(scope, act.scope) for scope in config.classified)
    mark = Written(number, act.agent, act.scope, act.kind, act.subject, classified, act.supersedes)
    looked_at = rules.announces(state, mark)
    queues = list(state.queues)
    for place, name in enumerate(config.names):
        patterns = state.patterns[place] or ()
        heard = rules.hears(name, mark) and _may_know(config, name, mark)
        if heard and any(rules.matches(pattern, one) for pattern in patterns for one in looked_at):
            queues[place] = (*queues[place], number)
    return replace(state, marks=(*state.marks, mark), queues=tuple(queues))


def _subscribe(
    rules: Rules, config: ComposingConfig, state: ComposingState, act: Subscribe
) -> tuple[ComposingState, Composed]:
    if not act.patterns:
        return state, Composed(refused="no patterns")
    place = config.names.index(act.agent)
    queue = rules.subscribed(state, state.queues[place], act.patterns)
    patterns = rules.replaced(state.patterns[place], act.patterns)
    after = replace(state, patterns=_put(state.patterns, place, patterns), queues=_put(state.queues, place, queue))
    return after, Composed()


def _pipeline(rules: Rules, config: ComposingConfig, state: ComposingState, act: Pipeline) -> Composed:
    known = dict(config.agents)
    manifests = [known.get(name) or Manifest() for name in act.agents]
    connected = all(rules.connects(one, other, state) for one, other in pairwise(manifests))
    over = tuple(
        name
        for name, manifest in zip(act.agents, manifests, strict=True)
        if not all(rules.permits(manifest, output) for output in manifest.outputs)
    )
    return Composed(connected=connected, overpromised=over)


_ANY = Pattern("a")
_PATTERNS = ((_ANY,), (Pattern("a/b"),), (Pattern("a", Kind.WARNING.value),), (Pattern("a", subject="y"), Pattern("c")))


def _configs(scope: Scope, readings: Readings) -> Iterator[ComposingConfig]:
    source = Manifest((), (("a/b", Kind.OBSERVATION),), (("a", Kind.OBSERVATION),), 1)
    sink = Manifest((Pattern("a", Kind.OBSERVATION.value),), (("c", Kind.NEED),), (("c", Kind.WARNING),))
    deaf = Manifest((Pattern("ab"), Pattern("a", Kind.WARNING.value)), (("a", Kind.NEED),), (("a", Kind.NEED),), 2)
    for second in (sink, deaf, None):
        yield ComposingConfig(
            (("alice", source), ("bob", second)),
            readings,
            classified=("a/b",),
            cleared=("alice",),
            capacity=scope["marks"],
        )


def _actions(config: ComposingConfig, scope: Scope, state: ComposingState) -> Iterator[ComposingAct]:
    if scope["subscriptions"]:
        if len(state.marks) < config.capacity:
            for agent in config.names:
                yield from (Publish(agent, place) for place in ("a", "a/b"))
            yield Publish("alice", "a", Kind.WARNING)
            yield Publish("alice", "ab", subject="y")
            yield Publish("alice", "c", subject="y")
            for mark in state.marks:
                yield from (Publish("alice", place, supersedes=mark.number) for place in ("a", "c"))
                yield Publish("bob", "a/b", supersedes=mark.number)
        yield from (Subscribe("bob", patterns) for patterns in (*_PATTERNS, ()))
        yield Subscribe("alice", (_ANY,))
        yield from (Unsubscribe(agent) for agent in config.names)
        yield from (Get(agent, clear) for agent in config.names for clear in (True, False))
        yield from (Pipeline(names) for names in (("alice", "bob"), ("bob", "alice"), ("alice",), ("bob",)))
    if scope["schedules"]:
        yield Activate()
        yield Wait()
        yield from (Update(agent, interval) for agent in config.names for interval in (None, 0, 1, 2))


def _allows(_config: ComposingConfig, state: ComposingState, act: ComposingAct) -> bool:
    """Return whether a mark supersedes none or one that there is: no section says what becomes of any other."""
    return not isinstance(act, Publish) or 0 <= act.supersedes <= len(state.marks)


def _unsaid(config: ComposingConfig, state: ComposingState, action: ComposingAct) -> bool:
    """No section says how often a manifest that promises too much is reported, if a pipeline names its agent twice."""
    told = _pipeline(REFERENCE, config, state, action).overpromised if isinstance(action, Pipeline) else ()
    return len(set(told)) < len(told)


COMPOSING: System[ComposingConfig, ComposingState, ComposingAct, Composed, Rules] = System(
    name="composing",
    rules=REFERENCE,
    configs=_configs,
    initial=initial,
    step=step,
    actions=_actions,
    scope=Scope(marks=2, subscriptions=1, schedules=0),
    readings=Readings(),
    allows=_allows,
    unsaid=_unsaid,
    types=TYPES,
)
"""Subscriptions and manifests; `schedules=1` adds the scheduler. Two separate systems have smaller graphs than one."""

SCHEDULING = replace(COMPOSING, name="scheduling", scope=Scope(marks=0, subscriptions=0, schedules=1))
"""The scheduler alone."""
