"""Each method finds the same classes, in memory, on a disk, and with several processes."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.licence import Licence
from evenhand.core.property import Always, DeterminedBy, EachStep, Eventually, Property, Reachable
from evenhand.core.system import Abstraction, Joint, System
from evenhand.core.verdict import Status
from evenhand.search import LicenceMissing, explore
from evenhand.search.spilling import Folder

CAP = 3


@dataclass(frozen=True)
class Watch:
    """The time, and the instant at which each of two watches was wound up."""

    now: int
    one: int
    two: int


def _shown(config: int, state: Watch, made: tuple[tuple[str, str], ...]) -> str:
    chosen = dict(made)
    return "runs" if state.now - state.one < config and chosen["one"] == "rest" else "stands"


def _after(state: Watch, made: tuple[tuple[str, str], ...]) -> Watch:
    chosen = dict(made)
    return Watch(
        state.now + 1,
        state.now + 1 if chosen["one"] == "wind" else state.one,
        state.now + 1 if chosen["two"] == "wind" else state.two,
    )


def _image(_config: int, state: Watch) -> Watch:
    return Watch(0, max(state.one - state.now, -CAP), max(state.two - state.now, -CAP))


def watches() -> System[int, Watch, Any, str, None]:
    """Two agents wind their watches or rest; each joint step takes a second.  Two configurations."""
    joint = Joint[int, Watch, Any, str](
        agents=lambda _config, _state: ("one", "two"),
        choices=lambda _config, _scope, _state, _agent: ("rest", "wind"),
        join=lambda _config, _state, picked: picked,
        split=lambda action: action,
    )

    def step(_rules: None, config: int, state: Watch, action: Any) -> tuple[Watch, str]:
        return _after(state, action), _shown(config, state, action)

    return System(
        name="watches",
        rules=None,
        configs=lambda _scope, _readings: (2, 3),
        initial=lambda _config: (Watch(5, 5, 4),),
        step=step,
        joint=joint,
        abstractions=(
            Abstraction(
                "ages",
                _image,
                lambda _config, state: (Watch(state.now + n, state.one + n, state.two + n) for n in (1, 1_000_000)),
            ),
        ),
    )


LICENCE = Licence("ages", "watches", "reference", "ages theorem", "sha256:00")
CLAIMS: tuple[Property, ...] = (
    EachStep(
        name="young_ones_run",
        sentence="",
        check=lambda step: step.shown != "runs" or step.before.one >= step.before.now - 2,
    ),
    EachStep(name="never_runs", sentence="", check=lambda step: step.shown != "runs"),
    Always(name="two_is_never_old", sentence="", check=lambda _config, s: s.now - s.two < CAP),
    Reachable(
        name="both_old",
        sentence="",
        goal=lambda step: min(step.before.now - s for s in (step.before.one, step.before.two)) >= CAP,
    ),
    Eventually(name="stands_some_time", sentence="", goal=lambda step: step.shown == "stands"),
)


def searched(**more: Any) -> Any:
    """Return the search of classes."""
    return explore(watches(), CLAIMS, licence=LICENCE, **more)


@pytest.mark.parametrize("method", ["explicit", "compiled"])
def test_all_tiers_find_the_same_classes(method: int) -> None:
    """Of sixteen pairs of ages, those that two watches can have; verdicts and evidence are equal."""
    found, plain = searched(method=method), searched(method="explicit")
    assert found.method == method and "quotient 'ages' is licensed" in found.why_method
    assert (found.states, found.transitions) == (2 * 16, 2 * 16 * 4)
    for one, other in zip(found.verdicts, plain.verdicts, strict=True):
        assert replace(one, trusted_base=()) == replace(other, trusted_base=())
    statuses = [one.status for one in found.verdicts]
    assert statuses == [Status.HOLDS, Status.REFUTED, Status.REFUTED, Status.HOLDS, Status.HOLDS]


def test_symmetric_search_does_not_serve_classes() -> None:
    """It has a group to divide by, or none."""
    with pytest.raises(LicenceMissing, match="symmetric search divides"):
        searched(method="symmetric")


def test_processes_and_disks_find_the_same(tmp_path: Path) -> None:
    """Two processes; a disk from the first state on."""
    usual = searched(method="explicit")
    for other in (
        searched(method="explicit", jobs=2),
        searched(method="explicit", max_memory=1, spill=Folder(tmp_path)),
    ):
        assert (other.states, other.transitions, other.edges) == (usual.states, usual.transitions, usual.edges)
        assert [one.status for one in other.verdicts] == [one.status for one in usual.verdicts]


def test_a_graph_that_is_drawn_is_that_of_the_classes() -> None:
    """The model's own graph is infinite."""
    graph = searched(method="explicit").to_networkx()
    assert len(graph) == 16


def test_a_claim_that_is_not_asked_says_so_under_a_bound() -> None:
    """It was not evaluated, so the report does not say that it was not violated."""
    asked = DeterminedBy(name="by_action", sentence="", key=lambda step: step.action, value=lambda step: step.shown)
    (verdict,) = explore(watches(), (asked,), licence=LICENCE, method="explicit", max_states=10).verdicts
    assert verdict.status is Status.UNDECIDED and "compares runs" in verdict.because
