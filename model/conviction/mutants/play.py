"""Faults about the play: clock, phases, rounds, scores, winners, credentials, Issues."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

from evenhand.core.system import Mutant, Scope
from evenhand.model.conviction.exact import Amount, Surd, multiplier
from evenhand.model.conviction.mutants.declare import CYCLE, HOSTILE, LATE, ROUNDS, SERIES, TIMED, declare
from evenhand.model.conviction.points import joined, taken
from evenhand.model.conviction.rules import REFERENCE, Rules
from evenhand.model.conviction.scoring import Scores
from evenhand.model.conviction.vocabulary import (
    FINALIZE,
    PROPOSE,
    STAKE,
    AddStake,
    Agent,
    Config,
    Entry,
    MoveStake,
    Proposal,
    Propose,
    Seat,
    SignalReady,
    State,
)

__all__ = ["PLAY"]


def _keeps_age(config: Config, entries: tuple[Entry, ...], owner: str, source: str, target: str, amount: Amount) -> Any:
    """Moved stake keeps its rounds."""
    left, _ = taken(entries, owner, source, amount, config.readings.move_takes)
    gone = [e for e in joined((*entries,)) if (e.owner, e.proposal) == (owner, source)]
    oldest = max((entry.held for entry in gone), default=0)
    return joined((*left, Entry(owner, target, oldest, amount)))


def _young_first(
    config: Config, entries: tuple[Entry, ...], owner: str, source: str, target: str, amount: Amount
) -> Any:
    """The youngest stake is moved first, whatever the reading."""
    left, _ = taken(entries, owner, source, amount, "youngest_first")
    return joined((*left, Entry(owner, target, 0, amount)))


def _first_tick(config: Config, proposals: tuple[Proposal, ...], what: str, uid: str) -> tuple[Proposal, ...]:
    """The first stake counts, not the last."""
    after = REFERENCE.touched(config, proposals, what, uid)
    return tuple(new if old.last is None else old for old, new in zip(proposals, after, strict=True))


def _self_stake_counts(config: Config, proposals: tuple[Proposal, ...], what: str, uid: str) -> tuple[Proposal, ...]:
    """The automatic self-stake is an addition as well."""
    return REFERENCE.touched(config, proposals, "add" if what == "self" else what, uid)


def _moves_do_not_count(config: Config, proposals: tuple[Proposal, ...], what: str, uid: str) -> tuple[Proposal, ...]:
    """Only additions set LastStakeTick."""
    return proposals if what == "in" else REFERENCE.touched(config, proposals, what, uid)


def _order_counts(config: Config, proposals: tuple[Proposal, ...], what: str, uid: str) -> tuple[Proposal, ...]:
    """Inside a tick the later action makes the earlier one older."""
    after = REFERENCE.touched(config, proposals, what, uid)
    if after == proposals or what == "self":
        return after
    return tuple(replace(one, last=one.last + 1) if one.uid != uid and one.last is not None else one for one in after)


def _uncapped(config: Config, rounds: int) -> Surd:
    """16.6 without the cap of 16.7."""
    c = config.constants
    return multiplier(c.greatest, c.fraction, c.saturation, rounds)


def _ages_on(_config: Config, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return joined(replace(entry, held=entry.held + 1) for entry in entries)


def _float_sum(config: Config, proposal: str, entries: tuple[tuple[Entry, Surd], ...]) -> Surd:
    """Scores added up in floating point."""
    c = config.constants
    root = float(1 - c.fraction) ** (1 / c.saturation)
    total = 0.0
    for entry, factor in entries:
        if entry.proposal == proposal:
            total += float(entry.amount) * sum(float(q) * root**place for place, q in enumerate(factor.form))
    zero = REFERENCE.score(config, "", ())
    return Surd(zero.base, (Fraction(total), *zero.form[1:]))


def _counting_finalize(config: Config, rounds: int) -> Surd:
    """The tick that finalizes counts as a round."""
    return REFERENCE.weight(config, rounds + 1)


def _without_the_one(config: Config, rounds: int) -> Surd:
    """Only the conviction weighs, not the point."""
    return REFERENCE.weight(config, rounds) + REFERENCE.weight(config, 0).times(-1)


def _beyond_the_maximum(config: Config, rounds: int) -> Surd:
    """1 + Max (1 - theta**r): saturated stake weighs more than the maximum."""
    one, conviction = REFERENCE.weight(config, 0), _without_the_one(config, rounds)
    return one + conviction.times(config.constants.greatest / (config.constants.greatest - 1))


def _lightest(config: Config, state: State, scores: Scores) -> tuple[str, str]:
    """The lowest score wins."""
    return REFERENCE.winner(config, state, tuple((uid, total.times(-1), last) for uid, total, last in scores))


def _latest(config: Config, state: State, scores: Scores) -> tuple[str, str]:
    """Of tied proposals the latest stake wins."""
    return REFERENCE.winner(
        config, state, tuple((uid, total, None if last is None else -last) for uid, total, last in scores)
    )


def _first_name(config: Config, state: State, scores: Scores) -> tuple[str, str]:
    """A tie is won by the first name, whenever it was staked on."""
    won, because = REFERENCE.winner(config, state, scores)
    if because in ("highest score", "no proposal"):
        return won, because
    most = max(total for _, total, _ in scores)
    return min(uid for uid, total, _ in scores if total == most), "lowest proposal id"


def _no_tie_breaker(config: Config, state: State, scores: Scores) -> tuple[str, str]:
    """A tie has no winner."""
    won, because = REFERENCE.winner(config, state, scores)
    return (won, because) if because in ("highest score", "no proposal") else ("", "full tie")


def _second_proposal(config: Config, state: State, seat: Seat, action: Propose) -> str:
    """A second proposal replaces the first."""
    reason = REFERENCE.refuse_propose(config, state, seat, action)
    return "" if reason == "SecondProposal" else reason


def _ready_unproposed(config: Config, state: State, seat: Seat, action: SignalReady) -> str:
    """READY twice in a tick."""
    reason = REFERENCE.refuse_ready(config, state, seat, action)
    return "" if reason == "AlreadyReady" else reason


def _early_add(config: Config, state: State, seat: Seat, action: AddStake) -> str:
    """STAKE 1 is a round like any other."""
    later = replace(state, turn=2) if state.phase == STAKE else state
    return REFERENCE.refuse_add(config, later, seat, action)


def _move_home(config: Config, state: State, seat: Seat, action: MoveStake) -> str:
    """Stake can be moved to where it is."""
    reason = REFERENCE.refuse_move(config, state, seat, action)
    return "" if reason == "SameProposal" else reason


def _strict_timer(config: Config, seat: Seat, done: bool) -> bool:
    """The timer fires a tick late."""
    return seat.assigned and not done and seat.timer > config.constants.think_ticks


def _long_timer(config: Config, seat: Seat, done: bool) -> Seat:
    return (
        seat
        if done or not seat.assigned
        else replace(seat, timer=min(seat.timer + 1, config.constants.think_ticks + 1))
    )


def _everybody_late(config: Config, seat: Seat, _done: bool) -> Seat:
    """A tick counts for those who were done as well."""
    return REFERENCE.lagged(config, seat, False)


def _kicks_the_ready(config: Config, seat: Seat, _done: bool) -> bool:
    """A full timer kicks out who is READY now."""
    return REFERENCE.kicked(config, seat, False)


def _straight_to_stake(config: Config, state: State) -> tuple[str, int]:
    """FEEDBACK is followed by STAKE."""
    return (STAKE, 1) if state.phase == "FEEDBACK" else REFERENCE.following(config, state)


def _one_more_round(config: Config, state: State) -> tuple[str, int]:
    """The last round is held twice over."""
    phase, turn = REFERENCE.following(config, state)
    return (STAKE, state.turn + 1) if phase == FINALIZE and state.turn == config.rounds else (phase, turn)


def _eager(config: Config, state: State, done: bool, fired: bool) -> bool:
    """Every tick ends a phase but PROPOSE."""
    return state.phase != PROPOSE or REFERENCE.over(config, state, done, fired)


def _not_closed(_config: Config, seat: Seat) -> Seat:
    """Counts of feedback go on in the next Issue."""
    return Seat(seat.agent, seat.standing, seat.balance, feedback=seat.feedback)


def _queued(_config: Config, seat: Seat) -> Seat:
    """What was signalled for one Issue waits for the next."""
    return Seat(seat.agent, seat.standing, seat.balance, timer=seat.timer)


def _old_proposal(_config: Config, seat: Seat) -> Seat:
    return Seat(seat.agent, seat.standing, seat.balance, proposal=seat.proposal)


def _ageless(_config: Config, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """No stake ever ages."""
    return entries


def _still_ready(_config: Config, seat: Seat) -> str:
    """READY stays."""
    return seat.signal


def _all_done(_config: Config, _state: State, done: bool, _fired: bool) -> bool:
    """Only completion ends a phase."""
    return done


def _unreset(_config: Config, seat: Seat) -> Seat:
    """Timers go on."""
    return seat


def _any_credential(_agent: Agent, _credential: str) -> bool:
    """Whatever is presented."""
    return True


def _published_credential(agent: Agent) -> str:
    """8.3 read literally."""
    return agent.credential


def _constant_author(_agent: Agent) -> str:
    """Everybody is the first agent."""
    return "agent_1"


_hidden = itertools.count()


def _hidden_state(agent: Agent) -> str:
    """The record depends on how often it was written."""
    return f"{agent.uid} {next(_hidden) % 2}"


_UNCAPPED = Scope(ROUNDS, budget=1, stake=1)
_AGAIN = Scope(TIMED, stake=0, budget=2)
"""Two agents that can add stake in two ticks of a round."""
_SLOW = Scope(TIMED, budget=1)
"""Self-stakes at different ticks, and nothing else."""
_APART = Scope(TIMED, stake=0, budget=1)
"""Two agents that can stake the same in one round, a tick apart."""
_CROSS = Scope(SERIES, cycles=1, budget=5, texts=1, hostile=0)

PLAY: tuple[Mutant[Rules], ...] = (
    declare("move_keeps_multiplier", "Moved stake keeps its rounds.", "A 16.3", moved=_keeps_age),
    declare("move_takes_the_youngest", "A move takes the youngest stake.", "A 16.3", moved=_young_first),
    declare("first_stake_tick", "The first stake counts in a tie.", "17.3", _AGAIN, touched=_first_tick),
    declare(
        "self_stake_counts_in_a_tie", "The self-stake sets LastStakeTick.", "17.3", _SLOW, touched=_self_stake_counts
    ),
    declare("moves_count_not_in_a_tie", "Moves do not set LastStakeTick.", "17.3", touched=_moves_do_not_count),
    declare(
        "order_inside_a_tick_decides",
        "Who is heard last in a tick is last.",
        "17.3",
        touched=_order_counts,
    ),
    declare(
        "multiplier_cap_ignored", "Rounds beyond saturation count.", "16.7", _UNCAPPED, weight=_uncapped, aged=_ages_on
    ),
    declare("rounds_not_counted", "No stake ever ages.", "16.6", aged=_ageless),
    declare(
        "finalize_counts_as_a_round", "The tick that finalizes counts as a round.", "16.6", weight=_counting_finalize
    ),
    declare("multiplier_forgets_the_one", "Stake that has not aged weighs nothing.", "16.7", weight=_without_the_one),
    declare("multiplier_exceeds_the_maximum", "The maximum is added to 1.", "16.7", ROUNDS, weight=_beyond_the_maximum),
    declare("float_sums", "Scores are floating point numbers.", "17.1", score=_float_sum),
    declare("lowest_score_wins", "The lowest score wins.", "17.2", winner=_lightest),
    declare(
        "latest_stake_wins_a_tie",
        "Of tied proposals the latest stake wins.",
        "17.3",
        TIMED,
        winner=_latest,
    ),
    declare("first_name_wins_a_tie", "Of tied proposals the first name wins.", "17.3", winner=_first_name),
    declare("ties_have_no_winner", "There is no tie-breaker.", "17.3", _APART, winner=_no_tie_breaker),
    declare(
        "second_proposal_accepted",
        "A second proposal replaces the first.",
        "6.1",
        Scope(HOSTILE, budget=3),
        refuse_propose=_second_proposal,
    ),
    declare(
        "add_in_round_one",
        "Stake can be added in STAKE 1.",
        "A 16.3",
        Scope(HOSTILE, agents=1),
        refuse_add=_early_add,
    ),
    declare("move_to_the_same", "Stake can be moved to where it is.", "A 16.3", HOSTILE, refuse_move=_move_home),
    declare(
        "ready_signalled_twice",
        "READY can be signalled again in the same tick.",
        "9.2",
        HOSTILE,
        refuse_ready=_ready_unproposed,
    ),
    declare(
        "ready_outlives_its_tick",
        "READY stays for the phase and the next.",
        "9.1",
        LATE,
        signalled=_still_ready,
    ),
    declare("silent_agents_hang_a_phase", "A phase ends only when all are done.", "9.1", over=_all_done),
    declare("every_tick_ends_a_phase", "A tick ends the phase whoever is late.", "9.1", LATE, over=_eager),
    declare("timer_fires_late", "The timer fires a tick too late.", "9.1", lagged=_long_timer, kicked=_strict_timer),
    declare("timer_counts_the_ready", "A tick counts for those who were done.", "9.1", LATE, lagged=_everybody_late),
    declare("timer_not_reset", "Timers go on into the next phase.", "9.1", LATE, fresh=_unreset),
    declare(
        "kicks_out_the_ready",
        "A full timer kicks out who is READY.",
        "9.3",
        LATE,
        lagged=_everybody_late,
        kicked=_kicks_the_ready,
    ),
    declare("revise_skipped", "FEEDBACK is followed by STAKE.", "12", CYCLE, following=_straight_to_stake),
    declare("one_round_too_many", "There is one STAKE round more.", "16.1", following=_one_more_round),
    declare(
        "feedback_count_survives",
        "Feedback of one Issue counts in the next.",
        "11.5",
        _CROSS,
        system="series",
        closed=_not_closed,
    ),
    declare(
        "timer_survives_the_issue",
        "Timers of one Issue go on in the next, where no phase resets them.",
        "9.1",
        Scope(SERIES, think=2, agents=1),
        system="series",
        readings=(("timer_reset", "global"),),
        closed=_queued,
    ),
    declare(
        "cross_issue_queue",
        "A proposal waits for the next Issue.",
        "8.3",
        SERIES,
        system="series",
        closed=_old_proposal,
    ),
    declare("credential_not_checked", "Any credential will do.", "1.2", HOSTILE, authenticated=_any_credential),
    declare(
        "author_is_the_credential",
        "AuthorAgentID is the credential, as 8.3 says.",
        "8.3",
        CYCLE,
        author=_published_credential,
    ),
    declare("hidden_state", "The record depends on what was written before.", "2.1", CYCLE, author=_hidden_state),
    declare("names_are_numbered", "Authors are recorded by a constant.", "11.3", CYCLE, author=_constant_author),
)
"""The faults of this module."""
