"""`assert evenhand.verify(system, claims).holds`: when it holds, when it fails, and its message."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

import evenhand
from evenhand.core.property import Property
from evenhand.core.registry import find
from evenhand.core.system import AnySystem


def lock(*, careful: bool) -> AnySystem:
    """Two processes that enter and leave; the careless lock lets both in."""

    def step(state: tuple[str, str], action: tuple[int, str]) -> tuple[str, ...]:
        who, where = action
        if careful and where == "inside" and "inside" in state:
            return state
        return (*state[:who], where, *state[who + 1 :])

    return evenhand.system(
        "lock",
        initial=[("idle", "idle")],
        actions=lambda _state: [(who, where) for who in (0, 1) for where in ("idle", "inside")],
        step=step,
    )


@evenhand.always("At most one process is inside.")
def mutual_exclusion(state: tuple[str, str]) -> bool:
    """An invariant."""
    return state.count("inside") <= 1


@evenhand.reachable("A process can get in.")
def can_enter(step: evenhand.Step[Any, Any, Any, Any]) -> bool:
    """A goal."""
    return "inside" in step.after


@evenhand.eventually("Some process gets in.")
def gets_in(step: evenhand.Step[Any, Any, Any, Any]) -> bool:
    """An event that need not happen: both may stay idle."""
    return "inside" in step.after


def unbounded() -> AnySystem:
    """A system with an infinite graph."""
    return evenhand.system("up", initial=[0], actions=lambda _n: ["up"], step=lambda n, _action: n + 1)


@evenhand.always("The count is never negative.")
def not_negative(count: int) -> bool:
    """True, and beyond any bounded search."""
    return count >= 0


def test_what_holds_holds() -> None:
    """The machine draws where requested, and agrees; otherwise only where the search left something open."""
    report = evenhand.verify(lock(careful=True), [mutual_exclusion, can_enter], examples=20)
    assert report.holds and report
    assert {finding.engine for finding in report.findings} == {"explore", "fuzz"}
    assert report.exit_code() == 0
    for examples in (None, 0):
        report = evenhand.verify(lock(careful=True), [mutual_exclusion, can_enter], examples=examples)
        assert report.holds and {finding.engine for finding in report.findings} == {"explore"}


def test_the_machine_draws_for_what_the_search_left_open() -> None:
    """It draws nothing for decided claims."""
    report = evenhand.verify(lock(careful=True), [mutual_exclusion, can_enter], depth=1, examples=None, quiet=True)
    found = {(finding.claim, finding.engine) for finding in report.findings}
    assert ("mutual_exclusion", "fuzz") in found and ("can_enter", "fuzz") not in found
    assert not report and not report.holds


def test_what_fails_prints_the_shortest_trace_and_what_reproduces_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Step by step, and once, although two engines found it."""
    report = evenhand.verify(lock(careful=False), mutual_exclusion)
    assert not report.holds
    said = capsys.readouterr().err
    assert said.strip() == str(report)
    lines = [line.strip() for line in said.splitlines()]
    where = lines.index("start  ('idle', 'idle')")
    assert lines[where + 1 :][:4] == [
        "1  (0, 'inside')",
        "('idle', 'idle') → ('inside', 'idle')",
        "2  (1, 'inside')",
        "('inside', 'idle') → ('inside', 'inside')",
    ]
    assert any(line.startswith("reproduce: pytest ") and "test_library.py::test_what_fails" in line for line in lines)
    assert lines.count("start  ('idle', 'idle')") == 1, "two engines that refute one claim tell one story"


def test_the_python_line_that_reproduces_a_refutation_does(capsys: pytest.CaptureFixture[str]) -> None:
    evenhand.verify(lock(careful=False), mutual_exclusion)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "evenhand.replay" in line]
    assert line.strip() == (
        "reproduce: evenhand.replay(system, evenhand.Scenario(None, ('idle', 'idle'), ((0, 'inside'), (1, 'inside'))))"
    )
    scenario = evenhand.Scenario(None, ("idle", "idle"), ((0, "inside"), (1, "inside")))
    assert evenhand.replay(lock(careful=False), scenario).final == ("inside", "inside")


def test_the_message_of_the_assertion_is_one_short_line() -> None:
    """pytest cuts the display of a value at 240 characters."""
    report = evenhand.verify(lock(careful=False), mutual_exclusion, quiet=True)
    assert repr(report) == "<Report: mutual_exclusion REFUTED in 2 steps>"


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is printed where nothing is wrong, or where the caller wants silence."""
    evenhand.verify(lock(careful=False), mutual_exclusion, quiet=True)
    evenhand.verify(lock(careful=True), mutual_exclusion)
    assert capsys.readouterr() == ("", "")


def test_a_graph_that_a_bound_left_open_does_not_hold() -> None:
    """Random runs that found nothing are no proof."""
    report = evenhand.verify(unbounded(), not_negative, max_states=50, examples=5, quiet=True)
    assert not report.holds
    assert not report.refuted
    assert [finding.claim for finding in report.undecided] == ["not_negative"]
    assert {f.engine: f.status.value for f in report.findings} == {"explore": "UNDECIDED", "fuzz": "HOLDS"}
    assert "UNDECIDED  not_negative" in str(report)


def test_a_liveness_claim_is_refuted_by_a_lasso(capsys: pytest.CaptureFixture[str]) -> None:
    """The loop is shown as one."""
    report = evenhand.verify(lock(careful=True), gets_in)
    assert [finding.claim for finding in report.refuted][:1] == ["gets_in"]
    assert "from here on, for ever:" in capsys.readouterr().err


def test_a_goal_that_nothing_reaches_is_refuted() -> None:
    """Only the search can decide it."""

    @evenhand.reachable("Both get in.")
    def both(step: evenhand.Step[Any, Any, Any, Any]) -> bool:
        return bool(step.after == ("inside", "inside"))

    report = evenhand.verify(lock(careful=True), both, quiet=True)
    assert [finding.engine for finding in report.refuted] == ["explore"]
    assert evenhand.verify(lock(careful=False), both, quiet=True).holds


def test_what_is_no_claim_is_refused() -> None:
    """A plain function, no claim, or the same name twice."""

    def plain(_state: object) -> bool:
        return True

    nothing: list[Property] = []
    with pytest.raises(ValueError, match="no claims"):
        evenhand.verify(lock(careful=True), nothing)
    with pytest.raises(ValueError, match="two claims are called 'mutual_exclusion'"):
        evenhand.verify(lock(careful=True), [mutual_exclusion, mutual_exclusion])
    with pytest.raises(TypeError, match="is no claim; decorate"):
        evenhand.verify(lock(careful=True), cast("list[Property]", [plain]))


def test_what_the_model_raises_is_not_swallowed() -> None:
    """The user's test needs the cause."""

    def broken(_state: int, _action: str) -> int:
        raise RuntimeError("the model is broken")

    system = evenhand.system("broken", initial=[0], actions=lambda _n: ["up"], step=broken)
    with pytest.raises(Exception, match="the model is broken"):
        evenhand.verify(system, not_negative)


def test_a_saved_refutation_is_replayed_first_until_it_is_mended(tmp_path: Path) -> None:
    """It fails again tomorrow, and passes once mended."""
    report = evenhand.verify(lock(careful=False), mutual_exclusion, save=tmp_path, quiet=True)
    (file,) = tmp_path.glob("*.json")
    assert str(file) in str(report)
    again = evenhand.verify(lock(careful=False), mutual_exclusion, save=tmp_path, quiet=True)
    assert again.findings[0].engine == "replay"
    assert again.findings[0].status is evenhand.Status.REFUTED
    mended = evenhand.verify(lock(careful=True), mutual_exclusion, save=tmp_path)
    assert mended.holds
    assert mended.findings[0].status is evenhand.Status.HOLDS
    assert list(tmp_path.glob("*.json")) == [file]


@dataclass(frozen=True)
class Counter:
    """A state of a user's class."""

    count: int


@pytest.mark.parametrize("named", [False, True])
def test_saving_needs_the_classes_and_says_so(named: bool, tmp_path: Path) -> None:
    """Such a state is saved only if `types` names its class."""
    system = evenhand.system(
        "counter",
        initial=[Counter(0)],
        actions=lambda _state: ["up"],
        step=lambda state, _action: Counter(min(3, state.count + 1)),
        types=(Counter,) if named else (),
    )

    @evenhand.always("The count stays below two.")
    def below_two(state: Counter) -> bool:
        return state.count < 2

    report = evenhand.verify(system, below_two, save=tmp_path, quiet=True)
    assert bool(list(tmp_path.glob("*.json"))) is named
    assert ("not recorded" in str(report)) is not named
    assert "count: 1 → 2" in str(report)


def test_a_protocol_is_asked_whether_it_is_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    """`holds` is stricter than the expectations of a protocol."""
    report = evenhand.verify("latch", budget="quick")
    assert report.as_expected
    assert not report.holds, "one claim of the latch is stated as refuted, and is"
    assert capsys.readouterr().err == ""
    assert evenhand.verify(find("latch"), budget="quick").findings == report.findings


def test_pytest_shows_the_trace_of_a_failing_one_liner(pytester: pytest.Pytester) -> None:
    """End to end, with pytest's output."""
    pytester.makepyfile(
        test_lock="""
        import evenhand

        light = evenhand.system(
            "light",
            initial=["red"],
            actions=lambda state: ["next", "break"],
            step=lambda state, action: "dark" if action == "break" else {"red": "green"}.get(state, "red"),
        )

        @evenhand.always("The light is never dark.")
        def never_dark(state):
            return state != "dark"

        def test_light():
            assert evenhand.verify(light, [never_dark]).holds
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*<Report: never_dark REFUTED in 1 step>.holds",
            "*start*'red'",
            "*1*'break'",
            "*'red' → 'dark'",
            "*reproduce: pytest test_lock.py::test_light",
        ]
    )
