"""Fairness of each agent, and ranks that claims give: what they prove for any number of agents, and what they must not.

The claims that are false are so by a run that the search finds, or are asked for without it; none of them may hold.
"""

# Ranks are written as users write them: functions of a configuration and a state without types.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NewType

import pytest

import evenhand
from benchmarks.unbounded import fairly
from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status, Verdict
from evenhand.evidence.judge import refutes
from evenhand.search import explore
from evenhand.smt.logic import FALSE, TRUE
from evenhand.smt.portfolio import Portfolio
from evenhand.source import assumptions, choosing, owing, progress, unbounded
from evenhand.source.operators import less
from evenhand.source.unbounded import prove_any_size
from tests.deep import rest_slow

Agent = NewType("Agent", int)
Fair = Callable[["Config"], Mapping[str, Any]]


@dataclass(frozen=True)
class Config:
    """The agents."""

    agents: tuple[Agent, ...]


@dataclass(frozen=True)
class State:
    """Who has gone, whether the door is open, who waits at it, how many turns it took, and whether all is over."""

    gone: frozenset[Agent]
    open: bool
    guard: Agent
    turns: int
    over: bool


def everybody(config: Config) -> Mapping[str, Any]:
    """Each agent that can go, goes."""
    return evenhand.per_agent("goes", config.agents, lambda agent: evenhand.Fairness("weak", by(agent)))


def by(agent: Agent) -> Callable[[Any, Any], bool]:
    def taken(state: State, action: Any) -> bool:
        return bool(action[0] == "go" and action[1] == agent)

    return taken


def strongly(config: Config) -> Mapping[str, Any]:
    return evenhand.per_agent(
        "goes", config.agents, lambda agent: evenhand.Fairness("strong", lambda state, action: action == ("go", agent))
    )


def anybody(config: Config) -> Mapping[str, Any]:
    """A scheduler that may skip an agent: the assumption of each is served by whoever goes or turns."""
    return evenhand.per_agent(
        "goes", config.agents, lambda agent: evenhand.Fairness("weak", lambda state, action: action[0] != "idle")
    )


def the_first(config: Config) -> Mapping[str, Any]:
    return evenhand.per_agent("goes", config.agents[:1], lambda agent: evenhand.Fairness("weak", by(agent)))


def those_out(config: Config) -> Mapping[str, Any]:
    out = [agent for agent in config.agents if agent != config.agents[0]]
    return evenhand.per_agent("goes", out, lambda agent: evenhand.Fairness("weak", by(agent)))


def of_few(config: Config) -> Mapping[str, Any]:
    """Fairness that is forgotten where there are many agents."""
    return everybody(config) if len(config.agents) <= 2 else {"goes": evenhand.Fairness("weak", idles)}


def twice(config: Config) -> Mapping[str, Any]:
    """Two assumptions, of which one name is the beginning of the other."""
    return {**everybody(config), "goes of all": evenhand.Fairness("weak", idles)}


def by_name(config: Config) -> Mapping[str, Any]:
    """Arguments by their names, in another order."""
    return evenhand.per_agent(
        agents=config.agents,
        assumption=lambda agent: evenhand.Fairness(taken=by(agent), kind="weak"),
        name="goes",
    )


def too_few(config: Config) -> Mapping[str, Any]:
    return evenhand.per_agent("goes", config.agents)  # type: ignore[call-arg]


def two_kinds(config: Config) -> Mapping[str, Any]:
    return evenhand.per_agent(
        "goes",
        config.agents,
        lambda agent: evenhand.Fairness("weak" if agent == config.agents[0] else "strong", by(agent)),
    )


def two_tests(config: Config) -> Mapping[str, Any]:
    def either(agent: Agent) -> Any:
        def one(state: State, action: Any) -> bool:
            return bool(action == ("go", agent))

        def other(state: State, action: Any) -> bool:
            return bool(action[0] == "idle")

        return evenhand.Fairness("weak", one if agent == config.agents[0] else other)

    return evenhand.per_agent("goes", config.agents, either)


def idles(state: State, action: Any) -> bool:
    return bool(action[0] == "idle")


def made(actions: Callable[[Config, State], Iterator[Any]], fair: Fair = everybody) -> AnySystem:
    def step(config: Config, state: State, action: Any) -> State:
        match action:
            case ("go", agent):
                return replace(
                    state, gone=state.gone | {agent}, over=all(a == agent or a in state.gone for a in config.agents)
                )
            case ("return", agent):
                return replace(state, gone=state.gone - {agent})
            case ("turn", _):
                return replace(state, open=not state.open)
            case ("count", _):
                return replace(state, turns=state.turns - 1)
            case ("hand over", agent):
                return replace(state, guard=agent)
            case _:
                return state

    return evenhand.system(
        "crowd",
        config=Config,
        scope={"agents": 3},
        initial=lambda config: [State(frozenset(), True, config.agents[0], 0, False)],
        actions=actions,
        step=step,
        fair=fair,
    )


def going(config: Config, state: State) -> Iterator[Any]:
    yield ("idle", config.agents[0])
    yield from (("go", agent) for agent in config.agents if agent not in state.gone)


def returning(config: Config, state: State) -> Iterator[Any]:
    """Who is gone may come back, which nobody has to."""
    yield from going(config, state)
    yield from (("return", agent) for agent in config.agents if agent in state.gone and not state.over)


def by_the_door(config: Config, state: State) -> Iterator[Any]:
    """An agent that can go may be unable to in between."""
    yield ("turn", config.agents[0])
    yield from (("go", agent) for agent in config.agents if state.open and agent not in state.gone)


def one_starves(config: Config, state: State) -> Iterator[Any]:
    """The first agent goes only after all others; it is never on offer if it must be the first to go."""
    yield ("idle", config.agents[0])
    yield from (
        ("go", agent)
        for agent in config.agents
        if agent not in state.gone and (agent != config.agents[0] or not state.open)
    )


def guarded(config: Config, state: State) -> Iterator[Any]:
    """Only the guard goes, or all when it is gone; whoever stays may become the guard, again and again."""
    for agent in config.agents:
        if agent not in state.gone:
            yield ("hand over", agent)
            if agent == state.guard or state.guard in state.gone:
                yield ("go", agent)


def turning(config: Config, state: State) -> Iterator[Any]:
    """Somebody may turn the door for ever, which hinders nobody."""
    yield ("turn", config.agents[0])
    yield from going(config, state)


def counting(config: Config, state: State) -> Iterator[Any]:
    yield from (("count", agent) for agent in config.agents)


def counts(config: Config) -> Mapping[str, Any]:
    return evenhand.per_agent(
        "goes", config.agents, lambda agent: evenhand.Fairness("weak", lambda state, action: action[1] == agent)
    )


def claim(rank: Any = None, helps: Any = None) -> Any:
    """That all are gone at some time."""
    return evenhand.eventually(
        "All are gone at some time.", fairness=("goes",), rank=rank, helps=helps, name="all_gone"
    )(lambda step: step.after.over)


def missing(config: Config, state: State) -> Any:
    return frozenset(agent for agent in config.agents if agent not in state.gone)


def is_missing(config: Config, state: State, agent: Agent) -> bool:
    return agent not in state.gone


def may_go(config: Config, state: State, agent: Agent) -> bool:
    return agent not in state.gone and (agent == state.guard or state.guard in state.gone)


def is_next(config: Config, state: State, agent: Agent) -> bool:
    left = [one for one in config.agents if one not in state.gone]
    return bool(agent == min(left, default=None))


@pytest.fixture(scope="module")
def portfolio() -> Iterator[Portfolio]:
    with Portfolio() as opened:
        yield opened


def proved(system: AnySystem, asked: Any, portfolio: Portfolio) -> Verdict:
    (verdict,) = prove_any_size(system, [asked], portfolio=portfolio).verdicts
    return verdict


RANKS: tuple[Any, ...] = (
    missing,
    lambda config, state: (missing(config, state), state.open),
    lambda config, state: (0, missing(config, state)),
    lambda config, state: frozenset((agent, state.over) for agent in config.agents if agent not in state.gone),
    lambda config, state: (not state.over, missing(config, state)),
)


@pytest.mark.parametrize("rank", rest_slow([None, *RANKS], 3), ids=lambda one: getattr(one, "__name__", str(one)))
@pytest.mark.parametrize("fair", [everybody, strongly], ids=lambda one: one.__name__)
def test_ranks_that_prove(portfolio: Portfolio, rank: Any, fair: Fair) -> None:
    """What holds is proved by a rank that is guessed, and by each way to write one."""
    verdict = proved(made(going, fair), claim(rank, is_missing if rank is not None else None), portfolio)
    assert verdict.status is Status.HOLDS, verdict.because


def test_arguments_by_name_are_read(portfolio: Portfolio) -> None:
    """`per_agent` and `Fairness` take theirs as any function does."""
    assert proved(made(going, by_name), claim(), portfolio).status is Status.HOLDS


@dataclass(frozen=True)
class Debts:
    """What each agent owes."""

    owed: tuple[int, ...]
    over: bool


@pytest.mark.parametrize("one_of", [min, max], ids=lambda one: getattr(one, "__name__", str(one)))
def test_a_rank_that_picks_a_number_is_read(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch, one_of: Any) -> None:
    """It is compared with the function, also in whether it is below 0; it stays as it is by some step."""

    def actions(config: Config, state: Debts) -> Iterator[Any]:
        yield from (("go", agent) for agent in config.agents if state.owed[agent] > 0)

    def step(config: Config, state: Debts, action: Any) -> Debts:
        owed = tuple(0 if agent == action[1] else state.owed[agent] for agent in config.agents)
        return Debts(owed, not any(one > 0 for one in owed))

    system = evenhand.system(
        "debts",
        config=Config,
        scope={"agents": 3},
        initial=lambda config: [Debts(tuple(1 for _ in config.agents), False)],
        actions=actions,
        step=step,
        fair=everybody,
        ends=True,
    )
    monkeypatch.setattr(unbounded, "_searched", lambda *_given: {})
    asked = claim(lambda config, state: one_of(state.owed), lambda config, state, agent: state.owed[agent] > 0)
    assert "the rank does not fall: from" in proved(system, asked, portfolio).because


FALSE_CLAIMS: tuple[tuple[Any, Fair, Any], ...] = (
    (returning, everybody, claim()),
    (returning, everybody, claim(missing, is_missing)),
    (by_the_door, everybody, claim()),
    (by_the_door, everybody, claim(missing, is_missing)),
    (by_the_door, everybody, claim(missing, lambda config, state, agent: state.open and agent not in state.gone)),
    (one_starves, everybody, claim(missing, is_missing)),
    (one_starves, everybody, claim()),
    (turning, anybody, claim(missing, lambda config, state, agent: agent == config.agents[0])),
    (returning, anybody, claim()),
    (guarded, everybody, claim()),
    (guarded, everybody, claim(missing, may_go)),
    (counting, counts, claim(lambda config, state: state.turns, lambda config, state, agent: True)),
    (counting, counts, claim(lambda config, state: (0, -1, state.turns), lambda config, state, agent: True)),
)


@pytest.mark.parametrize("place", range(len(FALSE_CLAIMS)))
def test_false_claims_stay_open(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """Without the search, which refutes most of them, false claims stay open and say why."""
    actions, fair, asked = FALSE_CLAIMS[place]
    monkeypatch.setattr(unbounded, "_searched", lambda *_given: {})
    verdict = proved(made(actions, fair), asked, portfolio)
    assert verdict.status is Status.UNDECIDED
    assert "rank" in verdict.because or "on offer" in verdict.because


@pytest.mark.parametrize(
    ("fair", "rank", "helps", "why"),
    [
        (the_first, missing, is_missing, "a slice"),
        (those_out, missing, is_missing, "assumptions of some agents"),
        (of_few, missing, is_missing, "it does not always give the same names"),
        (twice, missing, is_missing, "short for several assumptions"),
        (too_few, missing, is_missing, "per_agent: missing a required argument: 'assumption'"),
        (two_kinds, missing, is_missing, "is a"),
        (two_tests, missing, is_missing, "is a"),
        (everybody, lambda config, state: list(config.agents), is_missing, "in an order"),
        (everybody, lambda config, state: "all", is_missing, "in an order"),
        (everybody, lambda config, state: len(missing(config, state)), is_missing, "len"),
        (everybody, lambda config, state: None, is_missing, "in an order"),
        (everybody, missing, lambda config, state, agent: sum(config.agents) > agent, "sum"),
        (
            everybody,
            missing,
            lambda config, state, agent: agent == min(config.agents, key=lambda one: state.gone - {one}),
            "the least of collections",
        ),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_what_is_refused(
    portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch, fair: Fair, rank: Any, helps: Any, why: str
) -> None:
    """What is not read is named with its file and line, and nothing is proved by it."""
    monkeypatch.setattr(unbounded, "_searched", lambda *_given: {})
    verdict = proved(made(going, fair), claim(rank, helps), portfolio)
    assert verdict.status is Status.UNDECIDED
    assert ("test_fair_agents.py, line" in verdict.because) or fair is twice
    assert why in verdict.because


def test_a_wrong_rank_is_told_by_a_step(portfolio: Portfolio) -> None:
    """The step is one of a run: the actions that lead there are on offer, and the rank is what it was told to be."""
    system = made(going)
    verdict = proved(system, claim(lambda config, state: state.gone, is_missing), portfolio)
    assert verdict.status is Status.UNDECIDED
    assert "the rank rises: from {} to {0} by ('go', 0)" in verdict.because
    lazy = proved(system, claim(lambda config, state: 7, is_missing), portfolio)
    assert "the rank does not fall: from 7 to 7 by ('go', 0)" in lazy.because
    nobody = proved(system, claim(missing, lambda config, state, agent: False), portfolio)
    assert "nothing that helps is on offer in State(" in nobody.because


@pytest.mark.parametrize("helps", [None, is_missing], ids=lambda one: getattr(one, "__name__", str(one)))
def test_a_rank_that_raises_stays_open(portfolio: Portfolio, helps: Any) -> None:
    """There is no next agent when all are gone."""
    asked = claim(lambda config, state: next(one for one in config.agents if one not in state.gone), helps)
    verdict = proved(made(going), asked, portfolio)
    assert verdict.status is Status.UNDECIDED
    assert "raised StopIteration" in verdict.because


def unhelpful(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an agent serves while it helps need not lower the rank, nor go on helping."""
    monkeypatch.setattr(progress.Progress, "must_fall", lambda *_given: ())


def once_is_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.Progress, "lost", lambda *_given: FALSE)


def anything_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.Progress, "on_offer", lambda *_given: TRUE)


def may_be_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assumptions, "_grounded", lambda _value: TRUE)
    monkeypatch.setattr(assumptions, "_is_grounded", lambda _value: True)


MISTAKES: tuple[tuple[Any, int], ...] = (
    (unhelpful, 7),
    (once_is_for_ever, 10),
    (anything_is_offered, 5),
    (may_be_negative, 11),
)


@pytest.mark.parametrize(("mistake", "place"), MISTAKES, ids=lambda one: getattr(one, "__name__", str(one)))
def test_mistakes_in_the_rule(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch, mistake: Any, place: int) -> None:
    """Even if no run is asked, the rule leaves false claims open; with a mistake planted in it, it would prove them."""
    actions, fair, asked = FALSE_CLAIMS[place]
    monkeypatch.setattr(unbounded, "_searched", lambda *_given: {})
    monkeypatch.setattr(owing.Owing, "objection", lambda *_given: "")
    assert proved(made(actions, fair), asked, portfolio).status is Status.UNDECIDED
    mistake(monkeypatch)
    assert proved(made(actions, fair), asked, portfolio).status is Status.HOLDS


def upside_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assumptions, "less", lambda world, one, other: less(world, other, one))


def all_of_one_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who serves an assumption, whoever it is of."""
    whole = assumptions.assumptions

    def lenient(world: Any, fair: Any, names: Any) -> Any:
        found = whole(world, fair, names)
        return {name: replace(one, taken=idles) for name, one in found.items()}

    monkeypatch.setattr("evenhand.source.family.assumptions", lenient)


def strong_for_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = assumptions.assumptions

    def lenient(world: Any, fair: Any, names: Any) -> Any:
        return {name: replace(one, kind="strong") for name, one in whole(world, fair, names).items()}

    monkeypatch.setattr("evenhand.source.family.assumptions", lenient)


def the_first_is_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list with a member has a first one that is before itself, says a mistaken fact."""
    monkeypatch.setattr(choosing, "_leads", lambda places, ahead, term: ahead(term, term))


@pytest.mark.parametrize(
    "mistake", [upside_down, all_of_one_kind, strong_for_weak, the_first_is_last], ids=lambda one: one.__name__
)
def test_mistranslations_are_caught(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch, mistake: Any) -> None:
    """Ranks, assumptions and facts are compared with the functions on states of small sizes."""
    asked = claim(missing, is_next)
    assert proved(made(going), asked, portfolio).status is Status.HOLDS
    mistake(monkeypatch)
    verdict = proved(made(going), asked, portfolio)
    assert verdict.status is Status.UNDECIDED
    assert "the formulas are not what the functions say" in verdict.because


OPEN = ((by_the_door, strongly),)
"""What is true, and is not proved: nothing is on offer while the door is closed, but it opens again and again."""


@pytest.mark.parametrize("fair", [everybody, strongly, anybody], ids=lambda one: one.__name__)
@pytest.mark.parametrize(
    "actions", [going, turning, returning, by_the_door, one_starves, guarded], ids=lambda one: one.__name__
)
def test_both_engines_mean_the_same(
    portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch, actions: Any, fair: Fair
) -> None:
    """What is proved, the search finds true with up to four agents; what it refutes, the rule leaves open."""
    system, asked = made(actions, fair), claim()
    found = {explore(system.at(agents=size), [asked]).verdicts[0].status for size in (1, 2, 3, 4)}
    monkeypatch.setattr(unbounded, "_searched", lambda *_given: {})
    verdict = proved(system, asked, portfolio)
    false = Status.REFUTED in found
    assert verdict.status is (Status.UNDECIDED if false or (actions, fair) in OPEN else Status.HOLDS), verdict.because


@pytest.mark.parametrize("known", rest_slow(fairly.SYSTEMS, 1), ids=lambda one: one.name)
def test_known_systems(portfolio: Portfolio, known: Any) -> None:
    """The system is proved; its planted fault is refuted by a run that replays, or the claim's rank does not fit."""
    assert proved(known.make(False), known.claim, portfolio).status is Status.HOLDS
    faulty = proved(known.make(True), known.claim, portfolio)
    if faulty.status is Status.REFUTED:
        assert faulty.evidence is not None
        assert refutes(known.make(True), known.claim, faulty.evidence)
    else:
        assert faulty.status is Status.UNDECIDED
        assert "nothing that helps is on offer in" in faulty.because
