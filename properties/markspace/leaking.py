"""Confidentiality as 2-safety, one claim for each read path; what readers can disagree about; integrity (7.4, 10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.core.property import AnyStep, Property, determined_by, each_step, reachable, two_run
from evenhand.model.markspace.marks import Act, Ask, Decide, Kind, Needs, Read, Space, SpaceConfig, Tick, Write
from evenhand.properties.markspace.space_predicates import ONLY, hidden_from, strength, undone, writes

__all__ = ["LEAKING"]


def _purged(reader: str, config: SpaceConfig, space: Space) -> Space:
    """The space without the classified marks that the reader is not cleared for."""
    return Space(tuple(mark for mark in space.marks if not hidden_from(config, reader, mark.draft.scope)))


def _observers(*kinds: type) -> Any:
    """The agents that lack some clearance, for steps in which they observe by one of these operations."""

    def twins(config: SpaceConfig, space: Space, act: Act) -> Iterator[str]:
        observer = getattr(act, "reader", None) or getattr(act, "caller", None) or getattr(act, "agent", None)
        if isinstance(act, kinds) and observer is not None and _purged(observer, config, space) != space:
            yield observer

    return twins


def _same(_w: str, config: SpaceConfig) -> SpaceConfig:
    return config


def _likewise(_w: str, act: Act) -> tuple[Act, ...]:
    return (act,)


_USUAL: Any = {
    "systems": ONLY,
    "config": _same,
    "state": _purged,
    "other": _likewise,
    "starts": False,
}
"""One observation in two spaces that differ in classified marks; that writes keep them so related is a claim below."""


@two_run(
    "What a read shows does not depend on classified marks that the reader is not cleared for.",
    source="7.4, P22, P25: confidentiality of read",
    twins=_observers(Read),
    **_USUAL,
)
def reads_do_not_leak(_w: str, step: AnyStep, other: AnyStep | None) -> bool:
    """False as the text stands: a classified warning or superseding mark acts on marks that anybody reads."""
    assert other is not None
    return bool(step.shown == other.shown)


@two_run(
    "What an agent concludes from the intents that it may see does not depend on classified marks.",
    source="6.1, 7.4: confidentiality of conflict resolution by reading",
    twins=_observers(Decide),
    **_USUAL,
)
def decisions_do_not_leak(_w: str, step: AnyStep, other: AnyStep | None) -> bool:
    """An agent that sees nothing concludes from nothing."""
    assert other is not None
    return bool(step.shown == other.shown)


@two_run(
    "What the guard answers does not depend on classified marks that the agent is not cleared for.",
    source="9.2, 9.3, 7.4: confidentiality of verdicts",
    twins=_observers(Ask),
    **_USUAL,
)
def verdicts_do_not_leak(_w: str, step: AnyStep, other: AnyStep | None) -> bool:
    """False as the text stands: a CONFLICT hands over the winning intent, and must (P38)."""
    assert other is not None
    return bool(step.shown == other.shown)


@two_run(
    "What need clusters show does not depend on classified marks that the caller is not cleared for.",
    source="8.4, 7.4: confidentiality of need clusters",
    twins=_observers(Needs),
    **_USUAL,
)
def need_clusters_do_not_leak(_w: str, step: AnyStep, other: AnyStep | None) -> bool:
    """False as the text stands: aggregate_needs knows no reader, and hands over contexts."""
    assert other is not None
    return bool(step.shown == other.shown)


# What a resolution tells those who contend, and what telemetry tells whoever reads it.


def _contenders(config: SpaceConfig, space: Space, act: Act) -> Iterator[str]:
    """The agents with an intent on the resource that infrastructure resolves, who miss some clearance."""
    if not isinstance(act, Decide) or act.reader is not None:
        return
    asking = [m.agent for m in space.marks if m.draft.kind is Kind.INTENT and m.draft.scope == act.scope]
    yield from (name for name in dict.fromkeys(asking) if _others_purged(name, config, space) != space)


def _others_purged(reader: str, config: SpaceConfig, space: Space) -> Space:
    """The space without others' classified marks that the reader is not cleared for."""
    return Space(tuple(m for m in space.marks if m.agent == reader or not hidden_from(config, reader, m.draft.scope)))


def _told(name: str, step: AnyStep) -> Any:
    """6.2.1: whether the agent's intent won; who loses hears of the winner where the reading says so."""
    winner = step.before.find(step.shown.winner) if step.shown.winner is not None else None
    if winner is not None and winner.agent == name:
        return ("allow", None)
    named = step.config.readings.deferred_loser == "conflict_with_winner"
    return ("blocked", winner.id if named and winner is not None else None)


@two_run(
    "What a boundary tells an agent that contends does not depend on others' classified marks that the agent is not "
    "cleared for.",
    source="6.2.1, 7.4: confidentiality of boundary results",
    twins=_contenders,
    **{**_USUAL, "state": _others_purged},
)
def boundary_results_do_not_leak(w: str, step: AnyStep, other: AnyStep | None) -> bool:
    """False as the text stands: who loses learns that somebody else wanted it, in a scope it may not look into."""
    assert other is not None
    return bool(_told(w, step) == _told(w, other))


def _log_readers(*kinds: type) -> Any:
    """The agents that lack some clearance, whoever acts: telemetry is read beside the space."""

    def twins(config: SpaceConfig, space: Space, act: Act) -> Iterator[str]:
        if isinstance(act, kinds):
            names = (agent.name for agent in config.agents)
            yield from (name for name in names if _purged(name, config, space) != space)

    return twins


def _logged(step: AnyStep) -> Any:
    """9.11: agent, scope and outcome of a request to the guard."""
    act, shown = step.action, step.shown
    others = {mark.agent for mark in shown.candidates} - {act.agent}
    winner = step.before.find(shown.winner) if shown.winner is not None else None
    if shown.refused:
        outcome = "denied"
    elif shown.claimed_by is not None or (others and winner is not None and winner.agent != act.agent):
        outcome = "conflict"
    else:
        outcome = "blocked" if others and winner is None else "allow"
    return (act.agent, act.scope, outcome)


@two_run(
    "What telemetry logs of a request to the guard does not depend on classified marks that its reader is not cleared "
    "for.",
    source="9.11, 7.4: confidentiality of telemetry, events and counters",
    twins=_log_readers(Ask),
    **_USUAL,
)
def telemetry_events_do_not_leak(_w: str, step: AnyStep, other: AnyStep | None) -> bool:
    """False as the text stands: outcomes are logged by scope, and a sink knows no reader."""
    assert other is not None
    return bool(_logged(step) == _logged(other))


def _gauges(space: Space) -> frozenset[tuple[str, Kind, int]]:
    """9.11: `total_marks` by scope and mark type."""
    labels = [(mark.draft.scope, mark.draft.kind) for mark in space.marks]
    return frozenset((scope, kind, labels.count((scope, kind))) for scope, kind in labels)


@two_run(
    "What telemetry measures does not depend on classified marks that its reader is not cleared for.",
    source="9.11, 7.4: confidentiality of telemetry, gauges",
    twins=_log_readers(Tick),
    **_USUAL,
)
def telemetry_gauges_do_not_leak(_w: str, step: AnyStep, other: AnyStep | None) -> bool:
    """False as the text stands: marks are counted by scope, classified ones too."""
    assert other is not None
    return bool(_gauges(step.after) == _gauges(other.after))


def _all_uncleared(config: SpaceConfig, _space: Space, act: Act) -> Iterator[str]:
    if isinstance(act, Write):
        for agent in config.agents:
            if any(hidden_from(config, agent.name, scope) for scope in ("a", "a/b", "c")):
                yield agent.name


def _unseen(reader: str, act: Act) -> tuple[Act, ...]:
    """A write is purged if it goes where the reader cannot look; the twin then stands still."""
    return (act,)


@two_run(
    "Writing keeps spaces apart that differ in classified marks alone: the same is stored where the reader can look "
    "(resolving a need is the principal's own act, and may tell what it likes).",
    source="8.1, 7.4: the step of the induction",
    systems=ONLY,
    twins=_all_uncleared,
    config=_same,
    state=_purged,
    other=_unseen,
)
def writes_do_not_leak(w: str, step: AnyStep, other: AnyStep | None) -> bool:
    """No refusal and no stored mark depends on what cannot be seen."""
    assert other is not None
    kept = _purged(w, step.config, other.after)
    visible = not hidden_from(step.config, w, step.action.draft.scope)
    same = step.shown.refused == other.shown.refused and (not visible or step.shown.stored == other.shown.stored)
    return bool(same and _purged(w, step.config, step.after) == kept)


def _key_readers_agree_on_the_winner(step: AnyStep) -> Any:
    return (step.config, step.before, step.action.scope, step.action.subject)


def _when_readers_agree_on_the_winner(step: AnyStep) -> bool:
    return bool(isinstance(step.action, Decide))


@determined_by(
    "All agents that resolve a conflict at one instant by reading the space reach the same conclusion.",
    source="P11, 6: `each agent resolves conflicts independently by reading the mark space`",
    systems=ONLY,
    key=_key_readers_agree_on_the_winner,
    when=_when_readers_agree_on_the_winner,
)
def readers_agree_on_the_winner(step: AnyStep) -> Any:
    """False where visibility differs: an uncleared writer sees no intents but its own are barred from it as well."""
    return step.shown.winner


# Integrity.


def _author_of(step: AnyStep, mark_id: int) -> str:
    mark = step.before.find(mark_id)
    assert mark is not None
    agent: str = mark.agent
    return agent


def _stores(step: AnyStep) -> bool:
    return isinstance(step.action, Write) and not step.shown.refused and bool(step.before.marks)


@each_step(
    "Writing a mark lowers the strength of no mark that the writer may not write itself.",
    source="2.5, 7.3, 10: integrity",
    systems=ONLY,
    when=_stores,
)
def writes_reach_only_their_scopes(step: AnyStep) -> bool:
    """False as the text stands: a mark in one scope may supersede or invalidate one in any other."""
    for mark in step.before.marks:
        weaker = strength(step.config, step.after, mark) < strength(step.config, step.before, mark)
        if weaker and not writes(step.config, step.action.agent, mark.draft.scope, mark.draft.kind):
            return False
    return True


@each_step(
    "Writing a mark lowers the strength of no other agent's mark.",
    source="2.5, 10: integrity",
    systems=ONLY,
    when=_stores,
)
def writes_reach_only_their_own(step: AnyStep) -> bool:
    """Stricter: holds only where authors alone (and the principal) may refer to a mark."""
    for mark in step.before.marks:
        weaker = strength(step.config, step.after, mark) < strength(step.config, step.before, mark)
        if weaker and _author_of(step, mark.id) != step.action.agent:
            return False
    return True


def _when_need_clusters_are_complete(step: AnyStep) -> bool:
    return bool(isinstance(step.action, Needs) and bool(step.shown.clusters))


@each_step(
    "Needs are listed by priority and size, those of one question together, resolved ones not at all.",
    source="8.4",
    systems=ONLY,
    when=_when_need_clusters_are_complete,
)
def need_clusters_are_complete(step: AnyStep) -> bool:
    """Every unresolved need is in exactly one cluster, and every cluster adds up."""
    live = [
        mark.draft
        for mark in step.before.marks
        if mark.draft.kind is Kind.NEED and mark.resolved_by is None and not undone(step.config, step.before, mark)
    ]
    sizes = {(one.scope, one.question): (one.size, one.priority, one.blocking) for one in step.shown.clusters}
    for key, found in sizes.items():
        group = [draft for draft in live if (draft.scope, draft.subject) == key]
        if not group or found != (len(group), max(d.confidence for d in group), sum(d.blocking for d in group)):
            return False
    falling = [one.priority for one in step.shown.clusters if one.size == 1]
    return sum(size for size, _, _ in sizes.values()) == len(live) and falling == sorted(falling, reverse=True)


@reachable("A projection can be shown.", source="7.4", systems=ONLY)
def projection_happens(step: AnyStep) -> bool:
    """Somebody reads what is protected."""
    return isinstance(step.action, Read) and any(seen.projected for seen in step.shown.seen or ())


@reachable(
    "An action can be hidden by a warning or by another mark, so that the guard sees no claim.",
    source="9.5, 10, P39",
    systems=ONLY,
)
def a_claim_can_be_hidden(step: AnyStep) -> bool:
    """What integrity is about."""
    if not isinstance(step.action, Ask) or step.shown.claimed_by is not None or step.shown.refused:
        return False
    return any(
        mark.draft.kind is Kind.ACTION
        and mark.draft.scope == step.action.scope
        and mark.agent != step.action.agent
        and not mark.draft.failed
        for mark in step.before.marks
    )


LEAKING: tuple[Property, ...] = (
    reads_do_not_leak,
    decisions_do_not_leak,
    verdicts_do_not_leak,
    need_clusters_do_not_leak,
    boundary_results_do_not_leak,
    telemetry_events_do_not_leak,
    telemetry_gauges_do_not_leak,
    writes_do_not_leak,
    readers_agree_on_the_winner,
    writes_reach_only_their_scopes,
    writes_reach_only_their_own,
    need_clusters_are_complete,
    projection_happens,
    a_claim_can_be_hidden,
)
"""The claims of this module."""
