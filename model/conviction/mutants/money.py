"""Faults about points: what is staked, charged, tapped, burned and logged."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.conviction.exact import Amount, exact
from evenhand.model.conviction.mutants.declare import CYCLE, HOSTILE, PLAIN, SERIES, TAP, declare, fault, forgiving
from evenhand.model.conviction.points import joined, staked, taken
from evenhand.model.conviction.rules import REFERENCE
from evenhand.model.conviction.texts import Text, ratio, tokens
from evenhand.model.conviction.ticks import seated
from evenhand.model.conviction.vocabulary import (
    AddStake,
    Config,
    Entry,
    Event,
    Seat,
    State,
)

_FEEDBACK = Scope(CYCLE, budget=3, hostile=1)
_GRANT = Scope(agents=1, strangers=1, texts=0, budget=3, cap=2, rounds=1)


def _unlogged(*kinds: str) -> Any:
    """Events of these kinds reach no log."""

    def logged(events: tuple[Event, ...]) -> tuple[Event, ...]:
        return tuple(event for event in events if event.kind not in kinds)

    return logged


@fault("burning", "18.2", SERIES, system="series")
def stake_not_burned(_config: Config, _state: State, _winner: str) -> tuple[Entry, ...]:
    """Stakes survive the Issue."""
    return ()


@fault("burning", "18.2")
def winning_stake_returned(_config: Config, state: State, winner: str) -> tuple[Entry, ...]:
    """Only losing stakes are burned."""
    return tuple(entry for entry in state.entries if entry.proposal != winner)


burn_not_logged = declare("burn_not_logged", "Burns reach no log.", "13.2", logged=_unlogged("Burn"))


@fault("logged", "13.2")
def one_stake_burn_logged(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Of several stake burns the first is logged."""
    seen = False
    kept: list[Event] = []
    for event in events:
        if event.kind == "Burn" and event.reason == "Stake":
            if seen:
                continue
            seen = True
        kept.append(event)
    return tuple(kept)


stake_burned_not_logged = declare(
    "stake_burned_not_logged", "StakeBurned reaches no log.", "18.2", logged=_unlogged("StakeBurned")
)
finalize_not_published = declare(
    "finalize_not_published", "The ledger is not published.", "18.4", logged=_unlogged("Published")
)
rejection_not_logged = declare(
    "rejection_not_logged", "Rejections reach no log.", "11.4", HOSTILE, logged=_unlogged("Rejected")
)


@fault("tapped", "14.2", TAP)
def tap_missing(config: Config, state: State, seat: Seat, needed: Amount) -> Any:
    """A revision beyond the balance is refused."""
    return (state.entries, 0) if seat.balance >= needed else None


@fault("tapped", "14.2", TAP)
def tap_takes_everything(config: Config, state: State, seat: Seat, needed: Amount) -> Any:
    """The tap withdraws the whole stake."""
    if seat.balance >= needed:
        return state.entries, 0
    have = staked(state, seat.agent, seat.proposal)
    if seat.balance + have < needed:
        return None
    return taken(state.entries, seat.agent, seat.proposal, have, "oldest_first")[0], have


@fault("tapped", "14.2", TAP)
def tap_mints(config: Config, state: State, seat: Seat, needed: Amount) -> Any:
    """The tap leaves the stake where it is."""
    found = REFERENCE.tapped(config, state, seat, needed)
    return None if found is None else (state.entries, found[1])


@fault("tapped", "14.2", Scope(TAP, budget=1))
def tap_forgives(config: Config, state: State, seat: Seat, needed: Amount) -> Any:
    """A deficit beyond the stake is forgiven."""
    deficit = exact(max(needed - seat.balance, 0))
    entries, _ = taken(state.entries, seat.agent, seat.proposal, deficit, "oldest_first")
    return entries, deficit


@fault("refund", "14.1", TAP)
def refund_on_revise(_config: Config, old: Text, new: Text) -> Amount:
    """A shorter text gives a point back."""
    return 1 if len(tokens(new)) < len(tokens(old)) else 0


@fault("cost", "14.1", TAP)
def revision_free(_config: Config, _change: Fraction) -> Amount:
    """Revisions cost nothing."""
    return 0


@fault("cost", "14.1", TAP)
def revision_costs_everything(config: Config, _change: Fraction) -> Amount:
    """Every revision costs the whole self-stake."""
    return config.constants.self_stake


@fault("delta", "14.1", TAP)
def tokens_as_a_set(_config: Config, old: Text, new: Text) -> Fraction:
    """Tokens are compared as sets."""
    # Order and repetition cost nothing.
    before, after = tokens(old), tokens(new)
    return ratio(len(set(after) - set(before)), before, after)


@fault("delta", "14.1", Scope(TAP, texts=4))
def empty_texts_differ(config: Config, old: Text, new: Text) -> Fraction:
    """Two empty texts differ wholly."""
    return REFERENCE.delta(config, old, new) if tokens(old) or tokens(new) else Fraction(1)


@fault("rejected", "11.4", HOSTILE)
def fee_charged_on_rejection(_config: Config, state: State, agent: str, reason: str) -> State:
    """Some rejections cost a point."""
    seat = state.seat(agent)
    if seat is None or reason != "WrongPhase" or seat.balance < 1:
        return state
    return replace(seated(state, replace(seat, balance=exact(seat.balance - 1))), burned=exact(state.burned + 1))


@fault("self_stake", "6.2")
def substituted_stakes_nothing(config: Config, balance: Amount, substituted: bool) -> Amount | None:
    """An assigned NoAction stakes nothing."""
    # Whatever the reading.
    return 0 if substituted else REFERENCE.self_stake(config, balance, substituted)


@fault("self_stake", "6.2", Scope(PLAIN, stake=3))
def self_stake_on_credit(config: Config, _balance: Amount, _substituted: bool) -> Amount | None:
    """The self-stake is taken whatever the balance."""
    return config.constants.self_stake


@fault("credit", "4.4", _GRANT, readings=(("max_credit", "clip"),))
def maximum_credit_ignored(_config: Config, _balance: Amount, payment: Amount) -> Amount | None:
    """Grants exceed MaximumCredit."""
    return payment


@fault("closed", "18.1")
def balances_confiscated(_config: Config, seat: Seat) -> Seat:
    """Liquid points vanish with the Issue."""
    return Seat(seat.agent, seat.standing, 0)


@fault("penalty", "9.3", Scope(PLAIN, budget=3, rounds=1))
def penalty_doubled(config: Config, seat: Seat) -> Amount:
    """A kick-out costs twice."""
    return min(2 * config.constants.penalty, max(seat.balance, 0))


@fault("fined", "B 16.1.2")
def penalty_in_stake_rounds(_config: Config, _state: State) -> bool:
    """STAKE rounds are not exempt."""
    return True


negative_amount_accepted = declare(
    "negative_amount_accepted",
    "Nothing and less can be staked.",
    "A 16.3",
    HOSTILE,
    **forgiving("refuse_add", "InvalidAmount"),
)
add_on_credit = declare(
    "add_on_credit", "Stake is added whatever the balance.", "A 16.5", **forgiving("refuse_add", "InsufficientCredit")
)


@fault("refuse_add", "A 16.5")
def credit_of_the_poorest(config: Config, state: State, seat: Seat, action: AddStake) -> str:
    """An addition must be covered by every balance."""
    reason = REFERENCE.refuse_add(config, state, seat, action)
    short = any(one.balance < action.amount for one in state.seats)
    return "InsufficientCredit" if not reason and short else reason


move_on_credit = declare(
    "move_on_credit", "More is moved than is there.", "A 16.3", HOSTILE, **forgiving("refuse_move", "InsufficientStake")
)


@fault("pays", "11.2", _FEEDBACK)
def feedback_free(_config: Config, balance: Amount, _price: Amount) -> Amount:
    """Feedback is burned and not charged."""
    return balance


feedback_of_any_length, feedback_without_limit, feedback_on_credit, feedback_on_own_proposal = (
    declare(name, sentence, source, scope, **forgiving("refuse_feedback", reason))
    for name, sentence, source, scope, reason in (
        ("feedback_of_any_length", "FeedbackCharLimit is ignored.", "11.6", _FEEDBACK, "FeedbackTooLong"),
        (
            "feedback_without_limit",
            "MaxFeedbackPerAgent is ignored.",
            "11.5",
            Scope(_FEEDBACK, budget=4),
            "FeedbackLimitReached",
        ),
        (
            "feedback_on_credit",
            "Feedback is accepted whatever the balance.",
            "11.4",
            Scope(CYCLE, budget=1),
            "InsufficientCredit",
        ),
        ("feedback_on_own_proposal", "One may comment on oneself.", "11.1", _FEEDBACK, "OwnProposal"),
    )
)


@fault("added", "16.6")
def add_inherits_the_age(_config: Config, entries: tuple[Entry, ...], owner: str, proposal: str, amount: Amount) -> Any:
    """Added stake takes over the age of what is there."""
    held = max((e.held for e in entries if (e.owner, e.proposal) == (owner, proposal)), default=0)
    return joined((*entries, Entry(owner, proposal, held, amount)))
