"""What each operation of the guard does to activities, claims, needs, warnings and intents, and nothing else.

Which intent wins, and who hears of it, is claimed in `guarding`; here it is taken from the answer.
"""

from __future__ import annotations

from collections.abc import Iterable

from evenhand.core.property import each_step
from evenhand.core.records import replace
from evenhand.model.markspace.guard_vocabulary import (
    IDLE,
    Config,
    Decision,
    Doing,
    GuardStep,
    Intent,
    Need,
    Phase,
    State,
    Verdict,
    What,
)
from evenhand.properties.markspace.predicates import GUARDED, active_on, claim_on, doing_of, winner_among

MEDDLING = (What.WARN_CLAIM, What.WARN_INTENT, What.SUPERSEDE_CLAIM, What.SUPERSEDE_INTENT)


def _taken(step: GuardStep, *what: What) -> bool:
    """Whether the operation is one of these and was neither rejected nor denied."""
    return step.action.what in what and not step.shown.rejected and step.shown.verdict is not Verdict.DENIED


def _busy(state: State, resource: str = "") -> bool:
    return any(one.phase is not Phase.IDLE and (not resource or one.resource == resource) for one in state.doing)


def _authored(step: GuardStep) -> str | None:
    """The author of the mark that a warning or a superseding mark is about; None if there is no such mark."""
    act, state = step.action, step.before
    if act.what in (What.WARN_CLAIM, What.SUPERSEDE_CLAIM):
        return claim_on(step.config, state, act.resource)
    return act.target if any(intent.agent == act.target for intent in state.on(act.resource)) else None


def _may_meddle(step: GuardStep) -> bool:
    """2.5, 6.3, 10 under the readings `reference_authority` and `action_immunity`."""
    act, config, readings = step.action, step.config, step.config.readings
    author = _authored(step)
    if not config.meddling or act.agent not in (*config.agents, *config.strangers) or author is None:
        return False
    if readings.reference_authority == "same_agent_or_principal" and act.agent != author:
        return False
    if readings.reference_authority == "same_scope_writer" and act.agent not in config.agents:
        return False
    return act.what is not What.WARN_CLAIM or readings.action_immunity == "reducible"


def _permitted(step: GuardStep) -> bool:
    """Whether the text lets this operation through; what a request hears is another question."""
    act, config, state = step.action, step.config, step.before
    if act.what is What.TICK:
        return True
    if act.what is What.PRE and act.agent not in config.agents:
        return False
    if act.resource not in config.resources:
        return False
    if act.what in MEDDLING:
        return _may_meddle(step)
    if act.what is What.BOUNDARY:
        return config.deferred and not (
            config.readings.boundary_while_running == "waits" and _busy(state, act.resource)
        )
    if act.what is What.PRINCIPAL:
        asked = Need(act.target, act.resource) in state.needs
        return config.readings.principal_decision != "none" and asked
    if act.agent not in config.agents:
        return False
    doing = doing_of(config, state, act.agent)
    match act.what:
        case What.PRE:
            locked = config.readings.guard_atomicity == "through_tool_call" and _busy(state)
            return doing == IDLE and not locked
        case What.CALL | What.ABANDON:
            return doing == Doing(Phase.ALLOWED, act.resource)
        case What.POST:
            return doing == Doing(Phase.RUNNING, act.resource)
        case _:
            mine = claim_on(config, state, act.resource) == act.agent
            return config.readings.claim_release != "none" and doing == IDLE and mine


@each_step(
    "The guard takes every operation that the text permits, and no other; what it does not take changes nothing.",
    source="9.2, 6.2.1, 2.6, 10",
    systems=GUARDED,
)
def guard_takes_exactly_the_permitted(step: GuardStep) -> bool:
    """An agent that asks in turn is answered, a decision of the principal is heard."""
    taken = _taken(step, *What)
    return taken == _permitted(step) and (taken or step.after == step.before)


@each_step(
    "Whatever is rejected, denied, blocked or in conflict comes with a reason.",
    source="9.3, P38",
    systems=GUARDED,
    when=lambda step: bool(step.shown.rejected) or step.shown.verdict not in (None, Verdict.ALLOW),
)
def guard_refusals_have_a_reason(step: GuardStep) -> bool:
    """In words, beside the data."""
    return bool(step.shown.rejected or step.shown.reason)


def _with(values: tuple[str | None, ...], config: Config, resource: str, value: str | None) -> tuple[str | None, ...]:
    return tuple(value if one == resource else old for one, old in zip(config.resources, values, strict=True))


def _doing(step: GuardStep) -> tuple[Doing, ...]:
    """The activities that the answer calls for."""
    act, state = step.action, step.before
    moved: dict[str, Doing] = {}
    if _taken(step, What.PRE) and step.shown.verdict is Verdict.ALLOW:
        moved[act.agent] = Doing(Phase.ALLOWED, act.resource)
    elif _taken(step, What.CALL):
        moved[act.agent] = Doing(Phase.RUNNING, act.resource)
    elif _taken(step, What.ABANDON, What.POST):
        moved[act.agent] = IDLE
    elif _taken(step, What.BOUNDARY) and step.shown.winner is not None:
        winner = step.shown.winner.agent
        if doing_of(step.config, state, winner) == IDLE:
            moved[winner] = Doing(Phase.ALLOWED, act.resource)
    return tuple(moved.get(agent, one) for agent, one in zip(step.config.agents, state.doing, strict=True))


@each_step(
    "Whoever is allowed may call the tool, whoever calls is running, whoever reports or gives up is idle; nobody else "
    "is moved.",
    source="9.2, 6.2.1",
    systems=GUARDED,
)
def activities_follow_the_answers(step: GuardStep) -> bool:
    """A boundary allows its winner, if that is idle."""
    return step.after.doing == _doing(step)


def _claims(step: GuardStep) -> bool:
    """Whether a report leaves an action that claims the resource (2.3, P39)."""
    act = step.action
    return _taken(step, What.POST) and (not act.failed or step.config.readings.failed_action == "claims")


@each_step(
    "A report claims the resource for its agent, and only a release or a superseding mark takes a claim away.",
    source="2.3, 6.3, 9.2 step 8, P39",
    systems=GUARDED,
)
def claims_follow_the_reports(step: GuardStep) -> bool:
    """Of the resource named, and no other."""
    act, due = step.action, step.before.claims
    if _claims(step):
        due = _with(due, step.config, act.resource, act.agent)
    elif _taken(step, What.RELEASE, What.SUPERSEDE_CLAIM):
        due = _with(due, step.config, act.resource, None)
    return step.after.claims == due


@each_step(
    "A request that waits for the principal leaves a need; a decision names the winner until it has acted, and settles "
    "the needs on that resource.",
    source="2.6, 6.1, 9.2 step 6, P12",
    systems=GUARDED,
)
def needs_and_decisions_are_kept(step: GuardStep) -> bool:
    """Nothing else asks the principal or decides in its place."""
    act, config = step.action, step.config
    needs, named = step.before.needs, step.before.named
    waits = _taken(step, What.PRE) and step.shown.verdict is Verdict.BLOCKED and not config.deferred
    if waits:
        needs = needs | {Need(act.agent, act.resource)}
    elif _taken(step, What.PRINCIPAL):
        needs = frozenset(need for need in needs if need.resource != act.resource)
        named = _with(named, config, act.resource, act.target)
    elif _taken(step, What.POST) and named[config.resources.index(act.resource)] == act.agent:
        named = _with(named, config, act.resource, None)
    return (step.after.needs, step.after.named, step.shown.need) == (needs, named, waits)


@each_step(
    "A warning against an action holds for its instant, or until that action is gone.",
    source="9.5",
    systems=GUARDED,
)
def warnings_against_actions_wear_off(step: GuardStep) -> bool:
    """Warnings are of full strength; a second later they are weaker than the action."""
    act, due = step.action, step.before.warned
    if act.what is What.TICK:
        due = frozenset[str]()
    elif _taken(step, What.WARN_CLAIM):
        due = due | {act.resource}
    elif _claims(step) or _taken(step, What.RELEASE, What.SUPERSEDE_CLAIM):
        due = due - {act.resource}
    return step.after.warned == due


def _older(step: GuardStep) -> Iterable[Intent]:
    """The intents a second later; a lease that is renewed while its tool runs begins anew."""
    config, state = step.config, step.before
    renewed = config.readings.lease == "renewed_while_tool_runs"
    for one in state.intents:
        running = renewed and doing_of(config, state, one.agent) == Doing(Phase.RUNNING, one.resource)
        life = config.ttl if running else one.life - 1
        if life >= 0:
            yield replace(one, life=life, fresh=False, hidden=False)


def _intents(step: GuardStep) -> tuple[Intent, ...]:
    """The intents that an operation other than a request leaves."""
    act, intents = step.action, step.before.intents
    about = [one for one in intents if (one.agent, one.resource) == (act.target, act.resource)]
    if act.what is What.TICK:
        return tuple(_older(step))
    if _taken(step, What.WARN_INTENT):
        return tuple(replace(one, hidden=True) if one in about else one for one in intents)
    if _taken(step, What.SUPERSEDE_INTENT):
        return tuple(one for one in intents if one not in about)
    if _taken(step, What.POST):
        own = [n for n, one in enumerate(intents) if (one.agent, one.resource) == (act.agent, act.resource)]
        gone = own if step.config.readings.own_intents == "replaced_by_newest" else own[-1:]
        return tuple(one for n, one in enumerate(intents) if n not in gone)
    return intents


@each_step(
    "Intents grow older by the clock, a report supersedes the agent's own, a warning hides and a superseding mark "
    "removes those it is about; nothing else touches an intent.",
    source="2.1, 9.2 step 8, 9.5, 10, P4",
    systems=GUARDED,
    when=lambda step: step.action.what is not What.PRE,
)
def intents_change_as_named(step: GuardStep) -> bool:
    """What a request writes is claimed in `requests_leave_an_intent`."""
    return step.after.intents == _intents(step)


@each_step(
    "A request leaves every intent of others, and of its agent elsewhere, as it was and in its order; one that an "
    "action refuses writes none.",
    source="9.2 steps 2 and 3",
    systems=GUARDED,
    when=lambda step: step.action.what is What.PRE,
)
def requests_touch_no_other_intent(step: GuardStep) -> bool:
    """Whatever the answer is."""
    act = step.action
    if step.shown.claimed_by is not None and step.after.intents != step.before.intents:
        return False

    def others(state: State) -> list[Intent]:
        return [one for one in state.intents if (one.agent, one.resource) != (act.agent, act.resource)]

    return others(step.after) == others(step.before)


# What the answer holds.


def _claimant(step: GuardStep) -> str | None:
    """The claimant of the resource at this instant; a warning takes an action's strength where it may (9.5, P39)."""
    warned = step.action.resource in step.before.warned and step.config.readings.action_immunity == "reducible"
    return None if warned else claim_on(step.config, step.before, step.action.resource)


def _asked(step: GuardStep) -> Decision:
    """The answer to a request (9.2 steps 2 to 6), but for its reason."""
    act, config = step.action, step.config
    claimant = _claimant(step)
    if claimant not in (None, act.agent):
        return Decision(act.what, Verdict.CONFLICT, claimed_by=claimant)
    if config.deferred:
        return Decision(act.what, Verdict.BLOCKED)
    rivals = active_on(step.after.intents, act.resource)
    others = tuple(one for one in rivals if one.agent != act.agent)
    if not others:
        return Decision(act.what, Verdict.ALLOW)
    winner = winner_among(config, rivals)
    if winner is None:
        chosen = step.before.named[config.resources.index(act.resource)] == act.agent
        return Decision(act.what, Verdict.ALLOW if chosen else Verdict.BLOCKED, conflicting=others, need=not chosen)
    verdict = Verdict.ALLOW if winner.agent == act.agent else Verdict.CONFLICT
    return Decision(act.what, verdict, winner=winner, conflicting=others)


def _batched(step: GuardStep) -> Decision:
    """The answer of a boundary (6.2.1): where an action stands, only its holder can win (P39)."""
    act, claimant = step.action, _claimant(step)
    candidates = active_on(step.before.intents, act.resource)
    fit = [one for one in candidates if claimant in (None, one.agent)]
    alone = len({one.agent for one in fit}) == 1
    winner = (fit[0] if alone else winner_among(step.config, fit)) if fit else None
    lost = Verdict.BLOCKED if step.config.readings.deferred_loser == "blocked" else Verdict.CONFLICT
    told: dict[str, Verdict] = {}
    for one in candidates:
        won = winner is not None and one.agent == winner.agent
        told[one.agent] = Verdict.ALLOW if won else Verdict.CONFLICT if claimant not in (None, one.agent) else lost
    return Decision(
        act.what, winner=winner, claimed_by=claimant, told=tuple(sorted(told.items())), considered=candidates
    )


def _due(step: GuardStep) -> Decision:
    """The answer that the text wants, but for reasons and for whom a report notifies."""
    act = step.action
    if act.what is What.PRE and act.agent not in step.config.agents:
        return Decision(act.what, Verdict.DENIED)
    if not _permitted(step):
        return Decision(act.what)
    match act.what:
        case What.PRE:
            return _asked(step)
        case What.BOUNDARY:
            return _batched(step)
        case What.POST:
            return Decision(act.what, note="done" if _claims(step) else "failed")
        case _:
            return Decision(act.what)


@each_step(
    "The answer names operation and verdict, the winner, the claimant and the conflicting intents where they decided, "
    "what a boundary considered and told, whether a need was written, and how a report was taken; no more, and it is "
    "no rejection.",
    source="9.3, 6.2.1, P38",
    systems=GUARDED,
)
def answers_hold_their_data(step: GuardStep) -> bool:
    """Reasons are texts; whom a report notifies is claimed in `guarding`."""
    shown = step.shown
    plain = replace(shown, reason="", rejected="", notified=None) == _due(step)
    return plain and not (shown.rejected and shown.verdict)
