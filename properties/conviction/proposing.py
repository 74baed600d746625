"""Proposals, feedback and revisions: their authors, costs and refusals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from evenhand.core.plan import refuted
from evenhand.core.property import TwoRun, always, each_step
from evenhand.model.conviction.exact import Amount
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
    BESIDE,
    RunStep,
    accepted,
    act,
    balance,
    changed,
    events,
    finalizes,
    on_configs,
    on_values,
    owned,
    price,
    same_readings,
    seat_of,
    total,
)


@always(
    "Once PROPOSE has ended, every assigned agent has exactly one proposal, and every proposal has its author.",
    source="6.1, 6.2, 9.3",
    when=on_values(lambda _config, state: state.phase in (FEEDBACK, REVISE, STAKE, FINALIZE)),
)
def one_proposal_each(config: Config, state: State) -> bool:
    """Agents with a shared NoAction have that proposal in common."""
    known = [one.uid for one in state.proposals]
    inside = [seat for seat in state.seats if seat.assigned]
    if len(set(known)) != len(known) or any(seat.proposal not in known for seat in inside):
        return False
    if any(seat.proposal for seat in state.seats if not seat.assigned):
        return False
    return config.readings.no_action == "shared" or len(known) == len(inside)


@each_step("A proposal is never replaced by another one while its Issue is open.", source="6.1")
def proposals_stay(step: RunStep) -> bool:
    """A revision changes the text of one's own proposal only, and only in REVISE."""
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
    when=lambda step: accepted(step, Propose),
    applies=on_configs(
        lambda config: (
            same_readings(config, poor_proposer="stake_what_is_left") and config.readings.self_stake != "at_stake_1"
        )
    ),
)
def proposers_stake_at_once(step: RunStep) -> bool:
    """This includes NoAction."""
    uid = act(step, Propose).agent
    due = min(step.config.constants.self_stake, balance(step.before, uid))
    held = owned(step.after, uid, seat_of(step.after, uid).proposal)
    return balance(step.after, uid) == balance(step.before, uid) - due and total(held.values()) == due


@each_step(
    "Every agent has staked once when the rounds begin, whether upon submission or at STAKE 1.",
    source="6.2, A 16.2",
    when=lambda step: step.before.phase != STAKE and step.after.phase == STAKE,
    applies=on_configs(
        lambda config: (
            same_readings(config, poor_proposer="stake_what_is_left", substituted_no_action="self_stakes")
            and config.readings.self_stake != "both"
        )
    ),
)
def everybody_has_staked_by_round_one(step: RunStep) -> bool:
    """No agent stakes less than it could, nor more than once; withdrawals by the tap are allowed."""
    due = step.config.constants.self_stake
    for seat in step.after.seats:
        held = total(owned(step.after, seat.agent, seat.proposal).values())
        if held > due or (
            step.config.readings.self_stake == "at_stake_1" and seat.assigned and held < due and seat.balance
        ):
            return False
    return True


@each_step(
    "An assigned NoAction stakes for its agent as the reading says: ProposalSelfStake, what is left, or nothing.",
    source="6.2, 9.3",
    when=lambda step: step.before.phase == PROPOSE and any(events(step.shown, "KickOut")),
    applies=on_configs(lambda config: same_readings(config, poor_proposer="stake_what_is_left")),
)
def substitutes_stake_as_read(step: RunStep) -> bool:
    """Checked in PROPOSE; the stake at STAKE 1 comes with another round."""
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
    when=lambda step: accepted(step, Feedback),
)
def feedback_is_lawful_and_paid(step: RunStep) -> bool:
    """Check every condition of section 11."""
    c, action = step.config.constants, act(step, Feedback)
    uid, target = action.agent, step.before.proposal(action.proposal)
    seat, after = seat_of(step.before, uid), seat_of(step.after, uid)
    burns = [(event.agent, event.amount, event.reason) for event in events(step.shown, "Burn")]
    return (
        step.before.phase == FEEDBACK
        and target is not None
        and target.author != uid
        and seat.proposal != target.uid
        and len(action.comment) <= c.feedback_length
        and seat.feedback < c.feedback_limit
        and after.feedback == seat.feedback + 1
        and seat.balance >= c.feedback_stake == seat.balance - after.balance
        and (not c.feedback_stake or burns == [(uid, c.feedback_stake, "FeedbackStake")])
    )


@always("Nobody has submitted more feedback than MaxFeedbackPerAgent.", source="11.5")
def feedback_stays_within_the_limit(config: Config, state: State) -> bool:
    """The limit is per Issue."""
    return all(0 <= seat.feedback <= config.constants.feedback_limit for seat in state.seats)


@each_step(
    "The count of feedback begins anew with every Issue.",
    source="11.5",
    when=lambda step: step.before.phase == "IDLE" and step.after.phase == PROPOSE,
)
def an_issue_begins_clean(step: RunStep) -> bool:
    """No stake, proposal, signal, count or timer is left from another Issue."""
    blank = all(not (s.feedback or s.signal or s.timer or s.proposal) for s in step.after.seats)
    return blank and not step.after.entries and not step.after.proposals


_FEEDBACK_REASONS = ("FeedbackTooLong", "FeedbackLimitReached", "InsufficientCredit", "OwnProposal")


@each_step(
    "Feedback is refused by a name of section 11 only where that is what is wrong.",
    source="11.4, 11.5, 11.6, 15.1",
    when=lambda step: isinstance(step.action, Feedback) and step.shown.rejected in _FEEDBACK_REASONS,
)
def feedback_is_refused_for_cause(step: RunStep) -> bool:
    """Check the condition behind each of the four reasons."""
    c, action = step.config.constants, act(step, Feedback)
    seat, target = seat_of(step.before, action.agent), step.before.proposal(action.proposal)
    return {
        "FeedbackTooLong": len(action.comment) > c.feedback_length,
        "FeedbackLimitReached": seat.feedback >= c.feedback_limit,
        "InsufficientCredit": seat.balance < c.feedback_stake,
        "OwnProposal": target is not None and target.author == seat.agent,
    }[step.shown.rejected]


# Revisions


def _texts(step: RunStep) -> tuple[Text, Text]:
    action = act(step, Revise)
    old = step.before.proposal(action.agent)
    assert old is not None and old.text is not None
    return old.text, action.text


def _share(step: RunStep) -> Amount:
    """The cost due: ProposalSelfStake times the share of tokens changed, rounded as the reading says."""
    full = step.config.constants.self_stake * changed(step.config, *_texts(step))
    due: dict[str, Amount] = {"exact": full, "floor": math.floor(full), "ceil": math.ceil(full)}
    return due[step.config.readings.rounding]


def _revised(step: RunStep) -> bool:
    return accepted(step, Revise)


@each_step(
    "An unchanged text costs nothing.",
    source="14.1",
    when=lambda step: _revised(step) and _texts(step)[0] == _texts(step)[1],
    expected=(
        refuted(
            "14.2: a negative balance is less than a cost of 0, so the tap covers the deficit out of the stake",
            penalty_floor="negative_balance",
        ),
    ),
)
def an_unchanged_text_costs_nothing(step: RunStep) -> bool:
    """Two empty texts count as unchanged."""
    uid = act(step, Revise).agent
    return price(step) == 0 and balance(step.before, uid) == balance(step.after, uid)


@each_step(
    "A revision costs at most ProposalSelfStake.",
    source="14.1",
    when=_revised,
    expected=(
        refuted(
            "14.1: insertions and deletions together may be more than the longer text, so the ratio exceeds 1",
            diff_ratio="insertions_plus_deletions",
        ),
    ),
)
def a_revision_costs_at_most_the_self_stake(step: RunStep) -> bool:
    """The diff ratio Delta is in [0, 1]."""
    cost = price(step)
    return cost is not None and 0 <= cost <= step.config.constants.self_stake


@each_step("A revision costs ProposalSelfStake times the share of tokens changed.", source="14.1", when=_revised)
def a_revision_costs_its_share(step: RunStep) -> bool:
    """The cost is rounded as the reading says."""
    return price(step) == _share(step)


@each_step(
    "The tap withdraws exactly the deficit, from one's own stake on one's own proposal.", source="14.2", when=_revised
)
def the_tap_takes_the_deficit(step: RunStep) -> bool:
    """Nothing is withdrawn if the balance suffices."""
    uid = act(step, Revise).agent
    withdrawn: Amount = next(events(step.shown, "Revision")).get("withdrawn")
    cost = price(step)
    assert cost is not None
    due = max(Fraction(cost) - balance(step.before, uid), 0)
    gone = total(owned(step.before, uid, uid).values()) - total(owned(step.after, uid, uid).values())
    return withdrawn == due == gone


@each_step(
    "A revision is refused for lack of credit only if balance and stake on one's own proposal together are too little.",
    source="14.2",
    when=lambda step: isinstance(step.action, Revise) and step.shown.rejected == "InsufficientCredit",
)
def the_tap_is_tried_first(step: RunStep) -> bool:
    """14.2 refuses only if the stake is still inadequate."""
    uid = act(step, Revise).agent
    return balance(step.before, uid) + total(owned(step.before, uid, uid).values()) < _share(step)


def _less(config: Config, state: State, action: Act) -> Iterator[Text]:
    if not isinstance(action, Revise) or state.phase != REVISE:
        return
    own = state.proposal(action.agent)
    if own is None or own.text is None or action.text.missing:
        return
    share = changed(config, own.text, action.text)
    yield from (text for text in config.texts if changed(config, own.text, text) < share)


def _no_dearer(_w: Text, step: RunStep, other: RunStep | None) -> bool:
    mine, its = price(step), None if other is None else price(other)
    return mine is None or (its is not None and its <= mine)


def _with_text(w: Text, action: Revise) -> tuple[Act, ...]:
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
    expected=(BESIDE,),
)
