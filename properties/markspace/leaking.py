"""Confidentiality as 2-safety, one claim per read path; agreement between readers; integrity (7.4, 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from evenhand.core.plan import holds, refuted
from evenhand.core.property import determined_by, each_step, reachable, two_run
from evenhand.model.markspace.exact import ZERO, Amount, plain, total
from evenhand.model.markspace.marks import (
    MIN_STRENGTH,
    Act,
    Ask,
    Decide,
    Kind,
    Mark,
    Needs,
    Read,
    Space,
    SpaceConfig,
    SpaceStep,
    Tick,
    Write,
)
from evenhand.properties.markspace.predicates import same_action, same_config
from evenhand.properties.markspace.space_predicates import (
    ONLY,
    AskStep,
    DecideStep,
    NeedsStep,
    WriteStep,
    alone,
    covered,
    governing,
    hidden_from,
    is_write,
    strength,
    undone,
    warnings_against,
    writes,
)

Twins: TypeAlias = Callable[[SpaceConfig, Space, Act], Iterator[str]]


def purged(reader: str, config: SpaceConfig, space: Space) -> Space:
    """Return the space without the classified marks that the reader is not cleared for."""
    return Space(tuple(mark for mark in space.marks if not hidden_from(config, reader, mark.draft.scope)))


def _observers(*kinds: type) -> Twins:
    """The agents that lack some clearance, for steps in which they observe by one of these operations."""

    def twins(config: SpaceConfig, space: Space, act: Act) -> Iterator[str]:
        observer = getattr(act, "reader", None) or getattr(act, "caller", None) or getattr(act, "agent", None)
        if isinstance(act, kinds) and observer is not None and purged(observer, config, space) != space:
            yield observer

    return twins


_USUAL: Any = {
    "systems": ONLY,
    "config": same_config,
    "state": purged,
    "other": same_action,
    "starts": False,
}
"""One observation in two spaces that differ in classified marks; `writes_do_not_leak` keeps this relation."""


@two_run(
    "What a read shows does not depend on classified marks that the reader is not cleared for.",
    source="7.4, P22, P25: confidentiality of read",
    twins=_observers(Read),
    expected=(refuted("2.5, 10: a classified mark may refer to one that anybody reads", system="space"),),
    **_USUAL,
)
def reads_do_not_leak(_w: str, step: SpaceStep, other: SpaceStep | None) -> bool:
    """False as the text stands: a classified warning or superseding mark acts on marks open to every reader."""
    assert other is not None
    return step.shown == other.shown


class Parted(NamedTuple):
    """What decides how a mark is shown, apart by whether the reader may see the marks that it comes from (§4.2, §9.5).

    Its strength, the sum of the warnings against it, the part of that sum which hidden marks supersede, and the sum of
    hidden warnings; and whether a hidden mark supersedes it.
    """

    own: Amount
    warned: Amount
    freed: Amount
    secret: Amount
    shadowed: bool

    @property
    def open(self) -> Amount:
        """Its strength without the hidden marks."""
        return _positive(self.own - self.warned)

    @property
    def whole(self) -> Amount:
        """Its strength with them."""
        return ZERO if self.shadowed else _positive(self.own - self.warned + self.freed - self.secret)


def _positive(amount: Amount) -> Amount:
    return amount if amount.sign > 0 else ZERO


def parted(reader: str, config: SpaceConfig, space: Space, mark: Mark) -> Parted:
    """Return these parts of a mark that the reader may see."""
    known = purged(reader, config, space)
    against = warnings_against(config, space, mark)
    seen = [one for one in against if one in known.marks]
    return Parted(
        own=alone(config, known, mark),
        warned=total(alone(config, known, one) for one in seen),
        freed=total(alone(config, known, one) for one in seen if undone(config, space, one)),
        secret=total(alone(config, space, one) for one in against if one not in known.marks),
        shadowed=undone(config, space, mark),
    )


def given_away(parts: Parted) -> bool:
    """Whether a read shows such a mark otherwise, or not at all, because of the hidden marks."""
    least = plain(MIN_STRENGTH)
    return parts.open != parts.whole and (least <= parts.open or least <= parts.whole)


@two_run(
    "A read shows something else for classified marks that the reader is not cleared for exactly where they change the "
    "strength of a mark that it shows with or without them: they supersede it, warn against it, or supersede a warning "
    "against it.",
    source="2.5, 7.4, 9.5, 10: what reads_do_not_leak is false of",
    twins=_observers(Read),
    **_USUAL,
)
def reads_leak_through_references_alone(w: str, step: SpaceStep, other: SpaceStep | None) -> bool:
    """The exact condition under which a read leaks."""
    assert other is not None and isinstance(step.action, Read)
    config, before, scope = step.config, step.before, step.action.scope
    here = covered(config, purged(w, config, before), scope) if governing(config, scope) is not None else ()
    return (step.shown != other.shown) == any([given_away(parted(w, config, before, mark)) for mark in here])


@two_run(
    "What an agent concludes from the intents that it may see does not depend on classified marks.",
    source="6.1, 7.4: confidentiality of conflict resolution by reading",
    twins=_observers(Decide),
    expected=(refuted("2.5, 10: a classified mark may hide an intent that anybody sees", system="space"),),
    **_USUAL,
)
def decisions_do_not_leak(_w: str, step: SpaceStep, other: SpaceStep | None) -> bool:
    """An agent that sees no intents names no winner."""
    assert other is not None
    return step.shown == other.shown


@two_run(
    "What the guard answers does not depend on classified marks that the agent is not cleared for.",
    source="9.2, 9.3, 7.4: confidentiality of verdicts",
    twins=_observers(Ask),
    expected=(refuted("9.2, P38: the guard reads everything and must name the winning intent", system="space"),),
    **_USUAL,
)
def verdicts_do_not_leak(_w: str, step: SpaceStep, other: SpaceStep | None) -> bool:
    """False as the text stands: a CONFLICT returns the winning intent, and must (P38)."""
    assert other is not None
    return step.shown == other.shown


@two_run(
    "What need clusters show does not depend on classified marks that the caller is not cleared for.",
    source="8.4, 7.4: confidentiality of need clusters",
    twins=_observers(Needs),
    expected=(refuted("8.4: aggregate_needs knows no reader", system="space"),),
    **_USUAL,
)
def need_clusters_do_not_leak(_w: str, step: SpaceStep, other: SpaceStep | None) -> bool:
    """False as the text stands: aggregate_needs takes no reader, and returns contexts."""
    assert other is not None
    return step.shown == other.shown


# Results of a resolution for the contending agents, and telemetry for its readers.


def _contenders(config: SpaceConfig, space: Space, act: Act) -> Iterator[str]:
    """The agents with an intent on the resource that infrastructure resolves, and without some clearance."""
    if not isinstance(act, Decide) or act.reader is not None:
        return
    asking = [m.agent for m in space.marks if m.draft.kind is Kind.INTENT and m.draft.scope == act.scope]
    yield from (name for name in dict.fromkeys(asking) if _others_purged(name, config, space) != space)


def _others_purged(reader: str, config: SpaceConfig, space: Space) -> Space:
    """The space without others' classified marks that the reader is not cleared for."""
    return Space(tuple(m for m in space.marks if m.agent == reader or not hidden_from(config, reader, m.draft.scope)))


def _told(name: str, step: SpaceStep) -> tuple[str, int | None]:
    """6.2.1: the agent's verdict, and for a loser the winner where the reading says so."""
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
    expected=(refuted("6.2.1: losers are told, whoever won", system="space"),),
    **{**_USUAL, "state": _others_purged},
)
def boundary_results_do_not_leak(w: str, step: SpaceStep, other: SpaceStep | None) -> bool:
    """False as the text stands: a loser learns of another intent, in a scope it may not read."""
    assert other is not None
    return _told(w, step) == _told(w, other)


def _log_readers(*kinds: type) -> Twins:
    """The agents that lack some clearance, whoever acts: telemetry is read beside the space."""

    def twins(config: SpaceConfig, space: Space, act: Act) -> Iterator[str]:
        if isinstance(act, kinds):
            names = (agent.name for agent in config.agents)
            yield from (name for name in names if purged(name, config, space) != space)

    return twins


def _logged(step: AskStep) -> tuple[str, str, str]:
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
    expected=(refuted("9.11: outcomes are logged by scope, for whoever reads the sink", system="space"),),
    **_USUAL,
)
def telemetry_events_do_not_leak(_w: str, step: AskStep, other: AskStep | None) -> bool:
    """False as the text stands: outcomes are logged by scope, and a sink distinguishes no readers."""
    assert other is not None
    return _logged(step) == _logged(other)


def _gauges(space: Space) -> frozenset[tuple[str, Kind, int]]:
    """9.11: `total_marks` by scope and mark type."""
    labels = [(mark.draft.scope, mark.draft.kind) for mark in space.marks]
    return frozenset((scope, kind, labels.count((scope, kind))) for scope, kind in labels)


@two_run(
    "What telemetry measures does not depend on classified marks that its reader is not cleared for.",
    source="9.11, 7.4: confidentiality of telemetry, gauges",
    twins=_log_readers(Tick),
    expected=(refuted("9.11: marks are counted by scope, for whoever reads the sink", system="space"),),
    **_USUAL,
)
def telemetry_gauges_do_not_leak(_w: str, step: SpaceStep, other: SpaceStep | None) -> bool:
    """False as the text stands: marks are counted by scope, including classified ones."""
    assert other is not None
    return _gauges(step.after) == _gauges(other.after)


def _all_uncleared(config: SpaceConfig, _space: Space, act: Act) -> Iterator[str]:
    if isinstance(act, Write):
        for agent in config.agents:
            if any(hidden_from(config, agent.name, scope) for scope in ("a", "a/b", "c")):
                yield agent.name


@two_run(
    "Writing keeps spaces apart that differ in classified marks alone: the same is stored where the reader can look "
    "(resolving a need is the principal's own act, and may tell what it likes).",
    source="8.1, 7.4: the step of the induction",
    systems=ONLY,
    twins=_all_uncleared,
    config=same_config,
    state=purged,
    other=same_action,
)
def writes_do_not_leak(w: str, step: WriteStep, other: WriteStep | None) -> bool:
    """No refusal and no stored mark depends on marks that the reader cannot see."""
    assert other is not None
    kept = purged(w, step.config, other.after)
    visible = not hidden_from(step.config, w, step.action.draft.scope)
    same = step.shown.refused == other.shown.refused and (not visible or step.shown.stored == other.shown.stored)
    return same and purged(w, step.config, step.after) == kept


def _decides(step: SpaceStep) -> bool:
    return isinstance(step.action, Decide)


@determined_by(
    "All agents that resolve a conflict at one instant by reading the space reach the same conclusion.",
    source="P11, 6: `each agent resolves conflicts independently by reading the mark space`",
    systems=ONLY,
    key=lambda step: (step.config, step.before, step.action.scope, step.action.subject),
    when=_decides,
    expected=(refuted("7.4: who is not cleared sees no intents", system="space"),),
)
def readers_agree_on_the_winner(step: DecideStep) -> int | None:
    """False where visibility differs: an uncleared writer sees no intents, not even its own."""
    return step.shown.winner


# Integrity.


def _stores(step: SpaceStep) -> bool:
    return is_write(step) and not step.shown.refused and bool(step.before.marks)


def _weakened(step: WriteStep) -> Iterator[Mark]:
    config, before, after = step.config, step.before, step.after
    return (mark for mark in before.marks if strength(config, after, mark) < strength(config, before, mark))


@each_step(
    "Writing a mark lowers the strength of no mark that the writer may not write itself.",
    source="2.5, 7.3, 10: integrity",
    systems=ONLY,
    when=_stores,
    expected=(
        refuted("2.5, 10: no authority is asked for over what is referred to", system="space"),
        holds("authority is asked for", system="space", reference_authority="same_scope_writer"),
        holds("authority is asked for", system="space", reference_authority="same_agent_or_principal"),
    ),
)
def writes_reach_only_their_scopes(step: WriteStep) -> bool:
    """False as the text stands: a mark in one scope may supersede or invalidate one in any other."""
    drafts = (mark.draft for mark in _weakened(step))
    return all(writes(step.config, step.action.agent, draft.scope, draft.kind) for draft in drafts)


@each_step(
    "Writing a mark lowers the strength of no other agent's mark.",
    source="2.5, 10: integrity",
    systems=ONLY,
    when=_stores,
    expected=(
        refuted("2.5, 10: warnings and supersession are there to do it", system="space"),
        holds("authors only", system="space", reference_authority="same_agent_or_principal"),
    ),
)
def writes_reach_only_their_own(step: WriteStep) -> bool:
    """Stricter: holds only where none but the author and the principal may refer to a mark."""
    return all(mark.agent == step.action.agent for mark in _weakened(step))


@each_step(
    "Needs are listed by priority and size, those of one question with their contexts, resolved ones not at all.",
    source="8.4",
    systems=ONLY,
    when=lambda step: isinstance(step.action, Needs),
)
def need_clusters_are_complete(step: NeedsStep) -> bool:
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
    told = sorted((one.scope, one.question, text) for one in step.shown.clusters for text in one.contexts)
    if told != sorted((draft.scope, draft.subject, draft.content) for draft in live):
        return False
    falling = [one.priority for one in step.shown.clusters if one.size == 1]
    return sum(size for size, _, _ in sizes.values()) == len(live) and falling == sorted(falling, reverse=True)


@reachable("A projection can be shown.", source="7.4", systems=ONLY)
def projection_happens(step: SpaceStep) -> bool:
    """A reader gets a projection of a protected mark."""
    return isinstance(step.action, Read) and any(seen.projected for seen in step.shown.seen or ())


@reachable(
    "An action can be hidden by a warning or by another mark, so that the guard sees no claim.",
    source="9.5, 10, P39",
    systems=ONLY,
)
def a_claim_can_be_hidden(step: SpaceStep) -> bool:
    """The case that the integrity claims are about."""
    if not isinstance(step.action, Ask) or step.shown.claimed_by is not None or step.shown.refused:
        return False
    return any(
        mark.draft.kind is Kind.ACTION
        and mark.draft.scope == step.action.scope
        and mark.agent != step.action.agent
        and not mark.draft.failed
        for mark in step.before.marks
    )
