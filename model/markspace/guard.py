"""The guard in three steps that other agents may interleave: pre_action, the tool call, post_action (§6, §9.2).

Each point that a reading or a mutant may change is a field of `Rules`.  `step` is total: an operation that is out of
turn, unknown or forbidden by a reading is rejected and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from evenhand.core.records import dataclass, replace
from evenhand.model.markspace.guard_vocabulary import (
    IDLE,
    Act,
    Config,
    Decision,
    Doing,
    Intent,
    Need,
    Phase,
    Policy,
    State,
    Verdict,
    What,
)


@dataclass(frozen=True)
class Rules:
    """The guard's decisions, one function each.

    `authorised` §9.2 step 1; `claimant` step 2 (whose action stands); `written` step 3; `active` step 4 and 6.1 step
    1; `resolve` 6.1 step 3 (None: the principal decides); `losers_hear` 6.2.1; `claims` 2.3; `renews` the lease;
    `locked` the guard's lock; `may_refer` who may write about whose mark; `superseded` which own intents an action
    supersedes; `successor` 6.3 (who claims after an action); `needs` step 6 (the needs after a block); `may_call`
    whether the tool may be called; `told_of` whom post-action resolution notifies; `names` P38: what a CONFLICT says
    of the intent that won.
    """

    authorised: Callable[[Config, str], bool]
    claimant: Callable[[Config, State, str], str | None]
    written: Callable[[Config, State, Act], tuple[Intent, ...]]
    active: Callable[[Config, tuple[Intent, ...]], tuple[Intent, ...]]
    resolve: Callable[[Config, tuple[Intent, ...]], Intent | None]
    losers_hear: Callable[[Config], Verdict]
    claims: Callable[[Config, bool], bool]
    renews: Callable[[Config, Doing], bool]
    locked: Callable[[Config, State, str], bool]
    may_refer: Callable[[Config, str, str], bool]
    superseded: Callable[[Config, State, str, str], tuple[Intent, ...]]
    successor: Callable[[Config, str | None, str], str | None]
    needs: Callable[[Config, State, Act], frozenset[Need]]
    may_call: Callable[[Config, State, Act], bool]
    told_of: Callable[[str | None, str], str | None]
    aged: Callable[[Config, Intent], Intent]
    expired: Callable[[Config, Intent], bool]
    boundary_waits: Callable[[Config, State, str], bool]
    names: Callable[[Intent], Intent | None]


# The reference.


def _authorised(config: Config, agent: str) -> bool:
    return agent in config.agents


def _claimant(config: Config, state: State, resource: str) -> str | None:
    """Return the claimant (P39); `reducible`: a warning of full strength leaves an action without strength (9.5)."""
    if resource in state.warned and config.readings.action_immunity == "reducible":
        return None
    return state.claims[config.resources.index(resource)]


def _written(config: Config, state: State, act: Act) -> tuple[Intent, ...]:
    """Return the intents with the new one; its id may precede some of this instant."""
    adversarial = config.readings.id_order == "adversarial"
    new = Intent(act.agent, act.resource, act.confidence, config.ttl, fresh=adversarial)
    kept = list(state.intents)
    if config.readings.own_intents == "replaced_by_newest":
        kept = [intent for intent in kept if (intent.agent, intent.resource) != (act.agent, act.resource)]
    place, slips = len(kept), act.slip if adversarial else 0
    while slips and place and kept[place - 1].fresh:
        place, slips = place - 1, slips - 1
    return (*kept[:place], new, *kept[place:])


def _active(_config: Config, intents: tuple[Intent, ...]) -> tuple[Intent, ...]:
    return tuple(intent for intent in intents if not intent.hidden)


def _resolve(config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    """Return the winner among active intents by rank, at least one (6.1); None: the principal decides."""
    if len({intent.agent for intent in intents}) == 1 or config.policy is Policy.FIRST_WRITER:
        return intents[0]
    if config.policy is Policy.YIELD_ALL:
        return None
    return max(intents, key=lambda intent: intent.confidence)  # `max` keeps the first: ties to the earliest


def _losers_hear(config: Config) -> Verdict:
    return Verdict.BLOCKED if config.readings.deferred_loser == "blocked" else Verdict.CONFLICT


def _claims(config: Config, failed: bool) -> bool:
    return not failed or config.readings.failed_action == "claims"


def _renews(config: Config, doing: Doing) -> bool:
    return config.readings.lease == "renewed_while_tool_runs" and doing.phase is Phase.RUNNING


def _locked(config: Config, state: State, _agent: str) -> bool:
    held = any(doing.phase is not Phase.IDLE for doing in state.doing)
    return held and config.readings.guard_atomicity == "through_tool_call"


def _may_refer(config: Config, agent: str, author: str) -> bool:
    """Return whether `agent` may supersede or invalidate a mark of `author` in this scope."""
    match config.readings.reference_authority:
        case "same_agent_or_principal":
            return agent == author
        case "same_scope_writer":
            return agent in config.agents
        case _:
            return True


def _superseded(config: Config, state: State, agent: str, resource: str) -> tuple[Intent, ...]:
    """Return the intent that the action supersedes: the agent's newest on the resource."""
    own = [intent for intent in state.on(resource) if intent.agent == agent]
    return tuple(own) if config.readings.own_intents == "replaced_by_newest" else tuple(own[-1:])


def _successor(_config: Config, _before: str | None, agent: str) -> str | None:
    return agent


def _needs(_config: Config, state: State, act: Act) -> frozenset[Need]:
    return state.needs | {Need(act.agent, act.resource)}


def _may_call(config: Config, state: State, act: Act) -> bool:
    return state.doing[config.agents.index(act.agent)] == Doing(Phase.ALLOWED, act.resource)


def _told_of(before: str | None, agent: str) -> str | None:
    return before if before != agent else None


def _aged(_config: Config, intent: Intent) -> Intent:
    return replace(intent, life=intent.life - 1, fresh=False, hidden=False)


def _expired(_config: Config, intent: Intent) -> bool:
    return intent.life < 0


def _boundary_waits(config: Config, state: State, resource: str) -> bool:
    busy = any(doing.phase is not Phase.IDLE and doing.resource == resource for doing in state.doing)
    return busy and config.readings.boundary_while_running == "waits"


def _names(winner: Intent) -> Intent | None:
    return winner


REFERENCE = Rules(
    authorised=_authorised,
    claimant=_claimant,
    written=_written,
    active=_active,
    resolve=_resolve,
    losers_hear=_losers_hear,
    claims=_claims,
    renews=_renews,
    locked=_locked,
    may_refer=_may_refer,
    superseded=_superseded,
    successor=_successor,
    needs=_needs,
    may_call=_may_call,
    told_of=_told_of,
    aged=_aged,
    expired=_expired,
    boundary_waits=_boundary_waits,
    names=_names,
)
"""The guard of the text, under the readings of the configuration."""


def initial(config: Config) -> tuple[State, ...]:
    """Return the initial state: no marks, all agents idle."""
    free = (None,) * len(config.resources)
    return (State((), (IDLE,) * len(config.agents), free, free),)


def step(rules: Rules, config: Config, state: State, act: Act) -> tuple[State, Decision]:
    """Take one operation of one agent, one boundary, one principal act or one second."""
    match act.what:
        case What.TICK:
            return _tick(rules, config, state), Decision(act.what)
        case What.PRE if not rules.authorised(config, act.agent):
            return state, Decision(act.what, Verdict.DENIED, reason="the agent may not write intents in this scope")
        case _ if act.resource not in config.resources:
            return _rejected(state, act, "no such resource")
        case What.PRE:
            return _pre(rules, config, state, act)
        case What.BOUNDARY:
            return _boundary(rules, config, state, act)
        case What.PRINCIPAL:
            return _principal(config, state, act)
        case What.WARN_CLAIM | What.WARN_INTENT | What.SUPERSEDE_CLAIM | What.SUPERSEDE_INTENT:
            return _meddle(rules, config, state, act)
        case _ if act.agent not in config.agents:
            return _rejected(state, act, "the agent may not write in this scope")
        case What.CALL:
            if not rules.may_call(config, state, act):
                return _rejected(state, act, "the guard has not allowed it")
            return _moved(config, state, act.agent, Doing(Phase.RUNNING, act.resource)), Decision(act.what)
        case What.ABANDON:
            if _doing(config, state, act.agent) != Doing(Phase.ALLOWED, act.resource):
                return _rejected(state, act, "nothing was allowed")
            return _moved(config, state, act.agent, IDLE), Decision(act.what)
        case What.POST:
            return _post(rules, config, state, act)
        case What.RELEASE:
            return _release(config, state, act)


def _rejected(state: State, act: Act, why: str) -> tuple[State, Decision]:
    return state, Decision(act.what, rejected=why)


def _doing(config: Config, state: State, agent: str) -> Doing:
    return state.doing[config.agents.index(agent)]


def _moved(config: Config, state: State, agent: str, to: Doing) -> State:
    place = config.agents.index(agent)
    return replace(state, doing=(*state.doing[:place], to, *state.doing[place + 1 :]))


def _put(config: Config, values: tuple[str | None, ...], resource: str, value: str | None) -> tuple[str | None, ...]:
    place = config.resources.index(resource)
    return (*values[:place], value, *values[place + 1 :])


def _tick(rules: Rules, config: Config, state: State) -> State:
    running = {
        (agent, doing.resource)
        for agent, doing in zip(config.agents, state.doing, strict=True)
        if rules.renews(config, doing)
    }
    aged = [
        replace(intent, life=config.ttl, fresh=False, hidden=False)
        if (intent.agent, intent.resource) in running
        else rules.aged(config, intent)
        for intent in state.intents
    ]
    live = tuple(intent for intent in aged if not rules.expired(config, intent))
    return replace(state, intents=live, warned=frozenset())


def _pre(rules: Rules, config: Config, state: State, act: Act) -> tuple[State, Decision]:
    if act.agent not in config.agents or _doing(config, state, act.agent) != IDLE:
        return _rejected(state, act, "the agent is busy")
    if rules.locked(config, state, act.agent):
        return _rejected(state, act, "the guard is locked")
    claimant = rules.claimant(config, state, act.resource)
    if claimant not in (None, act.agent):
        return state, Decision(act.what, Verdict.CONFLICT, reason="an action claims it", claimed_by=claimant)
    wrote = replace(state, intents=rules.written(config, state, act))
    if config.deferred:
        return wrote, Decision(act.what, Verdict.BLOCKED, reason="pending resolution")
    rivals = rules.active(config, wrote.on(act.resource))
    others = tuple(intent for intent in rivals if intent.agent != act.agent)
    allowed = _moved(config, wrote, act.agent, Doing(Phase.ALLOWED, act.resource))
    if not others:
        return allowed, Decision(act.what, Verdict.ALLOW)
    winner = rules.resolve(config, rivals)
    if winner is None:
        if state.named[config.resources.index(act.resource)] == act.agent:
            return allowed, Decision(act.what, Verdict.ALLOW, reason="the principal decided", conflicting=others)
        blocked = replace(wrote, needs=rules.needs(config, state, act))
        wants = Need(act.agent, act.resource) in blocked.needs
        reason = "the principal is to decide"
        return blocked, Decision(act.what, Verdict.BLOCKED, reason=reason, conflicting=others, need=wants)
    if winner.agent == act.agent:
        return allowed, Decision(act.what, Verdict.ALLOW, winner=winner, conflicting=others)
    named = rules.names(winner)
    return wrote, Decision(act.what, Verdict.CONFLICT, reason="another intent won", winner=named, conflicting=others)


def _post(rules: Rules, config: Config, state: State, act: Act) -> tuple[State, Decision]:
    if _doing(config, state, act.agent) != Doing(Phase.RUNNING, act.resource):
        return _rejected(state, act, "no tool call to report")
    gone = rules.superseded(config, state, act.agent, act.resource)
    left = list(state.intents)
    for intent in gone:  # of equal intents the newest
        del left[max(place for place, one in enumerate(left) if one == intent)]
    after = replace(_moved(config, state, act.agent, IDLE), intents=tuple(left))
    place = config.resources.index(act.resource)
    if after.named[place] == act.agent:
        after = replace(after, named=_put(config, after.named, act.resource, None))
    if not rules.claims(config, act.failed):
        return after, Decision(act.what, note="failed")
    before = state.claims[place]
    claims = _put(config, state.claims, act.resource, rules.successor(config, before, act.agent))
    warned = after.warned - {act.resource}
    told = rules.told_of(before, act.agent)
    return replace(after, claims=claims, warned=warned), Decision(act.what, notified=told, note="done")


def _release(config: Config, state: State, act: Act) -> tuple[State, Decision]:
    """Supersede the holder's own action, so that no agent claims the resource."""
    if config.readings.claim_release == "none" or _doing(config, state, act.agent) != IDLE:
        return _rejected(state, act, "claims are not given back" if _is_idle(config, state, act) else "busy")
    if state.claims[config.resources.index(act.resource)] != act.agent:
        return _rejected(state, act, "not the holder")
    freed = _put(config, state.claims, act.resource, None)
    return replace(state, claims=freed, warned=state.warned - {act.resource}), Decision(act.what)


def _is_idle(config: Config, state: State, act: Act) -> bool:
    return _doing(config, state, act.agent) == IDLE


def _boundary(rules: Rules, config: Config, state: State, act: Act) -> tuple[State, Decision]:
    """Resolve at a boundary (6.2.1 phase 3); where an action stands, only its holder can win (P39)."""
    if not config.deferred:
        return _rejected(state, act, "the scope does not defer")
    if rules.boundary_waits(config, state, act.resource):
        return _rejected(state, act, "a tool is running")
    candidates = rules.active(config, state.on(act.resource))
    claimant = rules.claimant(config, state, act.resource)
    fit = tuple(intent for intent in candidates if claimant in (None, intent.agent))
    winner = rules.resolve(config, fit) if fit else None
    told: dict[str, Verdict] = {}
    for intent in candidates:
        won = winner is not None and intent.agent == winner.agent
        lost = Verdict.CONFLICT if claimant not in (None, intent.agent) else rules.losers_hear(config)
        told[intent.agent] = Verdict.ALLOW if won else lost
    after = state
    if winner is not None and _doing(config, state, winner.agent) == IDLE:
        after = _moved(config, state, winner.agent, Doing(Phase.ALLOWED, act.resource))
    shown = Decision(
        act.what, winner=winner, claimed_by=claimant, told=tuple(sorted(told.items())), considered=candidates
    )
    return after, shown


def _principal(config: Config, state: State, act: Act) -> tuple[State, Decision]:
    """Resolve the needs on a resource: the principal names one of the agents that asked (§2.6, §6.1)."""
    asked = {need for need in state.needs if need.resource == act.resource}
    if config.readings.principal_decision == "none" or Need(act.target, act.resource) not in asked:
        return _rejected(state, act, "nobody asked" if not asked else "the principal names no winner")
    named = _put(config, state.named, act.resource, act.target)
    return replace(state, needs=state.needs - asked, named=named), Decision(act.what)


def _meddle(rules: Rules, config: Config, state: State, act: Act) -> tuple[State, Decision]:
    """Write a warning of full strength against a mark, or a superseding mark, by an agent that may refer to it."""
    if not config.meddling or act.agent not in (*config.agents, *config.strangers):
        return _rejected(state, act, "nobody of this system writes such marks")
    place = config.resources.index(act.resource)
    about_claim = act.what in (What.WARN_CLAIM, What.SUPERSEDE_CLAIM)
    author = state.claims[place] if about_claim else act.target
    theirs = [intent for intent in state.on(act.resource) if intent.agent == author]
    if author is None or not (about_claim or theirs):
        return _rejected(state, act, "no such mark")
    if not rules.may_refer(config, act.agent, author):
        return _rejected(state, act, "no authority over that mark")
    match act.what:
        case What.WARN_CLAIM:
            if config.readings.action_immunity == "immune_to_warnings":
                return _rejected(state, act, "actions are immune to warnings")
            return replace(state, warned=state.warned | {act.resource}), Decision(act.what)
        case What.SUPERSEDE_CLAIM:
            freed = _put(config, state.claims, act.resource, None)
            return replace(state, claims=freed, warned=state.warned - {act.resource}), Decision(act.what)
        case What.WARN_INTENT:
            warned = tuple(replace(i, hidden=True) if i in theirs else i for i in state.intents)
            return replace(state, intents=warned), Decision(act.what)
        case _:
            left = tuple(i for i in state.intents if i not in theirs)
            return replace(state, intents=left), Decision(act.what)
