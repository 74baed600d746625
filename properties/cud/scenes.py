"""Scenes: which agents may do what in a state, and which lack what.

Epochs drawn at random miss almost every event of interest, so the generator's rules first read the scene: keys that two
agents may both write, an agent whose exit orphans a key, a pair that an agent holds and a DENY governs.  A scene is
computed once per state and shared by all rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evenhand.core.atoms import Atom, Opaque, atom
from evenhand.core.generator import Draw, st
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DENY,
    NO_CHOICE,
    OPERATIONS,
    READ,
    WRITE,
    Choice,
    Config,
    Draft,
    Epoch,
    Request,
    target,
)
from evenhand.properties.cud.predicates import EpochState, active_agents, holders, is_over

T = TypeVar("T")

VALUES: tuple[Atom, ...] = tuple(
    value for value in map(atom, ("free", "taken", 0, 1, 1.0, True, None, "")) if isinstance(value, Atom)
)
"""Values of worlds and requests; 1, 1.0 and true are three different values."""

HOSTILE_VALUES = tuple(Opaque(what) for what in ("nan", "infinity", "object", "list", "bytes", "function"))
"""Values that are no JSON primitive."""

MESSAGES = ('{"role":0}', '{"role":1}', "{}", '{"claim":"resource_A"}')
"""Well-formed messages."""


@dataclass(frozen=True)
class Scene:
    """The possible aims of an epoch in one state.

    `here` are the agents in the run.  `may[op]` maps each key to those whose request for it would pass pass 1; `vetoed`
    and `lacking` list (agent, key, op) that a DENY stops despite an ALLOW, and that no ALLOW covers; `soles` are the
    agents whose exit would orphan a key while others stay.
    """

    here: tuple[str, ...]
    over: bool
    may: dict[str, dict[str, tuple[str, ...]]]
    vetoed: tuple[tuple[str, str, str], ...]
    lacking: tuple[tuple[str, str, str], ...]
    soles: tuple[str, ...]

    def contested(self, least: int = 2) -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
        """Return (key, its writers, all its users) for each key with a writer and at least `least` users."""
        found: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
        for key, writers in self.may[WRITE].items():
            users = tuple(dict.fromkeys((*writers, *self.may[READ][key])))
            if writers and len(users) >= least:
                found.append((key, writers, users))
        return tuple(found)


class _Last:
    config: Config | None = None
    state: EpochState | None = None
    scene: Scene | None = None


_LAST = _Last()


def scene(config: Config, state: EpochState) -> Scene:
    """Return the scene of a state; the last one is cached, because every rule reads it."""
    if _LAST.scene is not None and _LAST.config is config and _LAST.state is state:
        return _LAST.scene
    found = _scene(config, state)
    _LAST.config, _LAST.state, _LAST.scene = config, state, found
    return found


def _scene(config: Config, state: EpochState) -> Scene:
    here = active_agents(config, state)
    denied = {a for one in config.authorities if one.commitment == DENY and one.epoch == 0 for a in one.scope}
    may: dict[str, dict[str, tuple[str, ...]]] = {READ: {}, WRITE: {}}
    vetoed: list[tuple[str, str, str]] = []
    lacking: list[tuple[str, str, str]] = []
    soles: list[str] = []
    for key in config.keys:
        for operation in OPERATIONS:
            held = [agent for agent in holders(config, key, operation) if agent in here]
            stopped = (target(key), operation) in denied
            may[operation][key] = () if stopped else tuple(held)
            vetoed += [(agent, key, operation) for agent in held if stopped]
            lacking += [(agent, key, operation) for agent in here if agent not in held]
            if operation == WRITE and len(held) == 1 and len(here) > 1 and held[0] not in soles:
                soles.append(held[0])
    return Scene(here, is_over(config, state), may, tuple(vetoed), tuple(lacking), tuple(soles))


def cited(config: Config, agent: str, keys: Iterable[str], operation: str) -> tuple[str, ...]:
    """Return the ids of the lawful ALLOWs that `agent` holds over some of these (key, op)."""
    atoms = {(target(key), operation) for key in keys}
    return tuple(
        one.authority_id
        for one in config.authorities
        if one.commitment == ALLOW
        and one.epoch == 0
        and one.holder_agent_id == agent
        and not atoms.isdisjoint(one.scope)
    )


def reading(config: Config, agent: str, *keys: str) -> Choice:
    """Return an honest READ of these keys."""
    return Choice(Request(READ, keys, (), cited(config, agent, keys, READ)))


def writing(config: Config, agent: str, *pairs: tuple[str, Atom]) -> Choice:
    """Return an honest WRITE of these (key, value)."""
    keys = tuple(key for key, _ in pairs)
    return Choice(Request(WRITE, keys, tuple(pairs), cited(config, agent, keys, WRITE)))


def one_of(draw: Draw, things: Sequence[T]) -> T:
    """Draw one of `things`."""
    return draw(st.sampled_from(things))


def coin(draw: Draw) -> bool:
    """Draw a boolean."""
    return draw(st.booleans())


def some_of(draw: Draw, things: Sequence[T], least: int, most: int | None = None) -> tuple[T, ...]:
    """Draw `least` to `most` different ones of `things`, in drawn order; without `most`, up to all."""
    size = draw(st.integers(least, len(things) if most is None else min(most, len(things))))
    return tuple(draw(st.permutations(things))[:size])


def assemble(
    draw: Draw, config: Config, state: EpochState, chosen: dict[str, Choice], away_from: Sequence[str] = ()
) -> Epoch:
    """Return a joint action with these choices, the other agents' choices and the order of submission drawn.

    The others are silent, talk, or READ a key outside `away_from`, so that they do not spoil the rule's aim.
    """
    offered = scene(config, state)
    choices: list[tuple[str, Choice]] = []
    for agent in offered.here:
        if agent in chosen:
            choices.append((agent, chosen[agent]))
            continue
        readable = [key for key, who in offered.may[READ].items() if agent in who and key not in away_from]
        choices.append(
            (agent, reading(config, agent, one_of(draw, readable)) if readable and coin(draw) else NO_CHOICE)
        )
    if config.communication:
        choices = [(agent, _talking(draw, choice)) for agent, choice in choices]
    return Epoch(tuple(draw(st.permutations(choices))))


def _talking(draw: Draw, choice: Choice) -> Choice:
    if choice.exits or choice.draft is not None or not coin(draw):
        return choice
    return Choice(choice.request, Draft(one_of(draw, MESSAGES)))
