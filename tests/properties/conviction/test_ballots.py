"""Readings that change the winner of the same history, and one that changes nothing at all."""

from __future__ import annotations

import pytest

from evenhand.model.conviction.protocol import CONVICTION
from evenhand.properties.conviction.ballots import ballot, winner_changes
from evenhand.properties.variants import separate

STAKES = {"ready": 0, "penalty": 0, "texts": 0, "stake": 1, "budget": 2}


@pytest.mark.parametrize(
    ("reading", "value", "system", "scope", "length", "winners"),
    [
        # Counted by hand: open, PROPOSE, STAKE 1, a move to another's proposal, STAKE 2, finalize.
        ("self_stake", "at_stake_1", "trio", {}, 6, (("agent_2",), ("",))),
        # Open, one proposal, PROPOSE, STAKE 1, STAKE 2 or its end: NoAction is one proposal or two.
        ("no_action", "shared", "issue", STAKES, None, None),
    ],
)
def test_a_reading_changes_the_winner(
    reading: str,
    value: str,
    system: str,
    scope: dict[str, int],
    length: int | None,
    winners: tuple[tuple[str, ...], tuple[str, ...]] | None,
) -> None:
    """The same actions, another winner; nothing shorter does."""
    found = winner_changes(reading, value, ((system, scope),)).found
    assert found is not None and found.minimal
    assert length in (None, found.length)
    assert found.shown is not None and found.shown[0] != found.shown[1]
    assert winners in (None, found.shown)


def test_a_ballot_shows_winners_alone() -> None:
    """A burn that is logged otherwise is told by the whole log, not by who won."""
    system = CONVICTION.systems["issue"].at(texts=0, rounds=1)
    other = system.under(stake_burn="separate_event")
    assert separate(system, other, examples=0).separated
    assert separate(ballot(system), ballot(other), examples=0).equal


def test_no_tap_has_a_choice() -> None:
    """14.2's tap comes in REVISE, before any STAKE round: all stake is young, so the order that it takes is none."""
    system = CONVICTION.systems["issue"].at(cycles=1, rounds=1, texts=2, budget=2, ready=0)
    assert separate(system, system.under(tap_takes="youngest_first"), examples=0).equal
