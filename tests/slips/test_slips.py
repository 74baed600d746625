"""Every slip ends in one clear sentence or in a verdict that does not pass, and every right use holds."""

from __future__ import annotations

import pytest

from tests.deep import rest_slow
from tests.slips.judging import complaint, judged
from tests.slips.kit import MODULES, Slip, loaded

EVERY = loaded()


@pytest.mark.parametrize("one", rest_slow(EVERY, 90), ids=[f"{one.category}.{one.name}" for one in EVERY])
def test_no_slip_comes_out_green(one: Slip) -> None:
    """The required sentence is registered with the slip."""
    wrong = complaint(one, judged(one))
    assert not wrong, f"{one.sentence} {wrong}"


def test_the_corpus_is_not_thinned_out() -> None:
    """Each module has slips of its own category, and there are right uses, so that refusing everything fails."""
    assert all(one.run.__module__ == f"tests.slips.{one.category}" for one in EVERY)
    for category in MODULES:
        assert sum(one.category == category and not one.right for one in EVERY) >= 8, category
    assert sum(not one.right for one in EVERY) >= 500
    assert sum(one.right for one in EVERY) >= 40
