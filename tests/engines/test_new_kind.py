"""A kind of claim unknown to every engine: one class lets the engines, the judge and the pages decide it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

import evenhand
from evenhand.conform.checking.claims import Judge, KernelStep, judged_kinds
from evenhand.core.kinds import Calls, Liveness, Property, Safety, StepTest, every_step
from evenhand.core.system import AnyStep
from evenhand.core.trace import Lasso, Scenario, replay
from evenhand.core.verdict import Status
from evenhand.evidence.judge import first_refuted_step, judge
from evenhand.evidence.shrink import shrink
from evenhand.machine import fuzz
from evenhand.search import explore
from evenhand.web.claim_status import Truth, standings


@dataclass(frozen=True, kw_only=True, repr=False)
class AtMost(Safety):
    """At most `most` steps of a run satisfy `event`."""

    event: StepTest
    most: int

    CALLS: ClassVar[Calls] = {"event": ("answer", ("step",))}

    def memory(self, config: Any) -> int:
        return 0

    def follow(self, memory: int, step: AnyStep) -> int:
        return min(memory + self.event(step), self.most + 1)

    def answer(self, config: Any, memory: int) -> bool | None:
        return memory <= self.most if memory else None


@dataclass(frozen=True, kw_only=True, repr=False)
class Recurs(Liveness):
    """`goal` happens again and again."""

    goal: StepTest

    CALLS: ClassVar[Calls] = {"goal": ("answer", ("step",))}
    begins = "step"

    @property
    def tests(self) -> tuple[StepTest, StepTest]:
        return every_step, self.goal


def ring(size: int) -> Any:
    """Return a ring with one token; `skip` leaves the token in place."""
    return evenhand.system(
        f"ring of {size}",
        initial=[0],
        actions=lambda state: ["pass", "skip"],
        step=lambda state, action: (state + 1) % size if action == "pass" else state,
    )


def comes_home(step: AnyStep) -> bool:
    return bool(step.action == "pass" and step.after == 0)


TWICE = AtMost(name="home_twice", sentence="The token comes home at most twice.", event=comes_home, most=2)
NEVER_LOST = AtMost(name="never_lost", sentence="No token is lost.", event=lambda step: step.after > 9, most=1)
AGAIN = Recurs(name="home_again", sentence="The token comes home again and again.", goal=comes_home)


@pytest.mark.parametrize("claim", [TWICE, AGAIN], ids=lambda claim: claim.name)
def test_a_search_refutes_it_with_a_shortest_run(claim: Property) -> None:
    """Nine passes return the token of three agents for the third time; one skip is a loop that never returns it."""
    (verdict,) = explore(ring(3), [claim]).verdicts
    assert verdict.status is Status.REFUTED
    evidence = verdict.evidence
    assert (len(evidence.actions) == 9) if isinstance(evidence, Scenario) else isinstance(evidence, Lasso)


def test_a_search_decides_what_is_met_and_kept() -> None:
    """A claim with an antecedent that is never met stays UNDECIDED."""
    kept = AtMost(name="kept", sentence="Few.", event=lambda step: step.before == 0 and step.after == 2, most=1)
    often = AtMost(name="often", sentence="Skips.", event=lambda step: step.action == "leap", most=1)
    found = {one.claim: one.status for one in explore(ring(3), [kept, often, NEVER_LOST]).verdicts}
    assert set(found.values()) == {Status.UNDECIDED}
    once = evenhand.system("once", initial=[0], actions=lambda s: ["go"] if s == 0 else [], step=lambda s, a: 1)
    (verdict,) = explore(once, [AtMost(name="one", sentence="One.", event=lambda step: True, most=1)]).verdicts
    assert verdict.status is Status.HOLDS


def test_the_machine_refutes_it() -> None:
    """Drawn runs of thirty steps."""
    found = fuzz(ring(2), [TWICE, AGAIN], examples=60, steps=30)
    assert {one.status for one in found.verdicts} == {Status.REFUTED}


def test_judge_shrinker_page_and_kernel_check_agree() -> None:
    """They give the same answers along one run."""
    system = ring(2)
    run = Scenario(None, 0, ("skip", *("pass", "pass", "skip") * 3))
    assert judge(system, TWICE, run) and first_refuted_step(system, TWICE, run) == 9
    smaller = shrink(system, run, lambda one: bool(judge(system, TWICE, one)))
    assert isinstance(smaller, Scenario) and smaller.actions == ("pass",) * 6
    assert not judge(system, TWICE, Scenario(None, 0, ("pass",) * 5))
    trace = replay(system, run)
    assert [(one.truth, one.step) for one in standings(system, [TWICE, NEVER_LOST], trace)] == [
        (Truth.FALSE, 9),
        (Truth.SILENT, None),
    ]
    claims, others = judged_kinds([TWICE, AGAIN], system.name)
    assert (claims, others) == ((TWICE,), (AGAIN,))
    honest = [KernelStep(step, step.shown, False) for step in trace.steps]
    assert Judge(claims).violations(None, honest) == ()


def test_a_kind_without_an_answer_says_so() -> None:
    """A missing abstract method is an error of the kind, not a HOLDS."""
    unmade: Callable[..., Any] = Safety
    with pytest.raises(NotImplementedError):
        explore(ring(2), [unmade(name="nothing", sentence="Nothing.")])
