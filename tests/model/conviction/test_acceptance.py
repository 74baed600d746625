"""Statements of the text, executed: the examples of 14.1 and 16.7, ties, taps, refusals, answers to its questions."""

from __future__ import annotations

import itertools
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

import pytest

from evenhand.core.trace import Scenario, Trace, replay
from evenhand.model.conviction.exact import Surd, multiplier, theta
from evenhand.model.conviction.points import cost, delta
from evenhand.model.conviction.protocol import CONVICTION
from evenhand.model.conviction.texts import Text
from evenhand.model.conviction.vocabulary import (
    Act,
    AddStake,
    Config,
    MoveStake,
    Propose,
    Revise,
    Shown,
    SignalReady,
    State,
    Tick,
)

RUN, ISSUE, TRIO = (CONVICTION.systems[name] for name in ("run", "issue", "trio"))
TICK = Tick()


def played(system: Any, *actions: Act) -> Trace[Config, State, Act, Shown]:
    """Play these actions from the start."""
    config = next(iter(system.all_configs()))
    return replay(system, Scenario(config, system.initial(config)[0], actions))


def outcome(trace: Trace[Config, State, Act, Shown]) -> tuple[str, str]:
    """Return the winner and the deciding rule."""
    events = [event for step in trace.steps for event in step.shown.events if event.kind == "Finalize"]
    return events[-1].proposal, events[-1].reason


# Exact numbers


def test_the_multiplier_after_saturation_is_1_98() -> None:
    """16.7's example says 1.96, which is fraction x max: a lower bound that no stake ever has as weight."""
    reached = multiplier(Fraction(2), Fraction(98, 100), 5, 5)
    assert reached.form == (Fraction(198, 100), *[Fraction(0)] * 4)
    assert Fraction(98, 100) * 2 == Fraction(196, 100) < reached.form[0]


@pytest.mark.parametrize(
    ("remainder", "rounds", "degree"), [("1/50", 5, 5), ("1/4", 4, 2), ("1/4", 2, 1), ("8/27", 6, 2)]
)
def test_the_normal_form_has_the_right_degree(remainder: str, rounds: int, degree: int) -> None:
    """S over the largest divisor d of S for which g is a perfect d-th power."""
    assert len(theta(Fraction(remainder), rounds, 1).form) == degree


def test_orders_agree_with_forty_digits() -> None:
    """Sums of multipliers are ordered as their decimal expansions are, where those differ."""
    getcontext().prec = 40
    root = (Decimal(1) / 50) ** (Decimal(1) / 5)
    weights = [multiplier(Fraction(2), Fraction(98, 100), 5, r) for r in range(6)]
    sums = [
        weights[i].times(a) + weights[j].times(b) for i, j, a, b in itertools.product(range(6), range(6), (1, 7), (3,))
    ]

    def decimal(one: Surd) -> Decimal:
        parts = (Decimal(q.numerator) / q.denominator * root**i for i, q in enumerate(one.form))
        return sum(parts, Decimal(0))

    for one, other in itertools.combinations(sums, 2):
        near = abs(decimal(one) - decimal(other)) < Decimal(10) ** -30
        assert near == (one == other)
        assert near or (one < other) == (decimal(one) < decimal(other))


def test_sums_of_two_fields_are_refused() -> None:
    """Such sums have no meaning."""
    with pytest.raises(ValueError, match="one field"):
        assert theta(Fraction(1, 2), 2, 1) + theta(Fraction(1, 3), 2, 1)


# Revisions


@pytest.mark.parametrize(("changed", "points"), [(1, 5), (5, 25), (10, 50)])
def test_the_examples_of_14_1(changed: int, points: int) -> None:
    """A tenth, a half, everything of ten tokens."""
    config = next(iter(RUN.all_configs()))
    words = [f"w{n}" for n in range(10)]
    new = [f"v{n}" if n < changed else word for n, word in enumerate(words)]
    ratio = delta(config, Text(" ".join(words)), Text(" ".join(new)))
    assert ratio == Fraction(changed, 10)
    assert cost(config, ratio) == points


def test_two_empty_texts_differ_by_nothing() -> None:
    """No division by zero."""
    assert delta(next(iter(RUN.all_configs())), Text(""), Text(" ")) == 0


# The questions of the protocol's page


def test_the_literal_clock_deadlocks() -> None:
    """9.1: one silent agent, and the tick waits for a timer that moves with ticks only."""
    literal = ISSUE.under(clock="gated_by_9_1")
    trace = played(literal, TICK, Propose("agent_1", "key 1", None), *[TICK] * 5)
    assert [step.shown.rejected for step in trace.steps[2:]] == ["TickRefused"] * 5
    assert trace.final.phase == "PROPOSE"


def test_silence_ends_every_issue_when_the_clock_runs_free() -> None:
    """T ticks a phase, one to open, one to finalize."""
    for cycles, rounds, think in itertools.product((0, 1, 2), (1, 2), (1, 2, 3)):
        system = ISSUE.at(cycles=cycles, rounds=rounds, think=think)
        needed = 2 + think * (1 + 2 * cycles + rounds)
        assert played(system, *[TICK] * needed).final.phase == "CLOSED"
        assert played(system, *[TICK] * (needed - 1)).final.phase == "FINALIZE"


def test_agents_late_by_turns_take_longer_than_silent_ones() -> None:
    """READY is for one tick, so two agents can each miss T - 1 ticks of a round: n(T - 1) + 1."""
    system = ISSUE.at(think=3, rounds=1, texts=0)
    mine, yours = SignalReady("agent_1", "key 1"), SignalReady("agent_2", "key 2")
    propose = (Propose("agent_1", "key 1", None), Propose("agent_2", "key 2", None))
    by_turns = played(system, TICK, *propose, TICK, mine, TICK, mine, TICK, yours, TICK, yours, TICK)
    assert by_turns.final.phase == "STAKE"
    assert played(system, TICK, *propose, TICK, *[TICK] * 3).final.phase == "FINALIZE"


def away_and_back(other: str) -> tuple[Act, ...]:
    """Let agent_1 move its point to a proposal and away again."""
    there = MoveStake("agent_1", "key 1", "agent_1", other, 1)
    return there, MoveStake("agent_1", "key 1", other, "agent_1", 1)


def test_an_outsider_decides_a_tie_without_stake_on_either() -> None:
    """Without two moves that cancel each other, the same run ends without a winner."""
    begin, end = (TICK, TICK, TICK), (TICK, TICK)
    for chosen, spoiled in (("agent_2", "agent_3"), ("agent_3", "agent_2")):
        trace = played(TRIO, *begin, *away_and_back(spoiled), *end)
        assert outcome(trace) == (chosen, "earliest LastStakeTick")
        before_the_end = trace.steps[-1].before
        assert {(e.owner, e.proposal) for e in before_the_end.entries if e.owner == "agent_1"} == {
            ("agent_1", "agent_1")
        }
    assert outcome(played(TRIO, *begin, *end)) == ("", "full tie")


def test_time_arbitrates() -> None:
    """The same additions, one of them a tick later: another winner.  In one tick they end the round (B 16.1.1)."""
    system = ISSUE.at(think=2, texts=0, stake=1, budget=2, penalty=0)
    one, two = (AddStake(f"agent_{n}", f"key {n}", f"agent_{n}", 1) for n in (1, 2))
    rounds, end = [TICK] * 5, [TICK] * 3
    assert outcome(played(system, *rounds, one, TICK, two, *end)) == ("agent_1", "earliest LastStakeTick")
    assert outcome(played(system, *rounds, two, TICK, one, *end)) == ("agent_2", "earliest LastStakeTick")
    assert outcome(played(system, *rounds, one, two, TICK, TICK)) == ("", "full tie")
    assert outcome(played(system, *rounds, two, one, TICK, TICK)) == ("", "full tie")


def test_add_and_move_do_not_commute_for_one_agent() -> None:
    """A 16.4: order does not matter.  Added first, the young point lies under the old one; moved first, it is alone."""
    system = ISSUE.at(texts=0, stake=1, budget=2, penalty=0)
    add = AddStake("agent_1", "key 1", "agent_2", 1)
    move = MoveStake("agent_1", "key 1", "agent_2", "agent_1", 1)
    begin = (TICK, TICK, TICK)
    assert played(system, *begin, add, move).final != played(system, *begin, move, add).final
    assert played(system, *begin, move, add).steps[3].shown.rejected == "InsufficientStake"


@pytest.mark.parametrize(
    ("reading", "rejected"), [("stake_what_is_left", ""), ("no_stake", ""), ("reject", "InsufficientCredit")]
)
def test_a_poor_agent_joins_as_long_as_the_reading_lets_it(reading: str, rejected: str) -> None:
    """With 100 points and a self-stake of 50 the third Issue is the first without a full self-stake."""
    system = RUN.at(agents=1, issues=3, cycles=0).under(poor_proposer=reading, stake_rounds=1)
    propose = Propose("agent_1", "key 1", Text("a"))
    issue = (TICK, propose, TICK, SignalReady("agent_1", "key 1"), TICK, TICK)
    trace = played(system, *issue * 3)
    proposals = [step for step in trace.steps if step.action == propose]
    assert [step.shown.rejected for step in proposals] == ["", "", rejected]
    assert [step.before.seats[0].balance for step in proposals] == [100, 50, 0]


def test_the_tap_pays_what_the_balance_cannot() -> None:
    """14.2."""
    system = ISSUE.at(cycles=1, budget=2, texts=2)
    trace = played(
        system, TICK, Propose("agent_1", "key 1", Text("a")), TICK, TICK, Revise("agent_1", "key 1", Text("a", "b"))
    )
    revision = next(event for event in trace.steps[-1].shown.events if event.kind == "Revision")
    assert (revision.get("cost"), revision.get("withdrawn"), revision.get("delta")) == (1, 1, Fraction(1, 2))
    assert [entry.amount for entry in trace.final.entries if entry.owner == "agent_1"] == [1]
