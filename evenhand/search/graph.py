"""Breadth-first search through the states of one configuration.

States are numbered in the order in which they are found, so a smaller number never lies deeper and the first violation
found is a shortest one.  Each state keeps the numbers of its parent and of the action between; edges are kept only if a
claim needs them.  When memory ends, later states go to a disk, if there is one (`disk_visited`).  Watchers receive
states (`arrive`), states about to be expanded (`visit`) and steps (`look`).  Histories (monitors) are searched in the
same levels, as products with the states, so that each state's steps serve all of them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from sys import maxsize
from typing import Any, Protocol

from evenhand.core.alike import alike, deep_copy, refuse_merge
from evenhand.core.answers import ModelError, caught, error_text, located, short
from evenhand.core.system import AnyStep, AnySystem
from evenhand.search.bounds import Bounds
from evenhand.search.contract import (
    initial_states,
    refuse_change,
    refuse_incomparable,
    refuse_unrepeatable,
    unhashable,
)
from evenhand.search.memory import MemoryBudget
from evenhand.search.steps import make_step, stepped
from evenhand.search.walk import Walk, remember
from evenhand.search.witness import Progress

REPEATED = 64
"""Steps of a state that are taken again to compare, and states of the first configuration where this is done."""
SETTLED = 0x3FFF
"""States (less one) between calls of `gc.freeze`: known states stay, so the garbage collector can ignore them."""
COMPARED = 256
"""States that are checked for values that equal nothing but themselves."""


class Watcher:
    """A receiver of what the search finds; it is told what its class overrides."""

    name = "a watcher"
    claims: tuple[str, ...] = ()
    """The claims that it evaluates, where it tells."""
    sid = -1
    """The state that is being expanded."""

    def arrive(self, sid: int, state: Any, /) -> None:
        """State number `sid` was found reachable."""

    def visit(self, sid: int, state: Any, /) -> None:
        """State number `sid` is about to be expanded; the steps shown next leave it."""
        self.sid = sid

    def look(self, step: AnyStep, action: int, there: int, /) -> None:
        """This step leaves the visited state, by action number `action`.

        It leads to state number `there`, -1 for a state beyond the bound.
        """

    def note(self, sid: int, steps: Sequence[tuple[Any, int, bool]], /) -> None:
        """All steps out of a state, for those that need the action, the target, and whether the state changed."""

    def leave(self, sid: int, state: Any, /) -> None:
        """Every step out of state number `sid` was shown; told to those that look."""

    def start(self, initial: Sequence[Any], /) -> None:
        """The search begins in these states; told to those with values of their own, a product with the states."""

    def turn(self) -> Sequence[int]:
        """Go on to the next level, and return the states where such a watcher has something new to see."""
        return ()

    def waits(self, sid: int, /) -> bool:
        """Return whether such a watcher needs the steps out of that state at this level."""
        return False


class _Watchers:
    """Watchers by event."""

    def __init__(self, every: Sequence[Watcher]) -> None:
        self.histories = tuple(one for one in every if type(one).turn is not Watcher.turn)
        others = [one for one in every if one not in self.histories]
        self.arrivals = tuple(one for one in others if type(one).arrive is not Watcher.arrive)
        self.lookers = tuple(one for one in others if type(one).look is not Watcher.look)
        self.noters = tuple(one for one in others if type(one).note is not Watcher.note)
        visits = (one for one in others if type(one).visit is not Watcher.visit)
        self.visitors = tuple(one for one in visits if one not in self.lookers)


class Attempt(Protocol):
    """Another way to search, tried when there are `size` states or `steps` steps; it may raise these to go on later."""

    size: int
    steps: int

    def __call__(self, walk: Walk) -> None:
        """Take over, or return."""
        ...


def search(
    system: AnySystem,
    config: Any,
    number: int,
    every: Sequence[Watcher],
    bounds: Bounds,
    tick: Progress | None = None,
    until: int | None = None,
    attempt: Attempt | None = None,
) -> Walk:
    """Search one configuration; stop early only at a bound, or once state number `until` is known.

    Once there are `attempt.size` states, the attempt gets the search so far; it may raise to end this one.

    Raises ModelError for a model that breaks its contract, or a claim that raises; SpillFailed for a disk that is full
    or gone.
    """
    walk, watchers = Walk(config, number), _Watchers(every)
    budget = MemoryBudget(bounds.max_memory, spills=bounds.spill is not None)
    with ExitStack() as ending:
        ending.callback(gc.unfreeze)
        _enter_initial(system, walk)
        for history in watchers.histories:
            history.start(tuple(walk.states))
        low, high = 0, len(walk.states)
        for taken in count():
            if high > low:
                walk.levels.append(low)
            for sid in range(low, high):
                for watcher in watchers.arrivals:
                    _guarded(system, watcher, watcher.arrive, sid, walk.states[sid])
            back, walk.back = walk.back, set[int]()
            walk.outside -= back
            again = sorted(
                {sid for history in watchers.histories for sid in history.turn() if sid < low} - back - walk.outside
            )
            if low == high and not again and not back:
                break
            if bounds.depth is not None and taken >= bounds.depth:
                walk.open = walk.open or bool(again or back) or _any_goes_on(system, walk, low, high)
                break
            for sid in again:
                _expand(system, walk, sid, watchers, bounds, fresh=False)
            for sid in sorted({*back, *range(low, high)} - walk.outside) if system.constrained else range(low, high):
                if sid & 127 == 0 and budget.spent():
                    bounds, budget = _memory_ends(walk, bounds, budget)
                _attempted(attempt, walk, sid, fresh=False)
                _expand(system, walk, sid, watchers, bounds, fresh=True)
                if sid & SETTLED == 0:
                    gc.freeze()
                _attempted(attempt, walk, sid, fresh=True)
                if tick is not None and sid & 1023 == 0:
                    tick(len(walk.states), walk.transitions)
                if until is not None and len(walk.states) > until:
                    return walk
            low, high = high, len(walk.states)
    return walk


def _attempted(attempt: Attempt | None, walk: Walk, sid: int, *, fresh: bool) -> None:
    """Try another way to search: before a state is expanded by the steps so far, afterwards by the states."""
    if attempt is None:
        return
    if (sid & 127 == 0 and len(walk.states) >= attempt.size) if fresh else walk.transitions >= attempt.steps:
        attempt(walk)


def _enter_initial(system: AnySystem, walk: Walk) -> None:
    """Number the distinct initial states."""
    for place, state in enumerate(initial_states(system, walk.config)):
        try:
            known = state in walk.ids
        except Exception as error:
            raise unhashable(system, state, f"initial state number {place}", error) from error
        if not known:
            refuse_incomparable(system, state)
            sid = remember(walk, state, -1, place)
            if not system.inside(walk.config, state):
                walk.outside.add(sid)
        else:
            refuse_merge(walk.states[walk.ids[state]], state)


def _memory_ends(walk: Walk, bounds: Bounds, budget: MemoryBudget) -> tuple[Bounds, MemoryBudget]:
    """Continue on disk, if there is one; else keep no new states, and expand only known ones."""
    if bounds.spill is not None and walk.disk_visited is None:
        walk.spill(bounds.spill)
        budget.left()
        return bounds, budget
    return replace(bounds, max_states=len(walk.states)), MemoryBudget(None)


def _any_goes_on(system: AnySystem, walk: Walk, low: int, high: int) -> bool:
    """Whether one of these states offers an action."""
    offers = (system.enabled(walk.config, state) for state in walk.states[low:high])
    return any(next(iter(offer), None) is not None for offer in offers)


def _expand(system: AnySystem, walk: Walk, sid: int, watchers: _Watchers, bounds: Bounds, *, fresh: bool) -> None:
    """Take every step out of one state; `fresh` is false where only histories need them again."""
    config, states, find = walk.config, walk.states, walk.ids.get
    step, rules, constrained = system.step, system.rules, system.constrained
    state, spilled = states[sid], maxsize if walk.disk_visited is None else walk.disk_visited.first
    histories = [history for history in watchers.histories if history.waits(sid)]
    lookers: list[Watcher] = [*watchers.lookers, *histories] if fresh else [*histories]
    for watcher in (*watchers.visitors, *lookers) if fresh else lookers:
        _guarded(system, watcher, watcher.visit, sid, state)
    kept = deep_copy(state) if fresh and sid & (sid - 1) == 0 else None
    taken: list[tuple[int, Any, Any, Any]] = []
    again = REPEATED if fresh and (kept is not None or (walk.number == 0 and sid < REPEATED)) else 0
    targets: set[int] = set()
    number, counting = -1, bool(fresh and watchers.noters)
    noted: list[tuple[Any, int, bool]] = []
    sure: Any = getattr(step, "__sure__", ())
    plain: Any = getattr(step, "__plain__", step)
    for number, action in enumerate(system.enabled(config, state)):
        try:
            after = plain(state, action) if sure else None
            if type(after) in sure and (type(after) is not tuple or len(after) != 2):
                made = after, None
            else:
                made = step(rules, config, state, action)
        except caught() as error:
            stepped(system, config, state, action)  # which says more
            system.blame_step(state, action, error)
        after, shown = made if type(made) is tuple and len(made) == 2 else system.pair_of(made, state, action)
        try:
            there = find(after)
        except Exception as error:
            stepped(system, config, state, action)
            raise unhashable(system, after, f"the state after action {short(action)}", error) from error
        new = there is None
        if there is None:
            there = _enter(system, walk, after, (sid, number), bounds.max_states)
        elif there < spilled and (known := states[there]) is not after:
            if fresh and not alike(known, after):
                refuse_merge(known, after)
            after = known  # claims that keep parts of a state then compare identical objects
        targets.add(there)
        if number < again:
            taken.append((number, action, after, shown))
        changed = there != sid
        if constrained:
            there = _within(system, walk, make_step(config, state, action, shown, after), there, (sid, number), new=new)
        if counting:
            noted.append((action, there, changed))
        if lookers:
            _show_step(system, lookers, make_step(config, state, action, shown, after), number, there)
    if fresh:
        _leave(system, watchers, sid, state, noted)
        walk.transitions += number + 1
        walk.edges += len(targets)
    refuse_change(system, walk, sid, kept)
    if taken:
        refuse_unrepeatable(system, config, state, taken)


def _leave(
    system: AnySystem, watchers: _Watchers, sid: int, state: Any, noted: Sequence[tuple[Any, int, bool]]
) -> None:
    for watcher in watchers.noters:
        try:
            watcher.note(sid, noted)
        except Exception as error:
            raise _raised(system, watcher, error, "on the steps of state", state) from error
    for watcher in watchers.lookers:
        _guarded(system, watcher, watcher.leave, sid, state)


def _within(system: AnySystem, walk: Walk, step: AnyStep, there: int, way: tuple[int, int], *, new: bool) -> int:
    """Return the number of the state that a step leads to, -1 where a constraint lets no run go on after it.

    A state that only steps outside have found waits outside; the first step inside calls it back.
    """
    if not system.stays(step):
        if new and there >= 0:
            walk.outside.add(there)
        there = -1
    elif there in walk.outside and there not in walk.back:
        walk.back.add(there)
        walk.parents[there], walk.actions[there] = way
    return there


def _enter(system: AnySystem, walk: Walk, after: Any, way: tuple[int, int], most: int | None) -> int:
    """Number a new state reached by `way` (a state and an action's number); -1 where a bound leaves it out."""
    if most is not None and len(walk.states) >= most:
        walk.open = True
        return -1
    if len(walk.states) < COMPARED:
        refuse_incomparable(system, after)
    return remember(walk, after, *way)


def _show_step(system: AnySystem, watchers: Sequence[Watcher], step: AnyStep, number: int, there: int) -> None:
    for watcher in watchers:
        try:
            watcher.look(step, number, there)
        except Exception as error:
            raise _raised(system, watcher, error, "on the step of action", step.action) from error


def _guarded(system: AnySystem, watcher: Watcher, call: Callable[[int, Any], None], sid: int, state: Any) -> None:
    try:
        call(sid, state)
    except Exception as error:
        raise _raised(system, watcher, error, "in state", state) from error


def _raised(system: AnySystem, watcher: Watcher, error: Exception, where: str, what: Any) -> ModelError:
    if isinstance(error, ModelError):
        return located(f"{system.label}, {watcher.name}", error, *watcher.claims)
    return ModelError(f"{system.label}: {watcher.name} raised {error_text(error)} {where} {short(what)}")
