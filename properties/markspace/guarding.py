"""The guard's answers: determinism, atomicity, transparency, precedence of actions (P11, P36 to P39, 2.3, 6.3)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from evenhand.core.plan import holds, refuted
from evenhand.core.property import determined_by, each_step, monitor
from evenhand.model.markspace.guard_vocabulary import Config, GuardStep, Intent, Phase, State, Verdict, What
from evenhand.properties.markspace.predicates import (
    GUARDED,
    IMMEDIATE,
    active_on,
    allowed_agents,
    asks,
    claim_on,
    doing_of,
    winner_among,
)

WITH_A_WINNER = ("first_writer", "highest_confidence", "deferred", "meddled")
AT_ONCE = (*IMMEDIATE, "meddled")


def _resolved(step: GuardStep) -> bool:
    """Whether this step resolved intents of several agents."""
    return len({intent.agent for intent in _looked_at(step)}) > 1 and step.shown.claimed_by is None


def _looked_at(step: GuardStep) -> tuple[Intent, ...]:
    """The active intents on the resource that the guard must consider."""
    if step.action.what is What.BOUNDARY and not step.shown.rejected:
        return active_on(step.before.intents, step.action.resource)
    if asks(step) and not step.config.deferred and step.shown.claimed_by is None:
        return active_on(step.after.intents, step.action.resource)
    return ()


@determined_by(
    "Given the same set of intents, everybody reaches the same conclusion about which one wins.",
    source="P11, 6.1",
    systems=WITH_A_WINNER,
    key=lambda step: (step.config.policy, _looked_at(step)),
    when=_resolved,
)
def determinism_p11(step: GuardStep) -> tuple[str, int] | None:
    """The winner depends neither on the asking agent nor on the rest of the state."""
    winner = step.shown.winner
    return None if winner is None else (winner.agent, winner.confidence)


@each_step(
    "The winner is the earliest intent (FIRST_WRITER), or the most confident and among those the earliest "
    "(HIGHEST_CONFIDENCE); under YIELD_ALL there is none.",
    source="6.1",
    systems=AT_ONCE,
    when=lambda step: _resolved(step) and asks(step),
)
def policy_decides_as_written(step: GuardStep) -> bool:
    """The verdict follows the policy."""
    winner = winner_among(step.config, _looked_at(step))
    if winner is None:
        named = step.before.named[step.config.resources.index(step.action.resource)] == step.action.agent
        return step.shown.verdict is (Verdict.ALLOW if named else Verdict.BLOCKED)
    won = winner.agent == step.action.agent
    return step.shown.winner == winner and step.shown.verdict is (Verdict.ALLOW if won else Verdict.CONFLICT)


@each_step(
    "Without another agent's intent or action the request is allowed.",
    source="6.1 step 2, 9.2 step 5",
    systems=AT_ONCE,
    when=lambda step: asks(step) and not _contested(step),
)
def uncontested_is_allowed(step: GuardStep) -> bool:
    """A refusal needs a cause."""
    return step.shown.verdict is Verdict.ALLOW


def _contested(step: GuardStep) -> bool:
    others = [i for i in active_on(step.before.intents, step.action.resource) if i.agent != step.action.agent]
    claim = claim_on(step.config, step.before, step.action.resource)
    return bool(others) or claim not in (None, step.action.agent)


def _marks_seen(step: GuardStep) -> tuple[Hashable, ...]:
    """The part of the mark space that pre_action may read, and its inputs."""
    config, state, resource = step.config, step.before, step.action.resource
    return (
        config,
        state.on(resource),
        claim_on(config, state, resource),
        resource in state.warned,
        state.named[config.resources.index(resource)],
        step.action,
    )


@determined_by(
    "pre_action answers the same for the same marks on the resource and the same inputs, whatever else is going on.",
    source="P36, P13",
    systems=GUARDED,
    key=_marks_seen,
    when=asks,
)
def guard_determinism_p36(step: GuardStep) -> tuple[Hashable, ...]:
    """Earlier yields, tools of other agents and other resources do not matter."""
    shown = step.shown
    return (shown.verdict, shown.winner, shown.claimed_by, shown.conflicting, step.after.on(step.action.resource))


def _writes_an_intent(step: GuardStep) -> bool:
    return asks(step) and step.shown.claimed_by is None


@each_step(
    "A request that no action refuses leaves a live intent of the agent on the resource, as confident as was asked and "
    "with its whole TTL ahead.",
    source="9.2 step 3",
    systems=GUARDED,
    when=_writes_an_intent,
)
def requests_leave_an_intent(step: GuardStep) -> bool:
    """The intent is written on behalf of the agent, whatever the verdict."""
    act = step.action
    own = [intent for intent in step.after.on(act.resource) if intent.agent == act.agent]
    return any((one.confidence, one.life, one.hidden) == (act.confidence, step.config.ttl, False) for one in own)


def _own_place(step: GuardStep) -> int:
    """The index of the intent just written: the agent's last on the resource."""
    act = step.action
    mine = [n for n, i in enumerate(step.after.intents) if (i.agent, i.resource) == (act.agent, act.resource)]
    return mine[-1] if mine else len(step.after.intents)


@each_step(
    "An intent that is written ranks behind every one that stood there before this instant, whether or not it replaces "
    "one.",
    source="P32, 9.2 step 3: it is created now",
    systems=GUARDED,
    when=_writes_an_intent,
)
def new_intents_rank_last(step: GuardStep) -> bool:
    """Only marks of the same instant may come after it, where ids allow it."""
    return all(intent.fresh for intent in step.after.intents[_own_place(step) + 1 :])


@each_step(
    "An intent that is written is its agent's only one on the resource; where one's own intents compete, it is one "
    "more than stood there.",
    source="9.2 step 3",
    systems=GUARDED,
    when=_writes_an_intent,
)
def new_intents_replace_ones_own(step: GuardStep) -> bool:
    """Its confidence, life and rank are claimed above."""
    act = step.action

    def own(state: State) -> int:
        return sum((one.agent, one.resource) == (act.agent, act.resource) for one in state.intents)

    replaced = step.config.readings.own_intents == "replaced_by_newest"
    return own(step.after) == (1 if replaced else own(step.before) + 1)


# P37: a tool is called only after ALLOW.  The monitor keeps the (agent, resource) pairs allowed and not yet used.

Allowed: TypeAlias = tuple[bool, frozenset[tuple[str, str]]]


def _watch(value: Allowed, step: GuardStep) -> Allowed:
    _, allowed = value
    act = step.action
    pair = (act.agent, act.resource)
    if step.shown.rejected:
        return True, allowed
    for agent in allowed_agents(step):
        allowed = allowed | {(agent, act.resource)}
    if act.what is What.CALL and step.shown.verdict is None:
        return pair in allowed, allowed - {pair}
    if act.what is What.ABANDON or (act.what is What.PRE and step.shown.verdict in (Verdict.CONFLICT, Verdict.BLOCKED)):
        allowed = allowed - {pair}
    return True, allowed


@monitor(
    "The tool is never called unless the guard's last answer to the agent on that resource was ALLOW.",
    source="P37, 9.2",
    systems=GUARDED,
    start=lambda _config: (True, frozenset()),
    update=_watch,
)
def guard_atomicity_p37(_config: Config, value: Allowed) -> bool:
    """No tool is called after CONFLICT, BLOCKED or DENIED."""
    return value[0]


def _refused(step: GuardStep) -> bool:
    return step.action.what is What.PRE and step.shown.verdict in (Verdict.CONFLICT, Verdict.BLOCKED, Verdict.DENIED)


@each_step(
    "A CONFLICT names the intent that won; BLOCKED and DENIED give a reason.",
    source="P38",
    systems=GUARDED,
    when=_refused,
    expected=tuple(refuted("9.2 step 2 refuses before intents are compared: none won", system=one) for one in GUARDED),
)
def guard_transparency_p38(step: GuardStep) -> bool:
    """As written: an intent, even where an action claims the resource."""
    shown = step.shown
    return shown.winner is not None if shown.verdict is Verdict.CONFLICT else bool(shown.reason)


@each_step(
    "Every refusal gives a reason, and a CONFLICT names the intent that won or the agent whose action claims the "
    "resource.",
    source="P38, repaired",
    systems=GUARDED,
    when=_refused,
)
def refusals_name_their_cause(step: GuardStep) -> bool:
    """The weakest repair found: an action is a cause, too."""
    shown = step.shown
    caused = shown.winner is not None or shown.claimed_by is not None
    return bool(shown.reason) and (shown.verdict is not Verdict.CONFLICT or caused)


def _asks_for_a_claimed_one(step: GuardStep) -> bool:
    claim = claim_on(step.config, step.before, step.action.resource) if asks(step) else None
    return claim not in (None, step.action.agent)


@each_step(
    "Where an action of another agent stands on the resource, the guard answers CONFLICT.",
    source="P39",
    systems=GUARDED,
    when=_asks_for_a_claimed_one,
    expected=(
        refuted("9.5: a warning of full strength leaves the action no strength", system="meddled"),
        holds("actions are immune", system="meddled", action_immunity="immune_to_warnings"),
        refuted(
            "9.5: the holder may warn about its own action, which then stops nobody",
            system="meddled",
            reference_authority="same_agent_or_principal",
        ),
        holds(
            "nobody warns about actions, only holders supersede them",
            system="meddled",
            reference_authority="same_agent_or_principal",
            action_immunity="immune_to_warnings",
        ),
    ),
)
def action_precedence_p39(step: GuardStep) -> bool:
    """Completed actions take precedence over new intents."""
    return step.shown.verdict is Verdict.CONFLICT


@each_step(
    "Where an action of another agent stands on the resource and no warning of full strength contests it, the guard "
    "answers CONFLICT.",
    source="P39 with 9.5, repaired",
    systems=GUARDED,
    when=lambda step: _asks_for_a_claimed_one(step) and step.action.resource not in step.before.warned,
)
def unwarned_action_takes_precedence(step: GuardStep) -> bool:
    """P39 with the one assumption that 9.5 makes necessary."""
    return step.shown.verdict is Verdict.CONFLICT and bool(step.shown.claimed_by)


@each_step(
    "A failed action claims nothing.",
    source="2.3",
    systems=GUARDED,
    when=lambda step: step.action.what is What.POST and step.action.failed and not step.shown.rejected,
    expected=tuple(refuted("the reading says that they do", system=one, failed_action="claims") for one in GUARDED),
)
def failed_actions_never_claim(step: GuardStep) -> bool:
    """Other agents can proceed."""
    return step.after.claims == step.before.claims


@each_step(
    "The later action supersedes the earlier one, its own intent is superseded, and whoever loses the claim is told.",
    source="6.3, 9.2",
    systems=GUARDED,
    when=lambda step: step.shown.note == "done",
)
def later_action_supersedes(step: GuardStep) -> bool:
    """Post-action resolution."""
    config, act = step.config, step.action
    before = claim_on(config, step.before, act.resource)
    old = [i for i in step.before.on(act.resource) if i.agent == act.agent]
    left = [i for i in step.after.on(act.resource) if i.agent == act.agent]
    told = before if before not in (None, act.agent) else None
    newest_gone = len(left) == max(0, len(old) - 1) or not left
    return claim_on(config, step.after, act.resource) == act.agent and newest_gone and step.shown.notified == told


@each_step(
    "post_action supersedes no intent of another agent, whether the tool failed or not.",
    source="9.2, 10: a mark supersedes the one that it names",
    systems=GUARDED,
    when=lambda step: step.action.what is What.POST and not step.shown.rejected,
)
def actions_leave_others_alone(step: GuardStep) -> bool:
    """Such intents expire by themselves, or win once the claim is lost."""
    before, after = (tuple(i for i in s.intents if i.agent != step.action.agent) for s in (step.before, step.after))
    return before == after


@each_step(
    "An agent without authorisation is answered DENIED, with a reason, and changes nothing.",
    source="9.2 step 1, P19",
    systems=GUARDED,
    when=lambda step: step.action.what is What.PRE and step.action.agent in step.config.strangers,
)
def strangers_are_denied(step: GuardStep) -> bool:
    """Authorisation is checked first."""
    shown = step.shown
    return shown.verdict is Verdict.DENIED and bool(shown.reason) and step.after == step.before


@each_step(
    "What is rejected or denied changes nothing.",
    source="9.2",
    systems=GUARDED,
    when=lambda step: bool(step.shown.rejected) or step.shown.verdict is Verdict.DENIED,
)
def rejections_change_nothing(step: GuardStep) -> bool:
    """The step is total."""
    return step.after == step.before


@each_step(
    "An intent lives its TTL and no longer: a second takes one second of its life unless its tool renews it.",
    source="P4, 9.1",
    systems=GUARDED,
    when=lambda step: step.action.what is What.TICK and bool(step.before.intents),
)
def leases_run_out(step: GuardStep) -> bool:
    """Nothing else ends an intent on a tick, and rank is kept."""
    config, before = step.config, step.before
    expected: list[tuple[str, str, int, int]] = []
    for intent in before.intents:
        doing = doing_of(config, before, intent.agent)
        running = doing.phase is Phase.RUNNING and doing.resource == intent.resource
        renewed = running and config.readings.lease == "renewed_while_tool_runs"
        life = config.ttl if renewed else intent.life - 1
        if life >= 0:
            expected.append((intent.agent, intent.resource, intent.confidence, life))
    return expected == [(i.agent, i.resource, i.confidence, i.life) for i in step.after.intents]
