"""Kept counterexamples become vectors under the readings that they were recorded under, and no other ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.conform.vectors import pool
from evenhand.conform.vectors.targets import Target
from evenhand.core.registry import find
from tests.front.conftest import Command


def test_a_run_of_another_reading_is_no_run_of_the_default(
    tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its configuration names the reading under which it was found; a vector that says otherwise contradicts itself."""
    chosen = ["--mutant", "tie_break_by_name", "--claim", "no_winner", "--scope", "agents=2"]
    assert cli("explore", "cud", *chosen, "--reading", "scope_check=after_rollback", "--out", str(tmp_path)).code == 1

    def here(_name: str) -> Path:
        return tmp_path

    monkeypatch.setattr(pool, "folder", here)
    bundle = find("cud")
    mutant = next(one for one in bundle.model.mutants if one.name == "tie_break_by_name")
    target = Target("mutant", mutant.name, mutant=mutant)
    assert list(pool.kept(bundle, target)) == []
    found = list(pool.kept(bundle, replace(target, readings=(("scope_check", "after_rollback"),))))
    assert found
    assert {one.scenario.config.readings.scope_check for one in found} == {"after_rollback"}
