"""Rename agents in a state: the classes of states that differ only in who is who.

>>> renamed((("ann", "waits"), frozenset({"bob"})), {"ann": "bob", "bob": "ann"})
(('bob', 'waits'), frozenset({'ann'}))
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Set
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import permutations
from typing import Any

Rename = Callable[[Any, Mapping[Any, Any]], Any]
"""`rename(state, to)`: the state in which each agent has the place of agent `to[agent]`."""

MOST_AGENTS = 7
"""Agents that may be exchanged: every order of them is tried, and there are 5,040 of seven."""


def renamed(value: Any, to: Mapping[Any, Any], *, numbers: bool = False) -> Any:
    """Return the value with each text that is a name replaced, inside containers and records too.

    Members of enums stay.  With `numbers` a number may be a name as well.
    """
    match value:
        case Enum() | bytes() | bool() | None:
            return value
        case str():
            return to.get(value, value)
        case int() | float():
            return to.get(value, value) if numbers else value
        case Mapping():
            return {
                renamed(key, to, numbers=numbers): renamed(part, to, numbers=numbers) for key, part in value.items()
            }
        case Set():
            return frozenset(renamed(part, to, numbers=numbers) for part in value)
        case list() | tuple():
            parts = [renamed(part, to, numbers=numbers) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        case _ if is_dataclass(value) and not isinstance(value, type):
            told = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
            return replace(value, **{name: renamed(part, to, numbers=numbers) for name, part in told.items()})
        case _:
            return value


def orbit_of(agents: tuple[Hashable, ...], rename: Rename) -> Callable[[Any, Any], Hashable]:
    """Return the function (config, state) that gives the set of a state's images under every renaming of the agents."""
    orders = [dict(zip(agents, order, strict=True)) for order in permutations(agents)]

    def orbit(_config: Any, state: Any) -> Hashable:
        return frozenset(rename(state, to) for to in orders)

    orbit.__wrapped__ = rename  # type: ignore[attr-defined]  # whose purity is checked, as that of every function given
    return orbit
