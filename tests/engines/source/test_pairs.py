"""Claims about two runs for any number of agents: what two copies of a system prove, and what they must leave open."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NewType

import pytest

import evenhand
from benchmarks.unbounded import secrets as systems
from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status
from evenhand.evidence.judge import refutes
from evenhand.smt.logic import FALSE, TRUE
from evenhand.smt.portfolio import Portfolio
from evenhand.source import family, pairs, unbounded
from evenhand.source.constants import known as constant
from evenhand.source.functions import Move
from evenhand.source.second import Second
from evenhand.source.unbounded import prove_any_size
from tests.deep import rest_slow
from tests.engines.source.test_progress import always_gives

Agent = NewType("Agent", int)


@dataclass(frozen=True)
class Config:
    """The agents."""

    agents: tuple[Agent, ...]


@dataclass(frozen=True)
class State:
    """Whose secret is high, who is known to be low, an order of the agents, and who comes first in it."""

    secret: frozenset[Agent]
    public: frozenset[Agent]
    order: tuple[Agent, ...]


def initial(config: Config) -> Iterator[State]:
    for order in itertools.permutations(config.agents):
        yield State(frozenset(), frozenset(), order)


def actions(config: Config, state: State) -> Iterator[Any]:
    for agent in config.agents:
        yield ("whisper", agent)
        yield ("say", agent)
        yield ("look", agent)


def step(config: Config, state: State, action: Any) -> tuple[State, bool]:
    match action:
        case ("whisper", agent):
            return replace(state, secret=state.secret | {agent}), True
        case ("say", agent):
            return replace(state, public=state.public | {agent}), False
        case (_, agent):
            return state, agent in state.public
        case _:
            return state, False


def crowd() -> AnySystem:
    return evenhand.system(
        "crowd", config=Config, scope={"agents": 2}, initial=initial, actions=actions, step=step, shows=True
    )


def _looks(step: Any) -> bool:
    return bool(step.action[0] == "look")


@evenhand.determined_by("A look shows what was said.", when=_looks, key=lambda step: (step.action, step.before.public))
def said(step: Any) -> Any:
    return step.shown


@evenhand.determined_by("Secrets depend on nothing.", key=lambda step: step.action)
def no_secret(step: Any) -> Any:
    return step.before.secret


@evenhand.determined_by("The order is always the same.", key=lambda step: step.action)
def one_order(step: Any) -> Any:
    return step.before.order


@evenhand.determined_by("All that is shown depends on the agent alone.", key=lambda step: step.action[1])
def by_agent(step: Any) -> Any:
    return step.shown and not _looks(step)


def _one(config: Config, state: State, action: Any) -> Iterable[Any]:
    return ("twin",)


def _same_config(w: str, config: Config) -> Config:
    return config


def _all_secret(w: str, config: Config, state: State) -> State:
    return replace(state, secret=frozenset(config.agents))


def _same_action(w: str, action: Any) -> Iterable[Any]:
    return (action,)


@evenhand.two_run(
    "What is said is the same beside all secrets.",
    twins=_one,
    config=_same_config,
    state=_all_secret,
    other=_same_action,
    starts=True,
)
def beside_secrets(w: Any, step: Any, other: Any) -> bool:
    return bool(other is not None and step.after.public == other.after.public)


@pytest.fixture(scope="module")
def portfolio() -> Iterator[Portfolio]:
    with Portfolio() as opened:
        yield opened


@pytest.mark.parametrize("known", rest_slow(systems.SYSTEMS, 2), ids=lambda one: one.name)
def test_known_systems(portfolio: Portfolio, known: Any) -> None:
    """The system is proved, and its planted leak is refuted by two runs that replay."""
    whole = prove_any_size(known.make(False), [known.claim, *known.hints], portfolio=portfolio).verdicts
    assert {one.status for one in whole} == {Status.HOLDS}
    faulty = prove_any_size(known.make(True), [known.claim], portfolio=portfolio).verdicts[0]
    assert faulty.status is Status.REFUTED
    assert faulty.evidence is not None
    assert refutes(known.make(True), known.claim, faulty.evidence)


def test_what_holds_and_what_does_not(portfolio: Portfolio) -> None:
    """Two copies prove what is public; a secret, a choice and a twin that cannot begin are refuted by two runs."""
    claims = [said, no_secret, one_order, by_agent, replace(beside_secrets, starts=False)]
    found = prove_any_size(crowd(), claims, portfolio=portfolio).verdicts
    assert [one.status for one in found] == [
        Status.HOLDS,
        Status.REFUTED,
        Status.REFUTED,
        Status.REFUTED,
        Status.HOLDS,
    ]


def high_is_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """That secrets are equal, without proof."""
    monkeypatch.setattr(pairs.Pairs, "_places", always_gives(()))


def choices_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """That both runs begin with the same choice."""
    whole = family.twin_of

    def shared(read: Any) -> Any:
        return replace(whole(read), starts=read.starts, chosen=())

    monkeypatch.setattr(pairs, "twin_of", shared)


def _same_kinds(self: Any) -> Iterator[tuple[int, int]]:
    return ((i, i) for i in range(len(self.family.moves)))


def alike_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """That only steps of one kind are compared."""
    monkeypatch.setattr(pairs.Pairs, "_kinds", _same_kinds)


PLANTED = ((alike_alone, by_agent), (high_is_equal, no_secret), (choices_are_shared, one_order))


@pytest.mark.parametrize(("mistake", "claim"), rest_slow(PLANTED, 1), ids=lambda one: getattr(one, "__name__", ""))
def test_mistakes_in_the_rule(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch, mistake: Any, claim: Any) -> None:
    """A false claim stays open whatever is guessed, and would be proved by a rule with the planted mistake."""
    monkeypatch.setattr(unbounded, "_searched", always_gives({}))

    def guessed(self: Any, _induction: Any, _kept: Any, _samples: Any) -> Any:
        return [(f"{place}", one) for place, one in enumerate(self._fields(()).values())]

    monkeypatch.setattr(pairs.Pairs, "related", guessed)
    monkeypatch.setattr(unbounded, "_guesses", always_gives(()))
    (verdict,) = prove_any_size(crowd(), [claim], portfolio=portfolio).verdicts
    assert verdict.status is Status.UNDECIDED
    mistake(monkeypatch)
    (verdict,) = prove_any_size(crowd(), [claim], portfolio=portfolio).verdicts
    assert verdict.status is Status.HOLDS


def listed(order: Callable[[Config], Any]) -> AnySystem:
    """The crowd in one order."""
    return evenhand.system(
        "crowd",
        config=Config,
        scope={"agents": 2},
        initial=lambda config: [State(frozenset(), frozenset(), order(config))],
        actions=actions,
        step=step,
        shows=True,
    )


def test_what_shows_late_to_be_unreadable_is_no_crash(portfolio: Portfolio) -> None:
    """A value that is no value of its field leaves the claims open, with the reason."""
    (verdict,) = prove_any_size(listed(lambda config: config.agents), [said], portfolio=portfolio).verdicts
    assert verdict.status is Status.UNDECIDED
    assert "order becomes the agents" in verdict.because


def test_a_second_run_must_begin(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin of an initial state that is not initial proves nothing; without this rule it would."""
    monkeypatch.setattr(unbounded, "_searched", always_gives({}))
    monkeypatch.setattr(unbounded, "_guesses", always_gives(()))
    system = listed(lambda config: tuple(a for a in config.agents))
    (verdict,) = prove_any_size(system, [beside_secrets], portfolio=portfolio).verdicts
    assert verdict.status is Status.UNDECIDED
    assert "start" in verdict.because
    monkeypatch.setattr(Second, "starts", always_gives(TRUE))
    (verdict,) = prove_any_size(system, [beside_secrets], portfolio=portfolio).verdicts
    assert verdict.status is Status.HOLDS


def test_a_wrong_second_copy_proves_nothing(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the formulas of both copies and the functions disagree, every claim stays open."""
    whole = family.twin_of

    def misread(read: Any) -> family.Twin:
        found = whole(read)
        return replace(
            found, sides={n: tuple(replace(s, value=constant(True)) for s in sides) for n, sides in found.sides.items()}
        )

    monkeypatch.setattr(pairs, "twin_of", misread)
    (verdict,) = prove_any_size(crowd(), [said], portfolio=portfolio).verdicts
    assert verdict.status is Status.UNDECIDED
    assert "the formulas are not what the functions say" in verdict.because


def test_a_lost_guard_of_the_second_copy_proves_nothing(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is on offer is compared in the second copy too."""
    whole = family.twin_of

    def without(read: Any) -> family.Twin:
        found = whole(read)
        moves: tuple[Move, ...] = found.moves
        return replace(found, moves=(replace(moves[0], guard=FALSE), *moves[1:]))

    monkeypatch.setattr(pairs, "twin_of", without)
    (verdict,) = prove_any_size(crowd(), [said], portfolio=portfolio).verdicts
    assert verdict.status is Status.UNDECIDED
    assert "a formula of two copies" in verdict.because
