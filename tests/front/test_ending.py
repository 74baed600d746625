"""Where the runs of a system of one's own may end: refuted, allowed, or warned of."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.core.bundle import Bundle
from evenhand.core.ending import NAME
from evenhand.core.own_file import own_bundle
from evenhand.core.system import Scope
from evenhand.jobs.ending import RunsEnd
from tests.deep import rest_slow
from tests.front.conftest import Command
from tests.front.own_files import forget
from tests.front.own_files import project_folder as project_folder


@evenhand.always("It stays small.")
def small(count: int) -> bool:
    return count < 9


def counter(**more: Any) -> Any:
    """Counts to three and stops."""
    return evenhand.system(
        "counter", initial=[0], actions=lambda n: [1] if n < 3 else [], step=lambda n, by: n + by, **more
    )


def test_an_end_that_nobody_spoke_of_is_told() -> None:
    """The verdict stands; the report and a warning say how the run ends."""
    with pytest.warns(RunsEnd, match="a run of 3 actions ends in 3, where no action is on offer"):
        report = evenhand.verify(counter(), [small])
    assert report.holds and "ends=True" in report.notes[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evenhand.verify(counter(), [small], quiet=True).notes == report.notes
        assert evenhand.verify(counter(ends=True), [small]).notes == ()


def test_an_end_that_may_not_be_is_refuted() -> None:
    """`ends=False` allows none, a function allows some."""
    report = evenhand.verify(counter(ends=False), [small], quiet=True)
    assert not report.holds
    assert {finding.claim for finding in report.findings if finding.evidence is not None} == {NAME}
    assert evenhand.verify(counter(ends=lambda n: n == 3), [small]).holds
    assert not evenhand.verify(counter(ends=lambda n: n == 2), [small], quiet=True).holds


def test_an_end_is_said_by_a_function_of_states() -> None:
    """Anything else is refused where it is written."""
    with pytest.raises(TypeError, match="ends"):
        counter(ends=lambda: True)
    with pytest.raises((TypeError, evenhand.ModelError), match=r"ends|True or False"):
        evenhand.verify(counter(ends=lambda _n: 1), [small])


FILE = """
import evenhand
from evenhand.core.system import Protocol, Scope, System


@evenhand.always("It is small.")
def small(count):
    return count <= 9


def counter(name, **more):
    return evenhand.system(
        name, initial=[0], actions=lambda n: [1] if n < 3 else [], step=lambda n, by: n + by, **more
    )


stuck = counter("stuck", ends=False)
meant = counter("meant", ends=lambda n: n == 3)
silent = counter("silent")
reach = System(
    name="reach",
    rules=None,
    configs=lambda scope, readings: [None],
    initial=lambda config: [0],
    step=lambda rules, config, state, action: (state + action, None),
    actions=lambda config, scope, state: [1] if state < scope["limit"] else [],
    scope=Scope(limit=2),
    may_end=lambda config, state: state == 2,
)
several = Protocol("several", "Several", "", {"stuck": stuck, "meant": meant, "reach": reach})
"""


@pytest.fixture(name="file")
def _file(project: Path) -> Path:
    (project / "ends.py").write_text(FILE, "utf-8")
    return project


@pytest.mark.parametrize("command", rest_slow(["explore", "verify", "fuzz"]))
def test_commands_refute_an_end_that_may_not_be(cli: Command, file: Path, command: str) -> None:
    """As the library does, without a claim in the file; where the run may end, nothing is said."""
    words = ["--budget", "quick"] if command == "verify" else []
    stuck = cli(command, "ends.py:stuck", *words)
    assert stuck.code == 1 and NAME in stuck.out
    assert cli(command, "ends.py:meant", *words).code == 0


@pytest.mark.parametrize("command", ["explore", "verify"])
def test_commands_tell_of_an_end_that_nobody_spoke_of(cli: Command, file: Path, command: str) -> None:
    """The verdict stands."""
    words = ["--budget", "quick"] if command == "verify" else []
    answer = cli(command, "ends.py:silent", *words)
    assert answer.code == 0 and "a run of 3 actions ends in 3, where no action is on offer" in answer.out
    assert "ends in" not in cli(command, "ends.py:meant", *words).out


def test_an_end_is_kept_as_a_record(cli: Command, file: Path) -> None:
    """It replays, and fails until the system is mended."""
    cli("explore", "ends.py:stuck", "--out", "found")
    (record,) = (file / "found").rglob("*.json")
    assert NAME in record.name and cli("replay", str(record)).code == 1
    (file / "ends.py").write_text(FILE.replace("[1] if n < 3 else []", "[1] if n < 3 else [-1]"), "utf-8")
    forget(file)
    assert cli("replay", str(record)).code == 0
    (file / "ends.py").write_text(FILE.replace('"stuck", ends=False', '"stuck", ends=True'), "utf-8")
    forget(file)
    assert cli("replay", str(record)).code == 2  # that system makes the claim no more


def test_each_system_and_scope_has_its_own_ends(cli: Command, file: Path) -> None:
    """One claim about all, which asks the system that is searched."""
    bundle: Bundle = own_bundle("ends.py:several")
    assert [claim.name for claim in bundle.claims] == ["small", NAME]
    codes = [cli("explore", "ends.py:several", "--system", name).code for name in ("stuck", "meant", "reach")]
    assert codes == [1, 0, 0]
    assert bundle.model.systems["reach"].scope == Scope(limit=2)
    assert cli("explore", "ends.py:several", "--system", "reach", "--scope", "limit=3").code == 1
    assert cli("explore", "ends.py:several", "--system", "reach", "--scope", "limit=1").code == 1
