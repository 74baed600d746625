"""Contests: deferred resolution, progress, deadlock, livelock, mutual exclusion (P12 to P18 and beyond the list)."""

from __future__ import annotations

from typing import Any

from evenhand.core.property import (
    AnyStep,
    Property,
    always,
    deadlock_free,
    each_step,
    leads_to,
    livelock_free,
    reachable,
)
from evenhand.model.markspace.guard_vocabulary import Config, Phase, State, Verdict, What
from evenhand.properties.markspace.predicates import (
    CORE,
    GUARDED,
    active_on,
    allowed_agents,
    asks,
    claim_on,
    doing_of,
    running_on,
    winner_among,
)

__all__ = ["CONTESTING"]

DEFERRED = ("deferred",)
FAIR = ("time passes", "boundaries fire", "allowed agents go on", "running tools end")
"""Nobody and nothing stands still for ever."""


def _first_resource_is_allowed(step: AnyStep) -> bool:
    return step.action.resource == step.config.resources[0] and bool(allowed_agents(step))


def _somebody(_config: Config, _state: State) -> bool:
    return True


@deadlock_free(
    "On every resource some agent can still be allowed to proceed.",
    source="P12",
    systems=GUARDED,
    wants=_somebody,
)
def progress_p12(step: AnyStep) -> bool:
    """Some continuation gets an ALLOW on the first resource (all are alike)."""
    return _first_resource_is_allowed(step)


def _first_agent_yields(config: Config, state: State) -> bool:
    idle = doing_of(config, state, config.agents[0]).phase is Phase.IDLE
    return idle and claim_on(config, state, config.resources[0]) is None


@deadlock_free(
    "An agent that yielded can still be allowed, as long as no action claims the resource.",
    source="P13",
    systems=GUARDED,
    wants=_first_agent_yields,
)
def yield_recovery_p13(step: AnyStep) -> bool:
    """By symmetry the first agent and the first resource stand for all."""
    return step.config.agents[0] in allowed_agents(step) and step.action.resource == step.config.resources[0]


# Two resources.


def _several(config: Config) -> bool:
    return len(config.resources) > 1 and len(config.agents) > 1


def _each_holds_one(config: Config, state: State) -> bool:
    return None not in state.claims and len(set(state.claims)) > 1


@deadlock_free(
    "Agents that each hold one of the resources they need can still come to hold all of them.",
    source="P12: `circular dependency deadlock cannot occur`",
    systems=CORE,
    applies=_several,
    wants=_each_holds_one,
)
def no_circular_wait(step: AnyStep) -> bool:
    """Hold and wait: an action claims for ever, so each waits for what the other will not give back."""
    return None not in step.after.claims and len(set(step.after.claims)) == 1


# Livelock.


def _refused_while_free(step: AnyStep) -> bool:
    refused = asks(step) and step.shown.verdict in (Verdict.CONFLICT, Verdict.BLOCKED)
    return refused and claim_on(step.config, step.before, step.action.resource) is None


@livelock_free(
    "Where no action claims the resource, agents do not go on asking for ever without one of them being allowed.",
    source="P12, P13, 6.1",
    systems=CORE,
    attempts=_refused_while_free,
    fairness=FAIR,
)
def asking_is_answered(step: AnyStep) -> bool:
    """Time passes and boundaries fire; nobody is unfair."""
    return bool(allowed_agents(step))


@livelock_free(
    "With a principal who answers every need, agents do not go on asking for ever without one of them being allowed.",
    source="P12, 6.1 YIELD_ALL",
    systems=("yield_all",),
    attempts=_refused_while_free,
    fairness=(*FAIR, "the principal answers"),
)
def principal_ends_the_contest(step: AnyStep) -> bool:
    """Under `names_winner`: the one who is named must ask again."""
    return bool(allowed_agents(step))


# Deferred resolution.


def _boundary(step: AnyStep) -> bool:
    return step.action.what is What.BOUNDARY and not step.shown.rejected


def _candidates(step: AnyStep) -> tuple[Any, ...]:
    return active_on(step.before.intents, step.action.resource)


def _contest(step: AnyStep) -> bool:
    return _boundary(step) and bool(_candidates(step))


@each_step(
    "The batch resolution looks at every active intent on the resource.",
    source="P14",
    systems=DEFERRED,
    when=_contest,
)
def deferred_completeness_p14(step: AnyStep) -> bool:
    """None that was written before the boundary and still lives is left out."""
    return set(_candidates(step)) <= set(step.shown.considered)


def _when_deferred_priority_fidelity_p15(step: AnyStep) -> bool:
    return bool(_contest(step) and claim_on(step.config, step.before, step.action.resource) is None)


@each_step(
    "Under HIGHEST_CONFIDENCE the winner of a batch is the most confident of all candidates, as if all were evaluated "
    "at once.",
    source="P15",
    systems=DEFERRED,
    when=_when_deferred_priority_fidelity_p15,
)
def deferred_priority_fidelity_p15(step: AnyStep) -> bool:
    """Ties to the earliest."""
    return bool(step.shown.winner == winner_among(step.config, _candidates(step)))


def _trigger_deferred_liveness_p16(step: AnyStep) -> bool:
    return bool(asks(step) and step.shown.verdict is Verdict.BLOCKED)


@leads_to(
    "Where a deferred scope has an active intent, a boundary eventually occurs.",
    source="P16",
    systems=DEFERRED,
    trigger=_trigger_deferred_liveness_p16,
    fairness=FAIR,
)
def deferred_liveness_p16(step: AnyStep) -> bool:
    """As written; the trigger is deployment-defined and the clock may be faster."""
    return _boundary(step)


def _trigger_intents_do_not_pile_up(step: AnyStep) -> bool:
    return bool(asks(step) and step.shown.verdict is Verdict.BLOCKED)


@leads_to(
    "Where a deferred scope has an active intent, a boundary eventually occurs or the intents run out.",
    source="P16: TTL as a safety net",
    systems=DEFERRED,
    trigger=_trigger_intents_do_not_pile_up,
    fairness=FAIR,
)
def intents_do_not_pile_up(step: AnyStep) -> bool:
    """The repaired sentence."""
    return _boundary(step) or not step.after.intents


@each_step(
    "At a boundary exactly one of the agents with active intents receives ALLOW, and all others BLOCKED.",
    source="P17",
    systems=DEFERRED,
    when=_contest,
)
def deferred_mutual_exclusion_p17(step: AnyStep) -> bool:
    """As written: nothing is said of a resource that an action claims."""
    verdicts = sorted(verdict.value for _, verdict in step.shown.told)
    others = len({intent.agent for intent in _candidates(step)}) - 1
    return verdicts == ["allow"] + ["blocked"] * others


@each_step(
    "At most one agent receives ALLOW per boundary, and exactly one where something is contested that no other "
    "agent's action claims.",
    source="P17 with P39, repaired",
    systems=DEFERRED,
    when=_contest,
)
def one_winner_per_boundary(step: AnyStep) -> bool:
    """An action's holder, or nobody, where the resource is claimed."""
    claim = claim_on(step.config, step.before, step.action.resource)
    fit = {i.agent for i in _candidates(step) if claim in (None, i.agent)}
    winners = allowed_agents(step)
    return len(winners) == min(1, len(fit)) and set(winners) <= fit


@each_step(
    "Every agent with an active intent hears a verdict at the boundary; losing intents stay until they expire.",
    source="P18, 6.2.1",
    systems=DEFERRED,
    when=_contest,
)
def deferred_inclusion_p18(step: AnyStep) -> bool:
    """All losers are told."""
    told = {agent for agent, _ in step.shown.told}
    return told == {intent.agent for intent in _candidates(step)} and bool(step.after.intents == step.before.intents)


@each_step(
    "While claims are collected, pre_action answers BLOCKED (or CONFLICT where an action claims the resource), never "
    "ALLOW.",
    source="6.2.3",
    systems=DEFERRED,
    when=asks,
)
def collection_is_advisory(step: AnyStep) -> bool:
    """Only a boundary allows."""
    return step.shown.verdict in (Verdict.BLOCKED, Verdict.CONFLICT)


# Tool calls.


def _when_mutual_exclusion(_config: Any, state: Any) -> bool:
    return bool(any(doing.phase is Phase.RUNNING for doing in state.doing))


@always(
    "No two tool calls are in flight on one resource.",
    source="6.3, 9.2",
    systems=GUARDED,
    when=_when_mutual_exclusion,
)
def mutual_exclusion(config: Config, state: State) -> bool:
    """What a lock would give."""
    return all(len(running_on(config, state, resource)) < 2 for resource in config.resources)


def _holds_a_lease(state: State, agent: str, resource: str) -> bool:
    return any(i.agent == agent for i in active_on(state.intents, resource))


def _when_exclusion_within_the_lease(_config: Any, state: Any) -> bool:
    return bool(any(doing.phase is Phase.RUNNING for doing in state.doing))


@always(
    "No two tool calls are in flight on one resource while the intents of both still live.",
    source="6.1, P4: the assumption that tools are faster than the TTL",
    systems=GUARDED,
    when=_when_exclusion_within_the_lease,
)
def exclusion_within_the_lease(config: Config, state: State) -> bool:
    """The assumption that each tool returns before its intent expires."""
    for resource in config.resources:
        leased = [agent for agent in running_on(config, state, resource) if _holds_a_lease(state, agent, resource)]
        if len(leased) > 1:
            return False
    return True


def _when_yield_all_waits_for_the_principal(step: AnyStep) -> bool:
    return bool(step.action.what is What.CALL and not step.shown.rejected)


@each_step(
    "Under YIELD_ALL no agent calls its tool while others' intents on the resource are active and no principal has "
    "decided.",
    source="6.1 YIELD_ALL",
    systems=("yield_all",),
    when=_when_yield_all_waits_for_the_principal,
)
def yield_all_waits_for_the_principal(step: AnyStep) -> bool:
    """The one who asked first was allowed before there was a conflict."""
    others = [i for i in active_on(step.before.intents, step.action.resource) if i.agent != step.action.agent]
    named = step.before.named[step.config.resources.index(step.action.resource)]
    return not others or named == step.action.agent


def _when_blocked_agents_ask_the_principal(step: AnyStep) -> bool:
    return bool(asks(step) and step.shown.verdict is Verdict.BLOCKED)


@each_step(
    "Under YIELD_ALL a blocked agent's need mark is written.",
    source="6.1, 9.2 step 6",
    systems=("yield_all",),
    when=_when_blocked_agents_ask_the_principal,
)
def blocked_agents_ask_the_principal(step: AnyStep) -> bool:
    """On behalf of the agent, and kept until it is answered."""
    asked = {(need.agent, need.resource) for need in step.after.needs}
    return bool(step.shown.need) and (step.action.agent, step.action.resource) in asked


# What can happen.


@reachable("A tool call can be allowed, run and be recorded.", source="9.2", systems=GUARDED)
def action_happens(step: AnyStep) -> bool:
    """The model is not safe because it is dead."""
    return bool(step.shown.note == "done")


@reachable("An agent can be refused because of another's intent or action.", source="9.3", systems=GUARDED)
def refusal_happens(step: AnyStep) -> bool:
    """Contests occur."""
    return asks(step) and step.shown.verdict in (Verdict.CONFLICT, Verdict.BLOCKED)


@reachable("An intent can expire while its tool is running.", source="P4, 9.1", systems=CORE)
def lease_lost_while_running(step: AnyStep) -> bool:
    """The reason for the two readings of the lease."""
    if step.action.what is not What.TICK:
        return False
    return any(
        doing.phase is Phase.RUNNING
        and _holds_a_lease(step.before, agent, doing.resource)
        and not _holds_a_lease(step.after, agent, doing.resource)
        for agent, doing in zip(step.config.agents, step.before.doing, strict=True)
    )


CONTESTING: tuple[Property, ...] = (
    progress_p12,
    yield_recovery_p13,
    no_circular_wait,
    asking_is_answered,
    principal_ends_the_contest,
    deferred_completeness_p14,
    deferred_priority_fidelity_p15,
    deferred_liveness_p16,
    intents_do_not_pile_up,
    deferred_mutual_exclusion_p17,
    one_winner_per_boundary,
    deferred_inclusion_p18,
    collection_is_advisory,
    mutual_exclusion,
    exclusion_within_the_lease,
    yield_all_waits_for_the_principal,
    blocked_agents_ask_the_principal,
    action_happens,
    refusal_happens,
    lease_lost_while_running,
)
"""The claims of this module."""
