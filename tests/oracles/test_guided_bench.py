"""The benchmark of the guided machine counts the same things of both sides, and can tell a better one from a worse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks import guided as bench
from evenhand.core.registry import find
from evenhand.machine.guide import Guide

CUD = find("cud")
(FREE,) = (one for one in CUD.generators if one.system == "free")
SYSTEM: Any = CUD.model.systems["free"]


def test_what_is_covered_is_what_was_passed() -> None:
    """A system whose steps stand still: one state, one transition, and as many classes as events differ."""

    def still(_rules: Any, _config: Any, state: Any, _action: Any) -> tuple[Any, str]:
        return state, "nothing"

    quiet = replace(FREE, events=())
    for steered in (False, True):
        made = bench.cover(replace(SYSTEM, step=still), quiet, examples=3, seed=0, guided=steered)
        assert made.states == made.transitions and made.classes == 1
    plain = bench.cover(SYSTEM, FREE, examples=4, seed=0, guided=False)
    assert plain.transitions >= plain.states > 1 and plain.changes >= plain.classes > 1
    assert bench.cover(SYSTEM, FREE, examples=4, seed=0, guided=False)[:4] == plain[:4]


def test_a_mutant_is_found_by_a_run_that_replays_and_the_reference_is_not() -> None:
    """Sooner than all steps were taken; what does not replay is no find."""
    claims = bench.stated(CUD, "free")
    (fault,) = (one for one in CUD.model.mutants if one.name == "livelock_counts_despite_change")
    mutant = fault.of(CUD.model.systems)
    found = bench.hunt(mutant, claims, FREE, examples=5, seed=0, guided=True)
    assert found.found and found.steps < 5 * bench.STEPS
    honest = bench.hunt(SYSTEM, claims, FREE, examples=2, seed=0, guided=True)
    assert honest == bench.Hunted(False, 2 * bench.STEPS)


def test_a_guide_that_prefers_what_is_common_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted in the guide, seen in the figures of the benchmark."""

    def states() -> int:
        return sum(bench.cover(SYSTEM, FREE, examples=6, seed=seed, guided=True).states for seed in range(2))

    real, honest = Guide.rarity, states()

    def upside_down(guide: Guide, before: Any, step: Any) -> tuple[int, ...]:
        return tuple(-number for number in real(guide, before, step))

    monkeypatch.setattr(Guide, "rarity", upside_down)
    assert states() < 0.8 * honest
