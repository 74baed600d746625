"""The numpy kernel's table of known states, against a dictionary; the count of edges counts distinct ones."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand.search import csr
from evenhand.search.tables.visited import NEAR, WORD, Visited, Words, different


@given(st.integers(1, 3), st.lists(st.integers(0, 700), max_size=4), st.integers(0, 3), st.integers(), st.booleans())
def test_it_knows_what_it_was_given(width: int, portions: list[int], high: int, seed: int, direct: bool) -> None:
    """Batches with new, known and equal states, then look-ups; some words use all their bits, or each has a place."""
    random = np.random.default_rng(abs(seed))
    width, high = (1, 0) if direct else (width, high)
    visited = Visited(width, 9 if direct else WORD)
    assert visited.direct is direct
    known: dict[bytes, int] = {}
    for portion in portions:
        words = random.integers(-(2**62) if high else 0, 2**62 if high else 300, (portion, width))
        first = [place for place, row in enumerate(words) if row.tobytes() not in known | _before(words, place)]
        known |= {words[place].tobytes(): number for number, place in enumerate(first, len(known))}
        numbers, new = visited.entered(words)
        assert (numbers.tolist(), new.tolist()) == ([known[row.tobytes()] for row in words], first)
    asked = np.concatenate([visited.words[: len(known)], random.integers(0, 300, (50, width))])
    assert visited.numbers(asked).tolist() == [known.get(row.tobytes(), -1) for row in asked]


def _before(words: Words, place: int) -> dict[bytes, int]:
    return dict.fromkeys([row.tobytes() for row in words[:place]], 0)


@given(st.lists(st.lists(st.integers(0, 40), max_size=60), max_size=4), st.integers(0, 30), st.sampled_from([6, WORD]))
def test_it_keeps_so_many_and_no_more(portions: list[list[int]], most: int, bits: int) -> None:
    """States beyond the bound have no number, in this batch and the next; all before have theirs."""
    visited = Visited(1, bits)
    known: dict[int, int] = {}
    for portion in portions:
        for one in portion:
            if len(known) < most:
                known.setdefault(one, len(known))
        numbers, _ = visited.entered(np.asarray(portion, dtype=np.int64).reshape(-1, 1), most)
        assert numbers.tolist() == [known.get(one, -1) for one in portion]
        assert visited.count == len(known)


@pytest.mark.parametrize("at", ["home", "end"])
def test_states_that_want_one_place(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All hashes are equal, at the start or the end of the table: slow, and right."""

    def one_place(self: Visited, words: Words) -> NDArray[np.int64]:
        return np.full(len(words), 5 if at == "home" else len(self.table) - 2)

    monkeypatch.setattr(Visited, "_home", one_place)
    visited = Visited(1)
    visited.entered(np.repeat(np.arange(60), 2).reshape(-1, 1))
    visited.entered(np.arange(30, 90).reshape(-1, 1))
    assert visited.numbers(np.arange(100).reshape(-1, 1)).tolist() == [*range(90), *[-1] * 10]


@given(st.lists(st.integers(-50, 50)), st.integers(1, 2 * NEAR))
def test_different_numbers(numbers: list[int], apart: int) -> None:
    """As many as a set of them holds, in each portion within which equal ones are looked for."""
    portions = [numbers[at : at + apart] for at in range(0, len(numbers), apart)]
    codes = [100 * place + number for place, portion in enumerate(portions) for number in portion]
    assert different(np.asarray(codes, dtype=np.int64), apart) == len(set(codes))


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11))), st.sets(st.integers(0, 11)))
def test_what_lies_ahead(size: int, pairs: list[tuple[int, int]], wanted: set[int]) -> None:
    """What a plain search reaches, also where scipy takes over after one step."""
    edges = [(one % size, other % size) for one, other in pairs]
    found = [*{one % size for one in wanted}]
    seeds = np.isin(np.arange(size), found)
    for node in found:
        found += [other for one, other in edges if one == node and other not in found]
    source, target = np.asarray(edges, dtype=np.int64).reshape(-1, 2).T
    for levels in (csr.LEVELS, 1, 0):
        with patch.object(csr, "LEVELS", levels):
            assert set(np.flatnonzero(csr.ahead(size, source, target, seeds)).tolist()) == set(found)
