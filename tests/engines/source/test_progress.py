"""Claims about whole runs for any number of agents: what a rank proves, and what it must leave open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NewType

import pytest

import evenhand
from benchmarks.unbounded import progress as systems
from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status
from evenhand.evidence.judge import refutes
from evenhand.smt.logic import FALSE, TRUE, Not, Relation, Sort, Var
from evenhand.smt.portfolio import Portfolio
from evenhand.source import progress, unbounded
from evenhand.source.unbounded import prove_any_size
from tests.deep import rest_slow

Agent = NewType("Agent", int)


@dataclass(frozen=True)
class Config:
    """The agents."""

    agents: tuple[Agent, ...]


@dataclass(frozen=True)
class State:
    """Who has gone, whether the door is open, and whether all is over."""

    gone: frozenset[Agent]
    open: bool
    over: bool


def made(
    actions: Callable[[Config, State], Iterator[Any]], kind: Any = "weak", **fair: Callable[[Any, Any], bool]
) -> AnySystem:
    def step(config: Config, state: State, action: Any) -> State:
        match action:
            case ("go", agent):
                return replace(
                    state, gone=state.gone | {agent}, over=all(a == agent or a in state.gone for a in config.agents)
                )
            case ("return", agent):
                return replace(state, gone=state.gone - {agent})
            case ("end", _):
                return replace(state, over=True)
            case ("turn", _):
                return replace(state, open=not state.open)
            case _:
                return state

    return evenhand.system(
        "crowd",
        config=Config,
        scope={"agents": 3},
        initial=lambda config: [State(frozenset(), True, False)],
        actions=actions,
        step=step,
        fair={name: evenhand.Fairness(kind, taken) for name, taken in (fair or {"goes": _goes}).items()},
    )


def _goes(state: State, action: Any) -> bool:
    return bool(action[0] == "go")


def _goes_in(state: State, action: Any) -> bool:
    return bool(action[0] == "go" and state.open)


def _goes_out(state: State, action: Any) -> bool:
    return bool(action[0] == "go" and not state.open)


def door(kind: Any) -> AnySystem:
    """Who goes through a door that may turn at any time serves one of two assumptions."""
    return made(by_the_door, kind, goes_in=_goes_in, goes_out=_goes_out)


def going(config: Config, state: State) -> Iterator[Any]:
    yield ("idle", config.agents[0])
    yield from (("go", agent) for agent in config.agents if agent not in state.gone)


def idle(config: Config, state: State) -> Iterator[Any]:
    yield ("idle", config.agents[0])


def by_the_door(config: Config, state: State) -> Iterator[Any]:
    yield ("turn", config.agents[0])
    yield from (("go", agent) for agent in config.agents if agent not in state.gone)


def again(config: Config, state: State) -> Iterator[Any]:
    yield from (("again", agent) for agent in config.agents)


def returning(config: Config, state: State) -> Iterator[Any]:
    yield from going(config, state)
    yield from (("return", agent) for agent in config.agents if agent in state.gone)


@evenhand.eventually("All are gone at some time.", fairness=("goes",))
def all_gone(step: Any) -> bool:
    return bool(step.after.over)


@evenhand.eventually("All are gone through the door.", fairness=("goes_in", "goes_out"))
def all_through(step: Any) -> bool:
    return bool(step.after.over)


@evenhand.eventually("All are gone at some time, by itself.")
def by_itself(step: Any) -> bool:
    return bool(step.after.over)


@evenhand.livelock_free("Nobody turns for ever while nobody goes.", attempts=lambda step: step.action[0] == "turn")
def no_livelock(step: Any) -> bool:
    return bool(step.action[0] == "go")


@evenhand.livelock_free("Nobody goes for ever.", attempts=lambda step: step.action[0] == "go")
def goes_once(step: Any) -> bool:
    return bool(step.action[0] == "turn")


@pytest.fixture(scope="module")
def portfolio() -> Iterator[Portfolio]:
    with Portfolio() as opened:
        yield opened


def _again(state: State, action: Any) -> bool:
    return bool(action[0] == "again")


AGENT = Var("x.Agent", Sort("Agent"))
NOT_GONE = (((AGENT,), Not(Relation("s.gone.has0", (AGENT.sort,))(AGENT))),)


def always_gives(value: Any) -> Callable[..., Any]:
    """A function that gives this value whatever it is given."""

    def given(*_arguments: Any, **_more: Any) -> Any:
        return value

    return given


def guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rank "who is not gone", whatever runs say."""
    monkeypatch.setattr(unbounded, "guesses", always_gives([progress.Rank(NOT_GONE)]))


def nothing_on_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.Progress, "on_offer", always_gives(TRUE))


def weak_as_strong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.Progress, "lost", always_gives(FALSE))


def rank_may_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = progress.fallen

    def lenient(rank: Any, means: Any) -> Any:
        return (whole(rank, means)[1],) * 2

    monkeypatch.setattr(progress, "fallen", lenient)


def rank_may_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = progress.fallen

    def lenient(rank: Any, means: Any) -> Any:
        return whole(rank, means)[0], TRUE

    monkeypatch.setattr(progress, "fallen", lenient)


def nothing_owed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = progress.with_debt

    def forgotten(family: Any, claim: Any) -> Any:
        found = whole(family, claim)
        (ghost,) = found.ghosts
        return replace(found, ghosts=(replace(ghost, starts=tuple(FALSE for _ in ghost.starts)),))

    monkeypatch.setattr(progress, "with_debt", forgotten)


def no_step_is_fair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.Progress, "must_fall", always_gives(()))


PLANTED = (
    (nothing_on_offer, made(idle), all_gone),
    (weak_as_strong, door("weak"), all_through),
    (rank_may_stay, made(again, goes=_again), all_gone),
    (rank_may_rise, made(returning), all_gone),
    (nothing_owed, made(idle), all_gone),
    (no_step_is_fair, made(again, goes=_again), all_gone),
    (no_step_is_fair, made(going), by_itself),
)


@pytest.mark.parametrize(("mistake", "system", "claim"), PLANTED, ids=lambda one: getattr(one, "__name__", ""))
def test_mistakes_in_the_rule(
    portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch, mistake: Any, system: AnySystem, claim: Any
) -> None:
    """A false claim stays open whatever rank is guessed, and would be proved by a rule with the planted mistake."""
    monkeypatch.setattr(unbounded, "_searched", always_gives({}))
    guessed(monkeypatch)
    (verdict,) = prove_any_size(system, [claim], portfolio=portfolio).verdicts
    assert verdict.status is Status.UNDECIDED
    mistake(monkeypatch)
    (verdict,) = prove_any_size(system, [claim], portfolio=portfolio).verdicts
    assert verdict.status is Status.HOLDS


def test_kinds_of_fairness(portfolio: Portfolio) -> None:
    """What needs strong fairness is proved under it, and refuted under the weak one by a loop that replays."""
    (strong,) = prove_any_size(door("strong"), [all_through], portfolio=portfolio).verdicts
    assert strong.status is Status.HOLDS
    (weak,) = prove_any_size(door("weak"), [all_through], portfolio=portfolio).verdicts
    assert weak.status is Status.REFUTED
    assert weak.evidence is not None
    assert refutes(door("weak"), all_through, weak.evidence)


def test_livelocks(portfolio: Portfolio) -> None:
    """Attempts that end are proved to end; a loop of attempts is refuted."""
    found = prove_any_size(made(by_the_door), [no_livelock, goes_once], portfolio=portfolio).verdicts
    assert [one.status for one in found] == [Status.REFUTED, Status.HOLDS]


@pytest.mark.parametrize("known", rest_slow(systems.SYSTEMS, 2), ids=lambda one: one.name)
def test_known_systems(portfolio: Portfolio, known: Any) -> None:
    """The system is proved, and its planted fault is refuted by a run that replays."""
    (whole,) = prove_any_size(known.make(False), [known.claim], portfolio=portfolio).verdicts
    assert whole.status is Status.HOLDS
    (faulty,) = prove_any_size(known.make(True), [known.claim], portfolio=portfolio).verdicts
    assert faulty.status is Status.REFUTED
    assert faulty.evidence is not None
    assert refutes(known.make(True), known.claim, faulty.evidence)


@dataclass(frozen=True)
class Debt:
    """A field with the name of what a proof keeps of a run."""

    owed: bool
    over: bool


def test_a_field_may_be_called_owed(portfolio: Portfolio) -> None:
    """What a proof keeps of a run is no field of a state."""

    def actions(config: Config, state: Debt) -> Iterator[Any]:
        yield ("go", config.agents[0])

    def step(config: Config, state: Debt, action: Any) -> Debt:
        return Debt(False, not state.owed)

    system = evenhand.system(
        "debt",
        config=Config,
        scope={"agents": 2},
        initial=lambda config: [Debt(True, False)],
        actions=actions,
        step=step,
    )
    asked = evenhand.eventually("All is over at some time.", name="over")(lambda step: step.after.over)
    (verdict,) = prove_any_size(system, [asked], portfolio=portfolio).verdicts
    assert verdict.status is Status.HOLDS, verdict.because


def test_verify_proves_progress() -> None:
    """`evenhand.verify` has the proof beside the search."""
    report = evenhand.verify(made(going), [all_gone], quiet=True)
    assert {one.engine for one in report.findings if one.status is Status.HOLDS} == {"explore", "prove"}
