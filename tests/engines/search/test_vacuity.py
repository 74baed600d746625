"""An assumption that makes every claim vacuous is reported, and never passes."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from evenhand.core.property import Eventually, LeadsTo, LivelockFree, Property
from evenhand.core.verdict import Status
from evenhand.search import ModelError, explore, liveness
from evenhand.search.lasso import Edges, fair_parts, need_of
from tests.engines.search.suite import claims_about
from tests.models.random_systems import table_system


@pytest.mark.parametrize("seed", range(6))
def test_without_a_start_nothing_holds(seed: int) -> None:
    """A constraint that no run meets is an error, for any claim."""
    system = replace(table_system(seed), initial=lambda _config: ())
    for claim in claims_about(seed):
        with pytest.raises(ModelError, match="gives no state"):
            explore(system, (claim,))


def _promises() -> tuple[Property, ...]:
    """Return claims that are true of every infinite run, so that only the assumption decides."""
    fairness = ("f0",)
    return (
        Eventually(name="eventually", sentence="", goal=lambda _step: True, fairness=fairness),
        LeadsTo(name="leads", sentence="", trigger=lambda _s: True, goal=lambda _s: True, fairness=fairness),
        LivelockFree(
            name="livelock", sentence="", attempts=lambda _s: True, progress=lambda _s: True, fairness=fairness
        ),
    )


def _no_parts(*_given: object) -> list[object]:
    return []


def test_fairness_that_no_run_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no part of the graph is fair, no claim holds."""
    system = table_system(3, dense=True)
    assert {verdict.status for verdict in explore(system, _promises()).verdicts} == {Status.HOLDS}
    monkeypatch.setattr(liveness, "fair_parts", _no_parts)
    for verdict in explore(system, _promises()).verdicts:
        assert verdict.status is Status.UNDECIDED and "no run at all satisfies" in verdict.because


def test_weak_and_strong_fairness_always_leave_a_run() -> None:
    """Where something is always on offer, the part that is never left satisfies both kinds of fairness.

    So assumptions of these two kinds cannot produce the fault planted above; the check is for future kinds.
    """
    for seed in range(200):
        random = Random(seed)
        size = random.randrange(1, 8)
        source = [state for state in range(size) for _ in range(random.choice((1, 2, 3)))]
        target = [random.randrange(size) for _ in source]
        sources, targets = (np.asarray(column, dtype=np.int64) for column in (source, target))
        edges = Edges(size, 1, sources, targets, sources)
        needs = [
            need_of(kind, np.asarray([random.random() < 0.3 for _ in source], dtype=np.bool_), edges)
            for kind in random.choices(("weak", "strong"), k=3)
        ]
        assert fair_parts(edges, np.ones(len(source), dtype=np.bool_), needs)
