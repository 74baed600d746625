"""Breadth-first search through the states of one configuration.

States are numbered in the order in which they are found, so that a smaller number never lies deeper and
the first violation met is a shortest one.  Each state keeps the number of its parent and of the action that
led here; nothing else of the graph is kept unless a claim wants edges.  Where memory ends, later states go to a
disk, if there is one (`shelf`).  Watchers are shown what the search
meets: states (`arrive`), states about to be expanded (`visit`), steps (`look`).  Histories (monitors) are
searched along in the same levels, as products with the states, so that each state's steps serve all of them.
"""

from __future__ import annotations

import copy
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from evenhand.model.system import Step
from evenhand.properties.search.blind import ActionNeeded, blind_step, make_step, was_touched
from evenhand.properties.search.disk import Spill
from evenhand.properties.search.found import AnySystem, Finding, ModelError, named
from evenhand.properties.search.memory import Budget
from evenhand.properties.search.shelf import Shelf
from evenhand.properties.search.steps import Tier, nth_action, stepped

__all__ = ["Bounds", "History", "Walk", "Watcher", "Watchers", "remember", "search"]


class Watcher:
    """Somebody who is shown what the search meets; by default not interested."""

    name = "a watcher"

    def arrive(self, sid: int, state: Any, /) -> None:
        """State number `sid` was found reachable."""

    def visit(self, sid: int, state: Any, tier: Tier, /) -> None:
        """State number `sid` is about to be expanded; the steps shown next leave it."""

    def look(self, step: Step[Any, Any, Any, Any], weight: int, action: int, there: int, /) -> None:
        """`weight` steps like this one leave the visited state; the first is action number `action`.

        They lead to state number `there`, which is -1 for a state beyond the bound.  The step may be blind.
        """


class History(Watcher):
    """A watcher with values of its own, which runs along as a product with the states."""

    def start(self, initial: Sequence[int]) -> None:
        """The search begins in these states."""

    def turn(self) -> Sequence[int]:
        """Go on to the next level: the states in which this history has something new to see."""
        return ()

    def waits(self, sid: int) -> bool:
        """Whether this history wants to see the steps out of that state at this level."""
        return False

    def leave(self) -> None:
        """All steps out of the visited state have been shown."""


@dataclass(frozen=True)
class Watchers:
    """Who wants to see what; `singly` are the lookers again, for steps that stand for themselves (or the same)."""

    arrivals: tuple[Watcher, ...] = ()
    visitors: tuple[Watcher, ...] = ()
    lookers: tuple[Watcher, ...] = ()
    histories: tuple[History, ...] = ()
    singly: tuple[Watcher, ...] | None = None


@dataclass(frozen=True)
class Bounds:
    """What ends a search early: so many states of one configuration, steps from the start, bytes of this process.

    With `spill` a search goes on there when its memory ends.
    """

    max_states: int | None = None
    depth: int | None = None
    max_memory: int | None = None
    spill: Spill | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        named = (("max_states", self.max_states), ("depth", self.depth), ("max_memory", self.max_memory))
        return " and ".join(f"{name}={bound}" for name, bound in named if bound is not None)


@dataclass
class Walk:
    """The states of one configuration, how each was first reached, and the exact counts.

    `levels[d]` is the number of the first state at distance `d`.  `open` says that a bound kept the search
    from seeing everything; `transitions` counts state times action on offer, `edges` distinct pairs of states.
    """

    config: Any
    number: int
    states: Any = field(default_factory=list[Any])
    ids: Any = field(default_factory=dict[Any, int])
    parents: Any = field(default_factory=lambda: array("q"))
    actions: Any = field(default_factory=lambda: array("q"))
    levels: list[int] = field(default_factory=list[int])
    transitions: int = 0
    edges: int = 0
    open: bool = False
    shelf: Shelf | None = None

    @property
    def spilled(self) -> int:
        """How many of the states went to a disk."""
        return 0 if self.shelf is None else self.shelf.count - self.shelf.first

    def spill(self, spill: Spill) -> None:
        """Keep the states that are found from here on on a disk.  Raises SpillFailed."""
        shelf = self.shelf = Shelf(spill(), self.ids, self.states, self.parents, self.actions)
        self.ids, self.states, self.parents, self.actions = shelf, shelf.states, shelf.parents, shelf.actions

    def depth_of(self, sid: int) -> int:
        """The distance of a state from the nearest initial one."""
        return bisect_right(self.levels, sid) - 1

    def path(self, sid: int) -> tuple[int, tuple[int, ...]]:
        """A shortest way to a state: number of the initial state, numbers of the actions."""
        taken: list[int] = []
        while self.parents[sid] >= 0:
            taken.append(self.actions[sid])
            sid = self.parents[sid]
        return self.actions[sid], tuple(reversed(taken))

    def finding(self, sid: int, *more: int) -> Finding:
        """The shortest run to a state, and the actions after it."""
        start, path = self.path(sid)
        return Finding(self.number, start, (*path, *more))


def remember(walk: Walk, state: Any, parent: int, action: int) -> int:
    """Number a state that was not met before, and keep how it was reached."""
    if walk.shelf is not None:
        return walk.shelf.add(state, parent, action)
    sid = len(walk.states)
    walk.ids[state] = sid
    walk.states.append(state)
    walk.parents.append(parent)
    walk.actions.append(action)
    return sid


def search(
    system: AnySystem,
    tier: Tier,
    config: Any,
    number: int,
    watchers: Watchers,
    bounds: Bounds,
    tick: Callable[[int, int], None] | None = None,
    until: int | None = None,
) -> Walk:
    """Search one configuration; stops early only at a bound, or once state number `until` is known.

    Raises ModelError for a model that breaks its contract, or a claim that raises; SpillFailed for a disk that is full
    or gone.
    """
    walk = Walk(config, number)
    budget = Budget(bounds.max_memory, spills=bounds.spill is not None)
    tier.begin(config, number)
    for place, state in enumerate(_initial(system, config)):
        try:
            known = state in walk.ids
        except TypeError as error:
            raise _unhashable(system, state, f"initial state number {place}", error) from error
        if not known:
            remember(walk, state, -1, place)
    for history in watchers.histories:
        history.start(range(len(walk.states)))
    low, high = 0, len(walk.states)
    for taken in count():
        if high > low:
            walk.levels.append(low)
        for sid in range(low, high):
            for watcher in watchers.arrivals:
                _guarded(system, watcher, watcher.arrive, sid, walk.states[sid])
        again = sorted({sid for history in watchers.histories for sid in history.turn() if sid < low})
        if low == high and not again:
            return walk
        if bounds.depth is not None and taken >= bounds.depth:
            walk.open = walk.open or bool(again) or any(_goes_on(system, config, s) for s in walk.states[low:high])
            return walk
        for sid in again:
            _expand(system, tier, walk, sid, watchers, bounds, fresh=False)
        for sid in frontier(low, high):
            if sid & 127 == 0 and budget.spent():
                if bounds.spill is not None and walk.shelf is None:
                    walk.spill(bounds.spill)
                    budget.left()
                else:
                    # From here on nothing new is kept; what is known is still expanded.
                    bounds = replace(bounds, max_states=len(walk.states))
                    budget = Budget(None)
            _expand(system, tier, walk, sid, watchers, bounds, fresh=True)
            if tick is not None and sid & 1023 == 0:
                tick(len(walk.states), walk.transitions)
            if until is not None and len(walk.states) > until:
                return walk
        low, high = high, len(walk.states)
    return walk


def frontier(low: int, high: int) -> range:
    """The states of one level that are still to be expanded: all that were found in the level before."""
    return range(low, high)


def _initial(system: AnySystem, config: Any) -> list[Any]:
    try:
        return list(system.initial(config))
    except Exception as error:
        raise ModelError(
            f"{named(system)}: `initial` of configuration {config!r} raised {type(error).__name__}: {error}"
        ) from error


def _goes_on(system: AnySystem, config: Any, state: Any) -> bool:
    return next(iter(system.enabled(config, state)), None) is not None


def _expand(
    system: AnySystem, tier: Tier, walk: Walk, sid: int, watchers: Watchers, bounds: Bounds, *, fresh: bool
) -> None:
    """Take every step out of one state; `fresh` is false where only histories want to see them again."""
    config, state, ids = walk.config, walk.states[sid], walk.ids
    histories = [history for history in watchers.histories if history.waits(sid)]
    lookers: list[Watcher] = [*watchers.lookers, *histories] if fresh else [*histories]
    singly = lookers if watchers.singly is None or not fresh else [*watchers.singly, *histories]
    for watcher in (*watchers.visitors, *lookers) if fresh else lookers:
        _guarded(system, watcher, watcher.visit, sid, state, tier)
    kept = _copied(state) if fresh and sid & (sid - 1) == 0 else None
    targets: set[int] = set()
    transitions = 0
    first: tuple[Any, Any] | None = None
    for number, action, group, after, shown in tier.rows(config, state):
        try:
            there = ids.get(after)
        except TypeError as error:
            at = nth_action(system, config, state, number)
            raise _unhashable(system, after, f"the state after action {at!r}", error) from error
        if there is None:
            if bounds.max_states is not None and len(walk.states) >= bounds.max_states:
                walk.open, there = True, -1
            else:
                there = remember(walk, after, sid, number)
        targets.add(there)
        transitions += weight_of(group)
        first = first or (after, shown)
        if lookers:
            if group is None or len(group) == 1:
                if group is not None:
                    action = tier.action(config, state, number)
                step = make_step(config, state, action, shown, after)
                for watcher in singly:
                    try:
                        watcher.look(step, 1, number, there)
                    except Exception as error:
                        raise _raised(system, watcher, error, step.action) from error
            else:
                _show_group(system, tier, lookers, walk, state, (group, after, shown, there))
    for history in histories:
        history.leave()
    if fresh:
        walk.transitions += transitions
        walk.edges += len(targets)
    try:
        intact = ids.get(state) == sid and (kept is None or kept[0] == state)
    except TypeError as error:
        raise _unhashable(system, state, "a state that was hashable before", error) from error
    if not intact:
        raise _mutated(system, walk, sid)
    if kept is not None and first is not None:
        action = tier.action(config, state, 0)
        if (again := stepped(system, config, state, action)) != first:
            raise ModelError(
                f"{named(system)}: the step of action {action!r} in state {state!r} gave {first!r}, and then "
                f"{again!r}. A step is a function of rules, configuration, state and action alone"
            )


def weight_of(group: Sequence[int] | None) -> int:
    """How many joint actions one row stands for."""
    return 1 if group is None else len(group)


def _show_group(
    system: AnySystem, tier: Tier, lookers: Sequence[Watcher], walk: Walk, state: Any, row: tuple[Any, Any, Any, int]
) -> None:
    """Show a group of joint actions: blind to whom that suffices, one real action after the other to the rest."""
    group, after, shown, there = row
    rest: list[Watcher] = []
    for watcher in lookers:
        step = blind_step(walk.config, state, shown, after)
        try:
            watcher.look(step, len(group), group[0], there)
        except ActionNeeded:
            rest.append(watcher)
        except Exception as error:
            raise _raised(system, watcher, error, tier.action(walk.config, state, group[0])) from error
        else:
            if was_touched(step):
                raise ModelError(
                    f"{named(system)}: {watcher.name} swallows every exception, so it cannot be told whether "
                    "it looks at the action; let it catch Exception at most"
                )
    if rest:
        for number in group:
            action = tier.action(walk.config, state, number)
            step = make_step(walk.config, state, action, shown, after)
            for watcher in rest:
                try:
                    watcher.look(step, 1, number, there)
                except Exception as error:
                    raise _raised(system, watcher, error, action) from error


def _guarded(system: AnySystem, watcher: Watcher, call: Callable[..., None], sid: int, state: Any, *more: Any) -> None:
    try:
        call(sid, state, *more)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"{named(system)}: {watcher.name} raised {type(error).__name__}: {error} in state {state!r}"
        ) from error


def _raised(system: AnySystem, watcher: Watcher, error: Exception, action: Any) -> ModelError:
    if isinstance(error, ModelError):
        return error
    return ModelError(
        f"{named(system)}: {watcher.name} raised {type(error).__name__}: {error} on the step of action {action!r}"
    )


def _unhashable(system: AnySystem, state: Any, what: str, error: TypeError) -> ModelError:
    return ModelError(
        f"{named(system)}: {what} cannot be hashed ({error}): {state!r}. "
        "States are frozen dataclasses over tuples, frozensets and atoms"
    )


def _copied(state: Any) -> tuple[Any] | None:
    """A deep copy, to see mutations that the hash does not show; None for what cannot be copied."""
    try:
        return (copy.deepcopy(state),)
    except Exception:
        return None


def _mutated(system: AnySystem, walk: Walk, sid: int) -> ModelError:
    """Name the action that changes its state in place, by running the way there again on fresh objects."""
    start, path = walk.path(sid)
    config = walk.config
    for choice in count():
        state = _initial(system, config)[start]
        try:
            for number in path:
                state, _ = stepped(system, config, state, nth_action(system, config, state, number))
            action = nth_action(system, config, state, choice)
        except IndexError:
            break
        kept = _copied(state)
        stepped(system, config, state, action)
        if kept is not None and kept[0] != state:
            return ModelError(
                f"{named(system)}: the step of action {action!r} changes the state it is given; it was {kept[0]!r}, "
                f"it is now {state!r}. A step is pure: return a new state"
            )
    return ModelError(f"{named(system)}: some step changes a state in place: {walk.states[sid]!r}")
