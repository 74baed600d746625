"""Counts of a search by action, compared with counts by hand and with a naive search."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import pytest

import evenhand
from evenhand.core.property import always
from evenhand.core.registry import find
from evenhand.core.system import AnySystem
from evenhand.search import explore
from evenhand.search.actions import LABELS, OTHERS, ActionCounts, Count, label_of
from tests.engines.search.cells import plain_cells


def counter(size: int, actions: tuple[Any, ...] = ("up", "stay", ("jump", 2))) -> AnySystem:
    """A counter that ends at `size`: it goes up, stays, or jumps."""

    def step(state: int, action: Any) -> int:
        return min(size, state + {"up": 1, "stay": 0}.get(action if isinstance(action, str) else "", 2))

    return evenhand.system("counter", initial=[0], actions=lambda _state: actions, step=step)


def counts(system: AnySystem, **options: Any) -> ActionCounts:
    """Return the counts of an exploration."""
    found = explore(system, **options, count_actions=True).actions
    assert found is not None
    return found


def test_the_counts_are_those_of_a_person() -> None:
    """0 to 4: each action in five states; the last changes nothing more; the breadth-first order finds the new ones."""
    assert dict(counts(counter(4)).labels) == {
        "up": Count(offered=5, changed=4, new=1),  # from 0 to 1; jumps find the other states first
        "stay": Count(offered=5, changed=0, new=0),
        "jump": Count(offered=5, changed=4, new=3),  # from 0 to 2, from 1 to 3, from 2 to 4
    }


def naive(system: AnySystem) -> dict[str, Count]:
    """Count by a search without any code of evenhand."""
    offered: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    new: Counter[str] = Counter()
    for config in system.all_configs():
        known = list(dict.fromkeys(system.initial(config)))
        for state in known:  # grows during the loop
            for action in system.enabled(config, state):
                after, label = system.take(config, state, action).after, type(action).__name__
                offered[label] += 1
                changed[label] += after != state
                if after not in known:
                    known.append(after)
                    new[label] += 1
    return {label: Count(offered[label], changed[label], new[label]) for label in offered}


@dataclass(frozen=True)
class Add:
    """Add a number."""

    number: int


@dataclass(frozen=True)
class Halve:
    """Halve the state."""


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_counts_of_many_configurations_are_those_of_a_naive_search(jobs: int) -> None:
    """In one process and in several."""
    system: AnySystem = evenhand.System(
        name="rings",
        rules=None,
        configs=lambda _scope, _readings: (5, 7, 12, 30),
        initial=lambda _size: (0,),
        step=lambda _rules, size, state, action: (
            ((state + action.number) % size, None) if isinstance(action, Add) else (state // 2, None)
        ),
        actions=lambda _size, _scope, state: (Add(3), Add(state), *((Halve(),) if state % 2 else ())),
    )
    found = counts(system, jobs=jobs)
    assert dict(found.labels) == naive(system)
    assert set(found.labels) == {"Add", "Halve"}


def test_several_starts_are_not_new() -> None:
    """A step from one initial state to another finds nothing."""
    system = evenhand.system("two", initial=[0, 1, 5], actions=lambda _s: ["on"], step=lambda s, _a: min(5, s + 1))
    assert counts(system).labels["on"] == Count(offered=6, changed=5, new=3)


def test_beyond_a_bound_nothing_is_new() -> None:
    """A state that is not kept counts as changed but not as found."""
    up = evenhand.system("up", initial=[0], actions=lambda _n: ["up"], step=lambda n, _a: n + 1)
    assert counts(up, max_states=4).labels["up"] == Count(offered=4, changed=4, new=3)


class Colour(Enum):
    """Members with a name."""

    RED = 1


@dataclass(frozen=True)
class Move:
    """An action of a class of its own."""

    by: int


@pytest.mark.parametrize(
    ("action", "label"),
    [
        ("go", "go"),
        (("go", 1), "go"),
        ((1, "go"), "go"),
        ((1, 2), "tuple"),
        ((), "tuple"),
        (Colour.RED, "RED"),
        (Move(3), "Move"),
        (7, "int"),
        (None, "NoneType"),
    ],
)
def test_each_action_has_a_label(action: Any, label: str) -> None:
    """In the form that a user would write."""
    assert label_of(action) == label
    assert list(counts(counter(1, actions=(action,))).labels) == [label]


def test_labels_without_end_are_counted_together() -> None:
    """The first ones keep their names; no count is lost."""
    found = counts(counter(0, actions=tuple(f"set {n}" for n in range(LABELS + 30)))).labels
    assert len(found) == LABELS + 1
    assert found[OTHERS] == Count(offered=30)


def test_counting_changes_no_verdict_and_is_off_by_default() -> None:
    """The explorations are equal apart from the counts."""

    @always("It stays below four.")
    def below_four(state: int) -> bool:
        return state < 4

    usual, counted = explore(counter(4), [below_four]), explore(counter(4), [below_four], count_actions=True)
    assert usual.actions is None
    assert replace(counted, actions=None) == usual


def test_a_product_counts_nothing_and_a_compiled_search_counts() -> None:
    """None, never numbers of some configurations only; tables count as explicit search does."""
    free = find("cud").model.systems["free"]
    assert [
        explore(free, max_states=20, method=method, count_actions=True).actions for method in ("explicit", None)
    ] == [None] * 2
    cells = plain_cells(3)
    found = explore(cells, method="compiled", count_actions=True)
    plain = explore(cells, method="explicit", count_actions=True)
    assert found.method == "compiled" and found.actions == plain.actions is not None


def test_a_state_that_is_a_pair_is_made_once() -> None:
    """The search calls the function itself where its results are harmless; a pair may hide an observation."""
    frames: list[str] = []

    def step(state: tuple[int, int], action: int) -> tuple[int, int]:
        return (state[0] + action) % 30, (state[1] + 1) % 40

    def note(frame: Any, event: str, _given: Any) -> None:
        if event == "call" and frame.f_code is step.__code__:
            frames.append(event)

    pairs = evenhand.system("pairs", initial=[(0, 0)], actions=lambda _state: (0, 1), step=step)
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        found = explore(pairs, method="explicit")
    finally:
        sys.setprofile(before)
    assert found.transitions <= len(frames) < found.transitions * 1.5
