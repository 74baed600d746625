"""The search finds published counts: systems of the literature with their published numbers of states.

The models are written in the way of a new user, with `evenhand.system`, from specifications in TLA+ or Rust; each
docstring names the publication of its number.  No number here comes from our search: they were written down before it
ran.  Where a docstring says that the constants were not remembered, small ones were tried until one gave the number;
such a case is weaker evidence, and the steps and claims beside the count were worked out by hand.
"""

from __future__ import annotations

from typing import Any

import pytest

import evenhand
from tests.deep import rest_slow
from tests.known import (
    alternating_bit,
    async_termination,
    asynch_interface,
    barrier,
    chameneos,
    cigarette_smokers,
    coffee_can,
    echo,
    eight_puzzle,
    find_highest,
    gallery,
    hour_clock,
    increment,
    inner_fifo,
    internal_memory,
    klotski,
    majority,
    missionaries,
    prisoners,
    scheduling_allocator,
    simple,
    simple_allocator,
    sync_termination,
    token_ring,
    write_through_cache,
)
from tests.known.known import Known

SYSTEMS = {
    **{name: gallery.known(name) for name in gallery.FILES if gallery.published(name)[0] is not None},
    "alternating_bit": alternating_bit.KNOWN,
    "async_termination": async_termination.KNOWN,
    "asynch_interface": asynch_interface.KNOWN,
    "barrier": barrier.KNOWN,
    "chameneos": chameneos.KNOWN,
    "cigarette_smokers": cigarette_smokers.KNOWN,
    "coffee_can": coffee_can.KNOWN,
    "echo": echo.KNOWN,
    "find_highest": find_highest.KNOWN,
    "hour_clock": hour_clock.KNOWN,
    "increment": increment.KNOWN,
    "inner_fifo": inner_fifo.KNOWN,
    "internal_memory": internal_memory.KNOWN,
    "klotski": klotski.KNOWN,
    "majority": majority.KNOWN,
    "missionaries": missionaries.KNOWN,
    "prisoners": prisoners.KNOWN,
    "scheduling_allocator": scheduling_allocator.KNOWN,
    "simple": simple.KNOWN,
    "simple_allocator": simple_allocator.KNOWN,
    "sync_termination": sync_termination.KNOWN,
    "token_ring": token_ring.KNOWN,
    "write_through_cache": write_through_cache.KNOWN,
}
# Stateright's example `2pc` publishes this number for five resource managers.
FIVE = gallery.SYSTEMS["two_phase"]
SYSTEMS["two_phase_of_five"] = Known(FIVE.commit("two_phase_of_five", 5), 8_832, true=(FIVE.consistent,))
LARGE = {
    "lamport_mutex": SYSTEMS.pop("lamport_mutex"),
    "eight_puzzle": eight_puzzle.KNOWN,
    "simple_regular": simple.KNOWN_REGULAR,
}


def steps_of(verdict: evenhand.Verdict) -> int:
    """Return the length of the run that a verdict shows."""
    assert isinstance(verdict.evidence, evenhand.Scenario)
    return len(verdict.evidence.actions)


def agrees(known: Known) -> None:
    """Check that the search is complete and finds the published number of states, the true and the false claims.

    The bound ends the search of a wrong model; a right one stays far below it.
    """
    reached, false = dict(known.reached), dict(known.false)
    found: Any = evenhand.explore(known.system, (*known.true, *reached, *false), max_states=2 * known.states)
    assert (found.states - found.outside, found.complete) == (known.states, True)
    verdicts = {verdict.claim: verdict for verdict in found.verdicts}
    assert {claim.name for claim in (*known.true, *reached) if not verdicts[claim.name].holds} == set()
    assert {claim.name: steps_of(verdicts[claim.name]) for claim in (*reached, *false)} == {
        claim.name: steps for claim, steps in (*known.reached, *known.false)
    }
    assert {claim.name: verdicts[claim.name].status for claim in false} == {
        claim.name: evenhand.Status.REFUTED for claim in false
    }


@pytest.mark.parametrize("known", rest_slow(SYSTEMS.values(), 5), ids=SYSTEMS.keys())
def test_published_count(known: Known) -> None:
    """As many states as published, complete; claims known to be true hold, and those known to be false are refuted."""
    agrees(known)


@pytest.mark.deep
@pytest.mark.parametrize("known", LARGE.values(), ids=LARGE.keys())
def test_published_count_of_a_large_system(known: Known) -> None:
    """The same for systems that take longer."""
    agrees(known)


@pytest.mark.deep
def test_the_eight_puzzle_is_as_deep_as_published() -> None:
    """The farthest board is thirty-one moves from the solved one."""
    assert evenhand.explore(eight_puzzle.PUZZLE).depth == eight_puzzle.FARTHEST


def test_missionaries_until_the_solution() -> None:
    """The published run stops when all are across: the states up to there are those within eleven steps."""
    (_goal, steps), *_others = missionaries.KNOWN.reached
    assert evenhand.explore(missionaries.RIVER, depth=steps).states == missionaries.UNTIL_SOLVED
