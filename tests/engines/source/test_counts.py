"""Counts and totals: what the proofs take to be true of them is so in every state and after every step that is run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NewType

import pytest

import evenhand
from benchmarks.unbounded import counting
from benchmarks.unbounded.known import Known, put
from evenhand.core.system import AnySystem, Step
from evenhand.core.verdict import Status
from evenhand.search import explore
from evenhand.smt.arithmetic import below, element, number, plus
from evenhand.smt.logic import TRUE, Formula, forall
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.structure import Reader, Structure
from evenhand.source import counts, induction, unbounded
from evenhand.source.counts import Total
from evenhand.source.family import Family, family_of
from evenhand.source.induction import Induction
from evenhand.source.reached import reached
from evenhand.source.simplify import equal
from evenhand.source.unbounded import prove_any_size
from evenhand.source.validation import Comparison, assignments
from tests.deep import rest_slow

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
    one: Agent = action[1]
    two: Agent = action[2]
    match action[0]:
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
    seconds = len({b for _, b in state.pairs}) < 2 * len([a for a in config.agents if state.up[a]])
    return fewer or seconds or any((a, b) in state.pairs for a in config.agents for b in config.agents)


@evenhand.always("Whoever is named has a hand up as often as others.")
def of_each(config: Config, state: Hands) -> bool:
    return all(sum(1 for p in state.pairs if p[0] == a) <= len(config.agents) for a in config.agents)


@evenhand.each_step("What a step changes is counted, too.")
def of_steps(step: Step[Config, Hands, Any, Any]) -> bool:
    others = sum(a != step.after.last and step.before.up[a] for a in step.config.agents)
    return others <= len(step.config.agents)


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
    starts = zip((case for case in proof.cases if case.start), read.starts, comparison.start, strict=True)
    for case, start, means in starts:
        config = next(iter(read.system.all_configs()))
        before = comparison.encoded(config, next(iter(read.system.initial(config))))
        for values in assignments(start.variables, before):
            if reader.holds(start.guard, before, values):
                made = comparison.tables(means, before, values)
                both = Structure(
                    before.universe, {**before.relations, **made.relations}, {**before.functions, **made.functions}
                )
                after = comparison.counted(both, read.world.totals)
                if not reader.holds(case.known, with_later(comparison, case, before, after, values)):
                    broken.append(case.name)
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
            rows = itertools.product(*(before.universe[one.sort.name] for one in later.arguments))
            functions[later.function.name] = dict.fromkeys(rows, element(0)) | table
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
    read = family(hands, of_steps, compares, of_each)
    assert len(read.world.totals) >= 7
    assert not laws_broken(read, portfolio)


def twice(options: Any, after: Total, here: Any) -> Iterator[tuple[Any, Any]]:
    """Whatever changes at a place counts twice."""
    for guard, delta in DELTAS(options, after, here):
        yield guard, delta if delta == number(0) else plus(delta, delta)


def always(_one: Any, _other: Any) -> Formula:
    """Nothing changes elsewhere."""
    return TRUE


def one_each(one: Total) -> Iterator[tuple[str, Formula]]:
    """Every count is 1."""
    yield "one", forall(one.parameters, equal(one.term, number(1)))


def all_each(one: Total, whole: Total) -> Iterator[tuple[str, Formula]]:
    """Every count is that of all."""
    yield "all", forall(one.parameters, equal(one.term, whole.term))


def fewer_together(one: Total, two: Total, whole: Total) -> Formula:
    """Two counts are less than that of all."""
    return forall((*one.parameters, *two.parameters), below(plus(one.term, two.term), whole.term))


def from_nothing(later: Total, _whole: Any) -> list[Formula]:
    """Every count begins at 0."""
    return [equal(later.term, number(0))]


DELTAS = counts._deltas  # pyright: ignore[reportPrivateUsage]
WRONG: dict[str, Callable[..., Any]] = {
    "_deltas": twice,
    "_same": always,
    "_counted": one_each,
    "_of_all": all_each,
    "_beside": fewer_together,
    "begun": from_nothing,
}
"""Laws that are false, by the function that says them."""


@pytest.mark.parametrize("name", rest_slow(WRONG, 2))
def test_false_laws_are_seen(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A law that is not true of counts is false in some state that is run."""
    monkeypatch.setattr(induction if name == "begun" else counts, name, WRONG[name])
    assert laws_broken(family(hands, compares, of_each), portfolio)


def test_false_claims_are_not_proved(portfolio: Portfolio) -> None:
    """Claims that fail from four agents on, or by a step under two names, are not proved."""

    @evenhand.always("At most three hands are up.")
    def few(config: Config, state: Hands) -> bool:
        return sum(state.up) <= 3

    @evenhand.always("What all have together stays.")
    def stays(config: Config, state: Hands) -> bool:
        return sum(state.has) == len(config.agents)

    verdicts = prove_any_size(hands, [few, stays], portfolio=portfolio).verdicts
    assert [one.status for one in verdicts] == [Status.UNDECIDED, Status.REFUTED]


@dataclass(frozen=True)
class Named:
    """Who was named last."""

    who: Agent | None


def test_counts_of_a_step_and_of_any_agent_are_told_apart(
    portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim counts beside the agent that a step names, another beside any agent: no step says how many those are."""

    def nothing(*_: Any) -> tuple[()]:
        return ()

    monkeypatch.setattr(unbounded, "_guesses", nothing)

    @evenhand.each_step("Some are neither named now nor then.")
    def neither(step: Step[Config, Named, Any, Any]) -> bool:
        counted = sum(1 for a in step.config.agents if a != step.after.who and a != step.before.who)
        return counted <= len(step.config.agents)

    @evenhand.always("All but one are others.")
    def others(config: Config, state: Named) -> bool:
        return all(sum(1 for b in config.agents if b != a) == len(config.agents) - 1 for a in config.agents)

    @evenhand.always("Nobody is named: false from four agents on.")
    def nobody(config: Config, state: Named) -> bool:
        left = len(config.agents) - 1
        return all(sum(1 for b in config.agents if b != a and b != state.who) == left for a in config.agents)

    naming = evenhand.system(
        "naming",
        config=Config,
        scope={"agents": 4},
        initial=lambda _config: [Named(None)],
        actions=lambda config, state: [
            ("name", one) for one in config.agents if len(config.agents) > 3 and one != state.who
        ],
        step=lambda _config, _state, action: Named(action[1]),
        types=(Config, Named),
    )
    assert explore(naming, [nobody]).verdicts[0].status is Status.REFUTED
    verdicts = prove_any_size(naming, [neither, nobody, others], portfolio=portfolio).verdicts
    assert [one.status for one in verdicts] == [Status.HOLDS, Status.UNDECIDED, Status.HOLDS]
