"""Reading a report, and tests in which nothing fails: what is taken for success that is none."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.slips.examples import check, light, never_dark
from tests.slips.kit import control, evenhand, slip

SYSTEM = """
import evenhand

light = evenhand.system(
    "light",
    initial=["red"],
    actions=lambda state: ["next", "break"],
    step=lambda state, action: "dark" if action == "break" else {"red": "green"}.get(state, "red"),
)
working = evenhand.system(
    "light",
    initial=["red"],
    actions=lambda state: ["next"],
    step=lambda state, action: {"red": "green"}.get(state, "red"),
)
"""


def dark() -> Any:
    """The report of a light that goes dark."""
    return check(light(step=lambda state, action: "dark"), [never_dark])


def under_pytest(text: str) -> Any:
    """What becomes of a test file: an Outcome, `HOLDS` where pytest is content."""
    from tests.slips.judging import Outcome

    Path("test_light.py").write_text(SYSTEM + text, "utf-8")
    root = str(Path(__file__).resolve().parents[2])
    told = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            ".",
            "-W",
            "ignore",
            "test_light.py",
        ],
        env={**os.environ, "PYTHONPATH": root, "COLUMNS": "400", "EVENHAND_BUDGET": "quick"},
        capture_output=True,
        text=True,
        timeout=80,
        check=False,
    )
    if told.returncode == 0:
        return Outcome("HOLDS", told.stdout.splitlines()[-1])
    lines = [line[1:].strip() for line in told.stdout.splitlines() if line.startswith("E ")]
    refuted = any("REFUTED" in line for line in told.stdout.splitlines())
    return Outcome("refuted" if refuted else "error", next(iter(lines), told.stdout))


@slip("reports", says=r"holds|truth", refuted=True)
def the_report_itself():
    """`assert evenhand.verify(…)`: a report is an object, and truthy."""
    return bool(dark())


@slip("reports", says=r"holds|truth", refuted=True)
def not_the_report():
    """`if not evenhand.verify(…): fail()`."""
    return bool(dark())


@slip("reports", says=r"holds|truth", refuted=True)
def all_reports():
    """`all(verify(system, claims) for system in systems)`."""
    return all(check(system, [never_dark]) for system in [light(), light(step=lambda state, action: "dark")])


@slip("reports", says=r"holds|truth", refuted=True)
def an_exploration_itself():
    """`assert evenhand.explore(…)`."""
    return bool(evenhand.explore(light(step=lambda state, action: "dark"), [never_dark]))


@slip("reports", says=r"holds|truth", refuted=True)
def drawn_runs_themselves():
    """`assert evenhand.fuzz(…)`."""
    return bool(evenhand.fuzz(light(step=lambda state, action: "dark"), [never_dark], examples=5))


@slip("reports", says=r"holds|truth", refuted=True)
def a_verdict_itself():
    """`all(exploration.verdicts)`: a verdict is truthy, whatever it says."""
    return all(evenhand.explore(light(step=lambda state, action: "dark"), [never_dark]).verdicts)


@slip("reports", says=r"holds|truth", refuted=True)
def a_finding_itself():
    """`all(report.findings)`."""
    return all(dark().findings)


@slip("reports", says=r"holds|truth|Status", refuted=True)
def a_status_itself():
    """`assert verdict.status`: every member of an enumeration is truthy."""
    (verdict,) = evenhand.explore(light(step=lambda state, action: "dark"), [never_dark]).verdicts
    return bool(verdict.status)


@slip("reports", says=r"holds|call|property", refuted=True)
def holds_as_a_method():
    """`report.holds()`, as a method."""
    return bool(dark().holds())


@slip("reports", says=r"hold\b|holds")
def a_misspelt_attribute():
    """`report.hold`."""
    return bool(dark().hold)


@slip("reports", says=r"holds|succe|ok|attribute", refuted=True)
def another_checkers_attribute():
    """`report.ok`, as another checker has it."""
    return bool(dark().ok)


@slip("reports", says="HOLDS|status|compare", refuted=True)
def a_status_compared_with_text():
    """`verdict.status != "REFUTED"`: a member is never equal to a text, so this is always true."""
    (verdict,) = evenhand.explore(light(step=lambda state, action: "dark"), [never_dark]).verdicts
    return bool(verdict.status != "REFUTED")


@slip("reports", says="as_expected|holds", refuted=True)
def as_expected_of_ones_own_system():
    """`report.as_expected`, where nothing was expected."""
    return bool(dark().as_expected)


@slip("reports", says="undecided|holds|0|max_states", refuted=True)
def nothing_refuted():
    """`report.exit_code() == 0` of a search that a bound left open."""
    system = evenhand.system("up", initial=[0], actions=lambda n: ["up"], step=lambda n, action: n + 1)

    @evenhand.always("Below a thousand.")
    def below(n):
        return n < 1_000

    return bool(check(system, [below], max_states=20, steps=3).exit_code() == 0)


@slip("reports", says="holds|truth|never_dark", refuted=True, seconds=90.0)
def a_test_that_asserts_the_report():
    """Under pytest: `assert evenhand.verify(…)`, without `.holds`."""
    return under_pytest("""
@evenhand.always("The light is never dark.")
def never_dark(state):
    return state != "dark"

def test_light():
    assert evenhand.verify(light, [never_dark])
""")


@slip("reports", says="all_lit.*generator|generator.*all_lit", seconds=90.0)
def a_test_with_a_generator():
    """Under pytest: the whole of a test file, with the `all( )` forgotten."""
    return under_pytest("""
@evenhand.always("No light is dark.")
def all_lit(state):
    return (lamp != "dark" for lamp in [state])

def test_light():
    assert evenhand.verify(light, [all_lit]).holds
""")


@slip("reports", says="sentence|call|never_dark", seconds=90.0)
def a_test_with_a_bare_decorator():
    """Under pytest: `@evenhand.always` without its call, at the level of the module."""
    return under_pytest("""
@evenhand.always
def never_dark(state):
    return state != "dark"

def test_light():
    assert evenhand.verify(light, [never_dark]).holds
""")


@control("reports")
def the_attribute_holds():
    """`report.holds`."""
    return bool(check(light(), [never_dark]).holds)


@control("reports", seconds=90.0)
def a_test_as_it_should_be():
    """Under pytest: the example of the README with a light that works."""
    return under_pytest("""
@evenhand.always("The light is never dark.")
def never_dark(state):
    return state != "dark"

def test_light():
    assert evenhand.verify(working, [never_dark]).holds
""")
