"""Walk the reference in small places, and keep which functions each of its steps calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.system import AnySystem
from evenhand.core.trace import Scenario
from evenhand.jobs.plan import Budget, Job, plan, system_for
from evenhand.studies.small_scopes import small_places
from evenhand.variants.automatic import Trace, sources

WHOLE, STEPS = 6_000, 500
"""Steps of the reference that are walked in a small or planned place, and in another one; what has more is not whole.
"""

STARTS = 2_000
"""Initial states of a place that are walked from."""


@dataclass
class Walked:
    """The reference in one place: its states with the way to each, and its steps with the functions they call."""

    place: Job
    system: AnySystem
    whole: bool = True
    configs: list[Any] = field(default_factory=list[Any])
    nodes: list[tuple[int, Any, int, Any]] = field(default_factory=list[tuple[int, Any, int, Any]])
    steps: list[tuple[int, Any, Any, Any, frozenset[str]]] = field(
        default_factory=list[tuple[int, Any, Any, Any, frozenset[str]]]
    )
    lines: dict[str, set[int]] = field(default_factory=dict[str, set[int]])

    def scenario(self, node: int, action: Any) -> Scenario[Any, Any, Any]:
        """Return the shortest run to a state, and an action taken there."""
        actions = [action]
        at, state, parent, taken = self.nodes[node]
        while parent >= 0:
            actions.append(taken)
            _, state, parent, taken = self.nodes[parent]
        return Scenario(self.configs[at], state, tuple(reversed(actions)))

    def calling(self, function: str) -> Iterator[tuple[int, Any, Any, Any]]:
        """Yield the steps that call a function: state, action, observation, state after."""
        return ((node, action, shown, after) for node, action, shown, after, called in self.steps if function in called)

    @property
    def told(self) -> str:
        """The place in words."""
        where = [f"{name}={value}" for name, value in (*self.place.scope, *self.place.readings)]
        size = f"{len(self.nodes)} states, {len(self.steps)} steps{'' if self.whole else ', not all'}"
        return f"{' '.join((self.place.system, *where))} ({size})"


def places(bundle: Bundle) -> tuple[Job, ...]:
    """Return the places in which mutants are tried: small ones, those of the quick plans, those of chosen mutants.

    The `max_states` of a place bounds its steps.
    """
    searches = (job for job in plan(bundle, Budget.quick) if job.engine == "explore")
    named: list[tuple[str, Mapping[str, int], tuple[tuple[str, Any], ...], int]] = [
        *((name, scope, (), WHOLE) for name, scope in small_places(bundle).items()),
        *((job.system, dict(job.scope), job.readings, WHOLE) for job in searches),
        *((one.system, one.scope, tuple(sorted(one.readings)), STEPS) for one in bundle.model.mutants),
    ]
    found = [
        Job(bundle.name, "explore", system, tuple(sorted(scope.items())), readings, max_states=most)
        for system, scope, readings, most in named
    ]
    made = {repr((job.system, system_for(bundle, job).scope, job.readings)): job for job in reversed(found)}
    return tuple(reversed(made.values()))


def walked(bundle: Bundle, place: Job) -> Walked:
    """Walk the reference in one place, breadth first, up to so many steps."""
    system = system_for(bundle, place)
    trace = Trace(sources(system))
    found = Walked(place, system, lines=trace.lines)
    called: dict[frozenset[str], frozenset[str]] = {}
    numbers: dict[tuple[int, Any], int] = {}
    queue: deque[int] = deque()

    def arrive(config: int, state: Any, parent: int, action: Any) -> None:
        if (config, state) not in numbers:
            numbers[config, state] = len(found.nodes)
            found.nodes.append((config, state, parent, action))
            queue.append(numbers[config, state])

    for config in system.all_configs():
        if len(found.nodes) >= STARTS:
            found.whole = False
            break
        found.configs.append(config)
        for state in system.initial(config):
            arrive(len(found.configs) - 1, state, -1, None)
    while queue:
        node = queue.popleft()
        at, state, _, _ = found.nodes[node]
        room = (place.max_states or STEPS) - len(found.steps)
        actions = list(islice(system.enabled(found.configs[at], state), room + 1))
        for action in actions[:room]:
            with trace.running() as functions:
                after, shown = system.step(system.rules, found.configs[at], state, action)
            key = frozenset(functions)
            found.steps.append((node, action, shown, after, called.setdefault(key, key)))
            arrive(at, after, node, action)
        if len(actions) > room:
            found.whole = False
            break
    return found


def everywhere(bundle: Bundle) -> tuple[Walked, ...]:
    """Walk the reference in every place, and keep the places in which a line runs that runs in none before."""
    found: list[Walked] = []
    seen: set[tuple[str, int]] = set()
    for place in places(bundle):
        one = walked(bundle, place)
        lines = {(name, line) for name, numbers in one.lines.items() for line in numbers}
        if lines - seen:
            seen |= lines
            found.append(one)
    return tuple(found)
