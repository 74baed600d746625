"""Kernels of `conviction` behind an adapter: an honest one agrees, and faults of unknown name are found."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.hidden import hunted
from evenhand.conform.adapters.kernels import adapter_source
from evenhand.conform.checking.causes import alone
from evenhand.conform.checking.finding import finding_json
from evenhand.conform.checking.loop import EXHAUSTIVE, MACHINE, CheckEffort, check_system
from evenhand.conform.checking.multi_run import LIVENESS_RUNS
from evenhand.core.registry import find
from tests.deep import rest_deep

PROTOCOL = "conviction"
HIDDEN = {
    "tap_mints": "supply_is_conserved",
    "author_is_the_credential": "no_record_holds_a_credential",
    "lowest_score_wins": "the_highest_score_wins",
    "silent_agents_hang_a_phase": "every_tick_comes_closer",
}
"""Faults, and a claim that each breaks."""
MUTANTS = {one.name: one for one in find(PROTOCOL).model.mutants}


@pytest.mark.parametrize(
    ("system", "scope"),
    rest_deep(
        [
            ("trio", {}),
            ("issue", {"cycles": 1, "rounds": 1, "texts": 2, "ready": 0}),
            ("issue", {"texts": 0, "agents": 1, "strangers": 1, "hostile": 1, "rounds": 2}),
        ]
    ),
)
def test_an_honest_kernel_agrees(system: str, scope: dict[str, int]) -> None:
    """Hundreds of transitions through the pipe, and drawn runs."""
    made = find(PROTOCOL).model.systems[system].at(**scope)
    source = adapter_source("evenhand.conform.adapters.model:reference")
    try:
        effort = CheckEffort(600, examples=5, steps=20, phases=(EXHAUSTIVE, MACHINE))
        found = check_system(PROTOCOL, [made], find(PROTOCOL).claims, source, effort=effort)
    finally:
        source.close()
    assert [one.divergence.differences for one in found.defects] == []
    assert found.steps["exhaustive"] > 300


@pytest.mark.slow
def test_a_kernel_that_waits_for_ever_breaks_a_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """`leads_to`, for a kernel behind the pipe that tells its state: ticks go on, and the Issue is never finalized."""
    promise = "every_issue_is_finalized"
    claims = [claim for claim in find(PROTOCOL).claims if claim.name == promise]
    small = {"texts": 0, "agents": 1, "rounds": 1, "budget": 1, "stake": 1}
    made = find(PROTOCOL).model.systems["issue"].at(**small)
    effort = CheckEffort(20, examples=1, phases=(EXHAUSTIVE, LIVENESS_RUNS))
    for mutant, broken in (("silent_agents_hang_a_phase", True), ("tap_mints", False)):
        monkeypatch.setenv("EVENHAND_HIDDEN", f"{PROTOCOL}:{mutant}:state")
        source = adapter_source("benchmarks.hidden_kernel:factory")
        try:
            found = check_system(PROTOCOL, [made], claims, source, claims_only=True, effort=effort)
        finally:
            source.close()
        assert promise in found.judged
        assert [one.divergence.subject for one in found.defects] == [promise] * broken
        for defect in found.defects:
            data = finding_json(PROTOCOL, alone(made, defect), claims, claims_only=True, kernel="hidden")
            run: Any = data["run"]
            # Ticks alone: the first opens the Issue, and the last repeats for ever, which is the fair loop.
            assert data["loop"] == 1 and {action["$"] for action in run["actions"]} == {"Tick"}


@pytest.mark.deep
@pytest.mark.parametrize("name", sorted(HIDDEN))
def test_a_hidden_fault_is_found(name: str) -> None:
    """Without the stored runs for this fault."""
    assert hunted(PROTOCOL, MUTANTS[name], stored=False)["found"]


@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_every_hidden_fault_is_found() -> None:
    """All faults; those that are hard to find with the help of stored runs, or of a kernel that tells its state."""
    missed: list[str] = []
    for mutant in MUTANTS.values():
        tries = ({"stored": False}, {"stored": True}, {"stored": True, "state": True})
        if mutant.expected == "killed" and not any(hunted(PROTOCOL, mutant, **more)["found"] for more in tries):
            missed.append(mutant.name)
    assert missed == []
