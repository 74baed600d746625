"""Loops and dead ends that the machine finds ahead of drawn states, and what it may not say.

The table of the searched scopes is made from the plans: every claim about whole runs that a search refutes there, the
machine has to refute with the examples of the quick budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from evenhand import explore
from evenhand.core.kinds import DeadlockFree, LivelockFree, Liveness, Property
from evenhand.core.registry import protocols
from evenhand.core.system import AnySystem, Fairness, Scope, System
from evenhand.core.trace import Lasso
from evenhand.core.verdict import Status
from evenhand.evidence.judge import refutes
from evenhand.jobs.engines import verdicts_of
from evenhand.jobs.plan import EFFORT, Budget, Job, claims_for, plan, system_for
from evenhand.machine import ahead, fuzz
from tests.models import philosophers

Row = tuple[str, str, str, Job]


def line(length: int, *, loop: bool = False) -> AnySystem:
    """A counter that goes up or back to 0; at its end it stops, or goes round a last loop of two."""

    def actions(_config: Any, _scope: Any, state: int) -> tuple[str, ...]:
        if state >= length:
            return ("round",) if loop else ()
        return ("up", "back")

    def step(_rules: Any, _config: Any, state: int, action: str) -> tuple[int, str]:
        if action not in actions(None, None, state):
            return state, "rejected"
        if action == "round":
            return length + (state == length), action
        return (state + 1, action) if action == "up" else (0, action)

    def fair(_config: Any) -> dict[str, Fairness[int, str]]:
        return {"goes round": Fairness("weak", lambda _state, action: action == "round")}

    return System(
        "line",
        None,
        lambda _scope, _readings: (0,),
        lambda _config: (0,),
        step,
        actions=actions,
        scope=Scope(),
        fair=fair,
    )


DEAD = DeadlockFree(
    name="goes_back", sentence="", wants=lambda _config, _state: True, completes=lambda step: step.action == "back"
)
IDLE = DeadlockFree(
    name="wants_nothing", sentence="", wants=lambda _config, _state: False, completes=lambda step: step.action == "back"
)
LIVE = LivelockFree(
    name="goes_up",
    sentence="",
    attempts=lambda step: step.action == "round",
    progress=lambda step: step.action == "up",
    fairness=("goes round",),
)


def test_a_dead_end_that_no_drawn_run_reaches_is_found() -> None:
    """Thirty steps up, half of all steps go back: a run of five steps does not come near."""
    found = fuzz(line(30), [DEAD], examples=3, steps=5).verdicts[0]
    assert found.status is Status.REFUTED
    assert found.evidence is not None and refutes(line(30), DEAD, found.evidence)


def test_a_loop_that_no_drawn_run_reaches_is_found() -> None:
    """Its loop of two steps serves the assumption and makes no progress."""
    found = fuzz(line(30, loop=True), [LIVE], examples=3, steps=5).verdicts[0]
    assert found.status is Status.REFUTED and isinstance(found.evidence, Lasso)
    assert len(found.evidence.loop) == 2 and refutes(line(30, loop=True), LIVE, found.evidence)


@pytest.mark.parametrize(("system", "claim"), [(line(30), LIVE), (line(30, loop=True), IDLE)])
def test_what_is_closed_is_told_and_never_holds(system: AnySystem, claim: Property) -> None:
    """A region is a sample: even where all that lies ahead was closed, the claim stays undecided."""
    found = fuzz(system, [claim], examples=3, steps=5).verdicts[0]
    assert found.status is Status.UNDECIDED
    assert found.coverage["closed"] > 0 and found.coverage["ahead"] > 0
    assert f"{found.coverage['closed']} of these were closed" in found.because


def test_beyond_the_budget_nothing_is_found() -> None:
    """The budget counts states: a dead end behind twice as many stays unseen."""
    far = line(2 * (ahead.AHEAD + 10))
    found = fuzz(far, [DEAD], examples=3, steps=5).verdicts[0]
    assert found.status is Status.UNDECIDED and found.coverage["closed"] == 0


def test_philosophers_starve_and_a_contrary_one_saves_them() -> None:
    """Five philosophers: the circular wait, and no finding where one takes its forks the other way round."""
    for contrary in (False, True):
        system = philosophers.philosophers(5, contrary=contrary)
        eats = DeadlockFree(
            name="eats", sentence="", wants=lambda _c, _s: True, completes=lambda step: step.shown == "eats"
        )
        assert explore(system, [eats]).verdicts[0].status is (Status.HOLDS if contrary else Status.REFUTED)
        found = fuzz(system, [eats], examples=10, steps=5).verdicts[0]
        assert found.status is (Status.UNDECIDED if contrary else Status.REFUTED)


def _no_budget(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ahead, "AHEAD", 0)
    patch.setattr("evenhand.machine.watch.AHEAD", 0)


def _needs_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    def never(_part: ahead.Part, _need: ahead.Need) -> bool:
        return False

    patch.setattr(ahead.Part, "served", never)


@pytest.mark.parametrize("fault", [_no_budget, _needs_are_forgotten])
def test_the_fault_is_caught(fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a budget, and with needs that nothing serves, the loop is missed."""
    fault(monkeypatch)
    assert fuzz(line(30, loop=True), [LIVE], examples=3, steps=5).verdicts[0].status is Status.UNDECIDED


def searched() -> Iterator[Row]:
    """Every planned search of a claim about whole runs in the standard budget: protocol, claim, place, job."""
    for bundle in protocols():
        for job in plan(bundle, Budget.standard):
            if job.engine != "explore" or job.part:
                continue
            for claim in claims_for(bundle, job.system, job.claims):
                if isinstance(claim, DeadlockFree | Liveness):
                    where = ",".join(f"{name}={value}" for name, value in (*job.scope, *job.readings))
                    yield bundle.name, claim.name, f"{job.system} {where}".strip(), replace(job, claims=(claim.name,))


def by_machine(row: Row) -> Status:
    """The machine's verdict where a search gave one, with the examples and steps of the quick budget."""
    bundle = next(one for one in protocols() if one.name == row[0])
    effort = EFFORT[Budget.quick]
    drawn = replace(row[3], engine="fuzz", quotient="", examples=effort.examples, steps=effort.steps)
    system = system_for(bundle, drawn)
    (found,) = verdicts_of(bundle, drawn, system)
    if found.evidence is not None:
        assert refutes(system, claims_for(bundle, drawn.system, drawn.claims)[0], found.evidence)
    return found.status


def by_search(row: Row) -> Status:
    """The search's verdict of this row."""
    bundle = next(one for one in protocols() if one.name == row[0])
    return verdicts_of(bundle, row[3], system_for(bundle, row[3]))[0].status


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["every_action_space_admits_something", "patient_proposers_get_an_action", "revising_for_ever_brings_news"],
)
def test_the_machine_refutes_what_the_search_refutes(name: str) -> None:
    """Three small rows of the table."""
    rows = [row for row in searched() if row[1] == name]
    assert rows and all(by_search(row) is Status.REFUTED and by_machine(row) is Status.REFUTED for row in rows)


def test_the_table_has_every_claim_about_whole_runs() -> None:
    """Eighteen claims of five protocols."""
    assert len({row[1] for row in searched()}) == 18


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("protocol", ["apcm", "conviction", "cud", "markspace", "sovereign"])
def test_the_whole_table(protocol: str) -> None:
    """All rows: what the search refutes the machine refutes, and it says HOLDS of none.

    Where the search holds the machine may still refute: a generator draws beyond the searched scope.
    """
    rows = [row for row in searched() if row[0] == protocol]
    table = {row[:3]: (by_search(row), by_machine(row)) for row in rows}
    missed = [place for place, (search, drawn) in table.items() if search is Status.REFUTED is not drawn]
    held = [place for place, (_, drawn) in table.items() if drawn is Status.HOLDS]
    assert table and not missed and not held
