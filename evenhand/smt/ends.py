"""Samples that are the last steps of runs: one in which a claim is false comes with the run that shows it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyScenario, Scenario, stepping

S = TypeVar("S")
A = TypeVar("A")
End: TypeAlias = tuple[AnyScenario, AnyStep]
"""A run from an initial state, and its last step as a variant takes it."""


@dataclass(frozen=True, eq=False)
class Ends:
    """Samples of a theorem that are the ends of `runs(system)`, for any variant.

    A run counts as evidence only if the judge replays it to just that step: the way there may be another variant's.
    """

    runs: Callable[[AnySystem], Iterable[End]]

    def __call__(self, system: AnySystem) -> Iterator[AnyStep]:
        """Yield the last steps."""
        return (step for _, step in self.runs(system))


def ends_of(steps: Sequence[AnyStep]) -> Iterator[End]:
    """Yield every step of a run from an initial state as an end."""
    for place, step in enumerate(steps, 1):
        yield run_of(steps[:place]), step


def ends_along(system: AnySystem, config: Any, start: Any, *actions: Any) -> list[End]:
    """Return every step of the run that takes these actions as an end."""
    return list(ends_of(tuple(stepping(system, Scenario(config, start, actions)))))


def run_of(steps: Sequence[AnyStep]) -> AnyScenario:
    """Return the run that takes these steps."""
    return Scenario(steps[0].config, steps[0].before, tuple(step.action for step in steps))


def single(situations: Callable[[], Iterable[tuple[Any, Any, Any]]]) -> Ends:
    """Return the samples that are single steps: of a configuration, an initial state and an action each."""
    return Ends(
        lambda system: (
            end_at(system, Scenario(config, start, ()), start, action) for config, start, action in situations()
        )
    )


def end_at(system: AnySystem, way: AnyScenario, state: Any, action: Any) -> End:
    """Return the end of a way to a state and an action there."""
    return replace(way, actions=(*way.actions, action)), system.take(way.config, state, action)


def ways(
    config: Any,
    start: S,
    acts: Callable[[S], Iterable[A]],
    after: Callable[[S, A], S | None],
    most: int,
    firsts: Iterable[Sequence[A]] = (),
) -> Mapping[S, AnyScenario]:
    """Return states that can be reached, breadth first, until there are more than `most`, each with a way to it.

    `after(state, act)` is the state that an act leads to, or None if it is not wanted.  The search begins in the start
    and at the ends of the `firsts`.
    """
    found: dict[S, AnyScenario] = {start: Scenario(config, start, ())}

    def go(state: S, act: A) -> S | None:
        later = after(state, act)
        if later is not None and later not in found:
            found[later] = replace(found[state], actions=(*found[state].actions, act))
            waiting.append(later)
        return later

    waiting = [start]
    for first in firsts:
        state: S | None = start
        for act in first:
            state = None if state is None else go(state, act)
    for state in waiting:
        for act in acts(state):
            go(state, act)
        if len(found) > most:
            break
    return found


def drawn_runs(
    system: AnySystem, config: Any, label: str, draws: int, length: int, pick: Callable[[random.Random, Any], Any]
) -> Iterator[tuple[AnyStep, ...]]:
    """Yield seeded runs of any variant from the first initial state; `pick(choose, state)` draws the next action."""
    for draw in range(draws):
        choose, state, run = random.Random(f"{label} {draw}"), next(iter(system.initial(config))), list[AnyStep]()
        for _ in range(length):
            run.append(system.take(config, state, pick(choose, state)))
            state = run[-1].after
        yield tuple(run)
