"""Readings that change the winner of the same history, and one that changes nothing."""

from __future__ import annotations

import pytest

from benchmarks.ballots import ballot, winner_changes, winners_differ
from evenhand.model.conviction.protocol import CONVICTION
from evenhand.variants.separate import separate

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
    """A burn that is logged differently shows in the whole log, not in the winner."""
    system = CONVICTION.systems["issue"].at(texts=0, rounds=1)
    other = system.under(stake_burn="separate_event")
    assert separate(system, other, examples=0).separated
    assert separate(ballot(system), ballot(other), examples=0).equal


def test_no_tap_has_a_choice() -> None:
    """14.2's tap comes in REVISE, before any STAKE round: all stake is young, so the order has no effect."""
    system = CONVICTION.systems["issue"].at(cycles=1, rounds=1, texts=2, budget=2, ready=0)
    assert separate(system, system.under(tap_takes="youngest_first"), examples=0).equal


OPEN_ENDED = ("issue", {**STAKES, "budget": 1, "rounds": 0})


def test_an_end_that_comes_earlier_can_be_another() -> None:
    """16.1: three rounds are six ticks to the end, one round is four, at which two silent agents tie.

    So the shortest difference is an end.  A move of one point in the second round comes too late where there is one
    round; by hand: four ticks, the move, and the two ticks that remain by default.
    """
    first = winner_changes("stake_rounds", 1, (OPEN_ENDED,)).found
    assert first is not None and first.length == 4 and first.shown is not None and () in first.shown
    found = winners_differ("stake_rounds", 1, (OPEN_ENDED,))
    assert found.actions is not None and found.winners == ("agent_2", "")
    assert [type(action).__name__ for action in found.actions] == ["Tick"] * 4 + ["MoveStake"] + ["Tick"] * 2


def test_sides_that_never_both_end_are_told_from_sides_that_agree() -> None:
    """12.4: an end that is never stated never comes; the same text under its own name agrees at every end."""
    never = winners_differ("phase_end", "never_stated", (OPEN_ENDED,))
    assert never.actions is None and never.complete and never.steps and not never.met
    agreed = winners_differ("revision_cost", "deducted_only", (OPEN_ENDED,))
    assert agreed.actions is None and agreed.complete and agreed.met
