"""The numpy kernel's table of known states, against a dictionary; the count of edges counts distinct ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand.search.tables.visited import Visited, Words, different


@given(st.integers(1, 3), st.lists(st.integers(0, 700), max_size=4), st.integers(0, 3), st.integers())
def test_it_knows_what_it_was_given(width: int, portions: list[int], high: int, seed: int) -> None:
    """Batches of new states, then look-ups of which some are known; some words use all their bits."""
    random = np.random.default_rng(abs(seed))
    visited = Visited(width)
    known: dict[bytes, int] = {}
    for portion in portions:
        words = random.integers(-(2**62) if high else 0, 2**62 if high else 300, (portion, width))
        fresh = [row for row in {row.tobytes(): row for row in words}.values() if row.tobytes() not in known]
        if fresh:
            visited.add(np.stack(fresh), len(known))
            known |= {row.tobytes(): place for place, row in enumerate(fresh, len(known))}
    asked = np.concatenate([visited.words[: len(known)], random.integers(0, 300, (50, width))])
    assert visited.numbers(asked).tolist() == [known.get(row.tobytes(), -1) for row in asked]


@pytest.mark.parametrize("at", ["home", "end"])
def test_states_that_want_one_place(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All hashes are equal, at the start or the end of the table: slow, and right."""

    def one_place(self: Visited, words: Words) -> NDArray[np.int64]:
        return np.full(len(words), 5 if at == "home" else len(self.table) - 2)

    monkeypatch.setattr(Visited, "_home", one_place)
    visited = Visited(1)
    visited.add(np.arange(60).reshape(-1, 1), 0)
    visited.add(np.arange(60, 90).reshape(-1, 1), 60)
    assert visited.numbers(np.arange(100).reshape(-1, 1)).tolist() == [*range(90), *[-1] * 10]


@given(st.lists(st.integers(-50, 50)))
def test_different_numbers(numbers: list[int]) -> None:
    """As many as a set of them holds."""
    assert different(np.asarray(numbers, dtype=np.int64)) == len(set(numbers))
