"""A ring of ten counters, with many states of few steps each; `cells.pml` is the same graph for Spin."""

from __future__ import annotations

from dataclasses import dataclass, replace

import evenhand
from evenhand.core.system import Scope, System

CELLS = 10
"""Counters of the ring: 4 ** 10 states, less one."""


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


RING = cells()


@evenhand.always("Each counter is 0 to 3.")
def small(state: Ring) -> bool:
    """Return whether it is."""
    return all(0 <= count <= 3 for count in state.cells)
