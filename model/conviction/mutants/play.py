"""Faults about the play: clock, phases, rounds, scores, winners, credentials, Issues."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.conviction.exact import Amount, Surd, multiplier
from evenhand.model.conviction.mutants.declare import (
    CYCLE,
    HOSTILE,
    LATE,
    ROUNDS,
    SERIES,
    TIMED,
    declare,
    fault,
    forgiving,
)
from evenhand.model.conviction.points import joined, taken
from evenhand.model.conviction.rules import REFERENCE
from evenhand.model.conviction.scoring import Scores
from evenhand.model.conviction.vocabulary import (
    FINALIZE,
    PROPOSE,
    STAKE,
    AddStake,
    Agent,
    Config,
    Entry,
    Proposal,
    Seat,
    State,
)

_UNCAPPED = Scope(ROUNDS, budget=1, stake=1)
_AGAIN = Scope(TIMED, stake=0, budget=2)
"""Two agents that can add stake in two ticks of a round."""
_SLOW = Scope(TIMED, budget=1)
"""Self-stakes at different ticks, and nothing else."""
_APART = Scope(TIMED, stake=0, budget=1)
"""Two agents that can stake the same in one round, a tick apart."""
_CROSS = Scope(SERIES, cycles=1, budget=5, texts=1, hostile=0)


@fault("moved", "A 16.3")
def move_keeps_multiplier(
    config: Config, entries: tuple[Entry, ...], owner: str, source: str, target: str, amount: Amount
) -> Any:
    """Moved stake keeps its rounds."""
    left, _ = taken(entries, owner, source, amount, config.readings.move_takes)
    gone = [e for e in joined((*entries,)) if (e.owner, e.proposal) == (owner, source)]
    oldest = max((entry.held for entry in gone), default=0)
    return joined((*left, Entry(owner, target, oldest, amount)))


@fault("moved", "A 16.3")
def move_takes_the_youngest(
    config: Config, entries: tuple[Entry, ...], owner: str, source: str, target: str, amount: Amount
) -> Any:
    """A move takes the youngest stake."""
    # Whatever the reading.
    left, _ = taken(entries, owner, source, amount, "youngest_first")
    return joined((*left, Entry(owner, target, 0, amount)))


@fault("touched", "17.3", _AGAIN)
def first_stake_tick(config: Config, proposals: tuple[Proposal, ...], what: str, uid: str) -> tuple[Proposal, ...]:
    """The first stake counts in a tie."""
    after = REFERENCE.touched(config, proposals, what, uid)
    return tuple(new if old.last is None else old for old, new in zip(proposals, after, strict=True))


@fault("touched", "17.3", _SLOW)
def self_stake_counts_in_a_tie(
    config: Config, proposals: tuple[Proposal, ...], what: str, uid: str
) -> tuple[Proposal, ...]:
    """The self-stake sets LastStakeTick."""
    return REFERENCE.touched(config, proposals, "add" if what == "self" else what, uid)


@fault("touched", "17.3")
def moves_count_not_in_a_tie(
    config: Config, proposals: tuple[Proposal, ...], what: str, uid: str
) -> tuple[Proposal, ...]:
    """Moves do not set LastStakeTick."""
    return proposals if what == "in" else REFERENCE.touched(config, proposals, what, uid)


@fault("touched", "17.3")
def order_inside_a_tick_decides(
    config: Config, proposals: tuple[Proposal, ...], what: str, uid: str
) -> tuple[Proposal, ...]:
    """Who is heard last in a tick is last."""
    # The later action makes the earlier one older.
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


multiplier_cap_ignored = declare(
    "multiplier_cap_ignored", "Rounds beyond saturation count.", "16.7", _UNCAPPED, weight=_uncapped, aged=_ages_on
)


@fault("aged", "16.6")
def rounds_not_counted(_config: Config, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """No stake ever ages."""
    return entries


@fault("weight", "16.6")
def finalize_counts_as_a_round(config: Config, rounds: int) -> Surd:
    """The tick that finalizes counts as a round."""
    return REFERENCE.weight(config, rounds + 1)


def _conviction(config: Config, rounds: int) -> Surd:
    """What the conviction weighs, without the point."""
    return REFERENCE.weight(config, rounds) + REFERENCE.weight(config, 0).times(-1)


multiplier_forgets_the_one = declare(
    "multiplier_forgets_the_one", "Stake that has not aged weighs nothing.", "16.7", weight=_conviction
)


@fault("weight", "16.7", ROUNDS)
def multiplier_exceeds_the_maximum(config: Config, rounds: int) -> Surd:
    """The maximum is added to 1."""
    # 1 + Max (1 - theta**r): saturated stake weighs more than the maximum.
    one, conviction = REFERENCE.weight(config, 0), _conviction(config, rounds)
    return one + conviction.times(config.constants.greatest / (config.constants.greatest - 1))


@fault("score", "17.1")
def float_sums(config: Config, proposal: str, entries: tuple[tuple[Entry, Surd], ...]) -> Surd:
    """Scores are floating point numbers."""
    c = config.constants
    root = float(1 - c.fraction) ** (1 / c.saturation)
    total = 0.0
    for entry, factor in entries:
        if entry.proposal == proposal:
            total += float(entry.amount) * sum(float(q) * root**place for place, q in enumerate(factor.form))
    zero = REFERENCE.score(config, "", ())
    return Surd(zero.base, (Fraction(total), *zero.form[1:]))


@fault("winner", "17.2")
def lowest_score_wins(config: Config, state: State, scores: Scores) -> tuple[str, str]:
    """The lowest score wins."""
    return REFERENCE.winner(config, state, tuple((uid, total.times(-1), last) for uid, total, last in scores))


@fault("winner", "17.3", TIMED)
def latest_stake_wins_a_tie(config: Config, state: State, scores: Scores) -> tuple[str, str]:
    """Of tied proposals the latest stake wins."""
    return REFERENCE.winner(
        config, state, tuple((uid, total, None if last is None else -last) for uid, total, last in scores)
    )


@fault("winner", "17.3")
def first_name_wins_a_tie(config: Config, state: State, scores: Scores) -> tuple[str, str]:
    """Of tied proposals the first name wins."""
    # Whenever it was staked on.
    won, because = REFERENCE.winner(config, state, scores)
    if because in ("highest score", "no proposal"):
        return won, because
    most = max(total for _, total, _ in scores)
    return min(uid for uid, total, _ in scores if total == most), "lowest proposal id"


@fault("winner", "17.3", _APART)
def ties_have_no_winner(config: Config, state: State, scores: Scores) -> tuple[str, str]:
    """There is no tie-breaker."""
    won, because = REFERENCE.winner(config, state, scores)
    return (won, because) if because in ("highest score", "no proposal") else ("", "full tie")


second_proposal_accepted = declare(
    "second_proposal_accepted",
    "A second proposal replaces the first.",
    "6.1",
    Scope(HOSTILE, budget=3),
    **forgiving("refuse_propose", "SecondProposal"),
)


@fault("refuse_add", "A 16.3", Scope(HOSTILE, agents=1))
def add_in_round_one(config: Config, state: State, seat: Seat, action: AddStake) -> str:
    """Stake can be added in STAKE 1."""
    later = replace(state, turn=2) if state.phase == STAKE else state
    return REFERENCE.refuse_add(config, later, seat, action)


move_to_the_same = declare(
    "move_to_the_same",
    "Stake can be moved to where it is.",
    "A 16.3",
    HOSTILE,
    **forgiving("refuse_move", "SameProposal"),
)
ready_signalled_twice = declare(
    "ready_signalled_twice",
    "READY can be signalled again in the same tick.",
    "9.2",
    HOSTILE,
    **forgiving("refuse_ready", "AlreadyReady"),
)


@fault("refuse_after_ready", "9.2", HOSTILE)
def first_name_acts_after_ready(config: Config, state: State, seat: Seat) -> str:
    """READY binds all but the agent whose name comes first."""
    first = seat.agent == min(agent.uid for agent in config.agents)
    return "" if first else REFERENCE.refuse_after_ready(config, state, seat)


@fault("signalled", "9.1", LATE)
def ready_outlives_its_tick(_config: Config, seat: Seat) -> str:
    """READY stays for the phase and the next."""
    return seat.signal


@fault("over", "9.1")
def silent_agents_hang_a_phase(_config: Config, _state: State, done: bool, _fired: bool) -> bool:
    """A phase ends only when all are done."""
    return done


@fault("over", "9.1", LATE)
def every_tick_ends_a_phase(config: Config, state: State, done: bool, fired: bool) -> bool:
    """A tick ends the phase whoever is late."""
    return state.phase != PROPOSE or REFERENCE.over(config, state, done, fired)


@fault("over", "12.4")
def no_tick_ends_a_phase(_config: Config, _state: State, _done: bool, _fired: bool) -> bool:
    """No phase ends, whatever agents do."""
    return False


def _long_timer(config: Config, seat: Seat, done: bool) -> Seat:
    return (
        seat
        if done or not seat.assigned
        else replace(seat, timer=min(seat.timer + 1, config.constants.think_ticks + 1))
    )


def _strict_timer(config: Config, seat: Seat, done: bool) -> bool:
    """The timer fires a tick late."""
    return seat.assigned and not done and seat.timer > config.constants.think_ticks


timer_fires_late = declare(
    "timer_fires_late", "The timer fires a tick too late.", "9.1", lagged=_long_timer, kicked=_strict_timer
)


def _everybody_late(config: Config, seat: Seat, _done: bool) -> Seat:
    """A tick counts for those who were done as well."""
    return REFERENCE.lagged(config, seat, False)


timer_counts_the_ready = declare(
    "timer_counts_the_ready", "A tick counts for those who were done.", "9.1", LATE, lagged=_everybody_late
)


@fault("fresh", "9.1", LATE)
def timer_not_reset(_config: Config, seat: Seat) -> Seat:
    """Timers go on into the next phase."""
    return seat


def _kicks_the_ready(config: Config, seat: Seat, _done: bool) -> bool:
    """A full timer kicks out who is READY now."""
    return REFERENCE.kicked(config, seat, False)


kicks_out_the_ready = declare(
    "kicks_out_the_ready",
    "A full timer kicks out who is READY.",
    "9.3",
    LATE,
    lagged=_everybody_late,
    kicked=_kicks_the_ready,
)


@fault("kicked", "9.3")
def first_name_is_not_kicked_out(config: Config, seat: Seat, done: bool) -> bool:
    """The agent whose name comes first is never kicked out."""
    return seat.agent != min(agent.uid for agent in config.agents) and REFERENCE.kicked(config, seat, done)


@fault("following", "12", CYCLE)
def revise_skipped(config: Config, state: State) -> tuple[str, int]:
    """FEEDBACK is followed by STAKE."""
    return (STAKE, 1) if state.phase == "FEEDBACK" else REFERENCE.following(config, state)


@fault("following", "16.1")
def one_round_too_many(config: Config, state: State) -> tuple[str, int]:
    """There is one STAKE round more."""
    phase, turn = REFERENCE.following(config, state)
    return (STAKE, state.turn + 1) if phase == FINALIZE and state.turn == config.rounds else (phase, turn)


@fault("closed", "11.5", _CROSS, system="series")
def feedback_count_survives(_config: Config, seat: Seat) -> Seat:
    """Feedback of one Issue counts in the next."""
    return Seat(seat.agent, seat.standing, seat.balance, feedback=seat.feedback)


@fault("closed", "9.1", Scope(SERIES, think=2, agents=1), system="series", readings=(("timer_reset", "global"),))
def timer_survives_the_issue(_config: Config, seat: Seat) -> Seat:
    """Timers of one Issue go on in the next, where no phase resets them."""
    return Seat(seat.agent, seat.standing, seat.balance, timer=seat.timer)


@fault("closed", "8.3", SERIES, system="series")
def cross_issue_queue(_config: Config, seat: Seat) -> Seat:
    """A proposal waits for the next Issue."""
    return Seat(seat.agent, seat.standing, seat.balance, proposal=seat.proposal)


@fault("authenticated", "1.2", HOSTILE)
def credential_not_checked(_agent: Agent, _credential: str) -> bool:
    """Any credential will do."""
    return True


@fault("author", "8.3", CYCLE)
def author_is_the_credential(agent: Agent) -> str:
    """AuthorAgentID is the credential, as 8.3 says."""
    return agent.credential


_WRITTEN: deque[tuple[Agent, Iterator[int]]] = deque(maxlen=64)
"""Agents by identity, each with a count of its own: a run that starts anew, with new agents, is counted anew."""


@fault("author", "2.1", CYCLE)
def hidden_state(agent: Agent) -> str:
    """The record depends on what was written before."""
    written = next((count for known, count in _WRITTEN if known is agent), None)
    if written is None:
        _WRITTEN.append((agent, written := itertools.count()))
    return f"{agent.uid} {next(written) % 2}"


@fault("author", "11.3", CYCLE)
def names_are_numbered(_agent: Agent) -> str:
    """Authors are recorded by a constant."""
    return "agent_1"
