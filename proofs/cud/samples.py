"""Epochs on which theory and model are compared: small ones exhaustively, larger ones drawn towards rare events.

In uniformly drawn epochs hardly any request passes pass 1 and none ever collides.  So an epoch is drawn by a rule of
the state machine that aims at one rare event (`properties/cud/rules`, `hostile`), in a first epoch and in one with a
past; then the same epoch again in another order, with another past, in another world.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache

from hypothesis import assume
from hypothesis import strategies as st

from evenhand.core.atoms import Atom
from evenhand.core.generator import Rule
from evenhand.model.cud import kernel
from evenhand.model.cud.layouts import agent_names, every_layout, key_names, start_world
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.run_system import UNIVERSE
from evenhand.model.cud.step import initial
from evenhand.model.cud.vocabulary import (
    DENY,
    DONE,
    FAILURE,
    FAULT,
    IDLE,
    NO_CHOICE,
    AgentState,
    Authority,
    Choice,
    Config,
    Epoch,
    State,
)
from evenhand.proofs.cud.encoding import CudStep
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.vocabulary import ACT, AGENT, KEY, active, known, member, submitted
from evenhand.properties.cud.generators import RUN_EVENTS, RUN_GENERATOR, run_configs
from evenhand.properties.cud.scenes import VALUES, reading, writing
from evenhand.smt.logic import Formula, Var, conjunction, exists
from evenhand.smt.samples import Event, Samples, Situation, draw

DRAWN = 9
"""Examples of each rule."""

_RULES = tuple(
    rule
    for rule in RUN_GENERATOR.rules
    if rule.name not in ("messages", "bad_messages", "forged_sender", "last_words", "after_the_end")
)
"""The rules that aim neither at messages, of which `mail` speaks, nor at epochs after the end of a run."""


_SEEN = {event.name: event.seen for event in RUN_EVENTS}


def _vain_rivals(step: CudStep) -> bool:
    """Return whether nobody may act, and two requests would collide if they passed pass 1."""
    asked = [entry.request for entry in step.shown.log]
    return _SEEN["deadlocked epoch"](step) and any(kernel.interfere(*two) for two in itertools.combinations(asked, 2))


_RARE = {
    "three_way_collision": _SEEN["three or more collide"],
    "collision_beside_execution": _SEEN["collision beside an execution"],
    "hopeless_epoch": _vain_rivals,
    "foreign_citation": _SEEN["late artefact cited"],
}
"""Rules that are drawn more often, to show an event at which they aim but seldom reach in these small worlds."""


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


def _honest(config: Config, agent: str) -> tuple[Choice, ...]:
    (key,) = config.keys
    return NO_CHOICE, Choice(exits=True), reading(config, agent, key), writing(config, agent, (key, VALUES[1]))


@st.composite
def _by(draw_: st.DrawFn, rule: Rule, aim: Callable[[CudStep], bool] | None = None) -> Situation:
    """Draw an epoch by a rule, in a state in which it is possible; in a smaller world, one that shows an aim."""
    most_keys = 2 if aim else 3
    config = replace(draw_(run_configs(Readings(), most_agents=3, most_keys=most_keys)), communication=False)
    state = draw_(st.one_of(st.just(initial(config)[0]), _past(config)))
    assume(rule.possible(config, state))
    situation = config, state, rule.draw(draw_, config, UNIVERSE.scope, state)
    assume(aim is None or aim(UNIVERSE.take(*situation)))
    return situation


@st.composite
def _past(draw_: st.DrawFn, config: Config) -> State:
    """Draw a later epoch, in which some have left and most have been answered; the world may have changed."""
    agents: list[AgentState] = []
    for place, _ in enumerate(config.agents):
        active = place == 0 or draw_(st.integers(0, 3)) > 0
        last = draw_(st.sampled_from((FAILURE, DONE, FAULT, IDLE)))
        scope = None if last == IDLE else tuple(sorted(draw_(st.sets(st.sampled_from(config.keys), min_size=1))))
        agents.append(AgentState(active, last, scope))
    world = tuple((key, draw_(st.sampled_from((value, *VALUES)))) for key, value in config.world)
    return State(world, tuple(agents), (), 2)


def _again(situations: Iterable[Situation]) -> Iterator[Situation]:
    """Yield each sample again: with malformed requests, or in reverse, later, after refusals, in another world."""
    for config, state, action in situations:
        yield config, state, action
        choices: tuple[tuple[str, Choice], ...] = action.choices
        asked = {agent: choice.request for agent, choice in choices if choice.request is not None}
        for some in (list(asked)[:1], list(asked)[:2]) if len(asked) > 2 and state.epoch == 0 else ():
            struck = {agent: Choice(replace(asked[agent], action_type="DELETE")) for agent in some}
            yield config, state, Epoch(tuple((agent, struck.get(agent, choice)) for agent, choice in choices))
        if any(not one.active for one in state.agents):
            continue
        agents = tuple(AgentState(True, FAILURE, config.keys[:1]) for _ in config.agents)
        loose = any(key not in one.declared_scope for one in asked.values() for key, _ in one.proposed_delta)
        world = state.world if loose else tuple((key, Atom("str", "elsewhere")) for key, _ in state.world)
        yield config, State(world, agents, (), 1), Epoch(choices[::-1])


def _drawn(readings: Readings) -> tuple[Situation, ...]:
    """Return the drawn samples under these readings: no draw depends on them, so the same ones serve all."""
    return _under(readings, DRAWN)


def _under(readings: Readings, each: int) -> tuple[Situation, ...]:
    drawn = _drawn_once(each)
    under = {id(config): replace(config, readings=readings) for config, _, _ in drawn}
    return tuple((under[id(config)], state, action) for config, state, action in drawn)


@cache
def _drawn_once(each: int) -> tuple[Situation, ...]:
    drawn = list(draw({rule.name: _by(rule) for rule in _RULES}, each))
    aimed = draw({rule.name: _by(rule, _RARE[rule.name]) for rule in _RULES if rule.name in _RARE}, 2 * each)
    return tuple(_again((*aimed, *(one for number in range(each) for one in drawn[number::each]))))


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
    """Return the decision of a sampled reading: pass 1 rejects texts."""
    disliked = any(isinstance(value, Atom) and value.kind == "str" for _, value in bound.request.proposed_delta)
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


def _each_more_often(readings: Readings) -> tuple[Situation, ...]:
    return tuple(_again(WORLDS.drawn(readings)[-80:]))


PAIRED = replace(WORLDS.fewer(8, 1), drawn=_each_more_often)
"""Samples for claims about any two steps: fewer epochs, each more often."""


def _two_of_each(readings: Readings) -> tuple[Situation, ...]:
    return _under(readings, 2)


LICENCE = replace(WORLDS, drawn=_two_of_each).fewer(110, 8)
"""Samples for a licence, which a search waits for: two examples of each rule, since to draw takes most of the time."""

FEWER = WORLDS.fewer(8, 4)
"""Samples for claims that look at many second traces of each step, and for other readings."""
