"""Spike: conviction's multiplier with exact comparison, in the numbers Q(theta).

16.7 reads, with g = 1 - ConvictionTargetFraction and S = ConvictionSaturationRounds,

    multiplier(r) = 1 + (Max - 1) * (1 - theta**r)      theta = g**(1/S)      r capped at S

theta is irrational in general, so a score is an element of Q(theta).  Let d be the largest divisor of S for
which g is a perfect d-th power, g = c**d, and n = S/d.  Then theta**n = c, and x**n - c is irreducible
(x**S - g need not be): every element has exactly one form  q0 + q1*theta + ... + q(n-1)*theta**(n-1).
Equal means equal form; which of two unequal ones is greater, an interval around theta says, halved until
zero lies outside.  That ends, because a non-zero form is not zero.  No float takes part.

Run it:  python docs/explanation/spikes/conviction_multiplier.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import total_ordering
from typing import Literal

from bare_search import search

from evenhand.model.system import Scope, System

__all__ = ["Act", "Config", "Entry", "Rules", "State", "Surd", "multiplier", "system", "theta"]


def _root(value: Fraction, degree: int) -> Fraction | None:
    """The exact root of a non-negative rational, or None: a reduced fraction's root has roots above and below."""

    def whole(number: int) -> int | None:
        low, high = 0, number + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if middle**degree <= number else (low, middle)
        return low if low**degree == number else None

    above, below = whole(value.numerator), whole(value.denominator)
    return None if above is None or below is None else Fraction(above, below)


@total_ordering
@dataclass(frozen=True, eq=True)
class Surd:
    """q0 + q1*t + ..., t the positive root of t**n = base, n the number of coefficients, x**n - base irreducible."""

    base: Fraction
    form: tuple[Fraction, ...]

    def __add__(self, other: Surd) -> Surd:
        if (self.base, len(self.form)) != (other.base, len(other.form)):
            raise ValueError("sums stay in one field: the parameters of one Issue")
        return Surd(self.base, tuple(a + b for a, b in zip(self.form, other.form, strict=True)))

    def times(self, factor: Fraction | int) -> Surd:
        """This number times a rational: all that sums of stakes need."""
        return Surd(self.base, tuple(a * factor for a in self.form))

    def sign(self) -> int:
        """-1, 0 or 1, by halving an interval around the root until zero lies outside."""
        if not any(self.form):
            return 0
        low, high = Fraction(0), max(self.base, Fraction(1))
        while True:
            least = sum((a * (low if a > 0 else high) ** i for i, a in enumerate(self.form)), Fraction(0))
            most = sum((a * (high if a > 0 else low) ** i for i, a in enumerate(self.form)), Fraction(0))
            if least > 0 or most < 0:
                return 1 if least > 0 else -1
            middle = (low + high) / 2
            low, high = (middle, high) if middle ** len(self.form) <= self.base else (low, middle)

    def __lt__(self, other: Surd) -> bool:
        return (self + other.times(-1)).sign() < 0


def theta(remainder: Fraction, rounds: int, power: int) -> Surd:
    """theta**power in normal form, where theta = remainder**(1/rounds)."""
    divisors = (d for d in range(rounds, 0, -1) if rounds % d == 0)
    base, degree = next((c, rounds // d) for d in divisors if (c := _root(remainder, d)) is not None)
    turns, place = divmod(power, degree)
    return Surd(base, tuple(base**turns if i == place else Fraction(0) for i in range(degree)))


@dataclass(frozen=True)
class Config:
    """Section 5: fraction strictly between 0 and 1, whole saturation rounds, greatest multiplier at least 1."""

    agents: tuple[str, ...] = ("agent_1", "agent_2")
    rounds: int = 3
    fraction: Fraction = Fraction(98, 100)
    saturation: int = 5
    greatest: Fraction = Fraction(2)


def multiplier(config: Config, held: int) -> Surd:
    """16.7, exactly; `held` is capped at the saturation rounds."""
    decayed = theta(1 - config.fraction, config.saturation, min(held, config.saturation))
    one = theta(1 - config.fraction, config.saturation, 0)
    return one.times(config.greatest) + decayed.times(1 - config.greatest)


@dataclass(frozen=True, order=True)
class Entry:
    """One stake of one point: whose, on whose proposal, and for how many rounds it has stayed there."""

    owner: str
    proposal: str
    held: int


@dataclass(frozen=True)
class State:
    """Which STAKE round it is (0: finalized), balances per agent, stakes as a sorted tuple; ages, no ticks."""

    round: int
    balances: tuple[int, ...]
    entries: tuple[Entry, ...]
    winner: str | None = None
    burned: int = 0


@dataclass(frozen=True)
class Act:
    """Add a point to a proposal, move the point of `entry` to one, or end the round."""

    what: Literal["add", "move", "end"]
    agent: str = ""
    proposal: str = ""
    entry: Entry | None = None


@dataclass(frozen=True)
class Rules:
    """The one rule that this spike varies: what a stake of one point weighs after so many rounds."""

    weight: Callable[[Config, int], Surd]


def step(rules: Rules, config: Config, state: State, act: Act) -> tuple[State, object]:
    """One action; shows the scores at the end, otherwise what was done or why not."""
    if not state.round:
        return state, "Finalized"
    if act.what == "end" and state.round < config.rounds:
        return replace(state, round=state.round + 1, entries=aged(config, state.entries)), "RoundEnded"
    if act.what == "end":
        nothing = rules.weight(config, 0).times(0)
        weights = [(entry.proposal, rules.weight(config, entry.held)) for entry in state.entries]
        scores = tuple((who, sum((w for to, w in weights if to == who), nothing)) for who in config.agents)
        best = max(score for _, score in scores)
        first = [who for who, score in scores if score == best]
        ended = State(0, state.balances, (), first[0] if len(first) == 1 else None, state.burned + len(weights))
        return ended, scores
    if state.round == 1:
        return state, "NotYet"
    if act.what == "move" and act.entry in state.entries and act.entry.owner == act.agent:
        kept = list(state.entries)
        kept.remove(act.entry)
        return replace(state, entries=tuple(sorted([*kept, Entry(act.agent, act.proposal, 0)]))), "Moved"
    index = config.agents.index(act.agent) if act.agent in config.agents else -1
    if act.what == "move" or index < 0 or state.balances[index] < 1:
        return state, "InsufficientCredit"
    balances = tuple(have - (i == index) for i, have in enumerate(state.balances))
    entries = tuple(sorted([*state.entries, Entry(act.agent, act.proposal, 0)]))
    return replace(state, balances=balances, entries=entries), "Added"


def aged(config: Config, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """One round later; ages saturate where 16.7 no longer tells them apart, and the graph stays small."""
    return tuple(sorted(replace(entry, held=min(entry.held + 1, config.saturation)) for entry in entries))


def actions(config: Config, _scope: Scope, state: State) -> Iterable[Act]:
    """Everything an agent may try from the second round on, then the end of the round."""
    if not state.round:
        return
    for agent, balance in zip(config.agents, state.balances, strict=True):
        for proposal in config.agents if state.round > 1 else ():
            if balance:
                yield Act("add", agent, proposal)
            for entry in dict.fromkeys(entry for entry in state.entries if entry.owner == agent):
                yield Act("move", agent, proposal, entry)
    yield Act("end")


def _start(config: Config) -> list[State]:
    """STAKE 1: every agent holds one point and has one on its own proposal."""
    return [State(1, (1,) * len(config.agents), tuple(Entry(agent, agent, 0) for agent in config.agents))]


system: System[Config, State, Act, object, Rules] = System(
    "conviction.multiplier",
    rules=Rules(weight=multiplier),
    configs=lambda scope, _readings: [Config(rounds=scope["rounds"], saturation=scope["saturation"])],
    initial=_start,
    step=step,
    actions=actions,
    scope=Scope(rounds=3, saturation=5),
    progress=lambda taken: taken.action.what == "end",
    types=(Config, State, Entry, Act),
)


def outvoted(_config: Config, state: State) -> bool:
    """Something to search for: the second agent's proposal wins."""
    return state.winner == "agent_2"


if __name__ == "__main__":
    print("theta of f = 98/100, S = 5 has degree", len(theta(Fraction(2, 100), 5, 1).form))
    print("theta of f = 3/4, S = 4 has degree", len(theta(Fraction(1, 4), 4, 1).form), "(x**4 - 1/4 is reducible)")
    print("multiplier after saturation:", multiplier(Config(), 5).form[0], "(16.7's example says 1.96, a lower bound)")
    for rounds in (1, 2, 3):
        found = search(system.at(rounds=rounds), outvoted)
        print(f"{rounds} rounds: {found.states} states, {found.transitions} transitions, agent_2 wins: {found.witness}")
