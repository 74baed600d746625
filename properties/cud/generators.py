"""Generators of `cud`: the configurations and rules that are drawn, and the coverage floors of rare events.

Configurations range over layouts that no scope lists: split and shared artefacts, vetoes held by any agent, artefacts
made after epoch 0, one agent that holds everything.  The floors are about half of the counts of a standard run (200
examples of 20 steps); below one of them every claim without evidence is UNDECIDED.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from evenhand.core.generator import Draw, Event, Generator, Rule, st
from evenhand.core.system import Scope
from evenhand.model.cud.free_system import EXITED, FreeState
from evenhand.model.cud.free_system import configs as free_configs
from evenhand.model.cud.layouts import agent_names, key_names
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DENY,
    DONE,
    NO_CHOICE,
    OPERATIONS,
    READ,
    WRITE,
    Authority,
    Choice,
    Config,
    Entry,
    Epoch,
    target,
)
from evenhand.properties.cud.hostile import HOSTILE
from evenhand.properties.cud.liveness import LIVELOCK_EPOCHS, is_deadlocked
from evenhand.properties.cud.predicates import (
    INVALID_CAPABILITY_CLAIM,
    MALFORMED_REQUEST,
    PASS_ONE,
    PASS_TWO,
    SCOPE_VIOLATION,
    EpochStep,
    RunStep,
    active_agents,
    facts,
    is_over,
    orphans,
)
from evenhand.properties.cud.rules import CONSTRUCTIVE, goes_on
from evenhand.properties.cud.scenes import VALUES, one_of, reading, scene, some_of, writing

Pair = tuple[str, str]


@st.composite
def run_configs(draw: Any, readings: Readings, *, most_agents: int = 5, most_keys: int = 4) -> Config:
    """Draw a configuration of `run`: two agents or more, one key or more."""
    agents = agent_names(draw(st.integers(2, most_agents)))
    keys = key_names(draw(st.integers(1, most_keys)))
    world = tuple((key, one_of(draw, VALUES)) for key in keys)
    pairs = [(key, operation) for key in keys for operation in OPERATIONS]
    return Config(
        agents,
        world,
        _layout(draw, agents, pairs),
        communication=draw(st.booleans()),
        epochs=draw(st.integers(3, 8)),
        readings=readings,
    )


def _layout(draw: Draw, agents: tuple[str, ...], pairs: list[Pair]) -> tuple[Authority, ...]:
    artefacts: list[tuple[str, str, tuple[Pair, ...], int]] = []
    kind = one_of(draw, ("shared", "shared", "patchy", "split", "sole"))
    if kind == "shared":
        artefacts += [(ALLOW, agent, tuple(pairs), 0) for agent in agents]
    elif kind == "patchy":
        artefacts += [(ALLOW, agent, some_of(draw, pairs, 1), 0) for agent in agents]
    elif kind == "split":
        # Each artefact covers a single pair, so that a wide scope needs several citations.
        artefacts += [(ALLOW, one_of(draw, agents), (pair,), 0) for pair in pairs]
        artefacts += [(ALLOW, agent, (one_of(draw, pairs),), 0) for agent in agents]
    else:
        artefacts.append((ALLOW, one_of(draw, agents), tuple(pairs), 0))
    if draw(st.integers(0, 2)) == 0:
        holder = one_of(draw, (*agents, "harness"))
        artefacts.append((DENY, holder, some_of(draw, pairs, 1, 2), 0))
    if draw(st.integers(0, 2)) == 0:
        made = draw(st.integers(1, 3))
        artefacts.append((one_of(draw, (ALLOW, DENY)), one_of(draw, agents), some_of(draw, pairs, 1, 2), made))
    issuers = ("harness", *agents)
    return tuple(
        Authority(
            f"CUD-{number:03d}",
            commitment,
            holder,
            tuple((target(key), operation) for key, operation in scope),
            one_of(draw, issuers),
            epoch,
        )
        for number, (commitment, holder, scope, epoch) in enumerate(artefacts, start=1)
    )


# Events of `run`.


def _fault(code: str) -> Callable[[RunStep], bool]:
    def seen(step: RunStep) -> bool:
        return any([entry.fault == code for entry in step.shown.log])

    return seen


def _colliding(step: RunStep) -> list[Entry]:
    return [entry for entry in step.shown.log if entry.verdict == PASS_TWO]


def _mutual(step: RunStep) -> bool:
    return len(_colliding(step)) == 2 and all(entry.request.action_type == WRITE for entry in _colliding(step))


def _reader_hit(step: RunStep) -> bool:
    return {entry.request.action_type for entry in _colliding(step)} == {READ, WRITE}


def _executed(step: EpochStep) -> bool:
    return bool(step.shown.effects)


def _vetoed(step: RunStep) -> bool:
    refused = [entry.agent_id for entry in step.shown.log if entry.verdict == PASS_ONE]
    return any(
        ask.agent in refused and ask.standing.covered and ask.standing.vetoed and not ask.standing.foreign
        for ask in facts(step).asks
    )


def _uncovered(step: RunStep) -> bool:
    refused = [entry.agent_id for entry in step.shown.log if entry.verdict == PASS_ONE]
    return any(ask.agent in refused and not ask.standing.covered for ask in facts(step).asks)


def _harmless_excess(step: RunStep) -> bool:
    return any(
        entry.outcome == DONE
        and any(key not in entry.request.declared_scope for key, _ in entry.request.proposed_delta)
        for entry in step.shown.log
    )


def _orphaning(step: RunStep) -> bool:
    return bool(active_agents(step.config, step.after)) and len(orphans(step.config, step.after)) > len(
        orphans(step.config, step.before)
    )


def _orphan_wanted(step: RunStep) -> bool:
    lost = [key for key, operation in orphans(step.config, step.before) if operation == WRITE]
    return any(
        entry.request.action_type == WRITE and any(key in lost for key in entry.request.declared_scope)
        for entry in step.shown.log
    )


def _refused_again(step: RunStep) -> bool:
    """Pass 2 refuses an agent again on the scope on which it was refused in the epoch before: livelock may follow."""
    last = dict(zip(step.config.agents, step.before.agents, strict=True))
    return any(
        last[entry.agent_id].last == entry.outcome and last[entry.agent_id].last_scope == entry.request.declared_scope
        for entry in _colliding(step)
    )


def _turned(step: RunStep) -> bool:
    """Pass 2 refuses an agent on the scope on which it was executed in the epoch before."""
    last = dict(zip(step.config.agents, step.before.agents, strict=True))
    return any(
        last[entry.agent_id].last == DONE and last[entry.agent_id].last_scope == entry.request.declared_scope
        for entry in _colliding(step)
    )


def _reordered(step: RunStep) -> bool:
    order = [agent for agent, choice in step.action.choices if choice.request is not None]
    return len(order) > 1 and order != sorted(order)


def _late_artefact(step: RunStep) -> bool:
    late = [one.authority_id for one in step.config.authorities if one.epoch > 0]
    return any(name in late for entry in step.shown.log for name in entry.request.authorities_cited)


RUN_EVENTS = (
    Event("execution that changes a key", _executed, 460),
    Event("two executions in one epoch", lambda step: [entry.outcome for entry in step.shown.log].count(DONE) > 1, 340),
    Event("two writers collide", _mutual, 115),
    Event("reader and writer collide", _reader_hit, 100),
    Event("three or more collide", lambda step: len(_colliding(step)) > 2, 95),
    Event("collision beside an execution", lambda step: bool(_colliding(step) and step.shown.effects), 50),
    Event("refused in pass 2 again", _refused_again, 50),
    Event("refused in pass 2 after success", _turned, 75),
    Event("veto", _vetoed, 75),
    Event("missing capability", _uncovered, 135),
    Event(MALFORMED_REQUEST, _fault(MALFORMED_REQUEST), 185),
    Event(INVALID_CAPABILITY_CLAIM, _fault(INVALID_CAPABILITY_CLAIM), 125),
    Event(SCOPE_VIOLATION, _fault(SCOPE_VIOLATION), 55),
    Event("undeclared write that changes nothing", _harmless_excess, 30),
    Event("late artefact cited", _late_artefact, 23),
    Event("exit", lambda step: bool(step.shown.exits), 200),
    Event("orphaning", _orphaning, 60),
    Event("orphan wanted", _orphan_wanted, 26),
    Event("collapse", lambda step: bool(step.shown.exits) and not active_agents(step.config, step.after), 65),
    Event("deadlocked epoch", is_deadlocked, 60),
    Event("run ends", lambda step: is_over(step.config, step.after) and not is_over(step.config, step.before), 330),
    Event("message delivered", lambda step: any(seen.messages for _, seen in step.shown.seen), 490),
    Event("message dropped", lambda step: bool(step.shown.dropped) and step.config.communication, 41),
    Event(
        "intruder or second choice rejected",
        lambda step: bool(step.shown.rejected) and not is_over(step.config, step.before),
        190,
    ),
    Event("action after the end", lambda step: bool(step.shown.rejected) and is_over(step.config, step.before), 250),
    Event("submitted out of order", _reordered, 860),
)
"""The events of `run`, each with the count that a standard run must reach."""

RUN_GENERATOR = Generator("run", lambda _scope, readings: run_configs(readings), (*CONSTRUCTIVE, *HOSTILE), RUN_EVENTS)


# The free-agent graph.


def _free_strategy(_scope: Scope, readings: Readings) -> st.SearchStrategy[Config]:
    sizes = [(agents, keys) for agents in (2, 3, 4) for keys in (1, 2, 3)]
    return st.sampled_from(
        [one for agents, keys in sizes for one in free_configs(Scope(agents=agents, keys=keys, values=2), readings)]
    )


def _number(draw: Draw) -> Any:
    return one_of(draw, VALUES[2:4])


def _free_choice(draw: Draw, config: Config, agent: str) -> Choice:
    key = one_of(draw, config.keys)
    return one_of(draw, (NO_CHOICE, reading(config, agent, key), writing(config, agent, (key, _number(draw)))))


def _free_any(draw: Draw, config: Config, _scope: Scope, state: FreeState) -> Epoch:
    here = scene(config, state).here
    return Epoch(
        tuple(
            (agent, Choice(exits=True) if draw(st.integers(0, 15)) == 0 else _free_choice(draw, config, agent))
            for agent in here
        )
    )


def _free_collision(draw: Draw, config: Config, _scope: Scope, state: FreeState) -> Epoch:
    """All agents that may write one key write it; the others stay silent."""
    keys = [(key, agents) for key, agents in scene(config, state).may[WRITE].items() if len(agents) > 1]
    key, agents = one_of(draw, keys)
    chosen = {agent: writing(config, agent, (key, _number(draw))) for agent in agents}
    return Epoch(tuple((agent, chosen.get(agent, NO_CHOICE)) for agent in scene(config, state).here))


def _free_beside(draw: Draw, config: Config, _scope: Scope, state: FreeState) -> Epoch:
    one, other, key, third, free, value = one_of(draw, _free_besides(config, state))
    chosen = {
        one: writing(config, one, (key, _number(draw))),
        other: writing(config, other, (key, _number(draw))),
        third: writing(config, third, (free, value)),
    }
    return Epoch(tuple((agent, chosen.get(agent, NO_CHOICE)) for agent in scene(config, state).here))


def _free_besides(config: Config, state: FreeState) -> list[tuple[str, str, str, str, str, Any]]:
    may, now = scene(config, state).may[WRITE], dict(state.world)
    return [
        (one, other, key, third, free, next(value for value in VALUES[2:4] if value != now[free]))
        for key, agents in may.items()
        for free, thirds in may.items()
        if free != key
        for one, other in itertools.combinations(agents, 2)
        for third in thirds
        if third not in (one, other)
    ]


def _free_can_collide(config: Config, state: FreeState) -> bool:
    return any(len(agents) > 1 for agents in scene(config, state).may[WRITE].values())


def _free_change(draw: Draw, config: Config, _scope: Scope, state: FreeState) -> Epoch:
    now = dict(state.world)
    able = [(agent, key) for key, agents in scene(config, state).may[WRITE].items() for agent in agents]
    agent, key = one_of(draw, able)
    value = next(value for value in VALUES[2:4] if value != now[key])
    return Epoch(
        tuple(
            (name, writing(config, name, (key, value)) if name == agent else NO_CHOICE)
            for name in scene(config, state).here
        )
    )


def _free_can_change(config: Config, state: FreeState) -> bool:
    return any(scene(config, state).may[WRITE].values())


def _free_silence(_draw: Draw, config: Config, _scope: Scope, state: FreeState) -> Epoch:
    return Epoch(tuple((agent, NO_CHOICE) for agent in scene(config, state).here))


def _free_hopeless(draw: Draw, config: Config, _scope: Scope, state: FreeState) -> Epoch:
    offered = scene(config, state)
    agent, key, _ = one_of(draw, (*offered.lacking, *offered.vetoed))
    choice = writing(config, agent, (key, _number(draw)))
    return Epoch(tuple((name, choice if name == agent else NO_CHOICE) for name in offered.here))


def _free_can_hope(config: Config, state: FreeState) -> bool:
    offered = scene(config, state)
    return bool(offered.here) and bool(offered.lacking or offered.vetoed)


def _free_exit(draw: Draw, config: Config, _scope: Scope, state: FreeState) -> Epoch:
    here = scene(config, state).here
    leaving = some_of(draw, here, 1)
    return Epoch(tuple((agent, Choice(exits=agent in leaving)) for agent in here))


def _free_intruder(draw: Draw, config: Config, _scope: Scope, state: FreeState) -> Epoch:
    gone = [name for name in config.agents if name not in scene(config, state).here]
    strangers = [(name, _free_choice(draw, config, config.agents[0])) for name in (*gone, "mallory")]
    some = some_of(draw, _free_any(draw, config, _scope, state).choices, 0)
    return Epoch(tuple(draw(st.permutations((*some, *strangers)))))


FREE_GENERATOR = Generator(
    "free",
    _free_strategy,
    (
        Rule("anything", _free_any, goes_on),
        Rule("collision", _free_collision, _free_can_collide),
        Rule("collision_again", _free_collision, _free_can_collide),
        Rule("collision_beside_change", _free_beside, lambda config, state: bool(_free_besides(config, state))),
        Rule("change", _free_change, _free_can_change),
        Rule("silence", _free_silence, goes_on),
        Rule("hopeless", _free_hopeless, _free_can_hope),
        Rule("exit", _free_exit, goes_on),
        Rule("intruders", _free_intruder, hostile=True),
    ),
    (
        Event("livelock counter full", lambda step: step.after.counter >= LIVELOCK_EPOCHS, 55),
        Event("livelock counter back to 0", lambda step: step.before.counter > 0 and step.after.counter == 0, 240),
        Event("collision", lambda step: step.shown.happened.collided, 450),
        Event(
            "collision beside a change", lambda step: step.shown.happened.collided and step.shown.happened.changed, 60
        ),
        Event("pass-1 refusal", lambda step: step.shown.happened.refused, 300),
        Event("exit", lambda step: any(token == EXITED for _, token in step.shown.tokens), 270),
        Event("execution that changes a key", _executed, 370),
    ),
)

GENERATORS = (RUN_GENERATOR, FREE_GENERATOR)
