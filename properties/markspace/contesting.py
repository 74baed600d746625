"""Contests: deferred resolution, progress, deadlock, livelock, mutual exclusion (P12 to P18 and beyond the list)."""

from __future__ import annotations

from evenhand.core.plan import holds, refuted
from evenhand.core.property import (
    always,
    deadlock_free,
    each_step,
    leads_to,
    livelock_free,
    reachable,
)
from evenhand.model.markspace.guard_vocabulary import Config, GuardStep, Intent, Phase, State, Verdict, What
from evenhand.properties.markspace.predicates import (
    CORE,
    GUARDED,
    IMMEDIATE,
    active_on,
    allowed_agents,
    asks,
    claim_on,
    doing_of,
    running_on,
    winner_among,
)

DEFERRED = ("deferred",)
FAIR = ("time passes", "boundaries fire", "allowed agents go on", "running tools end")
"""No agent, tool, boundary or clock stands still for ever."""


def _always(_config: Config, _state: State) -> bool:
    return True


@deadlock_free(
    "On every resource some agent can still be allowed to proceed.",
    source="P12",
    systems=GUARDED,
    wants=_always,
)
def progress_p12(step: GuardStep) -> bool:
    """Some continuation gets an ALLOW on the first resource; all resources are alike."""
    return step.action.resource == step.config.resources[0] and bool(allowed_agents(step))


def _first_agent_yields(config: Config, state: State) -> bool:
    idle = doing_of(config, state, config.agents[0]).phase is Phase.IDLE
    return idle and claim_on(config, state, config.resources[0]) is None


@deadlock_free(
    "An agent that yielded can still be allowed, as long as no action claims the resource.",
    source="P13",
    systems=GUARDED,
    wants=_first_agent_yields,
)
def yield_recovery_p13(step: GuardStep) -> bool:
    """By symmetry the first agent and the first resource stand for all."""
    return step.config.agents[0] in allowed_agents(step) and step.action.resource == step.config.resources[0]


# Two resources.


def _several(config: Config) -> bool:
    return len(config.resources) > 1 and len(config.agents) > 1


def _each_holds_one(_config: Config, state: State) -> bool:
    return None not in state.claims and len(set(state.claims)) > 1


@deadlock_free(
    "Agents that each hold one of the resources they need can still come to hold all of them.",
    source="P12: `circular dependency deadlock cannot occur`",
    systems=CORE,
    applies=_several,
    wants=_each_holds_one,
    expected=(
        *(refuted("an action claims for ever: hold and wait", system=one) for one in CORE),
        *(holds("holders may give back", system=one, claim_release="superseding_action_of_holder") for one in CORE),
    ),
)
def no_circular_wait(step: GuardStep) -> bool:
    """Hold and wait: an action claims for ever, so each agent waits for another's resource for ever."""
    return None not in step.after.claims and len(set(step.after.claims)) == 1


# Livelock.


def _refused_while_free(step: GuardStep) -> bool:
    refused = asks(step) and step.shown.verdict in (Verdict.CONFLICT, Verdict.BLOCKED)
    return refused and claim_on(step.config, step.before, step.action.resource) is None


@livelock_free(
    "Where no action claims the resource, agents do not go on asking for ever without one of them being allowed.",
    source="P12, P13, 6.1",
    systems=CORE,
    attempts=_refused_while_free,
    fairness=FAIR,
    expected=(
        refuted("9.2: asking again replaces one's intent and gives up one's place", system="first_writer"),
        refuted("as under FIRST_WRITER, at equal confidence", system="highest_confidence"),
        refuted("nobody answers: retrying within the TTL keeps the conflict alive", system="yield_all"),
    ),
)
def asking_is_answered(step: GuardStep) -> bool:
    """Under fairness: time passes, boundaries fire, agents and tools go on."""
    return bool(allowed_agents(step))


@livelock_free(
    "With a principal who answers every need, agents do not go on asking for ever without one of them being allowed.",
    source="P12, 6.1 YIELD_ALL",
    systems=("yield_all",),
    attempts=_refused_while_free,
    fairness=(*FAIR, "the principal answers"),
    expected=(
        refuted("nobody answers under `none`", system="yield_all"),
        refuted(
            "6.1: a decision binds nobody to use it, and the next need may be answered otherwise",
            system="yield_all",
            principal_decision="names_winner",
        ),
    ),
)
def principal_ends_the_contest(step: GuardStep) -> bool:
    """Under `names_winner` the named agent must ask again."""
    return bool(allowed_agents(step))


# Deferred resolution.


def _boundary(step: GuardStep) -> bool:
    return step.action.what is What.BOUNDARY and not step.shown.rejected


def _candidates(step: GuardStep) -> tuple[Intent, ...]:
    return active_on(step.before.intents, step.action.resource)


def _contest(step: GuardStep) -> bool:
    return _boundary(step) and bool(_candidates(step))


def _is_blocked(step: GuardStep) -> bool:
    return asks(step) and step.shown.verdict is Verdict.BLOCKED


@each_step(
    "The batch resolution looks at every active intent on the resource.",
    source="P14",
    systems=DEFERRED,
    when=_contest,
)
def deferred_completeness_p14(step: GuardStep) -> bool:
    """Every intent that was written before the boundary and still lives is included."""
    return set(_candidates(step)) <= set(step.shown.considered)


@each_step(
    "Under HIGHEST_CONFIDENCE the winner of a batch is the most confident of all candidates, as if all were evaluated "
    "at once.",
    source="P15",
    systems=DEFERRED,
    when=lambda step: _contest(step) and claim_on(step.config, step.before, step.action.resource) is None,
)
def deferred_priority_fidelity_p15(step: GuardStep) -> bool:
    """The earliest intent wins ties."""
    return step.shown.winner == winner_among(step.config, _candidates(step))


@leads_to(
    "Where a deferred scope has an active intent, a boundary eventually occurs.",
    source="P16",
    systems=DEFERRED,
    trigger=_is_blocked,
    fairness=FAIR,
    expected=(refuted("the clock may run past the TTL before the trigger fires", system="deferred"),),
)
def deferred_liveness_p16(step: GuardStep) -> bool:
    """As written; the trigger is deployment-defined and the clock may be faster."""
    return _boundary(step)


@leads_to(
    "Where a deferred scope has an active intent, a boundary eventually occurs or the intents run out.",
    source="P16: TTL as a safety net",
    systems=DEFERRED,
    trigger=_is_blocked,
    fairness=FAIR,
)
def intents_do_not_pile_up(step: GuardStep) -> bool:
    """P16, repaired."""
    return _boundary(step) or not step.after.intents


@each_step(
    "At a boundary exactly one of the agents with active intents receives ALLOW, and all others BLOCKED.",
    source="P17",
    systems=DEFERRED,
    when=_contest,
    expected=(refuted("P39: a resource that an action claims has no winner", system="deferred"),),
)
def deferred_mutual_exclusion_p17(step: GuardStep) -> bool:
    """As written, without an exception for a resource that an action claims."""
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
def one_winner_per_boundary(step: GuardStep) -> bool:
    """Where an action claims the resource, only its holder can win."""
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
def deferred_inclusion_p18(step: GuardStep) -> bool:
    """All losers receive a verdict."""
    told = {agent for agent, _ in step.shown.told}
    return told == {intent.agent for intent in _candidates(step)} and step.after.intents == step.before.intents


@each_step(
    "While claims are collected, pre_action answers BLOCKED (or CONFLICT where an action claims the resource), never "
    "ALLOW.",
    source="6.2.3",
    systems=DEFERRED,
    when=asks,
)
def collection_is_advisory(step: GuardStep) -> bool:
    """Only a boundary allows."""
    return step.shown.verdict in (Verdict.BLOCKED, Verdict.CONFLICT)


# Tool calls.

_THROUGH = "one lock from pre_action to post_action is mutual exclusion by itself"


def _some_tool_runs(_config: Config, state: State) -> bool:
    return any(doing.phase is Phase.RUNNING for doing in state.doing)


@always(
    "No two tool calls are in flight on one resource.",
    source="6.3, 9.2",
    systems=GUARDED,
    when=_some_tool_runs,
    expected=(
        *(
            refuted(
                "P4: an intent expires while the agent that was allowed still has its tool to call or to finish",
                system=one,
            )
            for one in GUARDED
        ),
        *(holds(_THROUGH, system=one, guard_atomicity="through_tool_call") for one in (*IMMEDIATE, "meddled")),
        holds("only boundaries allow, and they wait", system="deferred", boundary_while_running="waits"),
        holds(
            _THROUGH,
            system="first_writer",
            guard_atomicity="through_tool_call",
            lease="renewed_while_tool_runs",
        ),
    ),
)
def mutual_exclusion(config: Config, state: State) -> bool:
    """The guarantee of a lock."""
    return all(len(running_on(config, state, resource)) < 2 for resource in config.resources)


def _holds_a_lease(state: State, agent: str, resource: str) -> bool:
    return any(i.agent == agent for i in active_on(state.intents, resource))


@always(
    "No two tool calls are in flight on one resource while the intents of both still live.",
    source="6.1, P4: the assumption that tools are faster than the TTL",
    systems=GUARDED,
    when=_some_tool_runs,
    expected=(
        *(
            holds(_THROUGH, system=one, guard_atomicity="through_tool_call")
            for one in ("highest_confidence", "deferred", "meddled")
        ),
        refuted("P32: a later id may sort first", system="first_writer", id_order="adversarial"),
        refuted(
            "an earlier intent that won for its agent runs out before the one that its tool call stands on",
            system="first_writer",
            own_intents="compete",
        ),
        refuted(
            "6.2: a more confident agent is allowed while the tool of a less confident one runs",
            system="highest_confidence",
        ),
        refuted(
            "6.1: the principal names one agent while the tool of another, allowed before the conflict, runs",
            system="yield_all",
            principal_decision="names_winner",
        ),
        refuted(
            "a second boundary may allow a more confident agent while the first winner's tool runs", system="deferred"
        ),
        holds("boundaries wait", system="deferred", boundary_while_running="waits"),
        refuted("10: a third party supersedes an intent, another is allowed", system="meddled"),
        refuted(
            "an agent may supersede its own intent while its tool runs",
            system="meddled",
            reference_authority="same_agent_or_principal",
        ),
    ),
)
def exclusion_within_the_lease(config: Config, state: State) -> bool:
    """This assumes that each tool returns before its intent expires."""
    for resource in config.resources:
        leased = [agent for agent in running_on(config, state, resource) if _holds_a_lease(state, agent, resource)]
        if len(leased) > 1:
            return False
    return True


@each_step(
    "Under YIELD_ALL no agent calls its tool while others' intents on the resource are active and no principal has "
    "decided.",
    source="6.1 YIELD_ALL",
    systems=("yield_all",),
    when=lambda step: step.action.what is What.CALL and not step.shown.rejected,
    expected=(
        refuted("9.2 step 5: the first to ask is allowed before there is a conflict", system="yield_all"),
        holds(_THROUGH, system="yield_all", guard_atomicity="through_tool_call"),
    ),
)
def yield_all_waits_for_the_principal(step: GuardStep) -> bool:
    """The first agent to ask was allowed before there was a conflict."""
    others = [i for i in active_on(step.before.intents, step.action.resource) if i.agent != step.action.agent]
    named = step.before.named[step.config.resources.index(step.action.resource)]
    return not others or named == step.action.agent


@each_step(
    "Under YIELD_ALL a blocked agent's need mark is written.",
    source="6.1, 9.2 step 6",
    systems=("yield_all",),
    when=_is_blocked,
)
def blocked_agents_ask_the_principal(step: GuardStep) -> bool:
    """The need is written on behalf of the agent and kept until it is answered."""
    asked = {(need.agent, need.resource) for need in step.after.needs}
    return step.shown.need and (step.action.agent, step.action.resource) in asked


# What can happen.


@reachable("A tool call can be allowed, run and be recorded.", source="9.2", systems=GUARDED)
def action_happens(step: GuardStep) -> bool:
    """The model does not satisfy safety by refusing everything."""
    return step.shown.note == "done"


@reachable("An agent can be refused because of another's intent or action.", source="9.3", systems=GUARDED)
def refusal_happens(step: GuardStep) -> bool:
    """Contests occur."""
    return asks(step) and step.shown.verdict in (Verdict.CONFLICT, Verdict.BLOCKED)


@reachable(
    "An intent can expire while its tool is running.",
    source="P4, 9.1",
    systems=CORE,
    expected=tuple(refuted("the reading keeps it", system=one, lease="renewed_while_tool_runs") for one in CORE),
)
def lease_lost_while_running(step: GuardStep) -> bool:
    """This is why the lease has two readings."""
    if step.action.what is not What.TICK:
        return False
    return any(
        doing.phase is Phase.RUNNING
        and _holds_a_lease(step.before, agent, doing.resource)
        and not _holds_a_lease(step.after, agent, doing.resource)
        for agent, doing in zip(step.config.agents, step.before.doing, strict=True)
    )
