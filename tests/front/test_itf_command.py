"""`evenhand validate --trace`: a trace of another checker becomes a judged run, and a record that replays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.front.conftest import Command
from tests.front.own_files import project_folder as project_folder

JUGS = """
from dataclasses import dataclass

import evenhand


@dataclass(frozen=True)
class Jugs:
    small: int
    big: int


@evenhand.always("The big jug never holds two.")
def never_two(jugs):
    return jugs.big != 2


@evenhand.reachable("Both jugs can be full.")
def full(step):
    return step.after == Jugs(3, 5)


@evenhand.always("No jug overflows.")
def within(jugs):
    return jugs.small <= 3 and jugs.big <= 5


def step(jugs, action):
    small, big = jugs.small, jugs.big
    poured = min(big, 3 - small)
    return Jugs(*{"fill": (small, 5), "empty": (0, big), "pour": (small + poured, big - poured)}[action])


def halves(jugs):
    return {"big": jugs.big}


def made(name):
    return evenhand.system(
        name, initial=[Jugs(0, 0)], actions=lambda _: ["fill", "empty", "pour"], step=step, types=(Jugs,), ends=False
    )


jugs = made("jugs")
"""
SOLVED = [(0, 0), (0, 5), (3, 2), (3, 5)]


@pytest.fixture(name="jugs")
def _jugs(project: Path) -> Path:
    (project / "jugs.py").write_text(JUGS, "utf-8")
    return project


def traced(folder: Path, rows: list[tuple[int, int]], **more: int) -> str:
    """Write the trace of another checker; return its name."""
    states = [{"small": {"#bigint": str(small)}, "big": big} for small, big in rows]
    (folder / "run.itf.json").write_text(json.dumps({"vars": ["small", "big"], "states": states, **more}), "utf-8")
    return "run.itf.json"


def test_a_trace_is_judged_and_becomes_a_record(cli: Command, jugs: Path) -> None:
    """`show` and `replay` take it; replay fails until the model is mended."""
    answer = cli("validate", "jugs.py:jugs", "--trace", traced(jugs, SOLVED), "--out", "kept")
    assert answer.code == 1 and "a run of 3 actions of jugs" in answer.out
    assert "REFUTED  never_two" in answer.out and "WITNESSED  full" in answer.out and "within" not in answer.out
    (refuted,) = (jugs / "kept").rglob("never_two*.json")
    (witnessed,) = (jugs / "kept").rglob("full*.json")
    assert "big: 5 → 2" in cli("show", str(refuted)).out
    assert (cli("replay", str(refuted)).code, cli("replay", str(witnessed)).code) == (1, 0)
    record = json.loads(refuted.read_text("utf-8"))
    assert record["provenance"]["engine"] == "itf"
    assert record["reproduce"] == "evenhand validate jugs.py:jugs --trace run.itf.json"


def test_json_tells_the_same(cli: Command, jugs: Path) -> None:
    """One object; a run that refutes nothing exits with 0."""
    found = cli("validate", "jugs.py:jugs", "--trace", traced(jugs, SOLVED), "--json")
    assert [(one["claim"], one["outcome"]) for one in found.json["claims"]] == [
        ("never_two", "REFUTED"),
        ("full", "WITNESSED"),
    ]
    fine = cli("validate", "jugs.py:jugs", "--trace", traced(jugs, SOLVED[:2]), "--json")
    assert (fine.code, fine.json["claims"], fine.json["explained"]) == (0, [], True)


def test_a_trace_that_is_no_run_is_told(cli: Command, jugs: Path) -> None:
    """With its first state that nothing leads to; a function that sees less may explain it."""
    name = traced(jugs, [(0, 0), (1, 5)])
    answer = cli("validate", "jugs.py:jugs", "--trace", name)
    assert answer.code == 1 and "no step to state 1" in answer.out
    assert cli("validate", "jugs.py:jugs", "--trace", name, "--seen", "halves").code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["jugs.py:jugs"], "either a log with --log or a trace with --trace"),
        (["jugs.py:jugs", "--trace", "run.itf.json", "--log", "x"], "either a log with --log or a trace with --trace"),
        (["jugs.py:jugs", "--trace", "run.itf.json", "--seen", "half"], "unknown function of jugs.py: 'half'"),
        (["jugs.py:jugs", "--trace", "none.json"], "none.json"),
        (["latch", "--trace", "run.itf.json", "--seen", "half"], "beside a system of your own"),
        (["latch", "--log", "x", "--out", "kept"], "belong to --trace"),
    ],
)
def test_bad_use_is_one_sentence(cli: Command, jugs: Path, words: list[str], why: str) -> None:
    """It names what to write instead."""
    traced(jugs, SOLVED)
    answer = cli("validate", *words)
    assert answer.code == 2 and why in answer.err and len(answer.err.splitlines()) == 1
