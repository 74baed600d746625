"""The two models of the comparison with other checkers: few states with many steps, and many states with few."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from evenhand.core.system import Scope, System
from evenhand.model.cud.protocol import CUD

CELLS = 10
"""Counters of the ring: 4 ** 10 states at most."""


@dataclass(frozen=True, slots=True)
class Ring:
    """Counters 0 to 3 in a ring."""

    cells: tuple[int, ...]


def step(_rules: None, _config: None, state: Ring, i: int) -> tuple[Ring, str]:
    """Advance counter `i`, or reset it if its left neighbour is full."""
    cells = state.cells
    new = 0 if cells[i - 1] == 3 else (cells[i] + 1) % 4
    return replace(state, cells=(*cells[:i], new, *cells[i + 1 :])), "stepped"


def cells(size: int = CELLS) -> System[None, Ring, int, str, None]:
    """Return the ring: a frozen dataclass and a pure step."""
    return System(
        name="cells",
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (Ring((0,) * size),),
        step=step,
        actions=lambda _config, _scope, _state: range(size),
        scope=Scope(cells=size),
    )


def model(name: str) -> System[Any, Any, Any, Any, Any]:
    """Return `cells`, or the free-agent graph at `agents,keys,values`.  Raises ValueError for anything else."""
    if name == "cells":
        return cells()
    try:
        agents, keys, values = (int(part) for part in name.split(","))
    except ValueError as error:
        raise ValueError(f"model {name!r} is neither `cells` nor three sizes such as 3,2,2") from error
    return CUD.systems["free"].at(agents=agents, keys=keys, values=values)
