"""The pinned sizes of markspace's space, layers and schedules, counted again without the model."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from evenhand.properties.registry import find
from evenhand.properties.search import explore


def oracle() -> ModuleType:
    """The counts, loaded from their file, for tests are no package here."""
    path = Path(__file__).with_name("markspace_counts.py")
    spec = importlib.util.spec_from_file_location("markspace_counts", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PINNED: tuple[tuple[str, Mapping[str, int], int, Callable[[ModuleType], int]], ...] = (
    ("space", {"marks": 1}, 170, lambda counts: 5 * counts.space(1, 2)),
    ("space", {"only": 2, "horizon": 1, "hostile": 1}, 518, lambda counts: counts.space(2, 1)),
    ("layers", {"only": 1, "marks": 1}, 12, lambda counts: counts.bare()),
    ("layers", {"only": 2, "marks": 1}, 384, lambda counts: counts.barred()),
    ("layers", {"only": 3, "marks": 1}, 1_602, lambda counts: counts.limited(1, 2, 2, 3)),
    ("layers", {"only": 12, "marks": 1}, 26, lambda counts: counts.limited(None, 1, 2, 1)),
    ("layers", {"only": 4, "marks": 1}, 288, lambda counts: counts.budgeted(5, None)),
    ("layers", {"only": 5, "marks": 1}, 312, lambda counts: counts.budgeted(5, 2)),
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
    """By the search, and by books that import nothing."""
    found = explore(find("markspace").model.systems[system].at(**scope), ())
    assert found.complete
    assert found.states == states == counted(oracle())
