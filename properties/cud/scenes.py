"""What a drawn action can aim at: who may do what in a state, and who lacks what.

Drawn blindly, epochs reach almost nothing that matters, so the generator's rules look before they draw: at the
keys two agents may both write, at the agent whose exit orphans a key, at the pair somebody holds and a DENY
governs.  A scene is worked out once per state and shared by all rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hypothesis import strategies as st

from evenhand.core.atoms import Atom, Opaque, atom
from evenhand.core.generator import Draw
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
"""Values of worlds and requests; 1, 1.0 and true are three."""

HOSTILE_VALUES = tuple(Opaque(what) for what in ("nan", "infinity", "object", "list", "bytes", "function"))
"""What no JSON primitive is."""

MESSAGES = ('{"role":0}', '{"role":1}', "{}", '{"claim":"resource_A"}')
"""Messages as they should be."""


@dataclass(frozen=True)
class Scene:
    """What a state offers.

    `may[op]` maps each key to the agents in the run whose request for it would pass pass 1; `vetoed` and `lacking` list
    (agent, key, op) that a DENY stops despite an ALLOW, and that no ALLOW covers; `soles` are the agents whose exit
    would orphan a key while others stay.
    """

    here: tuple[str, ...]
    over: bool
    may: dict[str, dict[str, tuple[str, ...]]]
    vetoed: tuple[tuple[str, str, str], ...]
    lacking: tuple[tuple[str, str, str], ...]
    soles: tuple[str, ...]

    def contested(self, least: int = 2) -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
        """(key, who may write it, who may use it at all) for keys where so many could collide, one writing."""
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
    """The scene of a state; the last one is kept, as every rule asks for it."""
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
    """The ids of the lawful ALLOWs that `agent` holds over some of these (key, op)."""
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
    """An honest READ of these keys."""
    return Choice(Request(READ, keys, (), cited(config, agent, keys, READ)))


def writing(config: Config, agent: str, *pairs: tuple[str, Atom]) -> Choice:
    """An honest WRITE of these (key, value)."""
    keys = tuple(key for key, _ in pairs)
    return Choice(Request(WRITE, keys, tuple(pairs), cited(config, agent, keys, WRITE)))


def one_of(draw: Draw, things: Sequence[T]) -> T:
    """One of these, drawn."""
    return draw(st.sampled_from(things))


def coin(draw: Draw) -> bool:
    """Yes or no, drawn."""
    return draw(st.booleans())


def some_of(draw: Draw, things: Sequence[T], least: int, most: int | None = None) -> tuple[T, ...]:
    """So many different ones of these, in drawn order."""
    size = draw(st.integers(least, len(things) if most is None else min(most, len(things))))
    return tuple(draw(st.permutations(things))[:size])


def assemble(
    draw: Draw, config: Config, state: EpochState, chosen: dict[str, Choice], away_from: Sequence[str] = ()
) -> Epoch:
    """A joint action with these choices, the other agents' drawn, in a drawn order of submission.

    The others are silent, talk, or READ a key outside `away_from`, so that they do not spoil what a rule aims at.
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
    """The choice, perhaps with a message."""
    if choice.exits or choice.draft is not None or not coin(draw):
        return choice
    return Choice(choice.request, Draft(one_of(draw, MESSAGES)))
