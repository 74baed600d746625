"""Find the readings that change the winner of the same history, and the shortest such history.

`python -m benchmarks.ballots [READING=VALUE …]` prints a line for each value that is not the default, or for the named
values.  Both sides take the same actions, as in `evenhand compare`, but only their winners are compared: a reading
that changes a log and no winner shows no difference, nor does one whose change lies beyond the bound.

A reading of the clock, of how a phase ends or of the number of rounds first makes one side end before the other.  So
where the shortest difference is an end, a second search finds the shortest history at which both have ended and
disagree.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from evenhand.core.system import AnySystem, reading_values
from evenhand.model.conviction.protocol import CONVICTION
from evenhand.model.conviction.readings import Readings
from evenhand.variants.separate import Separation, lockstep, separate

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
"""The searched scopes: adding and moving, a slow clock, three agents, aged stake, revisions,
poor proposers, two Issues, kick-outs.
"""
_SIGNALS: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("issue", {**_STAKES, "budget": 2, "ready": 1}),
    ("issue", {**_STAKES, "budget": 1, "ready": 1, "think": 2}),
    ("issue", {**_STAKES, "budget": 1, "ready": 1, "rounds": 2, "texts": 1}),
)
_CAPPED: tuple[tuple[str, Mapping[str, int]], ...] = tuple(
    ("issue", {**_STAKES, "outsiders": 0, "strangers": 1, "budget": budget, "cap": cap})
    for budget, cap in ((2, 1), (3, 2))
)
_OPEN_ENDED: tuple[tuple[str, Mapping[str, int]], ...] = tuple(
    ("issue", {**_STAKES, "budget": budget, "rounds": 0}) for budget in (1, 2)
)
PLACES_FOR: Mapping[str, tuple[tuple[str, Mapping[str, int]], ...]] = {
    "clock": _SIGNALS,
    "phase_end": _SIGNALS,
    "timer_reset": _SIGNALS,
    "completes": _SIGNALS,
    "max_credit": _CAPPED,
    "stake_rounds": _OPEN_ENDED,
}
"""Additional scopes for a reading: where agents can say READY, where a grant can be too large, and where the number
of rounds is the reading's own.
"""


@dataclass(frozen=True)
class Changed:
    """The shortest history found on which a reading changes the winner, and its scope; `found` may be None."""

    reading: str
    value: Any
    system: str
    scope: Mapping[str, int]
    found: Separation | None
    steps: int
    complete: bool


def ballot(system: AnySystem) -> AnySystem:
    """Return the system with the winner of each Issue as its only observation."""
    step: Callable[..., Any] = system.step

    def voted(rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        after, shown = step(rules, config, state, action)
        return after, tuple(one.proposal for one in shown.events if one.kind == "Finalize")

    return replace(system, step=voted)


def winner_changes(
    reading: str, value: Any, places: Sequence[tuple[str, Mapping[str, int]]] = PLACES, *, max_steps: int = 40_000
) -> Changed:
    """Return the shortest difference over the scopes."""
    best, best_at, steps, complete = None, places[0], 0, True
    for name, scope in places:
        system = ballot(CONVICTION.systems[name].at(**scope))
        found = separate(system, system.under(**{reading: value}), max_steps=max_steps, examples=0)
        steps += found.steps
        complete = complete and (found.complete or found.separated)
        if found.length is not None and (best is None or found.length < (best.length or 0)):
            best, best_at = found, (name, scope)
    return Changed(reading, value, *best_at, best, steps, complete)


def places_of(reading: str) -> tuple[tuple[str, Mapping[str, int]], ...]:
    """Return the scopes searched for a reading."""
    return (*PLACES_FOR.get(reading, ()), *PLACES)


@dataclass(frozen=True)
class Disputed:
    """The shortest history at which both sides have ended their first Issue, with different winners.

    `actions` is None where none was found in `steps` steps; `complete` if these are all steps.  In `met` of them both
    had
    ended and agreed; `met` 0 means the answer says nothing.
    """

    system: str
    scope: Mapping[str, int]
    actions: tuple[Any, ...] | None
    winners: tuple[str, str]
    steps: int
    met: int
    complete: bool


def winners_differ(
    reading: str, value: Any, places: Sequence[tuple[str, Mapping[str, int]]] = PLACES, *, max_steps: int = 40_000
) -> Disputed:
    """Return the shortest history at which both have ended and disagree, breadth-first over pairs of states."""
    best = Disputed(*places[0], None, ("", ""), 0, 0, True)
    for name, scope in places:
        found = _dispute(CONVICTION.systems[name].at(**scope), {reading: value}, max_steps)
        nearer = found.actions is not None and (best.actions is None or len(found.actions) < len(best.actions))
        best = replace(
            replace(best, system=name, scope=scope, actions=found.actions, winners=found.winners) if nearer else best,
            steps=best.steps + found.steps,
            met=best.met + found.met,
            complete=best.complete and (found.complete or found.actions is not None),
        )
    return best


def _dispute(system: AnySystem, readings: Mapping[str, Any], max_steps: int) -> Disputed:
    both, steps = lockstep(ballot(system), ballot(system.under(**readings))), 0
    met = 0
    undecided: tuple[str | None, str | None] = (None, None)
    for config in both.all_configs():
        starts = [((start, undecided), ()) for start in both.initial(config)]
        seen: set[Any] = {node for node, _ in starts}
        queue = deque[tuple[Any, tuple[Any, ...]]](starts)
        while queue:
            (state, ended), path = queue.popleft()
            for action in both.enabled(config, state):
                if steps >= max_steps:
                    return Disputed(system.name, {}, None, ("", ""), steps, met, False)
                steps += 1
                made = both.take(config, state, action)
                left, right = (_ended(was, now) for was, now in zip(ended, made.shown, strict=True))
                if left is not None and right is not None:
                    if left != right:
                        return Disputed(system.name, {}, (*path, action), (left, right), steps, met, True)
                    met += 1
                    continue
                node = (made.after, (left, right))
                if node not in seen:
                    seen.add(node)
                    queue.append((node, (*path, action)))
    return Disputed(system.name, {}, None, ("", ""), steps, met, True)


def _ended(winner: str | None, shown: tuple[str, ...]) -> str | None:
    return winner if winner is not None or not shown else shown[0]


def _asked(words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    numbers = (("stake_rounds", rounds) for rounds in (1, 2, 4))
    worded = ((name, value) for name, values in reading_values(Readings()).items() for value in values[1:])
    for name, value in chain(worded, numbers):
        if not words or f"{name}={value}" in words:
            yield name, value


def _told(one: Changed) -> str:
    head = f"{one.reading}={one.value}"
    if one.found is None or one.found.scenario is None or one.found.shown is None:
        return f"{head}: the same winners in {one.steps} steps of {'all' if one.complete else 'bounded'} places"
    left, right = (_said(shown) for shown in one.found.shown)
    return _history(f"{head}: {left}, or {right}", one.system, one.scope, one.found.scenario.actions)


def _told_of_ends(one: Disputed) -> str:
    if one.actions is None:
        agreed = f"the same winners, {one.met} times" if one.met else "they never do"
        return (
            f"  where both have ended: {agreed} in {one.steps} steps of {'all' if one.complete else 'bounded'} places"
        )
    left, right = (_said((winner,)) for winner in one.winners)
    return _history(f"  where both have ended: {left}, or {right}", one.system, one.scope, one.actions)


def _history(head: str, system: str, scope: Mapping[str, int], actions: Sequence[Any]) -> str:
    sizes = ",".join(f"{name}={size}" for name, size in scope.items())
    return "\n".join([f"{head}; {len(actions)} actions of {system} {sizes}", *(f"    {action}" for action in actions)])


def _said(shown: tuple[str, ...]) -> str:
    return f"{shown[0] or 'nobody'} wins" if shown else "it has not ended"


def main(words: Sequence[str]) -> int:
    """Print the results."""
    for name, value in _asked(words):
        found = winner_changes(name, value, places_of(name))
        print(_told(found), flush=True)
        if found.found is not None and found.found.shown is not None and () in found.found.shown:
            print(_told_of_ends(winners_differ(name, value, places_of(name))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
