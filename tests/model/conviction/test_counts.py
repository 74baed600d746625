"""Graphs of small scopes have the sizes that a naive enumerator, independent of the model, counts too."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evenhand.model.conviction.protocol import CONVICTION
from evenhand.properties.conviction.predicates import longest_issue
from evenhand.search import explore

ORACLE = Path(__file__).parents[2] / "oracles" / "conviction_graph.py"

PINNED: tuple[tuple[str, dict[str, int], bool, tuple[int, int, int]], ...] = (
    ("issue", {"texts": 0, "budget": 2}, False, (787, 3438, 5)),
    ("issue", {"cycles": 1, "rounds": 1, "texts": 2}, False, (2603, 7243, 6)),
    ("issue", {"think": 2, "texts": 0, "rounds": 1}, False, (103, 201, 7)),
    ("issue", {"cycles": 1, "rounds": 1}, True, (147, 363, 6)),
    ("trio", {}, False, (2434, 20565, 5)),
    ("series", {}, False, (3228, 13773, 5)),
)
"""System, scope, gated clock; states, transitions, ticks of the longest run of an Issue."""

LARGER: tuple[tuple[str, dict[str, int], bool, tuple[int, int, int]], ...] = (
    ("issue", {"think": 2, "texts": 0, "budget": 2}, False, (6312, 34109, 10)),
    ("issue", {"budget": 2, "texts": 2, "cycles": 1}, False, (6227, 26102, 7)),
    ("issue", {"cycles": 1}, False, (15518, 69322, 7)),
)


def oracle() -> ModuleType:
    """Return a fresh copy of the enumerator."""
    spec = importlib.util.spec_from_file_location("conviction_graph", ORACLE)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


def system_at(name: str, scope: dict[str, int], gated: bool) -> Any:
    """Return the system of a row."""
    chosen = CONVICTION.systems[name].at(**scope)
    return chosen.under(clock="gated_by_9_1") if gated else chosen


def counted(module: ModuleType, name: str, scope: dict[str, int], gated: bool) -> tuple[int, int, int]:
    """Return the enumerator's counts."""
    sizes = {key: size for key, size in system_at(name, scope, gated).scope.items() if key in module.Sizes._fields}
    return tuple(module.count(module.Sizes(**sizes, gated=gated)))


@pytest.mark.parametrize(("name", "scope", "gated", "expected"), PINNED, ids=str)
def test_model_and_enumerator_agree(
    name: str, scope: dict[str, int], gated: bool, expected: tuple[int, int, int]
) -> None:
    """States and transitions; the longest run is equal to the bound of the claim."""
    system = system_at(name, scope, gated)
    found = explore(system, ())
    config = next(iter(system.all_configs()))
    assert (found.states, found.transitions) == expected[:2]
    assert counted(oracle(), name, scope, gated) == expected
    assert longest_issue(config, config.issues[0]) == expected[2]


@pytest.mark.deep
@pytest.mark.parametrize(("name", "scope", "gated", "expected"), LARGER, ids=str)
def test_larger_scopes_agree(name: str, scope: dict[str, int], gated: bool, expected: tuple[int, int, int]) -> None:
    test_model_and_enumerator_agree(name, scope, gated, expected)


def test_a_clerk_who_forgets_counts_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the self-stake the enumerator's graph differs, so the comparison can fail."""
    module = oracle()

    def forgets(_world: Any, _who: int, _sizes: Any) -> None:
        """Stake nothing."""

    monkeypatch.setattr(module, "self_stake", forgets)
    name, scope, gated, expected = PINNED[0]
    assert counted(module, name, scope, gated) != expected
