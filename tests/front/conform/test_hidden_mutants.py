"""Every listed mutant behind an adapter that hides its name: is it found, by which claim, in how many steps?

`python -m benchmarks.hidden cud apcm` prints the table.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.hidden import line, row_of
from evenhand.core.registry import find
from evenhand.core.system import Mutant

PROTOCOLS = ("cud", "apcm")


def listed() -> list[Any]:
    """Return every mutant of the protocols, as parameters with its name."""
    return [
        pytest.param(protocol, mutant, id=f"{protocol}-{mutant.name}")
        for protocol in PROTOCOLS
        for mutant in find(protocol).model.mutants
    ]


@pytest.mark.deep
@pytest.mark.parametrize(("protocol", "mutant"), listed())
def test_a_hidden_mutant_is_found(protocol: str, mutant: Mutant[Any]) -> None:
    """Mutants registered as killed are found, equivalent ones are not, and each run shrinks exactly to the minimum."""
    _as_registered(row_of(protocol, mutant))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["veto_ignored", pytest.param("livelock_counts_pass_one", marks=pytest.mark.deep, id="livelock_counts")]
)
def test_one_that_shows_itself_and_one_that_only_counts(name: str) -> None:
    """One mutant is found by its observations; the other shows nothing and is found by the state that it tells."""
    row = row_of("cud", next(one for one in find("cud").model.mutants if one.name == name))
    _as_registered(row)
    assert row["state"] == (name != "veto_ignored") and row["minimal"] is not None
    assert f"{row['length']} of {row['minimal']} steps" in line(row)


def _as_registered(row: dict[str, Any]) -> None:
    print(json.dumps(row))
    assert row["found"] == (row["expected"] == "killed")
    assert not row["found"] or row["length"] == row["minimal"]
