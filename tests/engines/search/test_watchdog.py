"""A step that does not end is named with file and line, by every method; a step that is always slow is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.property import Always
from evenhand.core.system import AnySystem
from evenhand.search import ModelError, explore, watchdog
from tests.engines.search.cells import plain_cells
from tests.models.random_systems import table_system


def endless(_rules: Any, _config: Any, state: Any, _action: Any) -> Any:
    """A step that waits for ever."""
    waited = 0
    while waited >= 0:
        waited += 1
    return state, waited


@pytest.mark.parametrize(("system", "method"), [(table_system(3), "explicit"), (plain_cells(3), "compiled")])
def test_a_step_that_does_not_end(system: AnySystem, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One message: file, line and function."""
    monkeypatch.setattr(watchdog, "SECONDS", 0.1)
    with pytest.raises(ModelError, match=rf"{Path(__file__).name}:\d+ \(endless\) does not come back"):
        explore(replace(system, step=endless), method=method)


def test_a_claim_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same."""
    monkeypatch.setattr(watchdog, "SECONDS", 0.1)
    claim = Always(name="endless", sentence="", check=lambda c, s: bool(endless(None, c, s, None)))
    with pytest.raises(ModelError, match=r"\(endless\) does not come back"):
        explore(table_system(3), [claim])


def test_many_calls_are_no_endless_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that takes much longer than the limit of one call."""
    monkeypatch.setattr(watchdog, "SECONDS", 0.005)
    for seed in range(4):
        assert explore(plain_cells(seed), method="explicit").complete


def test_twins_are_compared_as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge, which evaluates a claim many times, has no time limit; the claim itself has one."""
    monkeypatch.setattr(watchdog, "SECONDS", 0.02)
    judge: dict[str, Any] = {"__name__": "evenhand.evidence.judge", "ask": lambda: None}
    exec("def judged():\n    for _ in range(3_000_000):\n        ask()\n", judge)
    search: dict[str, Any] = {"__name__": "evenhand.search", "judged": judge["judged"]}
    exec("def searched():\n    judged()\n", search)
    with watchdog.within_reason(table_system(3)):
        search["searched"]()
    judge["ask"] = lambda: endless(None, None, 0, None)
    with pytest.raises(ModelError, match=r"\(endless\) does not come back"), watchdog.within_reason(table_system(3)):
        search["searched"]()
