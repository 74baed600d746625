"""Checks of the suite itself: no test is skipped in CI without a reason on the list, and none is run by nobody."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests.deep import rest_deep, rest_slow

ROOT = Path(__file__).parents[1]
SUITE = """
import pytest

def test_runs(): pass

@pytest.mark.skip(reason="no time")
def test_skipped(): pass

@pytest.mark.parametrize("x", [1])
@pytest.mark.xfail(reason="known")
def test_expected_to_fail(x): assert False
"""


@pytest.fixture
def guard() -> Any:
    """Return the script that `.ci/run` calls, as a module."""
    spec = importlib.util.spec_from_file_location("skipped", ROOT / ".ci" / "skipped.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def report(pytester: pytest.Pytester) -> Path:
    """Return the JUnit report of a small suite."""
    pytester.makepyfile(test_small=SUITE)
    pytester.runpytest("--junitxml=junit.xml").assert_outcomes(passed=1, skipped=1, xfailed=1)
    return pytester.path / "junit.xml"


def test_a_skipped_test_must_be_listed(guard: Any, report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An expected failure must be listed as well; a test that ran need not."""
    listed = report.with_name("skips.txt")
    names = ["test_small::test_skipped", "test_small::test_expected_to_fail[1]"]
    for lines, code in (
        ([], 1),
        ([f"{names[0]} because"], 1),
        ([f"{names[1]} because"], 1),
        (["# a comment", "", *(f"{name} because" for name in names)], 0),
    ):
        listed.write_text("\n".join(lines), "utf-8")
        assert guard.main(report, listed) == code, lines
    assert "skipped: test_small::test_skipped: NOT LISTED" in capsys.readouterr().out


def test_a_listed_test_needs_a_reason(guard: Any, report: Path) -> None:
    """A name alone is not enough."""
    listed = report.with_name("skips.txt")
    listed.write_text("test_small::test_skipped\n", "utf-8")
    with pytest.raises(ValueError, match="without a reason"):
        guard.main(report, listed)


def test_our_own_list_can_be_read(guard: Any) -> None:
    """Every line of it has a reason."""
    assert all(guard.allowed(ROOT / ".ci" / "skips.txt").values())


def test_every_test_is_run_by_one_of_three_targets() -> None:
    """Whatever marks a test has, one of them takes it, and no two; CI runs the first two."""
    lines = [
        line.rsplit("-m ", 1)[1] for line in (ROOT / "Makefile").read_text("utf-8").splitlines() if "pytest -q" in line
    ]
    chosen = [line.split('"')[1] if line.startswith('"') else line.split()[0] for line in lines]
    assert chosen == ["not slow and not deep", "slow and not deep", "deep"]
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "\nmake test" in script
    assert "\nmake slow" in script


def test_the_rest_of_a_parameter_is_marked() -> None:
    """Whether its values are plain, several together, or marked already."""
    assert rest_slow([1, 2])[0] == 1
    marked = [
        *rest_slow([1, 2]),
        *rest_deep([(1, "x"), (2, "y")]),
        *rest_slow([pytest.param(1, marks=pytest.mark.deep)], 0),
    ]
    assert [getattr(one, "values", one) for one in marked] == [1, (2,), (1, "x"), (2, "y"), (1,)]
    assert [[mark.name for mark in getattr(one, "marks", ())] for one in marked] == [
        [],
        ["slow"],
        [],
        ["deep"],
        ["slow", "deep"],
    ]
