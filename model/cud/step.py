"""One epoch of IX-2 as a pure function (FQ31): observe, exit, send, propose, adjudicate, execute, log.

The epoch has three parts, which search of the free system reuses: `judge` binds and examines one agent's choice,
`merge` runs pass 2 over all of them, `apply` executes and returns the observations.  The first two see the past only
through a `Moment`.
"""

from __future__ import annotations

from evenhand.core.records import dataclass, replace
from evenhand.model.cud.kernel import (
    ADMITTED,
    PASS_TWO,
    SCOPE_VIOLATION,
    Finding,
    Moment,
    Rules,
    action_id,
    examine,
)
from evenhand.model.cud.strategies import remember
from evenhand.model.cud.vocabulary import (
    ALLOW,
    OPERATIONS,
    WRITE,
    AgentState,
    Choice,
    Config,
    Draft,
    Effect,
    Entry,
    Epoch,
    Message,
    Observation,
    Shown,
    State,
    World,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """One agent's choice after structural validation and pass 1; `finding` is None without a request."""

    finding: Finding | None
    draft: Draft | None
    exits: bool
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The whole epoch's choices after pass 2, in the order of submission."""

    judged: tuple[tuple[str, Judged], ...]


def initial(config: Config) -> tuple[State, ...]:
    """Return the one initial state."""
    return (State(config.world, tuple(AgentState() for _ in config.agents), (), None if config.epochs is None else 0),)


def active(config: Config, state: State) -> tuple[str, ...]:
    """Return the agents still in the run, by name."""
    return tuple([name for name, agent in zip(config.agents, state.agents, strict=True) if agent.active])


def orphaned(config: Config, state: State) -> tuple[tuple[str, str], ...]:
    """Return the (key, op) pairs whose every ALLOW holder has exited, sorted (FQ28, reading `orphan_scope`)."""
    return _orphaned(config, active(config, state))


def _orphaned(config: Config, here: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for key in config.keys:
        for operation in (WRITE,) if config.readings.orphan_scope == "writes_only" else OPERATIONS:
            holders = _holders(config, key, operation)
            if holders and not any(holder in here for holder in holders):
                found.append((key, operation))
    return tuple(found)


def _holders(config: Config, key: str, operation: str) -> tuple[str, ...]:
    """Return the agents of the run that hold an ALLOW; a holder outside the run cannot exit."""
    return tuple(
        authority.holder_agent_id
        for authority in config.authorities
        if authority.commitment == ALLOW
        and authority.epoch == 0
        and authority.governs(key, operation)
        and authority.holder_agent_id in config.agents
    )


def ended(config: Config, state: State) -> bool:
    """Return whether the run is over: no agent is left, the frozen epochs are spent, or by `orphan_ends_run`."""
    return _over(config, active(config, state), state.epoch)


def _over(config: Config, here: tuple[str, ...], epoch: int | None) -> bool:
    if not here or (config.epochs is not None and epoch is not None and epoch >= config.epochs):
        return True
    rule = config.readings.orphan_ends_run
    if rule == "no" or not _orphaned(config, here):
        return False
    if rule == "at_once":
        return True
    return not any(
        holder in here for key in config.keys for operation in OPERATIONS for holder in _holders(config, key, operation)
    )


def moment(rules: Rules, config: Config, state: State) -> Moment:
    """Return the facts that adjudication may know in `state`; the key of the memo."""
    return Moment(active(config, state), state.epoch, rules.history(config, state))


def judge(rules: Rules, config: Config, now: Moment, agent: str, choice: Choice) -> Judged:
    """Bind and examine one agent's choice; it is rejected once the run is over."""
    if _over(config, now.active, now.epoch):
        return Judged(None, None, False, "the run is over")
    if agent not in now.active:
        return Judged(None, None, False, "not in the run" if agent in config.agents else "unknown agent")
    if choice.exits:
        return Judged(None, None, True)
    if choice.request is None:
        return Judged(None, choice.draft, False)
    bound = rules.bind(agent, action_id(agent, now.epoch), choice.request)
    finding = examine(rules, config, rules.in_force(config, now), bound)
    return Judged(finding, choice.draft, False)


def merge(rules: Rules, config: Config, now: Moment, made: tuple[tuple[str, Judged], ...]) -> Adjudication:
    """Run pass 2 over every choice of the epoch."""
    contending = [
        (agent, judged) for agent, judged in made if judged.finding is not None and rules.contends(judged.finding)
    ]
    if not contending:
        return Adjudication(made)
    contenders = rules.resolve(
        config, tuple([judged.finding.bound for _, judged in contending if judged.finding is not None]), rules.interfere
    )
    refused = rules.refuse(config, now, contenders, rules.interfere)
    after: dict[str, Judged] = {}
    for (agent, judged), bound in zip(contending, contenders, strict=True):
        assert judged.finding is not None
        if bound.agent in refused:
            verdict = PASS_TWO if judged.finding.verdict == ADMITTED else judged.finding.verdict
            finding = Finding(bound, verdict, judged.finding.fault)
            after[agent] = Judged(finding, judged.draft, judged.exits, judged.rejected)
        elif bound is not judged.finding.bound:
            after[agent] = replace(judged, finding=replace(judged.finding, bound=bound))
    if not after:
        return Adjudication(made)
    # A rejected choice (a second one, say) has no finding and stays rejected, whatever the verdict of the first.
    return Adjudication(
        tuple([(agent, judged if judged.finding is None else after.get(agent, judged)) for agent, judged in made])
    )


def adjudicate(rules: Rules, config: Config, now: Moment, action: Epoch) -> Adjudication:
    """Run both passes over a joint action; a second choice of one agent is rejected, in any order of agents."""
    made: list[tuple[str, Judged]] = []
    heard: set[str] = set()
    for agent, choice in action.choices:
        if agent in heard:
            made.append((agent, Judged(None, None, False, "chose twice in one epoch")))
        else:
            made.append((agent, judge(rules, config, now, agent, choice)))
            heard.add(agent)
    return merge(rules, config, now, tuple(made))


def apply(rules: Rules, config: Config, state: State, adjudication: Adjudication) -> tuple[State, Shown]:
    """Execute the admitted requests, atomically, and return the state and what the epoch shows.

    After the end of a run nothing happens: no epoch, no observation.
    """
    here = active(config, state)
    if _over(config, here, state.epoch):
        return state, Shown(rejected=tuple(sorted((agent, one.rejected) for agent, one in adjudication.judged)))
    judged = {agent: one for agent, one in adjudication.judged if not one.rejected}
    rejected = tuple(sorted([(agent, one.rejected) for agent, one in adjudication.judged if one.rejected]))
    exits = tuple([agent for agent in here if agent in judged and judged[agent].exits])

    sent, dropped = _send(rules, config, state, here, judged)
    seen = {agent: rules.observe(config, state, agent, sent) for agent in here}

    admitted = [
        one.finding.bound
        for _, one in adjudication.judged
        if one.finding is not None and one.finding.verdict == ADMITTED and not one.finding.fault
    ]
    execution = rules.execute(config, state.world, tuple(admitted))

    findings: dict[str, Finding] = {}
    for agent in here:
        finding = judged[agent].finding if agent in judged else None
        if finding is not None:
            if finding.verdict == ADMITTED and finding.bound.agent in execution.violators:
                finding = replace(finding, fault=SCOPE_VIOLATION)
            findings[agent] = finding

    everything = tuple(findings.values())
    tokens = {agent: rules.token(findings.get(agent)) for agent in here if agent not in exits}
    receipts = [(agent, rules.receipt(finding, everything)) for agent, finding in findings.items()]
    shown = Shown(
        seen=tuple(seen.items()),
        tokens=tuple(tokens.items()),
        receipts=tuple([pair for pair in receipts if pair[1]]),
        log=tuple([_entry(agent, finding, tokens[agent]) for agent, finding in findings.items()]),
        effects=changes(state.world, execution.world),
        exits=exits,
        sent=sent,
        dropped=dropped,
        rejected=rejected,
    )
    agents = tuple(
        [
            _after(config, name, agent, seen.get(name), tokens.get(name), findings.get(name))
            for name, agent in zip(config.agents, state.agents, strict=True)
        ]
    )
    mailbox = tuple([(message.sender, message.content) for message in sent])
    epoch = None if state.epoch is None else state.epoch + 1
    return State(execution.world, agents, mailbox, epoch), shown


def step(rules: Rules, config: Config, state: State, action: Epoch) -> tuple[State, Shown]:
    """Run one epoch.  Total: after the end of a run every choice is rejected and nothing changes."""
    return apply(rules, config, state, adjudicate(rules, config, moment(rules, config, state), action))


def changes(before: World, after: World) -> tuple[Effect, ...]:
    """Return the structural diff of two worlds, by key (C10)."""
    if before == after:
        return ()
    return tuple([Effect(key, old, new) for (key, old), (_, new) in zip(before, after, strict=True) if old != new])


def _send(
    rules: Rules, config: Config, state: State, here: tuple[str, ...], judged: dict[str, Judged]
) -> tuple[tuple[Message, ...], tuple[tuple[str, str], ...]]:
    """Return the epoch's messages, sealed by the kernel, and the dropped ones with the reason."""
    sent: list[Message] = []
    dropped: list[tuple[str, str]] = []
    for agent in here:
        draft = judged[agent].draft if agent in judged else None
        if draft is None:
            continue
        sender, fault = rules.seal(config, agent, draft) if config.communication else ("", "communication is off")
        if sender and isinstance(draft.content, str):
            sent.append(Message(sender, state.epoch, draft.content))
        else:
            dropped.append((agent, fault))
    if len(sent) > 1:
        sent.sort(key=lambda message: (message.sender, message.content))
    return tuple(sent), tuple(dropped)


def _entry(agent: str, finding: Finding, outcome: str) -> Entry:
    return Entry(agent, finding.bound.action_id, finding.bound.request, finding.verdict, finding.fault, outcome)


def _after(
    config: Config,
    name: str,
    agent: AgentState,
    seen: Observation | None,
    outcome: str | None,
    finding: Finding | None,
) -> AgentState:
    """Return an agent's state after the epoch; exit is irrevocable and keeps the rest (FQ24)."""
    if seen is None:
        return agent
    memory = remember(config, name, seen, agent.memory)
    if outcome is None:
        return AgentState(False, agent.last, agent.last_scope, memory)
    return AgentState(True, outcome, finding.bound.request.declared_scope if finding else None, memory)
