"""The numbers of states of the space and the layers of markspace, by formulas and independent counts; imports nothing.

Section numbers are the specification's.  Where a state contains only the choices made, there is a formula; where it
counts tokens or writes, small machines of plain tuples enumerate all states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import combinations


def space(marks: int, horizon: int) -> int:
    """Up to two marks in one deployment, ages up to the horizon (§8, no resolved needs, which take three).

    Ten honest drafts and the one of strength 0 are stored alone; beside a mark four more refer to it.  Ages never
    grow from an older mark to a newer one, and time stands still once the oldest is at the horizon.
    """
    alone, referring = 11, 4
    found = 1 + alone * (horizon + 1)
    if marks > 1:
        found += alone * (alone + referring) * (horizon + 1) * (horizon + 2) // 2
    return found


def bare() -> int:
    """No layer, one agent, one mark: nothing, an observation or a need in either scope, or an action; either half."""
    return (1 + 2 * 2 + 1) * 2


def barred() -> int:
    """The same with a barrier (§9.8): any of four permissions revoked, needs first or not, in any combination."""
    return bare() * sum(1 for size in range(5) for _ in combinations(range(4), size)) * 2


def limited(per_agent: int | None, total: int | None, agents: int, capacity: int) -> int:
    """Writes of a window counted by agent and in all (§9.12); authors are kept by half, for windows that slide."""

    def after(state: tuple[tuple[tuple[int, str], ...], int, tuple[int, ...], tuple[int, ...]]) -> Iterator[Hashable]:
        stored, half, early, late = state
        yield (stored, 0, (), ()) if half else (stored, 1, late, ())
        if len(stored) == capacity:
            return
        for who in range(agents):
            yield (*stored, (who, "action")), half, early, late
            window = early + late
            full = (per_agent is not None and window.count(who) >= per_agent) or (
                total is not None and len(window) >= total
            )
            if not full:
                for kind in ("observation", "need"):
                    yield (*stored, (who, kind)), half, early, tuple(sorted((*late, who)))

    return reached(((), 0, (), ()), after)


Tokens = tuple[int, int]
Warned = tuple[bool, bool]
Ceiling = tuple["int | None", "int | None"]


def budgeted(first: int, second: int | None) -> int:
    """Tokens of one agent (§9.10): rounds of (2, 1) and (5, 0), warned at four fifths, raised once by (4, 4)."""

    def crossed(old: bool, spent: int, top: int | None) -> bool:
        return old or (top is not None and 5 * spent >= 4 * top)

    def after(state: tuple[Tokens, Warned, Ceiling]) -> Iterator[Hashable]:
        used, warned, ceiling = state
        over = any(top is not None and spent >= top for spent, top in zip(used, ceiling, strict=True))
        for more in () if over else ((2, 1), (5, 0)):
            now = (used[0] + more[0], used[1] + more[1])
            told = (crossed(warned[0], now[0], ceiling[0]), crossed(warned[1], now[1], ceiling[1]))
            yield now, told, ceiling
        if ceiling == (first, second):
            lifted: Ceiling = (first + 4, None if second is None else second + 4)
            yield used, warned, lifted

    return reached(((0, 0), (False, False), (first, second)), after) * bare()


def scheduled() -> int:
    """Two agents with an interval or none (§14.2), in three deployments; seconds since an activation up to two."""

    def after(state: tuple[tuple[int | None, int | None], ...]) -> Iterator[Hashable]:
        yield tuple((None if since is None else min(since + 1, 2), every) for since, every in state)
        yield tuple((0 if _due(since, every) else since, every) for since, every in state)
        for place in range(len(state)):
            for every in (None, 1, 2):
                changed = (state[place][0], every)
                yield (*state[:place], changed, *state[place + 1 :])

    starts = (((None, 1), (None, None)), ((None, 1), (None, 2)), ((None, 1), (None, None)))
    return sum(reached(start, after) for start in starts)


def _due(since: int | None, every: int | None) -> bool:
    return every is not None and (since is None or since >= every)


def reached(start: Hashable, after: Callable[..., Iterable[Hashable]]) -> int:
    """Return the number of states reachable from `start`; `after` gives the successors."""
    seen, todo = {start}, [start]
    while todo:
        for state in after(todo.pop()):
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return len(seen)
