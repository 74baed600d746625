"""Claims about whole runs in compiled search: equal to explicit search on random systems, with planted faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from evenhand.core.property import DeadlockFree, Eventually, LeadsTo, LivelockFree, Property
from evenhand.core.registry import find
from evenhand.core.system import AnySystem, Fairness, UnknownName
from evenhand.core.trace import Lasso
from evenhand.core.verdict import Status
from evenhand.model.cud.free_system import FREE
from evenhand.search import Exploration, ModelError, explore, memory
from evenhand.search.rows import compiler, runs
from tests.engines.search.rows.systems import joint_cells, plain_cells, wide_cells
from tests.models.random_systems import luck, state_test


def fair(random: Random, *, sees_state: bool) -> dict[str, Fairness[Any, Any]]:
    """Return two assumptions about the action, one also about the state if compiled search keeps actions apart."""
    keys = [random.random() for _ in range(3)]

    def taken(key: float, state: Any, action: Any) -> bool:
        return luck(f"{key} {action} {state.flag if sees_state else 0}") < 0.5

    return {
        "weak": Fairness("weak", lambda state, action: taken(keys[0], state, action)),
        "strong": Fairness("strong", lambda state, action: taken(keys[1], state, action)),
        "other": Fairness("strong", lambda state, action: taken(keys[2], state, action)),
    }


def assuming(system: AnySystem, assumptions: dict[str, Fairness[Any, Any]]) -> AnySystem:
    """Return the system with this fairness."""

    def named(_config: Any) -> dict[str, Fairness[Any, Any]]:
        return assumptions

    return replace(system, fair=named)


def with_claims(system: AnySystem, seed: int, *, actions: bool) -> tuple[AnySystem, tuple[Property, ...]]:
    """Return the system with fairness, and a random claim of each kind about runs."""
    random = Random(f"runs {seed}")
    assumptions = fair(random, sees_state=actions)

    def steps(chance: float) -> Callable[[Any], bool]:
        key = random.random()
        return lambda step: (
            luck(f"{key} {step.action if actions else 0} {step.shown} {step.before.flag} {step.after.cells[0]}")
            < chance
        )

    def some() -> tuple[str, ...]:
        return tuple(name for name in assumptions if random.random() < 0.5)

    about = (
        DeadlockFree(name="deadlock", sentence="", wants=state_test(random, 0.6), completes=steps(0.3)),
        Eventually(name="eventually", sentence="", goal=steps(0.4), fairness=some()),
        LeadsTo(name="leads_to", sentence="", trigger=steps(0.4), goal=steps(0.4), fairness=some()),
        LivelockFree(name="livelock", sentence="", attempts=steps(0.5), progress=steps(0.3), fairness=some()),
    )
    return assuming(system, assumptions), about


def same(one: Exploration, other: Exploration) -> None:
    """Counts, verdicts and coverage are equal; the judge accepts both lassos, which have the same length."""
    assert (one.states, one.transitions, one.edges) == (other.states, other.transitions, other.edges)
    for left, right in zip(one.verdicts, other.verdicts, strict=True):
        assert (left.status, left.coverage, left.because) == (right.status, right.coverage, right.because)
        if isinstance(left.evidence, Lasso):
            assert isinstance(right.evidence, Lasso)
            assert len(left.evidence.stem + left.evidence.loop) == len(right.evidence.stem + right.evidence.loop)


MAKERS: dict[str, Callable[[int], AnySystem]] = {
    "menu": lambda seed: plain_cells(seed, menu=True),
    "enabled": lambda seed: plain_cells(seed, menu=False),
    "joint": lambda seed: joint_cells(seed, separated=False),
    "separated": lambda seed: joint_cells(seed, separated=True),
    "wide": wide_cells,
}


def agree(kind: str, seeds: range) -> set[tuple[str, Status]]:
    """Compare compiled search with explicit search."""
    met: set[tuple[str, Status]] = set()
    for seed in seeds:
        system, about = with_claims(MAKERS[kind](seed), seed, actions=kind != "separated")
        found = explore(system, about, method="compiled")
        same(explore(system, about, method="explicit"), found)
        met |= {(verdict.claim, verdict.status) for verdict in found.verdicts}
    return met


@pytest.mark.parametrize(
    ("kind", "count"), [("menu", 40), ("enabled", 40), ("joint", 15), ("separated", 40), ("wide", 8)]
)
def test_rows_and_steps_agree(kind: str, count: int) -> None:
    """On random systems; each kind holds somewhere and fails somewhere (one of many joint choices always fails)."""
    met = agree(kind, range(count))
    if kind not in ("joint", "wide"):
        kinds = ("deadlock", "eventually", "leads_to", "livelock")
        missing = {(k, s) for k in kinds for s in (Status.HOLDS, Status.REFUTED)} - met
        assert len(missing) <= 1, missing


def test_livelock_of_free_agents_is_found_in_the_rows() -> None:
    """With fairness, joint actions merged, and the counts of the lower methods."""
    about = [claim for claim in find("cud").claims_of("free") if claim.name in ("livelock_free", "deadlock_free")]
    found = explore(FREE, about)
    assert found.method == "compiled"
    same(explore(FREE, about, method="memoised"), found)


def test_both_ways_to_number_states_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a table, by one word, by the bytes of several words."""
    expected = agree("menu", range(8))
    monkeypatch.setattr(runs, "DENSE", 0)
    assert agree("menu", range(8)) == expected


def test_fairness_that_looks_at_the_state_of_merged_actions_goes_to_a_lower_method() -> None:
    """It is refused if compiled search was requested."""
    system, about = with_claims(joint_cells(1, separated=True), 1, actions=False)
    looks = {"weak": Fairness[Any, Any]("weak", lambda state, _action: state.cells[0][1] == "a")}
    system = assuming(system, looks)
    asks = [replace(claim, fairness=("weak",)) for claim in about if isinstance(claim, Eventually)]
    found = explore(system, asks)
    assert found.method == "memoised" and "depends on the state" in found.why_method
    with pytest.raises(ValueError, match="depends on the state"):
        explore(system, asks, method="compiled")


def test_what_does_not_fit_or_is_unknown_is_said() -> None:
    """No memory for the edges, a bound, a fairness that the system lacks."""
    system, about = with_claims(plain_cells(2, menu=True), 2, actions=True)
    for found in (explore(system, about, max_memory=1), explore(system, about, max_states=2)):
        assert found.method == "compiled" and {verdict.status for verdict in found.verdicts} == {Status.UNDECIDED}
    with pytest.raises(UnknownName, match="lunar"):
        explore(system, [replace(claim, fairness=("lunar",)) for claim in about if isinstance(claim, Eventually)])


def _spent_by_edges(_self: Any, more: int = 0) -> bool:
    return more > 0


def test_no_room_for_edges_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory ends after the search."""
    monkeypatch.setattr(memory.MemoryBudget, "spent", _spent_by_edges)
    monkeypatch.setattr(runs, "CHUNK", 1)
    system, about = with_claims(plain_cells(2, menu=True), 2, actions=True)
    found = explore(system, about, method="compiled")
    assert found.complete
    assert all("leaves no room for the edges" in verdict.because for verdict in found.verdicts)


# Faults planted in the engine.


def _unsplit(self: Any, table: Any, first: int, verdict: Any, members: Any, _start: Any) -> Any:
    """Joint actions stay merged, whichever assumptions they satisfy."""
    action = self.system.joint.join(self.config, None, table.picked(first))
    return [(first, verdict, members, self.labeller.served(None, action))]


def _labels_forgotten(self: Any, numbers: Any, words: Any, low: int) -> Any:
    """Edges between the same states are one edge, whichever assumptions they satisfy."""
    (source, target, action, label), low = _some(self, numbers, words, low)
    _, first = np.unique(np.stack([source, target]), axis=1, return_index=True)
    first.sort()
    return (source[first], target[first], action[first], label[first]), low


_some = runs.RowGraph._some  # pyright: ignore[reportPrivateUsage]


def _shifted(self: Any, test: Any) -> Any:
    """The edges of another predicate."""
    return np.roll(_where(self, test), 1)


_where = runs.RowGraph.where


@pytest.mark.parametrize(
    ("where", "name", "fault"),
    [
        (compiler.Compiler, "_by_fairness", _unsplit),
        (runs.RowGraph, "_some", _labels_forgotten),
        (runs.RowGraph, "where", _shifted),
    ],
)
def test_planted_faults_are_noticed(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, fault: Any) -> None:
    """By the comparison with explicit search, or by explicit search itself."""
    monkeypatch.setattr(where, name, fault)
    with pytest.raises((AssertionError, ModelError)):
        agree("separated", range(12))
