"""Tables and explicit search find the same graph: on random systems, and on every pinned scope."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evenhand.core.property import Always, EachStep, Property, Reachable
from evenhand.core.verdict import Status
from evenhand.model.cud.free_system import FREE
from evenhand.search import Exploration, explore
from tests.deep import rest_deep, rest_slow
from tests.engines.search.cells import joint_cells, plain_cells, wide_cells
from tests.engines.search.oracle import graphs_of, sizes
from tests.models.random_systems import luck, state_test

PINNED = json.loads((Path(__file__).parents[3] / "oracles" / "pinned.json").read_text("utf-8"))
MAKERS: dict[str, Callable[[int], Any]] = {
    "cells": plain_cells,
    "joint": lambda seed: joint_cells(seed, separated=False),
    "separated": lambda seed: joint_cells(seed, separated=True),
}
"""Fifty of each: two hundred random systems."""


def claims(seed: int, *, actions: bool) -> tuple[Property, ...]:
    """Return a random claim of each kind that compiled search supports."""
    random = Random(f"rows {seed}")

    def steps(chance: float) -> Callable[[Any], bool]:
        key = random.random()
        return lambda step: (
            luck(f"{key} {step.action if actions else 0} {step.shown} {step.before.flag} {step.after.cells[0]}")
            < chance
        )

    return (
        Always(name="always", sentence="", check=state_test(random, 0.9), when=state_test(random, 0.7)),
        EachStep(name="each_step", sentence="", check=steps(0.9), when=steps(0.6)),
        Reachable(name="reachable", sentence="", goal=steps(0.1)),
    )


def same(one: Exploration, other: Exploration) -> None:
    """Counts, verdicts, coverage and shortest lengths are equal; evidence may differ at the same length."""
    for name in ("states", "transitions", "edges", "depth", "configs", "complete", "reach"):
        assert getattr(one, name) == getattr(other, name), name
    for left, right in zip(one.verdicts, other.verdicts, strict=True):
        assert (left.status, left.coverage) == (right.status, right.coverage), (left, right)
        assert (left.evidence is None) == (right.evidence is None)
        if left.evidence is not None and right.evidence is not None:
            assert len(left.evidence.actions) == len(right.evidence.actions)  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", rest_slow(MAKERS))
@pytest.mark.parametrize("part", rest_deep(range(5)))
def test_random_systems(kind: str, part: int) -> None:
    """Compiled search against explicit search and against the independent oracle."""
    violated = 0
    for seed in range(part * 10, part * 10 + 10):
        system = MAKERS[kind](seed)
        about = claims(seed, actions=kind != "separated")
        rows = explore(system, about, method="compiled")
        assert rows.method == "compiled"
        assert (rows.states, rows.transitions, rows.edges, rows.depth) == sizes(graphs_of(system))
        same(explore(system, about, method="explicit"), rows)
        violated += sum(verdict.status is Status.REFUTED for verdict in rows.verdicts)
    assert violated > 1


@pytest.mark.parametrize("seed", rest_slow(range(6), 2))
def test_more_than_one_word(seed: int) -> None:
    """States that need two words."""
    system = wide_cells(seed)
    found = explore(system, claims(seed, actions=True), method="compiled")
    same(explore(system, claims(seed, actions=True), method="explicit"), found)


@pytest.mark.parametrize("scope", rest_slow([scope for scope in PINNED["free_agent"]["counts"] if scope != "4,3,2"], 2))
def test_pinned_scopes(scope: str) -> None:
    """The counts that two enumerators and Rumur agree on."""
    pinned = PINNED["free_agent"]["counts"][scope]
    agents, keys, values = map(int, scope.split(","))
    limit = Reachable(name="limit", sentence="", goal=lambda step: step.after.counter == 3)
    found = explore(FREE.at(agents=agents, keys=keys, values=values), [limit], method="compiled")
    assert found.method == "compiled" and "classes" in found.why_method
    counted = {name: getattr(found, name) for name in ("states", "transitions", "edges", "depth")}
    assert counted | {"to_limit": found.reach["limit"]} == pinned


@pytest.mark.deep
def test_the_largest_pinned_scope() -> None:
    """(4,3,2): 11,613,745 joint choices."""
    test_pinned_scopes("4,3,2")


@pytest.mark.slow
def test_bounds_leave_it_open() -> None:
    """Claims about the omitted part are undecided; results so far are exact."""
    held = Always(name="held", sentence="", check=lambda _config, _state: True)
    for most, depth in ((20, None), (1, None), (None, 2), (20, 2)):
        found = explore(FREE, [held], method="compiled", max_states=most, depth=depth)
        assert found.method == "compiled" and not found.complete
        assert found.verdicts[0].status is Status.UNDECIDED
        same(explore(FREE, [held], method="explicit", max_states=most, depth=depth), found)
