"""Proposals, feedback and revisions: who has one, what they cost, what is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from evenhand.core.property import AnyStep, Property, TwoRun, always, each_step
from evenhand.model.conviction.texts import Text
from evenhand.model.conviction.vocabulary import (
    FEEDBACK,
    FINALIZE,
    PROPOSE,
    REVISE,
    STAKE,
    Act,
    Config,
    Feedback,
    Propose,
    Revise,
    State,
)
from evenhand.properties.conviction.predicates import (
    accepted,
    balance,
    changed,
    events,
    finalizes,
    on_configs,
    on_steps,
    owned,
    price,
    same_readings,
    seat_of,
    total,
)

__all__ = ["PROPOSING"]


def _proposed(_config: Config, state: State) -> bool:
    return state.phase in (FEEDBACK, REVISE, STAKE, FINALIZE)


@always(
    "Once PROPOSE has ended, every assigned agent has exactly one proposal, and every proposal has its author.",
    source="6.1, 6.2, 9.3",
    when=_proposed,
    proved=True,
)
def one_proposal_each(config: Config, state: State) -> bool:
    """Where NoAction is shared, those who took it have it in common."""
    known = [one.uid for one in state.proposals]
    inside = [seat for seat in state.seats if seat.assigned]
    if len(set(known)) != len(known) or any(seat.proposal not in known for seat in inside):
        return False
    if any(seat.proposal for seat in state.seats if not seat.assigned):
        return False
    return config.readings.no_action == "shared" or len(known) == len(inside)


@each_step("A proposal is never replaced by another one while its Issue is open.", source="6.1")
def proposals_stay(step: AnyStep) -> bool:
    """Revision changes the text, of one's own proposal only, and only in REVISE."""
    if finalizes(step):
        return True
    for old in step.before.proposals:
        new = next((one for one in step.after.proposals if one.uid == old.uid), None)
        if new is None or new.author != old.author:
            return False
        mine = isinstance(step.action, Revise) and step.action.agent == old.author and step.before.phase == REVISE
        if new.text != old.text and not mine:
            return False
    return all(
        not seat.proposal or seat_of(step.after, seat.agent).proposal == seat.proposal for seat in step.before.seats
    )


@each_step(
    "Whoever submits a proposal stakes ProposalSelfStake on it at once, or what is left.",
    source="6.2, 12.1",
    when=on_steps(lambda step: accepted(step, Propose)),
    applies=on_configs(
        lambda config: (
            same_readings(config, poor_proposer="stake_what_is_left") and config.readings.self_stake != "at_stake_1"
        )
    ),
)
def proposers_stake_at_once(step: AnyStep) -> bool:
    """The NoAction too."""
    uid = step.action.agent
    due = min(step.config.constants.self_stake, balance(step.before, uid))
    held = owned(step.after, uid, seat_of(step.after, uid).proposal)
    return bool(balance(step.after, uid) == balance(step.before, uid) - due and total(held.values()) == due)


@each_step(
    "Every agent has staked once when the rounds begin, whether upon submission or at STAKE 1.",
    source="6.2, A 16.2",
    when=on_steps(lambda step: step.before.phase != STAKE and step.after.phase == STAKE),
    applies=on_configs(
        lambda config: (
            same_readings(config, poor_proposer="stake_what_is_left", substituted_no_action="self_stakes")
            and config.readings.self_stake != "both"
        )
    ),
)
def everybody_has_staked_by_round_one(step: AnyStep) -> bool:
    """Nobody has put up less while it could have put up more, nor more than once; taps aside."""
    due = step.config.constants.self_stake
    for seat in step.after.seats:
        held = total(owned(step.after, seat.agent, seat.proposal).values())
        if held > due or (
            step.config.readings.self_stake == "at_stake_1" and seat.assigned and held < due and seat.balance
        ):
            return False
    return True


def _substitutes(step: AnyStep) -> bool:
    return step.before.phase == PROPOSE and any(events(step.shown, "KickOut"))


@each_step(
    "An assigned NoAction stakes for its agent as the reading says: ProposalSelfStake, what is left, or nothing.",
    source="6.2, 9.3",
    when=_substitutes,
    applies=on_configs(lambda config: same_readings(config, poor_proposer="stake_what_is_left")),
)
def substitutes_stake_as_read(step: AnyStep) -> bool:
    """In PROPOSE; what is staked at STAKE 1 comes with another round."""
    config, reading = step.config, step.config.readings
    for event in events(step.shown, "KickOut"):
        due = min(config.constants.self_stake, balance(step.before, event.agent))
        if same_readings(config, substituted_no_action="no_stake") or reading.self_stake == "at_stake_1":
            due = 0
        begun = step.after.phase == STAKE and reading.self_stake != "at_submission"
        staked = total(e.amount for e in events(step.shown, "Staked") if e.agent == event.agent)
        if not begun and staked != due:
            return False
    return True


# Feedback


@each_step(
    "Feedback is on somebody else's proposal, within length and number, and is paid for in full.",
    source="11",
    when=on_steps(lambda step: accepted(step, Feedback)),
    proved=True,
)
def feedback_is_lawful_and_paid(step: AnyStep) -> bool:
    """Everything that 11 asks, at once."""
    c, uid, target = step.config.constants, step.action.agent, step.before.proposal(step.action.proposal)
    seat, after = seat_of(step.before, uid), seat_of(step.after, uid)
    burns = [(event.agent, event.amount, event.reason) for event in events(step.shown, "Burn")]
    return (
        step.before.phase == FEEDBACK
        and target is not None
        and target.author != uid
        and seat.proposal != target.uid
        and len(step.action.comment) <= c.feedback_length
        and seat.feedback < c.feedback_limit
        and after.feedback == seat.feedback + 1
        and seat.balance >= c.feedback_stake == seat.balance - after.balance
        and (not c.feedback_stake or burns == [(uid, c.feedback_stake, "FeedbackStake")])
    )


@always("Nobody has submitted more feedback than MaxFeedbackPerAgent.", source="11.5")
def feedback_stays_within_the_limit(config: Config, state: State) -> bool:
    """Per Issue."""
    return all(0 <= seat.feedback <= config.constants.feedback_limit for seat in state.seats)


@each_step(
    "The count of feedback begins anew with every Issue.",
    source="11.5",
    when=on_steps(lambda step: step.before.phase == "IDLE" and step.after.phase == PROPOSE),
)
def an_issue_begins_clean(step: AnyStep) -> bool:
    """No stake, proposal, signal, count or timer comes over from another Issue."""
    blank = all(not (s.feedback or s.signal or s.timer or s.proposal) for s in step.after.seats)
    return blank and not step.after.entries and not step.after.proposals


_FEEDBACK_REASONS = ("FeedbackTooLong", "FeedbackLimitReached", "InsufficientCredit", "OwnProposal")


@each_step(
    "Feedback is refused by a name of section 11 only where that is what is wrong.",
    source="11.4, 11.5, 11.6, 15.1",
    when=on_steps(lambda step: isinstance(step.action, Feedback) and step.shown.rejected in _FEEDBACK_REASONS),
)
def feedback_is_refused_for_cause(step: AnyStep) -> bool:
    """The four reasons."""
    c, seat = step.config.constants, seat_of(step.before, step.action.agent)
    target = step.before.proposal(step.action.proposal)
    return bool(
        {
            "FeedbackTooLong": len(step.action.comment) > c.feedback_length,
            "FeedbackLimitReached": seat.feedback >= c.feedback_limit,
            "InsufficientCredit": seat.balance < c.feedback_stake,
            "OwnProposal": target is not None and target.author == seat.agent,
        }[step.shown.rejected]
    )


# Revisions


def _texts(step: AnyStep) -> tuple[Text, Text]:
    old = step.before.proposal(step.action.agent)
    assert old is not None and old.text is not None
    return old.text, step.action.text


def _revised(step: AnyStep) -> bool:
    return accepted(step, Revise)


def _unchanged(step: AnyStep) -> bool:
    return _revised(step) and _texts(step)[0] == _texts(step)[1]


@each_step(
    "An unchanged text costs nothing.",
    source="14.1",
    when=_unchanged,
)
def an_unchanged_text_costs_nothing(step: AnyStep) -> bool:
    """Two empty texts are unchanged."""
    return price(step) == 0 and balance(step.before, step.action.agent) == balance(step.after, step.action.agent)


@each_step("A revision costs at most ProposalSelfStake.", source="14.1", when=_revised)
def a_revision_costs_at_most_the_self_stake(step: AnyStep) -> bool:
    """Delta is in [0, 1]."""
    cost = price(step)
    return cost is not None and 0 <= cost <= step.config.constants.self_stake


@each_step("A revision costs ProposalSelfStake times the share of tokens changed.", source="14.1", when=_revised)
def a_revision_costs_its_share(step: AnyStep) -> bool:
    """Rounded as read."""
    full = step.config.constants.self_stake * changed(step.config, *_texts(step))
    due = {"exact": full, "floor": math.floor(full), "ceil": math.ceil(full)}[step.config.readings.rounding]
    return bool(price(step) == due)


@each_step(
    "The tap withdraws exactly the deficit, from one's own stake on one's own proposal.", source="14.2", when=_revised
)
def the_tap_takes_the_deficit(step: AnyStep) -> bool:
    """Nothing if the balance suffices."""
    uid = step.action.agent
    withdrawn = next(events(step.shown, "Revision")).get("withdrawn")
    cost = price(step)
    assert cost is not None
    due = max(Fraction(cost) - balance(step.before, uid), 0)
    gone = total(owned(step.before, uid, uid).values()) - total(owned(step.after, uid, uid).values())
    return bool(withdrawn == due == gone)


@each_step(
    "A revision is refused for lack of credit only if balance and stake on one's own proposal together are too little.",
    source="14.2",
    when=on_steps(lambda step: isinstance(step.action, Revise) and step.shown.rejected == "InsufficientCredit"),
)
def the_tap_is_tried_first(step: AnyStep) -> bool:
    """14.2: if stake is still inadequate."""
    uid = step.action.agent
    full = step.config.constants.self_stake * changed(step.config, *_texts(step))
    due = {"exact": full, "floor": math.floor(full), "ceil": math.ceil(full)}[step.config.readings.rounding]
    return bool(balance(step.before, uid) + total(owned(step.before, uid, uid).values()) < due)


def _less(config: Config, state: State, action: Act) -> Iterator[Text]:
    """Other texts that change a smaller share."""
    if not isinstance(action, Revise) or state.phase != REVISE:
        return
    own = state.proposal(action.agent)
    if own is None or own.text is None or action.text.missing:
        return
    share = changed(config, own.text, action.text)
    yield from (text for text in config.texts if changed(config, own.text, text) < share)


def _no_dearer(_w: Text, step: AnyStep, other: AnyStep | None) -> bool:
    mine, its = price(step), None if other is None else price(other)
    return mine is None or (its is not None and its <= mine)


def _with_text(w: Text, action: Any) -> tuple[Act, ...]:
    return (Revise(action.agent, action.credential, w),)


revision_cost_is_monotone = TwoRun(
    name="revision_cost_is_monotone",
    sentence="Of two revisions of one text, the one that changes a smaller share costs no more, and is affordable if "
    "the other is.",
    source="14.1",
    twins=_less,
    config=lambda _w, config: config,
    state=lambda _w, _config, state: state,
    other=_with_text,
    agree=_no_dearer,
)


PROPOSING: tuple[Property, ...] = (
    one_proposal_each,
    proposals_stay,
    proposers_stake_at_once,
    everybody_has_staked_by_round_one,
    substitutes_stake_as_read,
    feedback_is_lawful_and_paid,
    feedback_stays_within_the_limit,
    an_issue_begins_clean,
    feedback_is_refused_for_cause,
    an_unchanged_text_costs_nothing,
    a_revision_costs_at_most_the_self_stake,
    a_revision_costs_its_share,
    the_tap_takes_the_deficit,
    the_tap_is_tried_first,
    revision_cost_is_monotone,
)
"""The claims of this module."""
