"""Each mutant registered as killed has a counterexample on file, found by the engines and shrunk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenhand.core.bundle import Bundle
from evenhand.core.registry import protocols
from evenhand.evidence.store import load

_FOLDER = Path(__file__).resolve().parents[3] / "counterexamples"
_LONGEST = {"conviction": 16, "markspace": 9, "sovereign": 5}
"""Steps, where 4 are not enough.

An Issue of two rounds takes five ticks, and a pair counts both of its runs. A claim of `markspace` that changes hands
takes two tool calls of three steps and a second between them; a write that is refused because of an earlier window
takes two windows of four; a contest that goes on after the principal's answer takes nine, and so does an agent whose
second intent outlives the first. In `sovereign` two executors that spend one warrant take a decision, two checks and
two uses.

A longer counterexample was not shrunk, or its mutant names too large a scope.
"""


def _missing(folder: Path, killed: set[str]) -> set[str]:
    found = {load(file).to_json()["variant"]["name"] for file in sorted(folder.glob("*.json"))}
    return killed - found


@pytest.mark.parametrize("bundle", protocols(), ids=lambda bundle: bundle.name)
def test_killed_mutants_are_on_file(bundle: Bundle) -> None:
    """By the name of the variant that the file refutes."""
    killed = {mutant.name for mutant in bundle.model.mutants if mutant.expected == "killed"}
    assert killed
    assert _missing(_FOLDER / bundle.name, killed) == set()
    assert _missing(_FOLDER / bundle.name, killed | {"never_heard_of"}) == {"never_heard_of"}


@pytest.mark.parametrize("bundle", protocols(), ids=lambda bundle: bundle.name)
def test_counterexamples_are_short(bundle: Bundle) -> None:
    """A few steps are enough for every planted fault."""
    for file in sorted((_FOLDER / bundle.name).glob("*.json")):
        run = load(file).to_json()["run"]
        assert sum(len(part) for part in _actions(run)) <= _LONGEST.get(bundle.name, 4), file.stem


def _actions(run: dict[str, Any]) -> list[list[Any]]:
    """Return the lists of actions in a run: one of a scenario, two of a lasso or a pair, none of its configuration."""
    if run["kind"] == "pair":
        return [part for side in ("left", "right") for part in _actions({"kind": "scenario", **run[side]})]
    return [run[name] for name in ("actions", "stem", "loop") if name in run]


def test_actions_are_those_of_the_run() -> None:
    """A pair counts the actions of both runs; a configuration's own `actions` do not count."""
    side = {"actions": ["a", "b"], "config": {"actions": ["no", "no", "no"]}}
    assert _actions({"kind": "scenario", **side}) == [["a", "b"]]
    assert _actions({"kind": "pair", "left": side, "right": side}) == [["a", "b"], ["a", "b"]]
    assert _actions({"kind": "lasso", "stem": ["a"], "loop": ["b"]}) == [["a"], ["b"]]
