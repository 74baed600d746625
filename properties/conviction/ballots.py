"""Which readings change the winner of the same history, and the shortest history on which they do.

`python -m evenhand.properties.conviction.ballots [READING=VALUE …]` prints a line for each value that is no default, or
for those that are named.  Both sides take the same actions, as in `evenhand compare`, but all that they are compared on
is who won; so a reading that changes a log and no winner is not told apart, nor one whose change lies beyond the bound.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.model.conviction.protocol import CONVICTION
from evenhand.model.conviction.readings import Readings
from evenhand.model.system import System, reading_values
from evenhand.properties.variants import Separation, separate

__all__ = ["PLACES", "Changed", "ballot", "main", "winner_changes"]

AnySystem = System[Any, Any, Any, Any, Any]

_QUIET = {"ready": 0, "penalty": 0}
_STAKES = {**_QUIET, "texts": 0, "stake": 1}
_TALKS = {**_QUIET, "cycles": 1, "rounds": 1, "texts": 2}
PLACES: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("issue", {**_STAKES, "budget": 2}),
    ("issue", {**_STAKES, "budget": 2, "think": 2}),
    ("trio", {}),
    ("issue", {**_STAKES, "budget": 1, "rounds": 4}),
    ("issue", {**_STAKES, "budget": 2, "rounds": 3}),
    ("issue", {**_TALKS, "budget": 2}),
    ("issue", {**_TALKS, "texts": 3, "stake": 3, "budget": 4}),
    ("issue", {**_TALKS, "cycles": 0, "budget": 1, "rounds": 2}),
    ("series", {"penalty": 0, "texts": 0, "budget": 3}),
    ("issue", {"penalty": 1, "cycles": 1, "rounds": 2, "texts": 1, "budget": 2, "stake": 1}),
)
"""Where histories are looked for: adding and moving, a slow clock, three agents, aged stake, revisions,
poor proposers, two Issues, kick-outs."""


@dataclass(frozen=True)
class Changed:
    """The shortest history found on which a reading changes the winner, and where; None where none was found."""

    reading: str
    value: Any
    system: str
    scope: Mapping[str, int]
    found: Separation | None
    steps: int
    complete: bool


def ballot(system: AnySystem) -> AnySystem:
    """The system, of which nothing is shown but who won each Issue."""
    step: Callable[..., Any] = system.step

    def voted(rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        after, shown = step(rules, config, state, action)
        return after, tuple(one.proposal for one in shown.events if one.kind == "Finalize")

    return replace(system, step=voted)


def winner_changes(
    reading: str, value: Any, places: Sequence[tuple[str, Mapping[str, int]]] = PLACES, *, max_steps: int = 40_000
) -> Changed:
    """The shortest of what the places give."""
    best, best_at, steps, complete = None, places[0], 0, True
    for name, scope in places:
        system = ballot(CONVICTION.systems[name].at(**scope))
        found = separate(system, system.under(**{reading: value}), max_steps=max_steps, examples=0)
        steps += found.steps
        complete = complete and (found.complete or found.separated)
        if found.length is not None and (best is None or found.length < (best.length or 0)):
            best, best_at = found, (name, scope)
    return Changed(reading, value, *best_at, best, steps, complete)


def _asked(words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for name, values in reading_values(Readings()).items():
        for value in values[1:]:
            if not words or f"{name}={value}" in words:
                yield name, value


def _told(one: Changed) -> str:
    head = f"{one.reading}={one.value}"
    if one.found is None or one.found.scenario is None or one.found.shown is None:
        return f"{head}: the same winners in {one.steps} steps of {'all' if one.complete else 'bounded'} places"
    left, right = (_said(shown) for shown in one.found.shown)
    scope = ",".join(f"{name}={size}" for name, size in one.scope.items())
    lines = [f"{head}: {left}, or {right}; {one.found.length} actions of {one.system} {scope}"]
    lines += [f"    {action}" for action in one.found.scenario.actions]
    return "\n".join(lines)


def _said(shown: tuple[str, ...]) -> str:
    return f"{shown[0] or 'nobody'} wins" if shown else "it has not ended"


def main(words: Sequence[str]) -> int:
    """Print what is found."""
    for name, value in _asked(words):
        print(_told(winner_changes(name, value)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
