"""The benchmark's own loop against the pins, and its refusal to time contenders that disagree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import explore as bench
from benchmarks import standard
from benchmarks.bare import Counts, bare
from evenhand.jobs.plan import Job
from evenhand.model.cud.protocol import CUD
from tests.deep import rest_slow

PINNED: dict[str, dict[str, int]] = json.loads(Path(__file__).with_name("pinned.json").read_text("utf-8"))[
    "free_agent"
]["counts"]
FREE: Any = CUD.systems["free"]


@pytest.mark.parametrize("key", rest_slow(["2,2,2", "3,2,2"]))
def test_the_bare_loop_over_the_model_finds_the_pinned_graph(key: str) -> None:
    """The graph is the same, although the model shares no line with the enumerations of this folder."""
    agents, keys, values = (int(part) for part in key.split(","))
    found = bare(FREE.at(agents=agents, keys=keys, values=values))._asdict()
    assert found == {name: PINNED[key][name] for name in found}


def test_contenders_that_disagree_are_not_timed(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """A contender that loses one edge: exit 1, a message with the count of each contender, no table."""

    def careless(system: Any) -> Counts:
        counts = bare(system)
        return counts._replace(edges=counts.edges - 1)

    monkeypatch.setattr(bench, "CONTENDERS", {"bare loop": bare, "careless": careless})
    assert bench.main(["2,2,2", "--rounds", "1"]) == 1
    printed = capsys.readouterr()
    assert "careless" in printed.err and not printed.out


def test_the_readme_is_written_only_when_asked(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
    """And only between its two marks; a second run replaces the first one's table."""
    readme = tmp_path / "README.md"
    readme.write_text("above\n" + bench.BEGIN + bench.END + "below\n", "utf-8")
    monkeypatch.setattr(bench, "README", readme)
    monkeypatch.setattr(bench, "CONTENDERS", {"bare loop": bare})
    assert bench.main(["2,2,2", "--rounds", "1"]) == 0
    assert "| 2,2,2 | 61 | 2,528 |" in capsys.readouterr().out
    assert readme.read_text("utf-8") == "above\n" + bench.BEGIN + bench.END + "below\n"
    for _ in range(2):
        assert bench.main(["2,2,2", "--rounds", "1", "--write"]) == 0
        text = readme.read_text("utf-8")
        assert text.startswith("above\n" + bench.BEGIN + "| agents") and text.endswith(bench.END + "below\n")
        assert text.count("| 2,2,2 |") == 1


def test_a_scope_that_is_none_says_so(capsys: Any) -> None:
    """One message and exit code 2, as in every command."""
    with pytest.raises(SystemExit, match="2"):
        bench.main(["2,2"])
    assert "'2,2' is not three sizes such as 3,2,2" in capsys.readouterr().err


@pytest.mark.parametrize("lost", [0, 1])
def test_standard_searches_that_differ_end_with_1(lost: int, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Each system has one line with a ratio; a contender that loses a state is named."""

    def run(job: Job, method: str, _most: float) -> standard.Found:
        states = 7 - (lost if job.system == "universe" and not method else 0)
        return standard.Found(2.0 if method else 0.5, f"[{states}, 9, 9, 3, []]", method or "compiled")

    monkeypatch.setattr(standard, "run", run)
    assert standard.main(["cud"]) == lost
    printed = capsys.readouterr()
    assert ("cud universe: the contenders differ" in printed.err) is bool(lost)
    assert printed.out.count("| 4.00 |") == len(CUD.systems)
    assert "| cud free | agents=3, keys=3 | 7, 9 | 2.0 s | compiled 0.5 s | 4.00 |" in printed.out


def test_a_protocol_that_is_none_says_so(capsys: Any) -> None:
    """One message and exit code 2."""
    with pytest.raises(SystemExit, match="2"):
        standard.main(["nothing"])
    assert "nothing" in capsys.readouterr().err
