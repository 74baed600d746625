"""Names, worlds, and authority layouts for scopes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from evenhand.core.atoms import Atom
from evenhand.model.cud.vocabulary import OPERATIONS, WRITE, Authority, World, allow, deny


def agent_names(count: int) -> tuple[str, ...]:
    """Return `agent_1` … in the order of their names, for up to 9 agents.  Raises ValueError beyond."""
    if not 1 <= count <= 9:
        raise ValueError(f"agents must be 1 to 9, not {count}")
    return tuple(f"agent_{number}" for number in range(1, count + 1))


def key_names(count: int) -> tuple[str, ...]:
    """Return `resource_A` … for up to 26 keys.  Raises ValueError beyond."""
    if not 1 <= count <= 26:
        raise ValueError(f"keys must be 1 to 26, not {count}")
    return tuple(f"resource_{chr(ord('A') + number)}" for number in range(count))


def start_world(keys: tuple[str, ...], value: Atom | None = None) -> World:
    """Return every key as `"free"` (FQ9), or as given."""
    return tuple((key, value or Atom("str", "free")) for key in keys)


def free_layout(agents: tuple[str, ...], keys: tuple[str, ...]) -> tuple[Authority, ...]:
    """Return the layout of the free-agent graph.

    One ALLOW per agent for READ and WRITE on every key, but the last agent lacks WRITE on the first key;
    a DENY of WRITE on the last key where there are three or more.
    """
    held: list[Authority] = []
    for number, agent in enumerate(agents, start=1):
        lacks = (keys[0], WRITE) if agent == agents[-1] else None
        pairs = tuple((key, op) for key in keys for op in OPERATIONS if (key, op) != lacks)
        held.append(allow(number, agent, *pairs))
    if len(keys) >= 3:
        held.append(deny(len(agents) + 1, (keys[-1], WRITE)))
    return tuple(held)


def layout_slots(agents: tuple[str, ...], keys: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Return the slots of the universe: (holder, key, op) for each ALLOW, then ("", key, op) for each DENY."""
    allows = [(agent, key, op) for agent in agents for key in keys for op in OPERATIONS]
    denies = [("", key, op) for key in keys for op in OPERATIONS]
    return tuple(allows + denies)


def every_layout(agents: tuple[str, ...], keys: tuple[str, ...]) -> Iterator[tuple[Authority, ...]]:
    """Yield every subset of the slots as a layout, smallest first; an artefact's number is its slot's place.

    2 agents and 2 keys have 8 + 4 slots and 4,096 layouts.
    """
    slots = tuple(enumerate(layout_slots(agents, keys), start=1))
    for size in range(len(slots) + 1):
        for picked in itertools.combinations(slots, size):
            yield tuple(
                allow(number, holder, (key, op)) if holder else deny(number, (key, op))
                for number, (holder, key, op) in picked
            )
