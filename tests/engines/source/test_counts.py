"""Counts and totals: what the proofs take to be true of them is so in every state and after every step that is run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NewType

import pytest

import evenhand
from benchmarks.unbounded import counting
from benchmarks.unbounded.known import Known, put
from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status
from evenhand.smt.arithmetic import element
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.structure import Reader, Structure
from evenhand.source import counts, induction
from evenhand.source.counts import Total
from evenhand.source.family import Family, family_of
from evenhand.source.induction import Induction
from evenhand.source.reached import reached
from evenhand.source.unbounded import prove_any_size
from evenhand.source.validation import Comparison, assignments

Agent = NewType("Agent", int)


@dataclass(frozen=True)
class Config:
    """The agents."""

    agents: tuple[Agent, ...]


@dataclass(frozen=True)
class Hands:
    """Whose hand is up, what each has, and who was named last."""

    up: tuple[bool, ...]
    has: tuple[int, ...]
    last: Agent
    pairs: frozenset[tuple[Agent, Agent]]


def actions(config: Config, state: Hands) -> Iterator[tuple[Any, ...]]:
    for one in config.agents:
        for two in config.agents:
            for verb in ("swap", "give", "both", "turn", "pair", "all", "name"):
                if verb != "give" or (sum(state.has) < 5 and state.has[one] > -1):
                    yield (verb, one, two)


def step(config: Config, state: Hands, action: tuple[Any, ...]) -> Hands:
    """Steps whose places may be one place under two names, or all places."""
    verb, one, two = action
    match verb:
        case "swap":
            return replace(state, up=put(put(state.up, one, state.up[two]), two, state.up[one]))
        case "give":
            return replace(state, has=put(put(state.has, one, state.has[one] - 1), two, state.has[two] + 1))
        case "both":
            return replace(state, up=put(put(put(state.up, one, True), two, True), state.last, False))
        case "turn":
            return replace(state, up=tuple(not hand for hand in state.up))
        case "pair":
            return replace(state, pairs=(state.pairs | {(one, two)}) - {(two, state.last)})
        case "all":
            return replace(state, up=tuple(agent == one for agent in config.agents))
        case _:
            return replace(state, last=one, up=put(state.up, state.last, False))


hands = evenhand.system(
    "hands",
    config=Config,
    scope={"agents": 2},
    initial=lambda config: [
        Hands(tuple(a == one for a in config.agents), (1,) * len(config.agents), one, frozenset())
        for one in config.agents
    ],
    actions=actions,
    step=step,
    types=(Config, Hands),
)


@evenhand.always("Counts of all kinds are compared.")
def compares(config: Config, state: Hands) -> bool:
    fewer = sum(state.up) <= len(state.pairs) + sum(state.has)
    seconds = len({b for a, b in state.pairs}) < 2 * len([a for a in config.agents if state.up[a]])
    return fewer or seconds or any((a, b) in state.pairs for a in config.agents for b in config.agents)


@evenhand.always("Whoever is named has a hand up as often as others.")
def of_each(config: Config, state: Hands) -> bool:
    return all(sum(1 for p in state.pairs if p[0] == a) <= len(config.agents) for a in config.agents)


def family(system: AnySystem, *claims: Any) -> Family:
    found = family_of(system, claims)
    assert not found.unread
    return found


def laws_broken(read: Family, portfolio: Portfolio, most: int = 40) -> list[str]:
    """The axioms and laws of change that are false in a state that is run, or after a step from it."""
    comparison, reader, broken = Comparison(read), Reader(), list[str]()
    proof = Induction(read, portfolio)
    proof.close()
    cases = [case for case in proof.cases if case.move is not None]
    for size in (1, 2, 3):
        run = reached(read.system.at(**dict.fromkeys(read.world.sorts, size)), [], most)
        for state in run.states:
            before = comparison.encoded(run.config, state)
            for axiom in read.world.totals.axioms():
                if not reader.holds(axiom.formula, before):
                    broken.append(axiom.name)
            for case in cases:
                for values in assignments(tuple(case.constants), before):
                    assert case.move is not None
                    if not reader.holds(case.move.guard, before, values):
                        continue
                    action = comparison.python(case.move.action, before, values)
                    after = comparison.encoded(run.config, read.system.take(run.config, state, action).after)
                    if not reader.holds(case.known, with_later(comparison, case, before, after, values)):
                        broken.append(case.name)
    return broken


def with_later(
    comparison: Comparison, case: Any, before: Structure, after: Structure, values: dict[Any, str]
) -> Structure:
    """The state before a step, with the constants of the case, and the totals of the state after it."""
    functions = dict(before.functions)
    for variable, value in values.items():
        functions[case.constants[variable].function.name] = {(): value}
    for total in comparison.family.world.totals:
        ((_, later),) = case.means[total.function.name].cases
        table = dict(functions.get(later.function.name, {}))
        for row in assignments(total.parameters, before):
            place = tuple((row | values)[one] for one in later.arguments)
            table[place] = after.functions[total.function.name][tuple(row[one] for one in total.parameters)]
        if later.function in case.totals:
            # Places that no value of the constants reaches are not asked about.
            sorts = [assignments((one,), before) for one in later.arguments]
            rows = {tuple(next(iter(one.values())) for one in row) for row in __import__("itertools").product(*map(list, sorts))}
            functions[later.function.name] = {row: element(Fraction(0)) for row in rows} | table
        else:
            assert all(functions[later.function.name][place] == value for place, value in table.items())
    return Structure(before.universe, before.relations, functions)


@pytest.fixture(scope="module")
def portfolio() -> Iterator[Portfolio]:
    with Portfolio() as made:
        yield made


@pytest.mark.parametrize("faulty", [False, True])
@pytest.mark.parametrize("known", counting.SYSTEMS, ids=lambda one: one.name)
def test_laws_of_known_systems(portfolio: Portfolio, known: Known, faulty: bool) -> None:
    """The axioms and the laws of change are true of counts as Python counts them."""
    read = family(known.make(faulty), known.claim)
    if known.name in ("majority of votes", "coins on their way"):
        assert read.world.totals
    assert not laws_broken(read, portfolio)


def test_laws_where_places_have_two_names(portfolio: Portfolio) -> None:
    """So they are where steps change one place under two names, three places, or all."""
    read = family(hands, compares, of_each)
    assert len(read.world.totals) >= 6
    assert not laws_broken(read, portfolio)
