"""The benchmark of planted arbiters: its list is whole, and a part of it is found, named and told in rows."""

from __future__ import annotations

import pytest

from benchmarks.arbiters.__main__ import row_of, summary
from benchmarks.arbiters.listed import LOOKS, OPTIONS, PLANTED
from evenhand.arbiters.loading import factory_at

QUICK = ("Interned", "Corridor", "Chairman")
KNOWN = {"FirstDone"}


def test_every_listed_kernel_exists() -> None:
    """At least forty arbiters and fifteen honest kernels, each of which can be imported, each name once."""
    places = [*(one.place for one in PLANTED), *LOOKS]
    assert all(callable(factory_at(place)) for place in places) and len({*places}) == len(places)
    assert len(PLANTED) >= 40 and len(LOOKS) >= 15 and OPTIONS.keys() <= {*places}


def check(names: set[str], honest: bool) -> None:
    """Examine these kernels."""
    rows = [row_of(one.name, one.place, one.question, one.words) for one in PLANTED if one.name in names]
    rows += [row_of(place.partition(":")[2], place, "", "") for place in LOOKS if honest]
    made = summary(rows)
    assert made["planted"] == made["found"] == made["named"] == len(names), made
    assert not made["false_findings"] and all(row["seconds"] < 60 for row in rows)
    assert all(row["length"] <= 3 and row["agents"] <= 3 for row in rows if row["expected"])


@pytest.mark.slow
def test_a_part_is_found_and_named() -> None:
    """Those that were missed or not named once."""
    check(set(QUICK), honest=False)


@pytest.mark.deep
def test_all_but_the_known_are_found_and_named() -> None:
    """The known are listed in docs/explanation/arbiters.md."""
    check({one.name for one in PLANTED} - KNOWN, honest=True)
