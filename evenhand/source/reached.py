"""Run a system at small sizes: the states that runs reach, and the shortest run that breaks a claim."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.kinds import Property, Safety
from evenhand.core.system import AnySystem
from evenhand.core.trace import Scenario

MOST = 3_000
"""States that are visited at each size."""


@dataclass
class Reached:
    """The states of one size in the order of finding, whether these are all, and a run that breaks each claim."""

    system: AnySystem
    config: Any
    states: list[Any]
    complete: bool
    broken: Mapping[str, Scenario[Any, Any, Any]]


def reached(system: AnySystem, claims: Sequence[Property], most: int = MOST) -> Reached:
    """Visit states breadth first.  Raises what the system's functions raise."""
    config = next(iter(system.all_configs()))
    asked = [claim for claim in claims if isinstance(claim, Safety) and claim.reads != "histories"]
    broken: dict[str, Scenario[Any, Any, Any]] = {}
    parents: dict[Any, tuple[Any, Any] | None] = {}
    waiting: deque[Any] = deque()

    def note(found: Iterator[tuple[str, bool | None]], last: Any, action: Any) -> None:
        for name, answer in found:
            if answer is False and name not in broken:
                broken[name] = _run(config, parents, last, action)

    for start in system.initial(config):
        if start not in parents:
            parents[start] = None
            waiting.append(start)
            note(((claim.name, claim.at_start(config, start)) for claim in asked), start, None)
    states: list[Any] = list(waiting)
    complete = True
    while waiting:
        state = waiting.popleft()
        for action in system.enabled(config, state):
            step = system.take(config, state, action)
            after = step.after
            new = after not in parents
            if new or any(claim.reads == "steps" for claim in asked):
                note(((claim.name, claim.at(config, None, step)) for claim in asked), state, action)
            if not new:
                continue
            if len(states) >= most:
                complete = False
                continue
            parents[after] = (state, action)
            states.append(after)
            waiting.append(after)
    return Reached(system, config, states, complete, broken)


def _run(config: Any, parents: Mapping[Any, tuple[Any, Any] | None], last: Any, action: Any) -> Scenario[Any, Any, Any]:
    """The run to a state, and one action more if there is one."""
    actions = [] if action is None else [action]
    here = last
    while (parent := parents[here]) is not None:
        here, taken = parent
        actions.append(taken)
    return Scenario(config, here, tuple(reversed(actions)))
