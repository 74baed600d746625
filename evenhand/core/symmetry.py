"""Rename agents in a state: the classes of states that differ only in who is who.

>>> renamed((("ann", "waits"), frozenset({"bob"})), {"ann": "bob", "bob": "ann"})
(('bob', 'waits'), frozenset({'ann'}))
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import permutations
from typing import Any

Rename = Callable[[Any, Mapping[Any, Any]], Any]
"""`rename(state, to)`: the state in which each agent has the place of agent `to[agent]`."""

MOST_AGENTS = 7
"""Agents that may be exchanged: every order of them is tried, and there are 5,040 of seven."""


def renamed(value: Any, to: Mapping[str, str]) -> Any:
    """Return the value with each agent's name replaced, in tuples, frozen sets and frozen dataclasses."""
    if isinstance(value, str):
        return to.get(value, value)
    if isinstance(value, frozenset):
        return frozenset(renamed(part, to) for part in value)
    if isinstance(value, tuple):
        parts = (renamed(part, to) for part in value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: renamed(getattr(value, one.name), to) for one in fields(value) if one.init})
    return value


def orbit_of(agents: tuple[Hashable, ...], rename: Rename) -> Callable[[Any, Any], Hashable]:
    """Return the function (config, state) that gives the set of a state's images under every renaming of the agents."""
    orders = [dict(zip(agents, order, strict=True)) for order in permutations(agents)]

    def orbit(_config: Any, state: Any) -> Hashable:
        return frozenset(rename(state, to) for to in orders)

    orbit.__wrapped__ = rename  # type: ignore[attr-defined]
    return orbit
