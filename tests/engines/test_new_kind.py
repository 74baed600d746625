"""A kind of claim unknown to every engine: one class lets the engines, the judge and the pages decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

import evenhand
from evenhand.conform.checking.claims import Judge, KernelStep, judged_kinds
from evenhand.conform.checking.loop import CheckEffort, check_system
from evenhand.core.answers import ModelError
from evenhand.core.kinds import Calls, Liveness, Property, Safety, StepTest, every_state, every_step
from evenhand.core.relations import Fork, Paired
from evenhand.core.system import AnyStep
from evenhand.core.trace import Lasso, Pair, Scenario, replay
from evenhand.core.verdict import Status
from evenhand.evidence.judge import first_refuted_step, judge
from evenhand.evidence.shrink import shrink
from evenhand.machine import fuzz
from evenhand.search import explore
from evenhand.web.claim_status import Truth, standings
from tests.front.conform.in_process import InProcess
from tests.front.conform.test_multi_run import Open, found
from tests.front.conform.test_multi_run import system as latch
from tests.front.conftest import PLUGINS, installed


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


@dataclass(frozen=True, kw_only=True, repr=False)
class Below(Safety):
    """Every state is below `limit`."""

    limit: int
    reads = "states"

    @property
    def tests(self) -> tuple[Callable[..., bool], Callable[..., bool]]:
        def below(_config: Any, state: Any) -> bool:
            return bool(state < self.limit)

        return every_state, below


@dataclass(frozen=True, kw_only=True, repr=False)
class MovesBy(Safety):
    """A step that changes the state changes it by at most `most`."""

    most: int
    reads = "steps"

    @property
    def tests(self) -> tuple[StepTest, StepTest]:
        return lambda step: step.before != step.after, lambda step: abs(step.after - step.before) <= self.most


@dataclass(frozen=True, kw_only=True, repr=False)
class Idempotent(Paired):
    """From every state, taking an action twice leads where taking it once does, for the actions that `about` picks."""

    about: Callable[[Any], bool]

    CALLS: ClassVar[Calls] = {"about": ("answer", ("action",))}
    reads = "states"

    def ways(self, config: Any, state: Any, actions: tuple[Any, ...]) -> Iterable[Any]:
        return filter(self.about, actions)

    def fork(self, way: Any, config: Any, state: Any, actions: tuple[Any, ...]) -> Fork:
        return Fork((way,), (way, way), config, state)

    def agrees(self, way: Any, left: AnyStep, right: AnyStep | None) -> bool:
        return right is not None and bool(left.after == right.after)


@dataclass(frozen=True, kw_only=True, repr=False)
class Turned(Paired):
    """A ring turned by one place shows the same: the second run begins one place further."""

    size: int

    reads = "steps"

    def ways(self, config: Any, state: Any, actions: tuple[Any, ...]) -> Iterable[Any]:
        return ("turned",)

    def fork(self, way: Any, config: Any, state: Any, actions: tuple[Any, ...]) -> Fork:
        return Fork(actions, actions, config, (state + 1) % self.size)

    def agrees(self, way: Any, left: AnyStep, right: AnyStep | None) -> bool:
        return right is not None and bool(right.after == (left.after + 1) % self.size)


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


@pytest.mark.parametrize(
    ("claim", "actions"),
    [
        (Below(name="below", sentence="Below two.", limit=2), 2),
        (MovesBy(name="moves_by", sentence="One at a time.", most=1), 3),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_kind_without_memory_gives_its_tests(claim: Safety, actions: int) -> None:
    """Search, machine, judge and page find the third agent's state, and the step from there to the first."""
    system = ring(3)
    (verdict,) = explore(system, [claim]).verdicts
    assert isinstance(verdict.evidence, Scenario) and len(verdict.evidence.actions) == actions
    assert verdict.coverage["violations"] == 1 and judge(system, claim, verdict.evidence)
    assert fuzz(system, [claim], examples=20, steps=10).verdicts[0].status is Status.REFUTED
    (shown,) = standings(system, [claim], replay(system, verdict.evidence))
    assert (shown.truth, shown.step) == (Truth.FALSE, actions)


PASSING = Idempotent(name="pass_once", sentence="A second pass does nothing.", about=lambda action: action == "pass")
SKIPPING = Idempotent(name="skip_once", sentence="A second skip does nothing.", about=lambda action: action == "skip")
ALIKE = Turned(name="alike", sentence="No place of a ring of three is special.", size=3)
WRONG = Turned(name="wrong", sentence="The ring has four places.", size=4)


def test_a_kind_of_pairs_is_decided_by_search_machine_judge_and_page() -> None:
    """Passing twice is no passing once; two places away from the start, a ring of three is no ring of four."""
    system, claims = ring(3), (PASSING, SKIPPING, ALIKE, WRONG)
    for engine in (explore(system, claims), fuzz(system, claims, examples=20, steps=10)):
        passing, skipping, alike, wrong = engine.verdicts
        assert (skipping.status, alike.status) == (Status.HOLDS, Status.HOLDS)
        assert passing.status is Status.REFUTED and wrong.status is Status.REFUTED
        pair = passing.evidence
        assert isinstance(pair, Pair) and (pair.left.actions, pair.right.actions) == (("pass",), ("pass", "pass"))
        assert judge(system, PASSING, pair) and not judge(system, SKIPPING, pair)
        assert not judge(system, PASSING, Pair(pair.left, pair.left, ""))
        far = wrong.evidence
        assert isinstance(far, Pair) and judge(system, WRONG, far)
    shown = standings(system, claims, replay(system, Scenario(None, 0, ("pass",) * 2)))
    assert [one.truth for one in shown] == [Truth.FALSE, Truth.SILENT, Truth.TRUE, Truth.FALSE]


def test_a_kind_of_pairs_is_decided_by_the_kernel_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """A latch that lets an agent in that leaves from outside: leaving twice is not leaving once."""
    about = Idempotent(
        name="leave_once", sentence="A second leave does nothing.", about=lambda act: act.verb == "leave"
    )

    def back_in(latch: Any, agent: int) -> list[int]:
        return [] if agent in latch.inside else [*latch.inside, agent]

    installed(monkeypatch, PLUGINS)
    effort = CheckEffort(examples=4, steps=6)
    for leave, expected in ((None, {}), (back_in, {about.name: (1, "own state")})):
        source = InProcess(lambda _initial, leave=leave: Open(leave=leave) if leave else Open())  # type: ignore[misc]
        result = check_system("latch", (latch(),), (about,), source, claims_only=True, effort=effort)
        assert about.name in result.judged and found(result) == expected


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
    with pytest.raises(ModelError, match="claim 'nothing' raised NotImplementedError"):
        explore(ring(2), [unmade(name="nothing", sentence="Nothing.")])
