"""Epochs on which theory and model are compared: small ones in full, larger ones drawn towards what matters.

Drawn blindly, hardly any request passes pass 1 and none ever collides; so agents mostly cite what covers them,
mostly share few keys, and vetoes, strangers, late artefacts, exits and malformed requests are each put in on
purpose.  The draws are seeded, the same in every run.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from evenhand.model.atoms import Atom
from evenhand.model.cud.kernel import Rules
from evenhand.model.cud.layouts import agent_names, key_names, start_world
from evenhand.model.cud.play import UNIVERSE, malformed_requests
from evenhand.model.cud.step import initial
from evenhand.model.cud.strategies import covering
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DENY,
    NO_CHOICE,
    OPERATIONS,
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
from evenhand.model.system import System
from evenhand.proofs.cud.link import STRANGER, CudStep

__all__ = ["epochs", "samples", "some_samples"]

CudSystem = System[Config, State, Epoch, Any, Rules]

_TAKEN = Atom("str", "taken")
DRAWN = 240
EACH_SMALL = 5
EACH_TWIN = 7


def samples(system: CudSystem) -> tuple[CudStep, ...]:
    """The step that `system` takes in each of `epochs`; a mutant's in the drawn ones and a part of the small ones."""
    small, drawn = epochs()
    return _taken(system.rules, small if system.variant == "reference" else small[::EACH_SMALL]) + _taken(
        system.rules, drawn
    )


def some_samples(system: CudSystem) -> tuple[CudStep, ...]:
    """Fewer of them, for claims that look at many twins of each step."""
    return samples(system)[:: 3 if system.variant == "reference" else EACH_TWIN]


Situation = tuple[Config, State, Epoch]


@cache
def _taken(rules: Rules, situations: tuple[Situation, ...]) -> tuple[CudStep, ...]:
    """All theorems look at the same steps, so each kernel takes them once."""
    kernel = replace(UNIVERSE, rules=rules)
    return tuple(kernel.take(config, state, action) for config, state, action in situations)


@cache
def epochs() -> tuple[tuple[Situation, ...], tuple[Situation, ...]]:
    """Configuration, state and joint action: all of one agent and one key, and drawn ones of up to three agents."""
    return tuple(_small()), tuple(_drawn())


def _small() -> Iterator[tuple[Config, State, Epoch]]:
    tiny = UNIVERSE.at(agents=1, keys=1)
    for config in tiny.all_configs():
        for state in tiny.initial(config):
            for action in tiny.enabled(config, state):
                yield config, state, action


def _drawn() -> Iterator[tuple[Config, State, Epoch]]:
    draw = random.Random("cud epochs")
    for number in range(DRAWN):
        agents = agent_names(draw.choice((1, 2, 2, 3)))
        keys = key_names(draw.choice((1, 1, 2)))
        generous = number % 6 == 0
        if generous:
            agents = agent_names(3)
        authorities = tuple(_everything(agents, keys) if generous else _authorities(draw, agents, keys))
        config = Config(agents, start_world(keys), authorities, epochs=1)
        (state,) = initial(config)
        if number % 8 == 0 and len(agents) > 1:
            gone = draw.randrange(len(agents))
            state = State(
                state.world, tuple(AgentState(i != gone) for i in range(len(agents))), state.mailbox, state.epoch
            )
        order = [name for name, one in zip(agents, state.agents, strict=True) if one.active]
        if draw.random() < 0.3:
            order.reverse()
        yield config, state, Epoch(tuple((name, _choice(draw, config, name)) for name in order))


def _everything(agents: tuple[str, ...], keys: tuple[str, ...]) -> Iterator[Authority]:
    """Everybody may do everything, so that three collide as well."""
    every = list(itertools.product(keys, OPERATIONS))
    for number, agent in enumerate(agents, start=1):
        yield _authority(number, ALLOW, agent, every, late=False)


def _authorities(draw: random.Random, agents: tuple[str, ...], keys: tuple[str, ...]) -> Iterator[Authority]:
    every = list(itertools.product(keys, OPERATIONS))
    numbers = itertools.count(1)
    for agent in agents:
        if draw.random() < 0.85:
            pairs = every if draw.random() < 0.5 else draw.sample(every, draw.randint(1, len(every)))
            yield _authority(next(numbers), ALLOW, agent, pairs, late=draw.random() < 0.1)
    if draw.random() < 0.3:
        yield _authority(
            next(numbers), DENY, draw.choice((*agents, "harness")), [draw.choice(every)], late=draw.random() < 0.2
        )


def _authority(number: int, kind: str, holder: str, pairs: Sequence[tuple[str, str]], *, late: bool) -> Authority:
    scope = tuple((target(key), operation) for key, operation in sorted(pairs))
    return Authority(f"CUD-{number:03d}", kind, holder, scope, epoch=1 if late else 0)


def _choice(draw: random.Random, config: Config, agent: str) -> Choice:
    kind = draw.random()
    if kind < 0.08:
        return NO_CHOICE
    if kind < 0.16:
        return Choice(exits=True)
    if kind < 0.22:
        return Choice(draw.choice(list(malformed_requests(config, agent).values())))
    operation = draw.choice((*OPERATIONS, WRITE))
    scope = tuple(sorted(draw.sample(config.keys, draw.randint(1, len(config.keys)))))
    cited = covering(config.authorities, agent, scope, operation)
    ids = [one.authority_id for one in config.authorities]
    if draw.random() < 0.2:
        cited = tuple(draw.sample([*ids, STRANGER], draw.randint(0, 1)))
    elif draw.random() < 0.2:
        cited = tuple(one.authority_id for one in config.authorities if one.holder_agent_id == agent)
    delta: tuple[tuple[str, Atom], ...] = ()
    if operation == WRITE:
        written = config.keys if draw.random() < 0.2 else scope
        delta = tuple((key, _TAKEN) for key in written)
    return Choice(Request(operation, scope, delta, cited))
