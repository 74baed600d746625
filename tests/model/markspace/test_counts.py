"""Pinned sizes of the guard's graphs, each counted again by a guard that was written without the model."""

from __future__ import annotations

import pytest

from evenhand.model.markspace.guard_systems import GUARDS
from evenhand.search import explore
from tests.model.markspace.naive import count

PINNED = {
    ("first_writer", 2, 1, 2): 339,
    ("highest_confidence", 2, 1, 2): 411,
    ("yield_all", 2, 1, 2): 1068,
    ("deferred", 2, 1, 2): 519,
    ("first_writer", 3, 1, 1): 1062,
    ("highest_confidence", 3, 1, 1): 1062,
    ("deferred", 3, 1, 1): 2070,
    ("yield_all", 3, 1, 1): 6120,
    ("first_writer", 2, 2, 2): 567,
}
"""Policy, agents, TTL, levels of confidence: states."""


@pytest.mark.parametrize(("where", "states"), PINNED.items(), ids=str)
def test_the_graph_has_the_pinned_size(where: tuple[str, int, int, int], states: int) -> None:
    """By the search and by the naive count."""
    policy, agents, ttl, levels = where
    found = explore(GUARDS[policy].at(agents=agents, ttl=ttl, levels=levels), ())
    assert found.complete
    assert found.states == states
    assert count(policy, agents, ttl, levels) == states


@pytest.mark.parametrize(
    ("policy", "states"),
    [
        ("first_writer", 5425),
        pytest.param("highest_confidence", 5425, marks=pytest.mark.deep),
        pytest.param("deferred", 17561, marks=pytest.mark.deep),
        pytest.param("yield_all", 58944, marks=pytest.mark.deep),
    ],
)
def test_two_resources_close(policy: str, states: int) -> None:
    """About ten thousand states, as on the page, by the search and by the naive count."""
    found = explore(GUARDS[policy].at(resources=2, levels=1), ())
    assert (found.complete, found.states) == (True, states)
    assert count(policy, 2, 1, 1, resources=2) == states
