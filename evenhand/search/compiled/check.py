"""Compare the rows of some states with the step itself, in every compiled search."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.system import AnySystem
from evenhand.search.compiled.shape import OutsideDomain
from evenhand.search.compiled.walk import RowWalk, Walk, labelled
from evenhand.search.steps import nth_action, stepped

STATES = 12
"""States that are compared in each configuration: the first, the last, and random others."""

STEPS = 24
"""Actions that are compared in a state that offers more than `WHOLE`."""

WHOLE = 512
"""Actions up to which all those of a state are compared, with their counts."""


def compare(walk: RowWalk) -> None:
    """Compare rows with steps.  Raises ModelError for a difference, and names the action."""
    random = Random(walk.number)
    for sid in drawn_states(walk, random):
        _compare(walk, sid, random)


def drawn_states(walk: Walk, random: Random) -> list[int]:
    """Return the states of a walk that are compared, of those that were expanded."""
    closed = len(walk.words) if not walk.open else max(1, walk.levels[-1])
    return sorted({0, closed - 1, *(random.randrange(closed) for _ in range(STATES - 2))})


def _compare(walk: RowWalk, sid: int, random: Random) -> None:
    system, config, state = walk.system, walk.config, walk.state(sid)
    known = Counter[tuple[tuple[int, ...], int]]()
    for words, label, weight in labelled(walk, sid):
        known[words, label] += weight
    offered = agreed_offer(walk, state, known.total())
    whole = offered <= WHOLE
    found = Counter[tuple[tuple[int, ...], int]]()
    for action in drawn_actions(system, config, state, offered, None if whole else random):
        kept = copy.deepcopy(state)
        after, shown = stepped(system, config, state, action)
        if kept != state:
            raise ModelError(
                f"{system.label}: the step of action {action!r} changes the state it is given ({place_of(system)}); "
                "a step is pure: return a new state"
            )
        if stepped(system, config, state, action) != (after, shown):
            raise ModelError(
                f"{system.label}: the step of action {action!r} in state {state!r} gave two different results "
                f"({place_of(system)}); a step is a function of its arguments alone"
            )
        try:
            words = tuple(walk.program.shape.encode(walk.program.shape.numbers(after)))
        except OutsideDomain as error:
            raise ModelError(f"{system.label}: after action {action!r}, {error} ({place_of(system)})") from error
        label = walk.program.labeller.label(config, state, (action,), shown, after)
        found[words, label] += 1
        if (words, label) not in known:
            raise ModelError(
                f"{system.label}: rows and `step` ({place_of(system)}) differ for action {action!r} in state {state!r}"
                f": step leads to {after!r} showing {shown!r}, no row does. The step may look at values in a way that "
                "compiled search cannot follow; explore with a lower method"
            )
    if whole and found != known:
        raise ModelError(f"{system.label}: rows and `step` ({place_of(system)}) lead elsewhere in state {state!r}")


def agreed_offer(walk: Walk, state: Any, of_rows: int) -> int:
    """Return how many actions a state offers.  Raises ModelError if its rows stand for another number."""
    offered = offered_in(walk.system, walk.config, state)
    if offered != of_rows:
        raise ModelError(
            f"{walk.system.label}: state {state!r} offers {offered} actions, its rows stand for {of_rows}. "
            "Correct `domains` or `menu`, or explore with a lower method"
        )
    return offered


def offered_in(system: AnySystem, config: Any, state: Any) -> int:
    """Return how many actions are on offer; those of a product are not listed."""
    joint = system.joint
    if joint is None:
        return sum(1 for _ in system.enabled(config, state))
    agents = joint.agents(config, state)
    if not agents:
        return 0
    return math.prod(sum(1 for _ in joint.choices(config, system.scope, state, agent)) for agent in agents)


def drawn_actions(system: AnySystem, config: Any, state: Any, offered: int, random: Random | None) -> Iterator[Any]:
    """Yield all actions on offer, or random ones of them."""
    if random is None:
        yield from system.enabled(config, state)
        return
    joint = system.joint
    if joint is None:
        yield from (nth_action(system, config, state, random.randrange(offered)) for _ in range(STEPS))
        return
    agents = joint.agents(config, state)
    menus = [tuple(joint.choices(config, system.scope, state, agent)) for agent in agents]
    for _ in range(STEPS):
        yield joint.join(config, state, tuple((a, random.choice(m)) for a, m in zip(agents, menus, strict=True)))


def place_of(system: AnySystem) -> str:
    """Return file and line of the system's step."""
    code = getattr(system.step, "__code__", None)
    return "unknown place" if code is None else f"{code.co_filename}:{code.co_firstlineno}"
