"""Systems of the literature from tables: the result of explicit search, for every claim."""

from __future__ import annotations

import pytest

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
