"""The order in which divergences are reduced to defects."""

from __future__ import annotations

import pytest

from evenhand.conform.checking.ordering import MANY_WAYS, Defect, broad
from tests.front.conform.test_causes import differing


@pytest.mark.parametrize(("words", "number"), [(frozenset[str](), 1), (frozenset({"LATE"}), 2)])
def test_one_field_that_is_wrong_in_many_ways_is_one_but_for_words_of_the_protocol(
    words: frozenset[str], number: int
) -> None:
    """Four other texts are one fault; a reason that the protocol names may be another."""
    ways = [f"why: {one} / other" for one in ("a", "b", "c", "LATE", "d")][: MANY_WAYS + 1]
    kept = list(broad([Defect(differing({way}), 1) for way in ways], words))
    assert len(kept) == number and sum(one.count for one in kept) == len(ways)
