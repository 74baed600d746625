"""Systems of the literature from tables: the result of explicit search, for every claim."""

from __future__ import annotations

import pytest

import evenhand
from tests.deep import rest_slow
from tests.engines.search.tables.forced import explicitly, searched
from tests.known.known import Known
from tests.known.test_published_counts import SYSTEMS

LONG = {
    "lamport_mutex", "klotski", "paxos", "two_phase_of_five", "readers_writers", "chameneos", "token_ring",
    "async_termination",
}  # fmt: skip
"""Systems that take longer: from the first state on, where nothing is saved, some learn for a minute."""


@pytest.mark.parametrize(
    "known", rest_slow([pytest.param(one, id=name) for name, one in SYSTEMS.items() if name not in LONG], 6)
)
def test_known_system(known: Known) -> None:
    """Counts, tallies and findings are equal number by number."""
    claims = (*known.true, *dict(known.reached), *dict(known.false))
    found, _, why = searched(known.system, claims, share=300)
    assert found == explicitly(known.system, claims), why
    assert found.states == known.states
    assert "an error in the tables" not in why


@evenhand.always("A sum over all parts is not seven times something and nine.")
def about_all_parts(state: object) -> bool:
    """It reads more parts than a number can tell apart, so that it is asked of each state by itself."""
    return hash(state) % 7 != 9


def test_a_claim_that_reads_the_whole_state() -> None:
    """The search stays compiled."""
    system = evenhand.system(
        "switches",
        initial=[(0,) * 70],
        actions=lambda _state: range(7),
        step=lambda state, place: tuple((value + (here == place)) % 2 for here, value in enumerate(state)),
    )
    found, method, why = searched(system, [about_all_parts])
    assert (found, method) == (explicitly(system, [about_all_parts]), "compiled"), why
