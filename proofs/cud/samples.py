"""Epochs on which theory and model are compared: small ones exhaustively, larger ones drawn towards rare events.

In uniformly drawn epochs hardly any request passes pass 1 and none ever collides.  So each kind of rare event has a
strategy: collisions of two and of three, of readers with writers, every kind of wrong right, exits and their
consequences, malformed requests, writes out of scope, and the same epoch again in another order, with another past, in
another world.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from evenhand.core.atoms import Atom
from evenhand.model.cud import kernel
from evenhand.model.cud.layouts import agent_names, every_layout, key_names, start_world
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.run_system import UNIVERSE, malformed_requests
from evenhand.model.cud.step import initial
from evenhand.model.cud.strategies import covering
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DENY,
    FAILURE,
    IDLE,
    NO_CHOICE,
    OPERATIONS,
    READ,
    WRITE,
    AgentState,
    Authority,
    Choice,
    Config,
    Epoch,
    Request,
    State,
    target,
)
from evenhand.proofs.cud.concretisation import STRANGER
from evenhand.proofs.cud.encoding import CudStep
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.vocabulary import ACT, AGENT, KEY, active, known, member, submitted
from evenhand.properties.cud.generators import RUN_EVENTS
from evenhand.smt.logic import Formula, Var, conjunction, exists
from evenhand.smt.samples import Event, Samples, Situation, draw

DRAWN = 14
"""Examples of each strategy."""

_VALUES = (Atom("str", "taken"), Atom("str", "other"), Atom("str", "free"), Atom("int", "1"))


def _every(readings: Readings) -> tuple[Situation, ...]:
    """Return all epochs of one agent and one key; of two agents, every layout and every honest joint choice."""
    tiny = UNIVERSE.at(agents=1, keys=1).under(scope_check=readings.scope_check)
    found: list[Situation] = []
    for config in tiny.all_configs():
        config = replace(config, readings=readings)
        for state in tiny.initial(config):
            found += [(config, state, action) for action in tiny.enabled(config, state)]
    agents, keys = agent_names(2), key_names(1)
    for layout in every_layout(agents, keys):
        config = Config(agents, start_world(keys), layout, epochs=1, readings=readings)
        (state,) = initial(config)
        for picked in itertools.product(*(_honest(config, name) for name in agents)):
            found.append((config, state, Epoch(tuple(zip(agents, picked, strict=True)))))
    return tuple(found)


def _honest(config: Config, agent: str) -> Iterator[Choice]:
    yield NO_CHOICE
    yield Choice(exits=True)
    for operation in OPERATIONS:
        yield Choice(_request(config, agent, operation, config.keys, _VALUES[0]))


def _request(config: Config, agent: str, operation: str, scope: Sequence[str], value: Atom) -> Request:
    declared = tuple(sorted(scope))
    delta = tuple((key, value) for key in declared) if operation == WRITE else ()
    return Request(operation, declared, delta, covering(config.authorities, agent, declared, operation))


# Parts of samples.


def _pairs(keys: Sequence[str]) -> list[tuple[str, str]]:
    return list(itertools.product(keys, OPERATIONS))


def _artefact(
    number: int, kind: str, holder: str, pairs: Sequence[tuple[str, str]], *, late: bool = False
) -> Authority:
    scope = tuple((target(key), operation) for key, operation in sorted(pairs))
    return Authority(f"CUD-{number:03d}", kind, holder, scope, epoch=1 if late else 0)


def _everything(agents: Sequence[str], keys: Sequence[str]) -> tuple[Authority, ...]:
    return tuple(_artefact(n, ALLOW, agent, _pairs(keys)) for n, agent in enumerate(agents, start=1))


@st.composite
def _some_rights(draw_: st.DrawFn, agents: tuple[str, ...], keys: tuple[str, ...]) -> tuple[Authority, ...]:
    """Draw a right for every agent, mostly many; some made too late; often a DENY, held by any agent."""
    found: list[Authority] = []
    for agent in agents:
        pairs = _pairs(keys)
        if draw_(st.booleans()):
            pairs = draw_(st.lists(st.sampled_from(pairs), min_size=1, max_size=len(pairs), unique=True))
        found.append(_artefact(len(found) + 1, ALLOW, agent, pairs, late=draw_(st.integers(0, 5)) == 0))
    if draw_(st.booleans()):
        who = draw_(st.sampled_from((*agents, "harness")))
        pairs = [draw_(st.sampled_from(_pairs(keys)))]
        found.append(_artefact(len(found) + 1, DENY, who, pairs, late=draw_(st.integers(0, 3)) == 0))
    return tuple(found)


@st.composite
def _past(draw_: st.DrawFn, config: Config) -> State:
    """Draw a later epoch, in which some have left and most have been answered; the world may have changed."""
    (state,) = initial(config)
    agents: list[AgentState] = []
    for place, _ in enumerate(config.agents):
        active = place == 0 or draw_(st.integers(0, 3)) > 0
        last = draw_(st.sampled_from((FAILURE, FAILURE, IDLE)))
        scope = None if last == IDLE else tuple(sorted(draw_(st.sets(st.sampled_from(config.keys), min_size=1))))
        agents.append(AgentState(active, last, scope))
    world = tuple((key, draw_(st.sampled_from((value, *_VALUES)))) for key, value in state.world)
    return State(world, tuple(agents), (), 1)


def _ordered(draw_: st.DrawFn, chosen: dict[str, Choice]) -> Epoch:
    return Epoch(tuple((name, chosen[name]) for name in draw_(st.permutations(sorted(chosen)))))


def _here(config: Config, state: State) -> tuple[str, ...]:
    return tuple(name for name, one in zip(config.agents, state.agents, strict=True) if one.active)


@st.composite
def _world(
    draw_: st.DrawFn, *, readings: Readings, agents: int, keys: int, generous: bool, past: bool
) -> tuple[Config, State]:
    names, slots = agent_names(agents), key_names(keys)
    rights = _everything(names, slots) if generous else draw_(_some_rights(names, slots))
    config = Config(names, start_world(slots), rights, epochs=2, readings=readings)
    return config, draw_(_past(config)) if past else initial(config)[0]


@st.composite
def _deed(draw_: st.DrawFn, config: Config, agent: str, *, one_key: bool = False) -> Choice:
    """Draw a well-formed request that cites what covers it."""
    keys = config.keys[:1] if one_key else draw_(st.sets(st.sampled_from(config.keys), min_size=1))
    return Choice(_request(config, agent, draw_(st.sampled_from((*OPERATIONS, WRITE))), sorted(keys), _value(draw_)))


def _value(draw_: st.DrawFn) -> Atom:
    return draw_(st.sampled_from(_VALUES))


@st.composite
def _collision(draw_: st.DrawFn, readings: Readings, agents: int, past: bool) -> Situation:
    """Draw an epoch in which every agent may do everything and wants the first key."""
    config, state = draw_(_world(readings=readings, agents=agents, keys=2, generous=True, past=past))
    chosen = {name: draw_(_deed(config, name, one_key=True)) for name in _here(config, state)}
    return config, state, _ordered(draw_, chosen)


@st.composite
def _deeds(draw_: st.DrawFn, readings: Readings, past: bool) -> Situation:
    """Draw well-formed requests over any keys, under any rights."""
    config, state = draw_(
        _world(readings=readings, agents=draw_(st.sampled_from((2, 3))), keys=2, generous=False, past=past)
    )
    return config, state, _ordered(draw_, {name: draw_(_deed(config, name)) for name in _here(config, state)})


@st.composite
def _citing(draw_: st.DrawFn, readings: Readings) -> Situation:
    """Draw one request that cites too little, too much, or another agent's right."""
    config, state = draw_(_world(readings=readings, agents=2, keys=2, generous=draw_(st.booleans()), past=False))
    chosen = {name: draw_(_deed(config, name)) for name in config.agents}
    who = draw_(st.sampled_from(config.agents))
    request = chosen[who].request
    assert request is not None
    ids = [one.authority_id for one in config.authorities]
    own = tuple(one.authority_id for one in config.authorities if one.holder_agent_id == who)
    cited = draw_(st.sampled_from(((), own, tuple(ids), (STRANGER,), (*request.authorities_cited, STRANGER))))
    chosen[who] = Choice(replace(request, authorities_cited=cited))
    return config, state, _ordered(draw_, chosen)


@st.composite
def _malformed(draw_: st.DrawFn, readings: Readings) -> Situation:
    """Draw one request that is malformed in one way, beside a well-formed one."""
    config, state = draw_(_world(readings=readings, agents=2, keys=2, generous=True, past=False))
    one, other = config.agents
    every = malformed_requests(config, one)
    bad = every[draw_(st.sampled_from(sorted(every)))]
    return config, state, _ordered(draw_, {one: Choice(bad), other: draw_(_deed(config, other))})


@st.composite
def _trespass(draw_: st.DrawFn, readings: Readings, past: bool) -> Situation:
    """Draw requests that write undeclared keys, beside others that do not."""
    config, state = draw_(_world(readings=readings, agents=3, keys=3, generous=True, past=past))
    chosen: dict[str, Choice] = {}
    one, two, three = config.keys
    declared = draw_(st.sampled_from(((one, two, three), (one, one, two))))
    for name, key in zip(config.agents, declared, strict=True):
        written = draw_(st.sets(st.sampled_from(config.keys), min_size=1))
        request = _request(config, name, WRITE, (key,), _VALUES[0])
        delta = tuple((one, _value(draw_)) for one in sorted(written))
        chosen[name] = draw_(st.sampled_from((Choice(replace(request, proposed_delta=delta)), Choice(request))))
    return config, state, _ordered(draw_, {name: chosen[name] for name in _here(config, state)})


@st.composite
def _beside(draw_: st.DrawFn, readings: Readings, past: bool) -> Situation:
    """Draw two requests for the first key and a third for another."""
    config, state = draw_(_world(readings=readings, agents=3, keys=2, generous=True, past=False))
    if past:
        state = replace(draw_(_past(config)), agents=tuple(AgentState(True, FAILURE) for _ in config.agents))
    first, second = config.keys
    chosen = dict(zip(config.agents, draw_(st.permutations(((first,), (first,), (second,)))), strict=True))
    return (
        config,
        state,
        _ordered(
            draw_, {name: Choice(_request(config, name, WRITE, scope, _value(draw_))) for name, scope in chosen.items()}
        ),
    )


@st.composite
def _leaving(draw_: st.DrawFn, readings: Readings, past: bool) -> Situation:
    """Draw an agent that leaves now, one that is silent, one that goes on; some may have left before."""
    config, state = draw_(_world(readings=readings, agents=3, keys=2, generous=False, past=past))
    chosen: dict[str, Choice] = {}
    for name, what in zip(config.agents, draw_(st.permutations(("exit", "silent", "deed"))), strict=True):
        chosen[name] = draw_(_deed(config, name)) if what == "deed" else Choice(exits=what == "exit")
    return config, state, _ordered(draw_, {name: chosen[name] for name in _here(config, state)})


@st.composite
def _bereft(draw_: st.DrawFn, readings: Readings) -> Situation:
    """Draw an epoch whose only holder has left; another agent tries its key, with the holder's right or without."""
    names, slots = agent_names(2), key_names(2)
    pairs = _pairs(slots[: draw_(st.sampled_from((1, 2)))])
    rights: tuple[Authority, ...] = (_artefact(1, ALLOW, names[1], pairs),)
    if draw_(st.booleans()):
        rights = (*rights, _artefact(2, ALLOW, names[0], [(slots[1], READ)]))
    config = Config(names, start_world(slots), rights, epochs=2, readings=readings)
    cited = draw_(st.sampled_from(((), ("CUD-001",))))
    request = replace(draw_(_deed(config, names[0])).request or Request(READ, slots), authorities_cited=cited)
    state = State(config.world, (AgentState(True, IDLE), AgentState(False, FAILURE, (slots[1],))), (), 1)
    return config, state, Epoch(((names[0], Choice(request)),))


@st.composite
def _hopeless(draw_: st.DrawFn, readings: Readings) -> Situation:
    """Draw an epoch in which no agent may do anything: ALLOWs vetoed, made too late, held by exited agents, or none."""
    names, slots = agent_names(2), key_names(1)
    pairs = _pairs(slots)
    rights = draw_(
        st.sampled_from(
            (
                (),
                (_artefact(1, ALLOW, names[0], pairs, late=True), _artefact(2, ALLOW, names[1], pairs, late=True)),
                (*_everything(names, slots), _artefact(3, DENY, "harness", pairs)),
                (*_everything(names, slots), _artefact(3, DENY, names[1], pairs)),
                (_artefact(1, ALLOW, "harness", pairs),),
                (_artefact(1, ALLOW, names[1], pairs),),
            )
        )
    )
    config = Config(names, start_world(slots), rights, epochs=2, readings=readings)
    left = bool(rights) and rights[0].holder_agent_id == names[1]
    state = State(config.world, (AgentState(True, IDLE), AgentState(not left, IDLE)), (), 1)
    chosen = {name: draw_(_deed(config, name)) for name in _here(config, state)}
    return config, state, _ordered(draw_, chosen)


def _again(situations: Sequence[Situation]) -> Iterator[Situation]:
    """Yield each sample again: submitted in reverse, in a later epoch, after refusals, in another world."""
    for config, state, action in situations:
        yield config, state, action
        if any(not one.active for one in state.agents):
            continue
        agents = tuple(AgentState(True, FAILURE, config.keys[:1]) for _ in config.agents)
        loose = any(
            key not in choice.request.declared_scope
            for _, choice in action.choices
            if choice.request is not None
            for key, _ in choice.request.proposed_delta
        )
        world = state.world if loose else tuple((key, Atom("str", "elsewhere")) for key, _ in state.world)
        yield config, State(world, agents, (), 1), Epoch(action.choices[::-1])


def _drawn(readings: Readings) -> tuple[Situation, ...]:
    """Return the drawn samples under these readings: no draw depends on them, so the same ones serve all."""
    drawn = _drawn_once()
    under = {id(config): replace(config, readings=readings) for config, _, _ in drawn}
    return tuple((under[id(config)], state, action) for config, state, action in drawn)


@cache
def _drawn_once() -> tuple[Situation, ...]:
    readings = Readings()
    strategies = {
        "collision of two": _collision(readings, 2, False),
        "collision of three": _collision(readings, 3, False),
        "collision later": _collision(readings, 3, True),
        "deeds": _deeds(readings, False),
        "deeds later": _deeds(readings, True),
        "citations": _citing(readings),
        "malformed": _malformed(readings),
        "out of scope": _trespass(readings, False),
        "out of scope later": _trespass(readings, True),
        "beside": _beside(readings, False),
        "beside later": _beside(readings, True),
        "leaving": _leaving(readings, False),
        "leaving later": _leaving(readings, True),
        "orphans": _bereft(readings),
        "hopeless": _hopeless(readings),
    }
    return tuple(_again(list(draw(strategies, DRAWN))))


def epochs(readings: Readings) -> tuple[tuple[Situation, ...], tuple[Situation, ...]]:
    """Return the listed samples and the drawn ones."""
    return _every(readings), _drawn(readings)


# Coverage targets.

_FLOORS = {
    "execution that changes a key": 60,
    "two executions in one epoch": 20,
    "missing capability": 30,
    "veto": 10,
    "late artefact cited": 15,
    "two writers collide": 50,
    "three or more collide": 10,
    "reader and writer collide": 20,
    "collision beside an execution": 20,
    kernel.MALFORMED_REQUEST: 20,
    kernel.INVALID_CAPABILITY_CLAIM: 20,
    kernel.SCOPE_VIOLATION: 20,
    "deadlocked epoch": 20,
    "exit": 10,
    "submitted out of order": 60,
}
"""How many of the drawn epochs must show an event of drawn runs."""


def _foreign_veto(step: CudStep) -> bool:
    return any(one.commitment == DENY and one.holder_agent_id in step.config.agents for one in step.config.authorities)


_EVENTS: dict[str, Event] = {
    **{event.name: (event.seen, _FLOORS[event.name]) for event in RUN_EVENTS if event.name in _FLOORS},
    "somebody is gone": (lambda step: not all(one.active for one in step.before.agents), 40),
    "a veto held by an agent": (_foreign_veto, 10),
    "silent": (lambda step: any(token == IDLE for _, token in step.shown.tokens), 10),
}


def _refusal_as_silence(finding: kernel.Finding | None) -> str:
    """Return the token of a sampled reading: a refused agent gets the same token as an idle one."""
    told = kernel.REFERENCE.token(finding)
    return IDLE if told == FAILURE else told


def _visible(bound: tuple[Var, ...]) -> Formula:
    """Return that a step shows these things: submitted requests, keys of the world, agents of the run."""
    told = {ACT: submitted, KEY: known, AGENT: member}
    z = AGENT("z")
    return conjunction([exists([z], active(z)), *(told[one.sort](one) for one in bound if one.sort in told)])


def _squeamish(authorities: tuple[Authority, ...], bound: kernel.Bound) -> bool:
    """Return the decision of a sampled reading: pass 1 rejects one value."""
    disliked = any(value == _VALUES[1] for _, value in bound.request.proposed_delta)
    return not disliked and kernel.REFERENCE.covers(authorities, bound)


WORLDS = Samples(
    every=_every,
    upto="1 agent x 1 key in full, 2 agents x 1 key with honest requests",
    drawn=_drawn,
    events=_EVENTS,
    sampled_readings={
        "refusal told as silence": replace(kernel.REFERENCE, token=_refusal_as_silence),
        "pass 1 looks at values": replace(kernel.REFERENCE, covers=_squeamish),
    },
    thin=9,
    whole=EPOCH,
    visible=_visible,
)
"""Samples for theorems about single epochs."""

FEWER = WORLDS.fewer(8, 4)
"""Samples for claims that look at many second traces of each step, and for other readings."""
