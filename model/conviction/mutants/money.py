"""Faults about points: what is staked, charged, tapped, burned and logged."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from evenhand.core.system import Mutant, Scope
from evenhand.model.conviction.exact import Amount, exact
from evenhand.model.conviction.mutants.declare import CYCLE, HOSTILE, PLAIN, SERIES, TAP, declare
from evenhand.model.conviction.points import joined, staked, taken
from evenhand.model.conviction.rules import REFERENCE, Rules
from evenhand.model.conviction.texts import Text, ratio, tokens
from evenhand.model.conviction.ticks import seated
from evenhand.model.conviction.vocabulary import (
    AddStake,
    Config,
    Entry,
    Event,
    Feedback,
    MoveStake,
    Seat,
    State,
)

__all__ = ["MONEY"]


def _forgiving(name: str, *reasons: str) -> Any:
    """A refusal that lets these reasons pass."""
    usual = getattr(REFERENCE, name)

    def refuse(config: Config, state: State, seat: Seat, action: Any) -> str:
        reason = usual(config, state, seat, action)
        return "" if reason in reasons else reason

    return refuse


def _unlogged(*kinds: str) -> Any:
    """Events of these kinds reach no log."""

    def logged(events: tuple[Event, ...]) -> tuple[Event, ...]:
        return tuple(event for event in events if event.kind not in kinds)

    return logged


def _nothing_burns(_config: Config, _state: State, _winner: str) -> tuple[Entry, ...]:
    """No stake is burned."""
    return ()


def _free(_config: Config, _change: Fraction) -> Amount:
    """A revision costs nothing."""
    return 0


def _dear(config: Config, _change: Fraction) -> Amount:
    """Every revision costs the whole self-stake."""
    return config.constants.self_stake


def _always_fined(_config: Config, _state: State) -> bool:
    """STAKE rounds are not exempt."""
    return True


def _losers_burn(_config: Config, state: State, winner: str) -> tuple[Entry, ...]:
    """The winner's backers keep their stakes."""
    return tuple(entry for entry in state.entries if entry.proposal != winner)


def _no_tap(config: Config, state: State, seat: Seat, needed: Amount) -> Any:
    """What the balance cannot pay is refused."""
    return (state.entries, 0) if seat.balance >= needed else None


def _greedy_tap(config: Config, state: State, seat: Seat, needed: Amount) -> Any:
    """The whole stake is withdrawn as soon as some is needed."""
    if seat.balance >= needed:
        return state.entries, 0
    have = staked(state, seat.agent, seat.proposal)
    if seat.balance + have < needed:
        return None
    return taken(state.entries, seat.agent, seat.proposal, have, "oldest_first")[0], have


def _minting_tap(config: Config, state: State, seat: Seat, needed: Amount) -> Any:
    """The stake stays where it was."""
    found = REFERENCE.tapped(config, state, seat, needed)
    return None if found is None else (state.entries, found[1])


def _tap_of_any_stake(config: Config, state: State, seat: Seat, needed: Amount) -> Any:
    """A revision is never too dear: the deficit is forgiven."""
    deficit = exact(max(needed - seat.balance, 0))
    entries, _ = taken(state.entries, seat.agent, seat.proposal, deficit, "oldest_first")
    return entries, deficit


def _refund(_config: Config, old: Text, new: Text) -> Amount:
    """A shorter text gives a point back."""
    return 1 if len(tokens(new)) < len(tokens(old)) else 0


def _bag_delta(_config: Config, old: Text, new: Text) -> Fraction:
    """Tokens are compared as sets, so order and repetition cost nothing."""
    before, after = tokens(old), tokens(new)
    return ratio(len(set(after) - set(before)), before, after)


def _empty_delta(config: Config, old: Text, new: Text) -> Fraction:
    """Two empty texts differ wholly."""
    return REFERENCE.delta(config, old, new) if tokens(old) or tokens(new) else Fraction(1)


def _fee_on_rejection(_config: Config, state: State, agent: str, reason: str) -> State:
    """Whoever is refused for lack of credit loses what it has."""
    seat = state.seat(agent)
    if seat is None or reason != "WrongPhase" or seat.balance < 1:
        return state
    return replace(seated(state, replace(seat, balance=exact(seat.balance - 1))), burned=exact(state.burned + 1))


def _half_stake(config: Config, balance: Amount, substituted: bool) -> Amount | None:
    """A substituted NoAction stakes nothing, whatever the reading."""
    return 0 if substituted else REFERENCE.self_stake(config, balance, substituted)


def _stake_on_credit(config: Config, _balance: Amount, _substituted: bool) -> Amount | None:
    """The whole self-stake, whatever the balance."""
    return config.constants.self_stake


def _unclipped(_config: Config, _balance: Amount, payment: Amount) -> Amount | None:
    """MaximumCredit is not looked at."""
    return payment


def _confiscating(_config: Config, seat: Seat) -> Seat:
    """Liquid points vanish with the Issue."""
    return Seat(seat.agent, seat.standing, 0)


def _double_penalty(config: Config, seat: Seat) -> Amount:
    """Twice the penalty, as far as there is balance."""
    return min(2 * config.constants.penalty, max(seat.balance, 0))


def _any_amount(config: Config, state: State, seat: Seat, action: AddStake) -> str:
    """Amounts below zero are added."""
    reason = REFERENCE.refuse_add(config, state, seat, action)
    return "" if reason == "InvalidAmount" else reason


def _moves_anything(config: Config, state: State, seat: Seat, action: MoveStake) -> str:
    """Whether there is that much stake is not looked at."""
    reason = REFERENCE.refuse_move(config, state, seat, action)
    return "" if reason == "InsufficientStake" else reason


def _free_feedback(_config: Config, balance: Amount, _price: Amount) -> Amount:
    """Feedback is burned and not charged."""
    return balance


def _comment(config: Config, state: State, seat: Seat, action: Feedback) -> str:
    """Comments of any length."""
    reason = REFERENCE.refuse_feedback(config, state, seat, action)
    return "" if reason == "FeedbackTooLong" else reason


def _swallowed(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Of several burns at the end only the first reaches the log."""
    seen = False
    kept: list[Event] = []
    for event in events:
        if event.kind == "Burn" and event.reason == "Stake":
            if seen:
                continue
            seen = True
        kept.append(event)
    return tuple(kept)


def _tops_up(_config: Config, entries: tuple[Entry, ...], owner: str, proposal: str, amount: Amount) -> Any:
    """An addition takes over the age of the stake that is there."""
    held = max((e.held for e in entries if (e.owner, e.proposal) == (owner, proposal)), default=0)
    return joined((*entries, Entry(owner, proposal, held, amount)))


_FEEDBACK = Scope(CYCLE, budget=3, hostile=1)
_GRANT = Scope(agents=1, strangers=1, texts=0, budget=3, cap=2, rounds=1)

MONEY: tuple[Mutant[Rules], ...] = (
    declare("stake_not_burned", "Stakes survive the Issue.", "18.2", SERIES, system="series", burning=_nothing_burns),
    declare("winning_stake_returned", "Only losing stakes are burned.", "18.2", burning=_losers_burn),
    declare("burn_not_logged", "Burns reach no log.", "13.2", logged=_unlogged("Burn")),
    declare("one_stake_burn_logged", "Of several stake burns the first is logged.", "13.2", logged=_swallowed),
    declare("stake_burned_not_logged", "StakeBurned reaches no log.", "18.2", logged=_unlogged("StakeBurned")),
    declare("finalize_not_published", "The ledger is not published.", "18.4", logged=_unlogged("Published")),
    declare("rejection_not_logged", "Rejections reach no log.", "11.4", HOSTILE, logged=_unlogged("Rejected")),
    declare("tap_missing", "A revision beyond the balance is refused.", "14.2", TAP, tapped=_no_tap),
    declare("tap_takes_everything", "The tap withdraws the whole stake.", "14.2", TAP, tapped=_greedy_tap),
    declare("tap_mints", "The tap leaves the stake where it is.", "14.2", TAP, tapped=_minting_tap),
    declare(
        "tap_forgives",
        "A deficit beyond the stake is forgiven.",
        "14.2",
        Scope(TAP, budget=1),
        tapped=_tap_of_any_stake,
    ),
    declare("refund_on_revise", "A shorter text gives a point back.", "14.1", TAP, refund=_refund),
    declare("revision_free", "Revisions cost nothing.", "14.1", TAP, cost=_free),
    declare(
        "revision_costs_everything",
        "Every revision costs the whole self-stake.",
        "14.1",
        TAP,
        cost=_dear,
    ),
    declare("tokens_as_a_set", "Tokens are compared as sets.", "14.1", TAP, delta=_bag_delta),
    declare("empty_texts_differ", "Two empty texts differ wholly.", "14.1", Scope(TAP, texts=4), delta=_empty_delta),
    declare("fee_charged_on_rejection", "Some rejections cost a point.", "11.4", HOSTILE, rejected=_fee_on_rejection),
    declare("substituted_stakes_nothing", "An assigned NoAction stakes nothing.", "6.2", self_stake=_half_stake),
    declare(
        "self_stake_on_credit",
        "The self-stake is taken whatever the balance.",
        "6.2",
        Scope(PLAIN, stake=3),
        self_stake=_stake_on_credit,
    ),
    declare(
        "maximum_credit_ignored",
        "Grants exceed MaximumCredit.",
        "4.4",
        _GRANT,
        readings=(("max_credit", "clip"),),
        credit=_unclipped,
    ),
    declare("balances_confiscated", "Liquid points vanish with the Issue.", "18.1", closed=_confiscating),
    declare(
        "penalty_doubled", "A kick-out costs twice.", "9.3", Scope(PLAIN, budget=3, rounds=1), penalty=_double_penalty
    ),
    declare("penalty_in_stake_rounds", "STAKE rounds are not exempt.", "B 16.1.2", fined=_always_fined),
    declare("negative_amount_accepted", "Nothing and less can be staked.", "A 16.3", HOSTILE, refuse_add=_any_amount),
    declare(
        "add_on_credit",
        "Stake is added whatever the balance.",
        "A 16.5",
        refuse_add=_forgiving("refuse_add", "InsufficientCredit"),
    ),
    declare("move_on_credit", "More is moved than is there.", "A 16.3", HOSTILE, refuse_move=_moves_anything),
    declare("feedback_free", "Feedback is burned and not charged.", "11.2", _FEEDBACK, pays=_free_feedback),
    declare("feedback_of_any_length", "FeedbackCharLimit is ignored.", "11.6", _FEEDBACK, refuse_feedback=_comment),
    declare(
        "feedback_without_limit",
        "MaxFeedbackPerAgent is ignored.",
        "11.5",
        Scope(_FEEDBACK, budget=4),
        refuse_feedback=_forgiving("refuse_feedback", "FeedbackLimitReached"),
    ),
    declare(
        "feedback_on_credit",
        "Feedback is accepted whatever the balance.",
        "11.4",
        Scope(CYCLE, budget=1),
        refuse_feedback=_forgiving("refuse_feedback", "InsufficientCredit"),
    ),
    declare(
        "feedback_on_own_proposal",
        "One may comment on oneself.",
        "11.1",
        _FEEDBACK,
        refuse_feedback=_forgiving("refuse_feedback", "OwnProposal"),
    ),
    declare("add_inherits_the_age", "Added stake takes over the age of what is there.", "16.6", added=_tops_up),
)
"""The faults of this module."""
