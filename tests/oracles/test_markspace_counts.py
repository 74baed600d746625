"""The pinned sizes of markspace's space, layers, subscriptions and schedules, counted again without the model."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from evenhand.core.registry import find
from evenhand.search import explore


def oracle(name: str = "markspace_counts") -> ModuleType:
    """Return the counts, loaded from their file, because tests are no package here."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _beside(counts: ModuleType) -> int:
    """Return a rate limit and a budget in one deployment: their counts are independent (P66)."""
    tokens, over = divmod(counts.budgeted(5, None), counts.bare())
    assert not over
    return int(counts.limited(1, None, 1, 1) * tokens)


PINNED: tuple[tuple[str, Mapping[str, int], int, Callable[[ModuleType], int]], ...] = (
    ("space", {"marks": 1}, 170, lambda counts: 5 * counts.space(1, 2)),
    ("space", {"only": 2, "horizon": 1, "hostile": 1}, 518, lambda counts: counts.space(2, 1)),
    ("layers", {"only": 1, "marks": 1}, 12, lambda counts: counts.bare()),
    ("layers", {"only": 2, "marks": 1}, 384, lambda counts: counts.barred()),
    ("layers", {"only": 3, "marks": 1}, 1_602, lambda counts: counts.limited(1, 2, 2, 3)),
    ("layers", {"only": 12, "marks": 1}, 26, lambda counts: counts.limited(None, 1, 2, 1)),
    ("layers", {"only": 4, "marks": 1}, 288, lambda counts: counts.budgeted(5, None)),
    ("layers", {"only": 5, "marks": 1}, 312, lambda counts: counts.budgeted(5, 2)),
    ("layers", {"only": 11, "marks": 1}, 336, lambda counts: _beside(counts)),
    ("scheduling", {}, 432, lambda counts: counts.scheduled()),
)
LARGER: tuple[tuple[str, Mapping[str, int], int, Callable[[ModuleType], int]], ...] = (
    ("space", {}, 5_120, lambda counts: 5 * counts.space(2, 2)),
)
"""At the scope of the standard budget."""


@pytest.mark.parametrize(
    ("system", "scope", "states", "counted"), [*PINNED, *(pytest.param(*one, marks=pytest.mark.deep) for one in LARGER)]
)
def test_the_graph_has_the_size_that_was_counted_elsewhere(
    system: str, scope: Mapping[str, int], states: int, counted: Callable[[ModuleType], int]
) -> None:
    """By the search, and by counts that import nothing."""
    found = explore(find("markspace").model.systems[system].at(**scope), ())
    assert found.complete
    assert found.states == states == counted(oracle())


@pytest.mark.parametrize("name", ["actions_by_write_mark", "intents_by_write_mark"])
def test_a_guard_that_stores_what_is_to_be_refused_comes_to_an_end(name: str) -> None:
    """Without a bound of the search: one mark beyond the capacity is enough to be seen."""
    model = find("markspace").model
    mutant = next(one for one in model.mutants if one.name == name)
    found = explore(replace(model.systems["layers"], rules=mutant.rules).at(**mutant.scope), (), max_states=1_000)
    assert found.complete
    stored = {len(state.stored) for state in found.to_networkx()}
    assert stored == {0, 1, 2, 3}


WATCHED: tuple[tuple[str, Mapping[str, int], int, Callable[[ModuleType], int]], ...] = (
    ("layers", {"only": 6, "marks": 2}, 336, lambda machine: machine.probed(2)),
    ("layers", {"only": 7, "marks": 1}, 80, lambda machine: machine.watched(1, scopes=("a", "c"))),
    ("layers", {"only": 8, "marks": 2}, 502, lambda machine: machine.watched(2, baseline=1, ready=2)),
    ("layers", {"only": 10, "marks": 1}, 58, lambda machine: machine.watched(1, per_window=1)),
    ("layers", {"only": 13, "marks": 2}, 518, lambda machine: machine.watched(2, threshold=0)),
    ("composing", {"marks": 1}, 366, lambda machine: machine.subscribed(1)),
)
"""Deployments with an envelope or a probe, and subscriptions."""
LARGE: tuple[tuple[str, Mapping[str, int], int, Callable[[ModuleType], int]], ...] = (
    ("layers", {"only": 7}, 5_560, lambda machine: machine.watched(2, scopes=("a", "c"))),
    (
        "layers",
        {"only": 9},
        7_286,
        lambda machine: machine.watched(3, agents=3, barrier=False, ready=0, remembered=0),
    ),
    ("layers", {"only": 10}, 2_132, lambda machine: machine.watched(2, per_window=1)),
    ("composing", {}, 5_913, lambda machine: machine.subscribed(2)),
)


@pytest.mark.parametrize(
    ("system", "scope", "states", "counted"), [*WATCHED, *(pytest.param(*one, marks=pytest.mark.deep) for one in LARGE)]
)
def test_what_watches_and_what_is_watched_have_their_sizes(
    system: str, scope: Mapping[str, int], states: int, counted: Callable[[ModuleType], int]
) -> None:
    """By the search, and by machines that import nothing."""
    found = explore(find("markspace").model.systems[system].at(**scope), ())
    assert found.complete
    assert found.states == states == counted(oracle("markspace_watched"))


def test_a_machine_that_forgets_a_sentence_counts_otherwise() -> None:
    """Another threshold or another baseline gives another size."""
    machine = oracle("markspace_watched")
    assert machine.watched(2, threshold=0) != machine.watched(2, threshold=2)
    assert machine.watched(2, baseline=1, ready=2) != machine.watched(2)
