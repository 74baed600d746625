"""The baseline: a plain breadth-first loop over a model's own functions, and the users' systems that it is run on.

    python -m benchmarks.plain "eight puzzle"

prints the counts, and the claims that it refutes.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from evenhand.core.property import Always, EachStep, Property

KNOWN = ("Lamport's mutex", "two-phase commit", "SimpleRegular", "eight puzzle")
"""Systems of `tests`; those of `benchmarks.newcomers` have names of their own."""


class Counts(NamedTuple):
    """The counts on which all contenders must agree; edges are distinct pairs of states, loops included."""

    states: int
    transitions: int
    edges: int
    depth: int


class Moved(NamedTuple):
    """What a claim about a step may read."""

    before: Any
    action: Any
    after: Any


def own(name: str) -> tuple[Any, Sequence[Property]]:
    """Return a user's system of at least 10^5 states, with claims about its states and steps."""
    match name:
        case "Lamport's mutex":
            from tests.known.gallery import SYSTEMS

            module: Any = SYSTEMS["lamport_mutex"]
            inside = replace(module.mutual_exclusion, expected=())  # it expects something of another system there
            return module.mutex("lamport_mutex", 3, 6), (inside, module.channels_stay_short)
        case "two-phase commit":
            from tests.models.two_phase_commit import CONSISTENT, DECISIONS_STAY, two_phase_commit

            return two_phase_commit(7), (CONSISTENT, DECISIONS_STAY)
        case "SimpleRegular":
            from tests.known.simple import KNOWN_REGULAR

            return KNOWN_REGULAR.system, KNOWN_REGULAR.true
        case "eight puzzle":
            from tests.known.eight_puzzle import KNOWN as PUZZLE

            return PUZZLE.system, PUZZLE.true
        case _:
            from benchmarks import newcomers

            return newcomers.SYSTEMS[name], (newcomers.CLAIMS[name],)


def bare(system: Any, claims: Sequence[Property] = ()) -> tuple[Counts, list[str]]:
    """Return the counts of a plain breadth-first search, and the names of the claims that it refutes."""
    depths: dict[Any, int] = {}
    transitions = edges = 0
    refuted: set[str] = set()
    always = [one for one in claims if isinstance(one, Always)]
    each = [one for one in claims if isinstance(one, EachStep)]
    for config in system.all_configs():
        offered, step = _functions(system, config)
        queue = deque(system.initial(config))
        depths |= dict.fromkeys(queue, 0)
        while queue:
            state = queue.popleft()
            refuted.update(one.name for one in always if one.when(config, state) and not one.check(config, state))
            targets = set[Any]()
            for action in offered(state):
                target = step(state, action)
                transitions += 1
                targets.add(target)
                if each:
                    moved: Any = Moved(state, action, target)
                    refuted.update(one.name for one in each if one.when(moved) and not one.check(moved))
                if target not in depths:
                    depths[target] = depths[state] + 1
                    queue.append(target)
            edges += len(targets)
    return Counts(len(depths), transitions, edges, max(depths.values())), sorted(refuted)


def _functions(system: Any, config: Any) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]:
    """Return `actions(state)` and `step(state, action)`; of an `evenhand.system` the user's own, without checks."""
    actions = getattr(system.actions, "__plain__", None)
    if actions is not None:
        return actions, system.step.__plain__
    rules, step, enabled = system.rules, system.step, system.enabled
    return lambda state: enabled(config, state), lambda state, action: step(rules, config, state, action)[0]


def main(names: Sequence[str]) -> None:
    """Print for each system its counts and refuted claims."""
    for name in names:
        counts, refuted = bare(*own(name))
        print(*counts, *refuted)


if __name__ == "__main__":
    main(sys.argv[1:])
