"""Atomic blindness: both passes refuse with the same token, and exactly what an agent can infer nevertheless.

A refused agent that sees a key of its declared scope changed knows that pass 1 refused it (in pass 2 no agent would
have got the key); one whose same request was executed before knows that pass 2 did (authorities do not change).
Otherwise it cannot know: `agent_can_tell_the_pass` is stated to be refuted, and its pair of runs is the witness.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.plan import refuted
from evenhand.core.property import Monitor, TwoRun, determined_by, each_step
from evenhand.core.records import replace
from evenhand.model.cud.vocabulary import (
    DONE,
    FAILURE,
    FAULT,
    IDLE,
    TOKENS,
    Config,
    Epoch,
    State,
    deny,
)
from evenhand.properties.cud.predicates import (
    EPOCHS,
    PASS_ONE,
    PASS_TWO,
    RunStep,
    active_agents,
    asked,
    contested,
    facts,
    mail_for,
    true_id,
)

_VETO = 999
"""The number of the artefact that a blindness twin adds; every layout uses lower numbers."""


@each_step(
    "An agent gets one of the four bare tokens and nothing else.",
    source="A3, FQ5, FQ11",
    systems=EPOCHS,
)
def bare_tokens(step: RunStep) -> bool:
    """Whether each agent gets one of the four tokens and no receipt."""
    return not step.shown.receipts and all([token in TOKENS for _, token in step.shown.tokens])


Refused = tuple[str, str, tuple[str, ...]]


def _refused_in_pass_two(config: Config, state: State, action: Epoch) -> tuple[Refused, ...]:
    asks = asked(config, state, action)
    those = contested(asks)
    return tuple((ask.agent, ask.request.action_type, ask.request.declared_scope) for ask in asks if ask.agent in those)


def _vetoing(w: Refused, config: Config) -> Config:
    """The configuration with a DENY on the scope of `w`, so that pass 1 refuses the request instead."""
    _, operation, scope = w
    veto = deny(_VETO, *((key, operation) for key in scope))
    return replace(config, authorities=(*config.authorities, veto))


def _alike(w: Refused, step: RunStep, other: RunStep | None) -> bool:
    """Whether the agent's token, receipt, observation and next own record, and the mailbox, are the same."""
    if other is None:
        return False
    agent = w[0]
    place = step.config.agents.index(agent)
    mine, its = step.after.agents[place], other.after.agents[place]
    return (
        dict(step.shown.tokens).get(agent) == dict(other.shown.tokens).get(agent) == FAILURE
        and dict(step.shown.receipts).get(agent) == dict(other.shown.receipts).get(agent)
        and dict(step.shown.seen).get(agent) == dict(other.shown.seen).get(agent)
        and (mine.last, mine.last_scope) == (its.last, its.last_scope)
        and step.after.mailbox == other.after.mailbox
    )


token_blindness = TwoRun(
    name="token_blindness",
    sentence="An agent refused in pass 2 sees, and is handed, what it would see and be handed if pass 1 had refused "
    "the same request.",
    source="FQ4, FQ11",
    systems=("run", "universe", "conditions"),
    twins=_refused_in_pass_two,
    config=_vetoing,
    state=lambda _w, _config, state: state,
    other=lambda _w, action: (action,),
    agree=_alike,
)


@each_step(
    "Every agent in the run observes the epoch, the world, its own last token, id and scope, and the messages of the "
    "epoch before that others sent; nothing else, and nobody else observes.",
    source="A3, FQ20",
    systems=EPOCHS,
    when=lambda step: bool(step.shown.seen),
)
def observation_is_own_only(step: RunStep) -> bool:
    """Compares each field with the state before the epoch."""
    config, before = step.config, step.before
    if [agent for agent, _ in step.shown.seen] != list(active_agents(config, before)):
        return False
    last_epoch = None if before.epoch is None else before.epoch - 1
    for agent, seen in step.shown.seen:
        own = before.agents[config.agents.index(agent)]
        if (seen.epoch, seen.world_state, seen.own_last_outcome) != (before.epoch, before.world, own.last):
            return False
        if seen.own_last_declared_scope != own.last_scope:
            return False
        if seen.own_last_action_id != (None if own.last_scope is None else true_id(agent, last_epoch)):
            return False
        heard = [(message.sender, message.content) for message in seen.messages]
        if heard != mail_for(config, before, agent):
            return False
        if any(message.epoch != last_epoch for message in seen.messages):
            return False
    return True


def _present(config: Config, state: State, _action: Epoch) -> tuple[str, ...]:
    return active_agents(config, state)


def _alone(agent: str, config: Config, state: State) -> State:
    """The state in which every other agent is gone and had another last token and no last scope."""
    gone = tuple(
        one if name == agent else replace(one, active=False, last=IDLE if one.last == FAULT else FAULT, last_scope=None)
        for name, one in zip(config.agents, state.agents, strict=True)
    )
    return replace(state, agents=gone)


def _learns_the_same(agent: str, step: RunStep, other: RunStep | None) -> bool:
    """Whether it observes the same, and the same is kept of its past where its token is the same."""
    if other is None or dict(step.shown.seen).get(agent) != dict(other.shown.seen).get(agent):
        return False
    place = step.config.agents.index(agent)
    mine, its = (dict(one.shown.tokens).get(agent) for one in (step, other))
    return mine != its or step.after.agents[place] == other.after.agents[place]


only_ones_own_is_ever_observed = TwoRun(
    name="only_ones_own_is_ever_observed",
    sentence="Without any authority and without the other agents, whatever their pasts, an agent observes the same, "
    "and with the same choice and token the same is kept of its past: so of a whole history it learns the worlds, the "
    "messages to it, its own choices and tokens, and nothing else.",
    source="A3, FQ11, FQ20",
    systems=("run",),
    starts=False,
    twins=_present,
    config=lambda _agent, config: replace(config, authorities=()),
    state=_alone,
    other=lambda _agent, action: (action,),
    agree=_learns_the_same,
    applies=lambda config: config.readings.orphan_ends_run == "no",
)


@each_step(
    "After an epoch each agent's last outcome is the token that it got, and its last scope that of its request; "
    "whoever got none keeps what it had.",
    source="FQ20",
    systems=EPOCHS,
)
def the_last_outcome_is_the_token(step: RunStep) -> bool:
    """What the next observation shows of the agent itself."""
    known = facts(step)
    scopes = {ask.agent: ask.request.declared_scope for ask in known.asks}
    for name, before, after in zip(step.config.agents, step.before.agents, step.after.agents, strict=True):
        due = (before.last, before.last_scope)
        if name in known.tokens:
            due = (known.tokens[name], scopes.get(name))
        if (after.last, after.last_scope) != due:
            return False
    return True


def _view(step: RunStep) -> Any:
    """The first agent's knowledge of an epoch: its observation, choice and token, and the next world and mail."""
    agent = step.config.agents[0]
    return (
        dict(step.shown.seen).get(agent),
        next((choice for name, choice in step.action.choices if name == agent), None),
        dict(step.shown.tokens).get(agent),
        step.after.world,
        tuple(mail_for(step.config, step.after, agent)),
    )


def _first_is_refused(step: RunStep) -> bool:
    known = facts(step)
    first = step.config.agents[0]
    return known.tokens.get(first) == FAILURE and any(ask.agent == first for ask in known.asks)


@determined_by(
    "A refused agent can tell from all it sees of the epoch which pass refused it.  (Stated to be refuted.)",
    source="FQ11",
    systems=("universe",),
    key=_view,
    when=_first_is_refused,
    expected=(
        refuted(
            "FQ11: the token is the same in both passes; the pair of runs is the witness that an agent cannot know"
        ),
    ),
)
def agent_can_tell_the_pass(step: RunStep) -> Any:
    """The pass that the log names for the first agent."""
    first = step.config.agents[0]
    return next((entry.verdict for entry in step.shown.log if entry.agent_id == first), "")


def _first_sees(step: RunStep) -> bool:
    return any([agent == step.config.agents[0] for agent, _ in step.shown.seen])


@determined_by(
    "Of what an epoch does, an agent learns its own token, the changes of the world and the messages, and nothing "
    "else: its next observation is a function of these and of its own past.",
    source="A3, FQ11, FQ20",
    systems=("run",),
    key=lambda step: (step.config.communication, _inside(step), _view(step)),
    when=_first_sees,
)
def inference_is_bounded(step: RunStep) -> Any:
    """The first agent's state in the next epoch, and its receipts."""
    after = step.after.agents[0]
    receipts = dict(step.shown.receipts).get(step.config.agents[0])
    return (after.active, after.last, after.last_scope, after.memory, receipts)


def _inside(step: RunStep) -> Any:
    strategies = step.config.strategies
    return (step.config.agents[0], strategies[0] if strategies else None, step.before.agents[0].memory)


def _refused_beside_a_change(step: RunStep) -> bool:
    effects = step.shown.effects
    if not effects:
        return False
    known = facts(step)
    changed = [effect.key for effect in effects]
    return any(
        known.tokens.get(ask.agent) == FAILURE and any(key in changed for key in ask.request.declared_scope)
        for ask in known.asks
    )


@each_step(
    "Whoever is refused while a key it declared changes was refused in pass 1.",
    source="FQ11",
    systems=EPOCHS,
    when=_refused_beside_a_change,
    expected=(
        refuted(
            "the declared key of two colliders can be changed by an under-declarer, so a change no longer tells the "
            "pass; it takes three agents",
            engine="fuzz",
            scope_check="after_keep",
        ),
    ),
)
def changed_key_reveals_pass_one(step: RunStep) -> bool:
    """One of the two inferences that a refused agent can make."""
    changed = [effect.key for effect in step.shown.effects]
    verdicts = {entry.agent_id: entry.verdict for entry in step.shown.log}
    known = facts(step)
    return all(
        verdicts.get(ask.agent) == PASS_ONE
        for ask in known.asks
        if known.tokens.get(ask.agent) == FAILURE and any(key in changed for key in ask.request.declared_scope)
    )


Ran = tuple[frozenset[tuple[str, str, tuple[str, ...], tuple[str, ...]]], bool, bool]


def _remember_executions(value: Ran, step: RunStep) -> Ran:
    """(requests executed so far, whether one was refused just now, whether pass 2 refused each of those)."""
    executed = value[0]
    known = facts(step)
    verdicts = {entry.agent_id: entry.verdict for entry in step.shown.log}
    again, by_pass_two = False, True
    done: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = []
    for ask in known.asks:
        request = ask.request
        what = (ask.agent, request.action_type, request.declared_scope, request.authorities_cited)
        if known.tokens.get(ask.agent) == FAILURE and what in executed:
            again = True
            by_pass_two = by_pass_two and verdicts.get(ask.agent) == PASS_TWO
        elif known.tokens.get(ask.agent) == DONE and what not in executed:
            done.append(what)
    return (executed.union(done) if done else executed, again, by_pass_two)


refusal_after_success_reveals_pass_two = Monitor(
    name="refusal_after_success_reveals_pass_two",
    sentence="Whoever is refused with a request of the type, scope and citations that it was executed with before was "
    "refused in pass 2: it knows that somebody collided.",
    source="FQ11, FQ26",
    systems=("run",),
    start=lambda _config: (frozenset[Any](), False, True),
    update=_remember_executions,
    ok=lambda _config, value: value[2],
    when=lambda _config, value: value[1],
)
