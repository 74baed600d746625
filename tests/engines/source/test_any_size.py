"""Proofs for any number of agents: what is proved, what is refuted, and what must stay open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NewType

import pytest

import evenhand
from benchmarks.unbounded import locks
from benchmarks.unbounded.__main__ import SYSTEMS
from evenhand.core.system import AnySystem, Scope
from evenhand.core.verdict import Status
from evenhand.evidence.judge import refutes
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.solvers import Z3
from evenhand.source import calls, unbounded
from evenhand.source.reading import Source, source_of
from evenhand.source.unbounded import prove_any_size
from tests.deep import rest_slow

QUICK = ("readers and writers", "lock server", "barrier", "transaction commit", "dining philosophers", "fencing tokens")

Agent = NewType("Agent", int)


@dataclass(frozen=True)
class Config:
    """The agents."""

    agents: tuple[Agent, ...]


@dataclass(frozen=True)
class State:
    """Who is inside, and a favourite."""

    inside: frozenset[Agent]
    first: Agent | None


def initial(config: Config) -> list[State]:
    return [State(frozenset(), None)]


def actions(config: Config, state: State) -> Iterator[tuple[str, Agent]]:
    yield from (("enter", agent) for agent in config.agents if agent not in state.inside)


def step(config: Config, state: State, action: tuple[str, Agent]) -> State:
    _, agent = action
    return replace(state, inside=state.inside | {agent}, first=agent if state.first is None else state.first)


def made(**other: Any) -> AnySystem:
    given: dict[str, Any] = {"initial": initial, "actions": actions, "step": step, **other}
    return evenhand.system("crowd", config=Config, scope={"agents": 3}, **given)


@evenhand.always("The favourite is inside.")
def favourite(state: State) -> bool:
    return state.first is None or state.first in state.inside


@evenhand.always("No four are inside.")
def no_four(state: State) -> bool:
    return not any(
        a != b and a != c and a != d and b != c and b != d and c != d
        for a in state.inside
        for b in state.inside
        for c in state.inside
        for d in state.inside
    )


@evenhand.each_step("Nobody leaves.")
def nobody_leaves(step: Any) -> bool:
    return bool(step.before.inside <= step.after.inside)


@evenhand.each_step("Whoever enters becomes the favourite.")
def enters_first(step: Any) -> bool:
    return bool(step.after.first == step.action[1])


@pytest.fixture(scope="module")
def portfolio() -> Iterator[Portfolio]:
    with Portfolio() as opened:
        yield opened


@pytest.mark.parametrize("known", rest_slow([one for one in SYSTEMS if one.name in QUICK], 3), ids=lambda one: one.name)
def test_systems_of_the_literature(portfolio: Portfolio, known: Any) -> None:
    """The system is proved, and its planted fault is refuted by a run that replays."""
    (whole,) = prove_any_size(known.make(False), [known.claim], portfolio=portfolio).verdicts
    assert whole.status is Status.HOLDS
    assert str(whole.scope["proved"]).startswith("any number of")
    (faulty,) = prove_any_size(known.make(True), [known.claim], portfolio=portfolio).verdicts
    assert faulty.status is Status.REFUTED
    assert faulty.evidence is not None
    assert refutes(known.make(True), known.claim, faulty.evidence)


def test_kinds_of_claims(portfolio: Portfolio) -> None:
    """Invariants and claims about steps are proved; what a run breaks is refuted."""
    found = prove_any_size(made(), [favourite, nobody_leaves, enters_first], portfolio=portfolio)
    assert [one.status for one in found.verdicts] == [Status.HOLDS, Status.HOLDS, Status.REFUTED]


def test_true_of_three_is_not_true_of_any(portfolio: Portfolio) -> None:
    """A claim that only four agents break is broken by no run of three, and is not proved."""
    (verdict,) = prove_any_size(made(), [no_four], portfolio=portfolio).verdicts
    assert verdict.status is Status.UNDECIDED
    assert "not inductive" in verdict.because


def test_one_solver_is_not_enough() -> None:
    """Without the second solver nothing holds."""
    with Portfolio([Z3]) as alone:
        (verdict,) = prove_any_size(made(), [favourite], portfolio=alone).verdicts
    assert verdict.status is Status.UNDECIDED
    assert "the solvers do not both prove it" in verdict.because


def misled(config: Config, state: State, action: tuple[str, Agent]) -> State:
    _, agent = action
    return replace(state, inside=state.inside | {agent}, first=agent)


def test_a_wrong_reading_proves_nothing(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where formulas and functions disagree, every claim stays open."""

    def misread(function: Any) -> Source:
        found = source_of(function)
        return replace(found, tree=source_of(misled).tree) if function is step else found

    monkeypatch.setattr(calls, "source_of", misread)
    (verdict,) = prove_any_size(made(), [favourite], portfolio=portfolio).verdicts
    assert verdict.status is Status.UNDECIDED
    assert "the formulas are not what the functions say" in verdict.because


def test_a_step_that_may_raise_proves_nothing(portfolio: Portfolio) -> None:
    """A step that raises in some state that is not excluded leaves every claim open; one that is excluded does not."""

    def partial(config: Config, state: State, action: tuple[str, Agent]) -> State:
        after = step(config, state, action)
        if len(state.inside) >= 3 and any(a not in state.inside for a in config.agents):
            raise ValueError("too many")
        return after

    def total(config: Config, state: State, action: tuple[str, Agent]) -> State:
        assert state.first is None or state.first in state.inside
        return step(config, state, action)

    (verdict,) = prove_any_size(made(step=partial), [favourite], portfolio=portfolio).verdicts
    assert verdict.status is Status.UNDECIDED
    assert "whether `step` raises" in verdict.because
    (verdict,) = prove_any_size(made(step=total), [favourite], portfolio=portfolio).verdicts
    assert verdict.status is Status.HOLDS


@pytest.mark.slow
def test_guesses_come_from_early_states_too(portfolio: Portfolio) -> None:
    """A ticket lock has endlessly many states; only the first few tell that no ticket may be out."""
    lock = next(one for one in SYSTEMS if one.name == "ticket lock")
    (verdict,) = prove_any_size(lock.make(False), [lock.claim], portfolio=portfolio).verdicts
    assert verdict.status is Status.HOLDS


@evenhand.always("The bit is set while somebody is inside.")
def bit_is_set(state: locks.Spin) -> bool:
    return state.taken or not state.inside


def test_a_hint_helps(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without guesses a lock is proved with a claim that says why, and stays open without it."""
    lock = next(one for one in SYSTEMS if one.name == "test-and-set lock")

    def nothing(*_: object) -> Iterator[object]:
        return iter(())

    monkeypatch.setattr(unbounded, "_guesses", nothing)
    (alone,) = prove_any_size(lock.make(False), [lock.claim], portfolio=portfolio).verdicts
    assert alone.status is Status.UNDECIDED
    found = prove_any_size(lock.make(False), [lock.claim, bit_is_set], portfolio=portfolio)
    assert [one.status for one in found.verdicts] == [Status.HOLDS, Status.HOLDS]


def test_the_unreadable_line_is_named(portfolio: Portfolio) -> None:
    """The reason is the line, and what to write instead; other claims are still proved."""

    @evenhand.always("A sum.")
    def by_sum(state: State) -> bool:
        return sum(state.inside) >= 0

    @evenhand.each_step("A sum of a step.")
    def by_sum_of_a_step(step: Any) -> bool:
        return bool(sum(step.after.inside) >= 0)

    *unread, other = prove_any_size(made(), [by_sum, by_sum_of_a_step, favourite], portfolio=portfolio).verdicts
    for one in unread:
        assert one.status is Status.UNDECIDED
        assert "test_any_size.py, line" in one.because
        assert "a sum over what may stand there twice; go through" in one.because
    assert other.status is Status.HOLDS


@dataclass(frozen=True)
class Numbered:
    """Messages with a number each."""

    sent: frozenset[tuple[Agent, int]]


def test_the_unreadable_type_is_named(portfolio: Portfolio) -> None:
    """So is the line of a field whose type is not readable, with what to write instead."""
    mail = made(initial=unsent, step=still, actions=silent)
    (verdict,) = prove_any_size(mail, [evenhand.always("True.", name="true")(anything)], portfolio=portfolio).verdicts
    assert re.search(r"^test_any_size\.py, line \d+: `sent: frozenset\[.*int\]\]` is not readable: ", verdict.because)
    assert "a type of its own, listed in the config" in verdict.because


def unsent(config: Config) -> list[Numbered]:
    """No message."""
    return [Numbered(frozenset())]


def still(config: Config, state: Numbered, action: Any) -> Numbered:
    """Nothing changes."""
    return state


def silent(config: Config, state: Any) -> list[Any]:
    """No action."""
    return []


def anything(state: Any) -> bool:
    """Any state will do."""
    return True


@dataclass(frozen=True)
class Lease:
    """Who holds it, and until when."""

    holder: Agent
    until: int


@dataclass(frozen=True)
class Desk:
    """A lease, or none, and what anyone was told of it."""

    lease: Lease | None
    told: tuple[int | None, ...]


def leased(config: Config, state: Desk, action: tuple[str, Agent]) -> Desk:
    """Whoever asks gets the lease until one later than the last, or gives it back."""
    verb, agent = action
    if verb == "back":
        return Desk(None, tuple(None for _ in config.agents))
    until = 1 if state.lease is None else state.lease.until + 1
    told = list(state.told)
    told[agent] = until
    return Desk(Lease(agent, until), tuple(told))


def asking(config: Config, state: Desk) -> Iterator[tuple[str, Agent]]:
    """Anyone may ask, the holder may give back."""
    for agent in config.agents:
        yield ("ask", agent)
        if state.lease is not None and state.lease.holder == agent:
            yield ("back", agent)


@evenhand.always("Nobody was told of a later time than that of the lease.")
def told_before(config: Config, state: Desk) -> bool:
    lease = state.lease
    return all(told is None or (lease is not None and told <= lease.until) for told in state.told)


def forgetful(config: Config, state: Desk, action: tuple[str, Agent]) -> Desk:
    """What anyone was told is kept when the lease is given back."""
    after = leased(config, state, action)
    return replace(after, told=state.told) if action[0] == "back" else after


def kept_lease(config: Config, state: Desk, action: tuple[str, Agent]) -> Desk:
    """Nothing is given back."""
    verb, agent = action
    if verb == "back":
        return Desk(state.lease, tuple(None for _ in config.agents))
    until = 1 if state.lease is None else state.lease.until + 1
    told = list(state.told)
    told[agent] = until
    return Desk(Lease(agent, until), tuple(told))


def test_what_may_be_none(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records and numbers that may be None are proved of; a fault is refuted, and a step that is misread is caught."""

    def start(config: Config) -> list[Desk]:
        return [Desk(None, (None,) * len(config.agents))]

    def desk(step: Any) -> AnySystem:
        return made(initial=start, actions=asking, step=step)

    (whole,) = prove_any_size(desk(leased), [told_before], portfolio=portfolio).verdicts
    assert whole.status is Status.HOLDS, whole.because
    (faulty,) = prove_any_size(desk(forgetful), [told_before], portfolio=portfolio).verdicts
    assert faulty.status is Status.REFUTED

    def misread(function: Any) -> Source:
        found = source_of(function)
        return replace(found, tree=source_of(kept_lease).tree) if function is leased else found

    monkeypatch.setattr(calls, "source_of", misread)
    (verdict,) = prove_any_size(desk(leased), [told_before], portfolio=portfolio).verdicts
    assert "the formulas are not what the functions say" in verdict.because


def test_verify_proves_too(capsys: pytest.CaptureFixture[str]) -> None:
    """`evenhand.verify` has the proof beside the search, and none under the quick budget."""
    report = evenhand.verify(made(), [favourite])
    assert report.holds
    assert {one.engine for one in report.findings} >= {"explore", "prove"}
    assert {one.engine for one in evenhand.verify(made(), [favourite], budget="quick").findings} == {"explore"}
    assert not capsys.readouterr().err


def test_what_a_search_decides_is_not_told_as_proved() -> None:
    """A false claim that holds in the scope holds for that scope alone, and the proof is said to be open."""
    report = evenhand.verify(replace(made(ends=True), scope=Scope({"agents": 2})), [no_four])
    (line,) = (one for one in str(report).splitlines() if one.startswith("HOLDS"))
    assert "with agents=2" in line
    assert "prove UNDECIDED for any number of agents: it is not inductive" in line


def test_config_and_scope_go_together() -> None:
    """Each half alone, and a scope of other names, is refused."""
    with pytest.raises(TypeError, match="`config` and `scope` go together"):
        evenhand.system("crowd", initial=initial, actions=actions, step=step, config=Config)
    with pytest.raises(ValueError, match="gives the size of each field of Config"):
        evenhand.system("crowd", initial=initial, actions=actions, step=step, config=Config, scope={"people": 3})


def test_same_input_same_bytes(tmp_path: Path, portfolio: Portfolio) -> None:
    """Two runs give the same verdicts, figures included."""
    del tmp_path
    one, other = (prove_any_size(made(), [favourite], portfolio=portfolio).verdicts for _ in range(2))
    assert one == other


def choosing(config: Config, state: State, action: tuple[str, Agent]) -> State:
    """Whoever enters, the favourite is the first by number of those inside."""
    inside = state.inside | {action[1]}
    return State(inside, next((agent for agent in config.agents if agent in inside), None))


@evenhand.always("Nobody inside comes before the favourite.")
def foremost(state: State) -> bool:
    return state.first is None or all(state.first <= agent for agent in state.inside)


def last(config: Config, state: State, action: tuple[str, Agent]) -> State:
    """The favourite is the last by number."""
    inside = state.inside | {action[1]}
    return State(inside, next((agent for agent in reversed(config.agents) if agent in inside), None))


@pytest.mark.slow
def test_the_first_that_passes_a_test_may_be_stored() -> None:
    """Proved for any number; planted: the last one, which is refuted."""
    found = evenhand.verify(made(step=choosing, ends=True), [foremost, favourite])
    assert found.holds and "any number" in str(found)
    assert not evenhand.verify(made(step=last, ends=True), [foremost]).holds
