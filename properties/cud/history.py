"""Claims about a whole run: messages, exits, orphans, and a log from which the run can be rebuilt.

Most claims are about single steps between reachable states, which by induction is a claim about whole runs; a claim
that needs a memory of its own is a monitor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.core.atoms import Opaque
from evenhand.core.canonical import parse
from evenhand.core.plan import refuted, undecided
from evenhand.core.property import Monitor, TwoRun, determined_by, each_step
from evenhand.core.records import replace
from evenhand.model.cud.vocabulary import (
    DONE,
    IDLE,
    WRITE,
    AgentState,
    Choice,
    Config,
    Draft,
    Epoch,
    Script,
    Shown,
    State,
)
from evenhand.properties.cud.predicates import (
    ADMITTED,
    EPOCHS,
    PASS_TWO,
    RunStep,
    active_agents,
    asked,
    facts,
    is_over,
    mail_for,
    may_act,
    orphans,
)


@each_step(
    "A message is delivered in the epoch after it was sent, once, to every other agent in the run (to its sender, too, "
    "if `broadcast` is read so), and never sooner.",
    source="FQ21, FQ31",
    systems=("run", "conditions"),
    when=lambda step: bool(step.shown.sent or step.before.mailbox),
)
def messages_one_epoch_later(step: RunStep) -> bool:
    """Whether agents hear the others' messages of the epoch before, and the mailbox keeps those sent now."""
    before, shown = step.before, step.shown
    if is_over(step.config, before):
        return not shown.seen and not shown.sent and step.after.mailbox == before.mailbox
    for agent, seen in shown.seen:
        heard = [(message.sender, message.content) for message in seen.messages]
        if heard != mail_for(step.config, before, agent):
            return False
    return step.after.mailbox == tuple((message.sender, message.content) for message in shown.sent)


def _drafts(step: RunStep) -> dict[str, Draft]:
    """The draft in the first choice of each agent in the run, unless that choice exits."""
    if is_over(step.config, step.before):
        return {}
    here = active_agents(step.config, step.before)
    first: dict[str, Choice] = {}
    for agent, choice in step.action.choices:
        if agent in here:
            first.setdefault(agent, choice)
    return {agent: choice.draft for agent, choice in first.items() if choice.draft is not None and not choice.exits}


def _deliverable(config: Config, draft: Draft) -> bool:
    """Whether a draft is a JSON object within the size bound, on a channel that is open (E14, FQ21)."""
    content = draft.content
    if not config.communication or isinstance(content, Opaque):
        return False
    if len(content.encode("utf-8", "surrogatepass")) > config.readings.message_limit:
        return False
    try:
        return isinstance(parse(content), dict)
    except ValueError:
        return False


@each_step(
    "Every message names the agent that composed it and the epoch it was composed in, whatever the draft says.",
    source="FQ21",
    systems=("run", "conditions"),
    when=lambda step: bool(step.shown.sent),
)
def sender_is_true(step: RunStep) -> bool:
    """Whether sender, epoch and content are those of a draft of this epoch, and each draft is sent at most once."""
    drafts = _drafts(step)
    senders = [message.sender for message in step.shown.sent]
    return len(set(senders)) == len(senders) and all(
        message.epoch == step.before.epoch
        and message.sender in drafts
        and drafts[message.sender].content == message.content
        for message in step.shown.sent
    )


@each_step(
    "A message is sent exactly if an agent wrote it, communication is on and it is a JSON object within the size "
    "bound; it waits for the next epoch, and what is not sent is dropped and logged.",
    source="E14, E15, FQ16, FQ21",
    systems=("run", "conditions"),
    when=lambda step: not is_over(step.config, step.before),
)
def messages_are_lawful(step: RunStep) -> bool:
    """Whether deliverable drafts are listed as sent and kept for delivery, and all others as dropped."""
    drafts = _drafts(step)
    if [(sent.sender, sent.content) for sent in step.shown.sent] != list(step.after.mailbox):
        return False
    good = sorted(agent for agent, draft in drafts.items() if _deliverable(step.config, draft))
    bad = sorted(agent for agent in drafts if agent not in good)
    return [message.sender for message in step.shown.sent] == good and [a for a, _ in step.shown.dropped] == bad


@each_step(
    "An orphaned (key, operation) stays orphaned, and no request that declares it ever passes pass 1 again.",
    source="FQ24, FQ28",
    systems=EPOCHS,
    when=lambda step: bool(step.shown.exits or orphans(step.config, step.before)),
)
def orphaning_is_permanent(step: RunStep) -> bool:
    """Whether orphans stay orphans, and no request that declares one is admitted or refused in pass 2."""
    lost = orphans(step.config, step.before)
    if not lost:
        return True
    if not set(lost) <= set(orphans(step.config, step.after)):
        return False
    verdicts = {entry.agent_id: entry.verdict for entry in step.shown.log if not _structural(entry.fault)}
    return not any(
        verdicts.get(ask.agent) in (ADMITTED, PASS_TWO)
        and any((key, ask.request.action_type) in lost for key in ask.request.declared_scope)
        for ask in facts(step).asks
    )


def _structural(fault: str) -> bool:
    return fault in ("MALFORMED_REQUEST", "INVALID_CAPABILITY_CLAIM")


@each_step(
    "An orphaned key keeps its value for ever.",
    source="FQ28",
    systems=EPOCHS,
    when=lambda step: any([operation == WRITE for _, operation in orphans(step.config, step.before)]),
    expected=(
        undecided("a single epoch has no epoch after the exit", system="universe"),
        refuted(
            "an under-declared write reaches a key that nobody may write any more",
            system="run",
            engine="fuzz",
            scope_check="after_keep",
        ),
        undecided(
            "corrected: the run is over as soon as a key is orphaned, and a condition takes no step after that",
            system="conditions",
            orphan_ends_run="at_once",
        ),
        undecided(
            "the run is over as soon as a key is orphaned, so no later epoch can be explored",
            system="run",
            engine="explore",
            orphan_ends_run="at_once",
        ),
    ),
)
def orphaned_key_keeps_its_value(step: RunStep) -> bool:
    """Whether no effect changes a key that was orphaned for WRITE before the step."""
    lost = [key for key, operation in orphans(step.config, step.before) if operation == WRITE]
    return not any(effect.key in lost for effect in step.shown.effects)


Leaving = tuple[str, str]


def _leavers(config: Config, state: State, action: Epoch) -> Iterator[Leaving]:
    """Every agent whose absence could affect another agent's request: leaving now, or gone since the last epoch."""
    asks = asked(config, state, action)
    for agent in active_agents(config, state):
        if any([ask.agent != agent and ask.standing.passes for ask in asks]):
            yield "now", agent
            # Where the exit ends the run, no request is adjudicated any more: `exit_ends_no_run` covers that case.
            if config.readings.orphan_ends_run == "no" or not is_over(
                config, _without(("before", agent), config, state)
            ):
                yield "before", agent


def _without(w: Leaving, config: Config, state: State) -> State:
    if w[0] == "now":
        return state
    agents = tuple(
        replace(one, active=False) if name == w[1] else one
        for name, one in zip(config.agents, state.agents, strict=True)
    )
    return replace(state, agents=agents)


def _leaves(w: Leaving, action: Epoch) -> tuple[Epoch]:
    when, who = w
    if when == "before":
        return (Epoch(tuple(pair for pair in action.choices if pair[0] != who)),)
    left = tuple(
        (agent, replace(choice, request=None, draft=None, exits=True) if agent == who else choice)
        for agent, choice in action.choices
    )
    return (Epoch(left if who in dict(left) else (*left, (who, Choice(exits=True)))),)


def _still_admissible(w: Leaving, step: RunStep, other: RunStep | None) -> bool:
    """Whether every other agent's request still passes each pass that it passed."""
    if other is None:
        return False
    kept = {entry.agent_id: entry for entry in other.shown.log}
    for entry in step.shown.log:
        if entry.agent_id == w[1] or _structural(entry.fault) or entry.verdict not in (ADMITTED, PASS_TWO):
            continue
        now = kept.get(entry.agent_id)
        if now is None or _structural(now.fault) or now.verdict not in (ADMITTED, entry.verdict):
            return False
    return True


exit_is_harmless = TwoRun(
    name="exit_is_harmless",
    sentence="An exit never makes another's request inadmissible: whatever passes a pass with an agent in the run "
    "passes it without that agent.",
    source="FQ24, FQ28",
    systems=("run", "universe"),
    starts=False,
    twins=_leavers,
    config=lambda _w, config: config,
    state=_without,
    other=_leaves,
    agree=_still_admissible,
)


def _exit_leaves_hope(step: RunStep) -> bool:
    config, epoch = step.config, step.after.epoch
    if not step.shown.exits or (config.epochs is not None and epoch is not None and epoch >= config.epochs):
        return False
    return may_act(config, active_agents(config, step.after))


@each_step(
    "An exit never ends the run for those who stay, as long as one of them could have a request pass pass 1.",
    source="FQ24, FQ28",
    systems=("run", "conditions"),
    when=_exit_leaves_hope,
    expected=(
        refuted(
            "an exit that orphans a key ends the run for those who stay; first registered of exit_is_harmless, which "
            "now speaks of epochs that are adjudicated",
            orphan_ends_run="at_once",
        ),
    ),
)
def exit_ends_no_run(step: RunStep) -> bool:
    """Whether the run goes on after the step."""
    return not is_over(step.config, step.after)


def _start(config: Config) -> State:
    epoch = None if config.epochs is None else 0
    return State(config.world, tuple(AgentState() for _ in config.agents), (), epoch)


def _rebuilt(config: Config, state: State, shown: Shown) -> State:
    """The state after an epoch, from the state before and the epoch's log alone, without any rule."""
    if is_over(config, state):
        return state
    new = {effect.key: effect.after for effect in shown.effects}
    entries = {entry.agent_id: entry for entry in shown.log}

    def agent(name: str, one: AgentState) -> AgentState:
        if not one.active:
            return one
        if name in shown.exits:
            return AgentState(False, one.last, one.last_scope)
        entry = entries.get(name)
        return (
            AgentState(True, IDLE) if entry is None else AgentState(True, entry.outcome, entry.request.declared_scope)
        )

    return State(
        tuple((key, new.get(key, value)) for key, value in state.world),
        tuple(agent(name, one) for name, one in zip(config.agents, state.agents, strict=True)),
        tuple((message.sender, message.content) for message in shown.sent),
        None if state.epoch is None else state.epoch + 1,
    )


def _rebuild(value: tuple[State | None, bool], step: RunStep) -> tuple[State | None, bool]:
    state = value[0] if value[0] is not None else _start(step.config)
    mine = _rebuilt(step.config, state, step.shown)
    memoryless = replace(step.after, agents=tuple(replace(one, memory="") for one in step.after.agents))
    return mine, mine == memoryless


log_rebuilds_run = Monitor(
    name="log_rebuilds_run",
    sentence="The log alone rebuilds the run: configuration and log give every state, strategies' memories aside.",
    source="I24, B7",
    systems=("run", "conditions"),
    start=lambda config: (_start(config), True),
    update=_rebuild,
    ok=lambda _config, value: value[1],
)


@each_step(
    "Epochs are counted one by one, and when the run is over nothing happens any more.",
    source="G21, FQ17",
    systems=EPOCHS,
)
def epochs_are_counted(step: RunStep) -> bool:
    """Whether the epoch number goes up by one, or the run is over and the step shows and changes nothing."""
    if is_over(step.config, step.before):
        shown = step.shown
        quiet = not (shown.seen or shown.tokens or shown.log or shown.effects or shown.exits or shown.sent)
        return quiet and step.after == step.before
    before = step.before.epoch
    return step.after.epoch == (None if before is None else before + 1)


def _lines(step: RunStep) -> Any:
    """The authorities, and the line that each script has reached."""
    config, epoch = step.config, step.before.epoch or 0
    return (
        config.authorities,
        tuple(
            (agent, script.plans[min(epoch, len(script.plans) - 1)])
            for agent, script in zip(config.agents, config.strategies, strict=True)
            if isinstance(script, Script)
        ),
    )


def _all_static(step: RunStep) -> bool:
    config = step.config
    return (
        bool(config.strategies)
        and all(isinstance(one, Script) for one in config.strategies)
        and len(active_agents(config, step.before)) == len(config.agents)
        and not is_over(config, step.before)
    )


@determined_by(
    "A static agent's choice is a function of its script's line: history, outcomes and messages do not matter.",
    source="A4",
    systems=("conditions",),
    key=_lines,
    when=_all_static,
)
def static_agents_ignore_history(step: RunStep) -> Any:
    """The choices of the epoch, sorted by agent."""
    return tuple(sorted(step.action.choices, key=lambda pair: pair[0]))


def _executed_before(value: tuple[tuple[str, ...], bool], step: RunStep) -> tuple[tuple[str, ...], bool]:
    gone = value[0]
    answered = any(agent in gone for agent, _ in step.shown.tokens)
    heard = any(agent in gone for agent, _ in step.shown.seen) or any(m.sender in gone for m in step.shown.sent)
    executed = any(entry.agent_id in gone and entry.outcome == DONE for entry in step.shown.log)
    left = tuple(sorted({*gone, *step.shown.exits}))
    return left, not (answered or heard or executed)


exited_are_gone = Monitor(
    name="exited_are_gone",
    sentence="Who has exited observes nothing, sends nothing, gets no token and is never executed again.",
    source="FQ24",
    systems=("run", "conditions"),
    start=lambda _config: ((), True),
    update=_executed_before,
    ok=lambda _config, value: value[1],
    when=lambda _config, value: bool(value[0]),
)
