"""The benchmark: its loop and Spin's model against the pins, what processes cost, and rows that must not look well."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evenhand
from benchmarks import goals
from benchmarks.newcomers import SYSTEMS as NEWCOMERS
from benchmarks.plain import KNOWN, Counts, bare, own
from evenhand.core.property import Always, EachStep
from evenhand.core.registry import protocols
from evenhand.jobs.plan import Job
from evenhand.model.cud.protocol import CUD
from tests.deep import rest_slow

PINNED: dict[str, dict[str, int]] = json.loads(Path(__file__).with_name("pinned.json").read_text("utf-8"))[
    "free_agent"
]["counts"]
FREE: Any = CUD.systems["free"]


def _giving(made: Any) -> Callable[..., Any]:
    def give(*_given: Any) -> Any:
        return made

    return give


@pytest.mark.parametrize("key", rest_slow(["2,2,2", "3,2,2"]))
def test_the_bare_loop_over_the_model_finds_the_pinned_graph(key: str) -> None:
    """The graph is the same, although the model shares no line with the enumerations of this folder."""
    agents, keys, values = (int(part) for part in key.split(","))
    found = bare(FREE.at(agents=agents, keys=keys, values=values))[0]._asdict()
    assert found == {name: PINNED[key][name] for name in found}


def test_the_bare_loop_asks_the_claims() -> None:
    """Claims about states and about steps; those that hold are not named."""

    @evenhand.always("Below three.")
    def below(state: int) -> bool:
        return state < 3

    @evenhand.each_step("By one.")
    def by_one(step: Any) -> bool:
        return bool(step.after == (step.before + 1) % 4)

    @evenhand.each_step("Never back.")
    def never_back(step: Any) -> bool:
        return bool(step.after > step.before)

    ring = evenhand.system("ring", initial=[0], actions=lambda _state: [1], step=lambda state, by: (state + by) % 4)
    assert bare(ring, (below, by_one, never_back)) == (Counts(4, 4, 4, 3), ["below", "never_back"])


@pytest.mark.parametrize("name", [*KNOWN, *NEWCOMERS])
def test_own_systems_come_with_claims_that_the_loop_can_ask(name: str) -> None:
    """Of the first states, at least; the functions are the user's own."""
    system, claims = own(name)
    assert claims and all(isinstance(claim, Always | EachStep) for claim in claims)
    assert not any(claim.expected for claim in claims)  # nothing of other systems of the same file
    (config,) = system.all_configs()
    (start,) = system.initial(config)
    nearest = [start, *(system.step(system.rules, config, start, one)[0] for one in system.enabled(config, start))]
    small = replace(system, initial=_giving(tuple(dict.fromkeys(nearest))), actions=_giving(()))
    assert bare(small, claims)[1] == []


@pytest.mark.skipif(not shutil.which("spin") or not shutil.which("cc"), reason="needs Spin and a C compiler")
def test_spin_counts_the_pinned_graph() -> None:
    """The model that is searched beside ours is of the same graph."""
    found = goals.spin("2,2,2")
    assert isinstance(found, goals.Spin)
    assert found.counts == (PINNED["2,2,2"]["states"], PINNED["2,2,2"]["transitions"])
    assert 0 < found.search < found.whole


def test_seconds_are_those_of_children_too() -> None:
    """A process that only waits for one that works has cost what the other took; a limit ends what goes on."""
    work = "import time\nwhile time.process_time() < {}: pass"
    parent = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {work.format(0.5)!r}])"
    assert goals.spent([sys.executable, "-c", parent]).seconds > 0.5
    assert goals.spent([sys.executable, "-c", work.format(60)], 1).why == "over 1 s"
    assert goals.spent([sys.executable, "-c", "raise ValueError('no')"]).why == "ValueError: no"
    assert goals.spent([sys.executable, "-c", "import os; os.kill(os.getpid(), 2)"]).why == "ended by signal 2"
    assert not goals.spent([sys.executable, "-c", "raise SystemExit(3)"], fine=(0, 3)).why


ANSWER = goals.Answer(2.0, (7, 9, 9, 3), (("small", "HOLDS"),), "compiled")


@pytest.mark.parametrize(
    ("other", "met", "ratio"),
    [
        (goals.Spin(3.0, 4.0, (7, 9)), "met", 1.5),
        (goals.Spin(1.0, 4.0, (7, 9)), "missed", 0.5),
        (goals.Spin(3.0, 4.0, (7, 8)), "DIFFERENT: (7, 9) and (7, 8)", 1.5),
        ("no Spin here", "not measured", None),
    ],
)
def test_a_row_beside_spin(other: Any, met: str, ratio: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The goal is Spin's search alone; a search of another graph is none, however quick."""
    monkeypatch.setattr(goals, "evenhand", _giving(ANSWER))
    monkeypatch.setattr(goals, "spin", _giving(other))
    row = goals.beside_spin("ring", ["explore", "ring"], None, "ring")
    assert (row.met, row.ratio) == (met, ratio)


def test_a_command_that_is_ended_has_missed_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """It took longer than its goal; one that failed says nothing about that."""
    for seconds, met in ((121.0, "missed"), (3.0, "not measured")):
        monkeypatch.setattr(goals, "evenhand", _giving(goals.Answer(seconds, why="ended")))
        row = goals.beside_spin("ring", ["explore", "ring"], 15, "")
        assert (row.took, row.met) == ("ended", met)


@pytest.mark.parametrize(
    ("printed", "met"), [("7 9 9 3", "met"), ("6 9 9 3", "DIFFERENT"), ("7 9 9 3 small", "DIFFERENT")]
)
def test_a_row_beside_the_loop(printed: str, met: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop must have the same counts, and refute a claim where the search does."""
    monkeypatch.setattr(goals, "spent", _giving(goals.Spent(10.0, printed)))
    monkeypatch.setattr(goals, "evenhand", _giving(ANSWER))
    row = goals.beside_loop("eight puzzle")
    assert row.met.startswith(met) and row.ratio == 5
    assert row.command == "`evenhand explore eight_puzzle.py:system --yes`"


@pytest.mark.parametrize("lost", [0, 1])
def test_standard_searches_that_differ_are_named(lost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default that loses a state."""

    def ran(words: list[str], _most: float) -> goals.Answer:
        found = ANSWER._replace(seconds=4.0 if "explicit" in words else 1.0)
        return found if "explicit" in words else found._replace(counts=(7 - lost, 9, 9, 3))

    monkeypatch.setattr(goals, "evenhand", ran)
    row = goals.beside_explicit("cud free", Job("cud", "explore", "free"), 60)
    assert row.met == ("met" if not lost else "DIFFERENT: (7, 9, 9, 3) and (6, 9, 9, 3), or verdicts")
    assert row.ratio == 4


def test_every_protocol_and_own_system_has_a_row() -> None:
    """No name is given twice.  The standard plan searches every system but one."""
    names = [task.name for task in goals.tasks(60)]
    assert len(set(names)) == len(names)
    listed = {f"{bundle.name} {name}" for bundle in protocols() for name in bundle.model.systems}
    assert (listed | {*KNOWN, *NEWCOMERS}) - set(names) == {"conviction run"}


def _tasks(met: str) -> Callable[[float], list[goals.Task]]:
    row = goals.Row("ring", "`evenhand explore ring`", "1.0", "-", 2.0, "≤ 2 s", met)
    return lambda _most: [goals.Task("cells", "ring", lambda: row)]


def test_the_readme_is_written_only_when_asked(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
    """And only between its two marks; a second run replaces the first one's table."""
    readme = tmp_path / "README.md"
    empty = "above\n" + goals.BEGIN + goals.END + "below\n"
    readme.write_text(empty, "utf-8")
    monkeypatch.setattr(goals, "README", readme)
    monkeypatch.setattr(goals, "tasks", _tasks("missed"))
    assert goals.main([]) == 0
    assert "| ring | `evenhand explore ring` | 1.0 | - | 2.00 | ≤ 2 s | missed |" in capsys.readouterr().out
    assert readme.read_text("utf-8") == empty
    for _ in range(2):
        assert goals.main(["--write"]) == 0
        text = readme.read_text("utf-8")
        assert text.startswith("above\n" + goals.BEGIN) and text.endswith(goals.END + "below\n")
        assert text.count("| ring |") == 1


def test_what_differs_ends_with_1(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """The row is printed too."""
    monkeypatch.setattr(goals, "tasks", _tasks("DIFFERENT: 1 and 2"))
    assert goals.main([]) == 1
    assert "DIFFERENT: 1 and 2" in capsys.readouterr().out


def test_a_group_is_judged_whole(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """A row asked for by name says nothing of all."""
    monkeypatch.setattr(goals, "tasks", _giving([one._replace(group="own") for one in _tasks("met")(60)]))
    for only, said in (("ring", False), ("own", True)):
        assert goals.main(["--only", only]) == 0
        assert ("own systems together" in capsys.readouterr().out) is said


def test_many_claims_are_counted() -> None:
    """A plan may list dozens."""
    words = ["explore", "cud", "--claim", "a", "--claim", "b", "--yes"]
    assert goals.told(words) == "`evenhand explore cud --claim a --claim b --yes`"
    assert goals.told([*words, "--claim", "c"]) == "`evenhand explore cud --yes`, and 3 claims"


def test_a_row_that_fails_does_not_end_the_run() -> None:
    """It says what was raised."""

    def broken() -> goals.Row:
        raise json.JSONDecodeError("no answer", "", 0)

    (row,) = goals.measured([goals.Task("cells", "ring", broken)])
    assert row.name == "ring" and "no answer" in row.took and row.met == "not measured"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "nothing"], "'nothing'"),
        (["--only", "own", "--write"], "whole run"),
        (["--only", "lines", "--jobs", "-1"], "--jobs"),
        (["--only", "lines", "--most", "0"], "--most"),
    ],
)
def test_bad_use_says_so(words: list[str], said: str, capsys: Any) -> None:
    """One message and exit code 2."""
    with pytest.raises(SystemExit, match="2"):
        goals.main(words)
    assert said in capsys.readouterr().err
