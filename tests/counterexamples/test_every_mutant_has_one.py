"""Each mutant that is said to be killed has a counterexample on file, found by the engines and shrunk."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from evenhand.counterexamples.store import load
from evenhand.properties.registry import Bundle, protocols

_FOLDER = Path(__file__).resolve().parents[2] / "counterexamples"
_FILES = sorted(file for file in _FOLDER.glob("*/*.json") if file.parent.name != "schema")
_LONGEST = 4
"""Steps; a counterexample that is longer was not shrunk, or its mutant names too large a scope."""


def _missing(folder: Path, killed: set[str]) -> set[str]:
    found = {load(file).to_json()["variant"]["name"] for file in sorted(folder.glob("*.json"))}
    return killed - found


@pytest.mark.parametrize("bundle", protocols(), ids=lambda bundle: bundle.name)
def test_killed_mutants_are_on_file(bundle: Bundle) -> None:
    """By the name of the variant that the file says it refutes."""
    killed = {mutant.name for mutant in bundle.model.mutants if mutant.expected == "killed"}
    assert killed
    assert _missing(_FOLDER / bundle.name, killed) == set()
    assert _missing(_FOLDER / bundle.name, killed | {"never_heard_of"}) == {"never_heard_of"}


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_counterexamples_are_short(file: Path) -> None:
    """A handful of steps is enough for every fault that was planted."""
    run = load(file).to_json()["run"]
    assert sum(len(part) for part in _actions(run)) <= _LONGEST


def _actions(run: Any) -> list[list[Any]]:
    """Every list of actions in a run: one of a scenario, two of a lasso or a pair."""
    if isinstance(run, dict):
        fields: dict[str, Any] = cast(Any, run)
        own = [fields[name] for name in ("actions", "stem", "loop") if name in fields]
        return own + [part for value in fields.values() for part in _actions(value)]
    return []
