"""Claims about whole runs in compiled search: equal to explicit search on random systems, with planted faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from evenhand.core.lookup import UnknownName
from evenhand.core.property import DeadlockFree, Eventually, LeadsTo, LivelockFree, Property
from evenhand.core.registry import find
from evenhand.core.system import AnySystem, Fairness
from evenhand.core.trace import Lasso
from evenhand.core.verdict import Status
from evenhand.model.cud.free_system import FREE
from evenhand.search import Exploration, ModelError, explore
from evenhand.search.tables.acting import Acting, Parted
from evenhand.search.tables.classes import Taken
from evenhand.search.tables.walk import TableWalk
from tests.deep import rest_deep
from tests.engines.search.cells import joint_cells, plain_cells, wide_cells
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
    "cells": plain_cells,
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "count"),
    rest_deep(
        [
            *(("cells", 10), ("joint", 5), ("separated", 10), ("wide", 8)),
            *(("cells", 40), ("joint", 15), ("separated", 40)),
        ],
        first=4,
    ),
)
def test_rows_and_steps_agree(kind: str, count: int) -> None:
    """On random systems; among forty, each kind holds somewhere and fails somewhere."""
    met = agree(kind, range(count))
    if count == 40:
        kinds = ("deadlock", "eventually", "leads_to", "livelock")
        missing = {(k, s) for k in kinds for s in (Status.HOLDS, Status.REFUTED)} - met
        assert len(missing) <= 1, missing


def test_livelock_of_free_agents_is_found_from_tables() -> None:
    """With fairness, joint actions merged, and the counts of the lower methods."""
    about = [claim for claim in find("cud").claims_of("free") if claim.name in ("livelock_free", "deadlock_free")]
    found = explore(FREE, about, method="compiled")
    assert found.method == "compiled"
    same(explore(FREE, about, method="explicit"), found)


def test_what_does_not_fit_or_is_unknown_is_said() -> None:
    """A bound, no memory, a fairness that the system lacks."""
    system, about = with_claims(plain_cells(2), 2, actions=True)
    for bound in ("max_states", "max_memory"):
        found = explore(system, about, method="compiled", **{bound: 2})  # type: ignore[arg-type]
        assert found.method == "compiled" and {verdict.status for verdict in found.verdicts} == {Status.UNDECIDED}
    with pytest.raises(UnknownName, match="lunar"):
        explore(system, [replace(claim, fairness=("lunar",)) for claim in about if isinstance(claim, Eventually)])


# Faults planted in the engine.


def _unsplit(_self: Any, _made: Any, jobs: Any) -> Any:
    """Joint actions stay merged, whichever predicates they satisfy."""
    for job in jobs:
        yield job, 0, Parted(0, Taken(job.unit, ()), {})


def _labels_forgotten(self: Any, source: Any, there: Any, number: Any, label: Any) -> None:
    """Edges between the same states are one edge, whichever predicates they satisfy."""
    _keep(self, source, there, number, np.zeros_like(label))


_keep = TableWalk._keep  # pyright: ignore[reportPrivateUsage]


def _shifted(self: Any, test: Any) -> Any:
    """The edges of another predicate."""
    return np.roll(_where(self, test), 1)


_where = TableWalk.where


@pytest.mark.parametrize(
    ("where", "name", "fault"),
    [
        (Acting, "parted", _unsplit),
        (TableWalk, "_keep", _labels_forgotten),
        (TableWalk, "where", _shifted),
    ],
)
def test_planted_faults_are_noticed(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, fault: Any) -> None:
    """By the comparison with explicit search, or by a refusal of the tables."""
    monkeypatch.setattr(where, name, fault)
    with pytest.raises((AssertionError, ModelError, ValueError)):
        agree("separated", range(12))
