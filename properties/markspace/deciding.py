"""The attributes that decide the winner, tested by permuting each; and who can undo whose marks (integrity)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from evenhand.core.plan import holds, refuted
from evenhand.core.property import commute, each_step, two_run
from evenhand.core.records import replace
from evenhand.model.markspace.guard_vocabulary import Act, Config, Decision, Doing, GuardStep, State, What
from evenhand.properties.markspace.predicates import CORE, GUARDED, IMMEDIATE, allowed_agents, claim_on, same_config

Renaming = tuple[tuple[str, str], ...]
REFERRING = (What.WARN_CLAIM, What.WARN_INTENT, What.SUPERSEDE_CLAIM, What.SUPERSEDE_INTENT)


def _renamings(config: Config, _state: State, _act: Act) -> Iterator[Renaming]:
    for image in permutations(config.agents):
        if image != config.agents:
            yield tuple(zip(config.agents, image, strict=True))


def _renamed(w: Renaming, config: Config, state: State) -> State:
    to = dict(w)
    doing: list[Doing] = list(state.doing)
    for agent, one in zip(config.agents, state.doing, strict=True):
        doing[config.agents.index(to[agent])] = one
    return replace(
        state,
        intents=tuple(replace(intent, agent=to[intent.agent]) for intent in state.intents),
        doing=tuple(doing),
        claims=tuple(to.get(one or "", one) for one in state.claims),
        named=tuple(to.get(one or "", one) for one in state.named),
        needs=frozenset(replace(need, agent=to[need.agent]) for need in state.needs),
    )


def _renamed_act(w: Renaming, act: Act) -> tuple[Act, ...]:
    to = dict(w)
    return (replace(act, agent=to.get(act.agent, act.agent), target=to.get(act.target, act.target)),)


def _renamed_shown(w: Renaming, shown: Decision) -> Decision:
    to = dict(w)
    return replace(
        shown,
        winner=None if shown.winner is None else replace(shown.winner, agent=to[shown.winner.agent]),
        claimed_by=to.get(shown.claimed_by or "", shown.claimed_by),
        conflicting=tuple(replace(intent, agent=to[intent.agent]) for intent in shown.conflicting),
        considered=tuple(replace(intent, agent=to[intent.agent]) for intent in shown.considered),
        told=tuple(sorted((to[agent], verdict) for agent, verdict in shown.told)),
        notified=to.get(shown.notified or "", shown.notified),
    )


@two_run(
    "Who an agent is decides nothing: rename the agents, and what happens is renamed.",
    source="6.1, 9.2: the arbitration profile",
    systems=GUARDED,
    twins=_renamings,
    config=same_config,
    state=_renamed,
    other=_renamed_act,
)
def names_decide_nothing(w: Renaming, step: GuardStep, other: GuardStep | None) -> bool:
    """Equivariance of the state and of the whole observation."""
    assert other is not None
    return other.after == _renamed(w, step.config, step.after) and other.shown == _renamed_shown(w, step.shown)


# Confidence.


def _other_levels(_config: Config, state: State, act: Act) -> Iterator[str]:
    if state.intents or act.what is What.PRE:
        yield "confidence levels exchanged"


def _level(confidence: int) -> int:
    """Return the level exchanged for another one: 0 and 1, 2 and 3, so that none leaves the range."""
    return confidence ^ 1


def _exchanged(_w: str, _config: Config, state: State) -> State:
    return replace(state, intents=tuple(replace(i, confidence=_level(i.confidence)) for i in state.intents))


def _exchanged_act(_w: str, act: Act) -> tuple[Act, ...]:
    return (replace(act, confidence=_level(act.confidence)) if act.what is What.PRE else act,)


@two_run(
    "Confidence decides nothing: exchange the levels, and the same agents are allowed.",
    source="6.1: the arbitration profile",
    systems=CORE,
    twins=_other_levels,
    config=same_config,
    state=_exchanged,
    other=_exchanged_act,
    expected=tuple(refuted("6.1: it is what decides", system=one) for one in ("highest_confidence", "deferred")),
)
def confidence_decides_nothing(w: str, step: GuardStep, other: GuardStep | None) -> bool:
    """False exactly where the policy says that confidence wins."""
    assert other is not None
    return allowed_agents(step) == allowed_agents(other) and _exchanged(w, step.config, step.after) == other.after


# Time.


def _two_requests(_config: Config, _state: State, enabled: tuple[Act, ...]) -> Iterator[tuple[Act, Act]]:
    asking = [act for act in enabled if act.what is What.PRE]
    for place, first in enumerate(asking):
        for second in asking[place + 1 :]:
            if first.agent != second.agent and first.resource == second.resource:
                yield first, second


@commute(
    "The order of asking decides nothing: two requests in either order leave the same agents allowed.",
    source="6.1: the arbitration profile",
    systems=CORE,
    pairs=_two_requests,
    expected=tuple(refuted("6.1, P32: who asks first", system=one) for one in IMMEDIATE),
)
def order_decides_nothing(_config: Config, one: GuardStep, other: GuardStep) -> bool:
    """False where asking first wins; while claims are collected no agent is allowed yet."""
    return one.after.doing == other.after.doing


# Integrity.


def _refers(step: GuardStep) -> bool:
    return step.action.what in REFERRING


def _author(step: GuardStep) -> str | None:
    if step.action.what in (What.WARN_CLAIM, What.SUPERSEDE_CLAIM):
        return claim_on(step.config, step.before, step.action.resource)
    return step.action.target


@each_step(
    "No agent hides, weakens or frees what another agent wrote.",
    source="2.5, 6.3, 10: integrity",
    systems=("meddled",),
    when=lambda step: _refers(step) and _author(step) != step.action.agent,
    expected=(
        refuted("2.5, 10: anyone may supersede or invalidate anything", system="meddled"),
        holds("authority is asked for", system="meddled", reference_authority="same_agent_or_principal"),
        holds(
            "authors only",
            system="meddled",
            reference_authority="same_agent_or_principal",
            action_immunity="immune_to_warnings",
        ),
    ),
)
def others_marks_are_safe(step: GuardStep) -> bool:
    """False as the text stands: it requires no authority over the mark that is referred to."""
    return step.after == step.before


@each_step(
    "An agent that may not write in the scope hides, weakens or frees nothing there.",
    source="2.5, 7.3, 10: integrity",
    systems=("meddled",),
    when=lambda step: _refers(step) and step.action.agent in step.config.strangers,
    expected=(
        refuted("2.5, 10: from any scope", system="meddled"),
        holds("writers only", system="meddled", reference_authority="same_scope_writer"),
        holds("authors only", system="meddled", reference_authority="same_agent_or_principal"),
    ),
)
def strangers_marks_reach_nothing(step: GuardStep) -> bool:
    """False as the text stands: a mark in one scope may refer to a mark in another."""
    return step.after == step.before


@each_step(
    "An agent loses its claim only by its own act, or to an agent that the guard allowed.",
    source="6.3, 10: integrity",
    systems=GUARDED,
    when=lambda step: step.before.claims != step.after.claims,
    expected=(
        refuted("10: anyone may supersede an action", system="meddled"),
        holds("authors only", system="meddled", reference_authority="same_agent_or_principal"),
    ),
)
def claims_are_lost_to_allowed_agents_only(step: GuardStep) -> bool:
    """False where supersession by others is possible."""
    act = step.action
    for before, after in zip(step.before.claims, step.after.claims, strict=True):
        if before not in (None, after, act.agent) and act.what is not What.POST:
            return False
    return True
