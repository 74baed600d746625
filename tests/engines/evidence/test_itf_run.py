"""Traces in ITF become runs of a system of one's own, or are refused where they are none.

The traces are written by hand in the form of Apalache (sets, maps, tuples, large numbers) and of Quint (plain numbers).
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.core.trace import NotReplayable
from evenhand.evidence.itf import itf_of_run
from evenhand.evidence.judge import refutes
from tests.known.gallery import SYSTEMS

DIE_HARD = SYSTEMS["die_hard"]
SOLUTION = [(0, 0), (0, 5), (3, 2), (0, 2), (2, 0), (2, 5), (3, 4)]


def number(value: int) -> Any:
    """A number as Apalache writes it."""
    return {"#bigint": str(value)}


def written(folder: Path, states: list[Any], **more: Any) -> Path:
    """A file with these states."""
    file = folder / "trace.itf.json"
    meta = {"format": "ITF", "description": "by hand"}
    body = [{"#meta": {"index": index}, **one} for index, one in enumerate(states)]
    file.write_text(json.dumps({"#meta": meta, "vars": list(states[0]), "states": body, **more}), "utf-8")
    return file


def jugs(rows: list[tuple[int, int]]) -> list[Any]:
    """The states of both jugs, with a variable that is not compared."""
    return [{"small": number(small), "big": big, "comment": "poured"} for small, big in rows]


def seen(state: Any) -> dict[str, Any]:
    """The variables of the specification."""
    return {"small": state.small, "big": state.big}


def actions_of(run: Any) -> tuple[Any, ...]:
    """The actions of a run that does not loop."""
    assert isinstance(run, evenhand.Scenario)
    return run.actions


def test_the_solution_is_a_run_that_refutes(tmp_path: Path) -> None:
    """The actions are found, and the claim that there is no solution is false on the run."""
    run = evenhand.run_from_itf(DIE_HARD.die_hard, written(tmp_path, jugs(SOLUTION)), seen)
    assert actions_of(run) == (
        "fill big",
        "big to small",
        "empty small",
        "big to small",
        "fill big",
        "big to small",
    )
    assert refutes(DIE_HARD.die_hard, DIE_HARD.never_four, run)
    assert not refutes(DIE_HARD.die_hard, DIE_HARD.within_measure, run)


def test_stuttering_is_no_action(tmp_path: Path) -> None:
    """A state that is told twice."""
    rows = [SOLUTION[0], *SOLUTION[:2], *SOLUTION[1:]]
    assert len(actions_of(evenhand.run_from_itf(DIE_HARD.die_hard, written(tmp_path, jugs(rows)), seen))) == 6


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(0, 0), (0, 5), (3, 3)], "no step to state 2"),
        ([(1, 0), (0, 0)], "no initial state"),
        ([(0, 0), (3, 5)], "no step to state 1"),
    ],
)
def test_a_trace_that_is_no_run_is_refused(tmp_path: Path, rows: list[tuple[int, int]], words: str) -> None:
    """With the first state that nothing leads to."""
    with pytest.raises(NotReplayable, match=words):
        evenhand.run_from_itf(DIE_HARD.die_hard, written(tmp_path, jugs(rows)), seen)


@pytest.mark.parametrize("closed", [False, True])
def test_a_loop_becomes_a_lasso(tmp_path: Path, *, closed: bool) -> None:
    """Whether the trace repeats the state in which the loop begins or not."""
    rows = [(0, 0), (0, 5), (3, 5), (0, 5)] if closed else [(0, 0), (0, 5), (3, 5)]
    lasso = evenhand.run_from_itf(DIE_HARD.die_hard, written(tmp_path, jugs(rows), loop=1), seen)
    assert isinstance(lasso, evenhand.Lasso)
    assert (lasso.stem, lasso.loop) == (("fill big",), ("fill small", "empty small"))
    no_way_back = written(tmp_path, jugs([(0, 0), (0, 5), (3, 2)]), loop=1)
    assert isinstance(evenhand.run_from_itf(DIE_HARD.die_hard, no_way_back, seen), evenhand.Lasso)  # fill the big jug
    with pytest.raises(NotReplayable, match="no step to state 0"):
        evenhand.run_from_itf(DIE_HARD.die_hard, written(tmp_path, jugs([(0, 0), (0, 5), (3, 2)]), loop=0), seen)


def test_sets_maps_tuples_and_records_are_compared(tmp_path: Path) -> None:
    """A ferry with its passengers: a map from banks to sets, a record, a truth value; hidden state is found."""

    def step(at: tuple[str, frozenset[str], int], who: str) -> tuple[str, frozenset[str], int]:
        bank, west, count = at
        return ("W" if bank == "E" else "E", west ^ {who}, count + 1)

    ferry = evenhand.system(
        "ferry",
        initial=[("E", frozenset(), 0), ("E", frozenset(), 7)],
        actions=lambda at: [who for who in ("ann", "bob") if (who in at[1]) == (at[0] == "W")],
        step=step,
    )

    def told(at: tuple[str, frozenset[str], int]) -> dict[str, Any]:
        bank, west, count = at
        banks = {"E": frozenset({"ann", "bob"}) - west, "W": west}
        return {"who": banks, "boat": {"bank": bank, "away": bank == "W"}, "pair": (bank, count % 7)}

    def state(bank: str, west: list[str], count: int) -> dict[str, Any]:
        east = [who for who in ("bob", "ann") if who not in west]
        banks = {"#map": [["W", {"#set": west}], ["E", {"#set": east}]]}
        return {"who": banks, "boat": {"away": bank == "W", "bank": bank}, "pair": {"#tup": [bank, number(count)]}}

    states = [state("E", [], 0), state("W", ["bob"], 1), state("E", [], 2)]
    run = evenhand.run_from_itf(ferry, written(tmp_path, states), told)
    assert actions_of(run) == ("bob", "bob")
    states[1]["boat"]["away"] = 1  # a number is no truth value
    with pytest.raises(NotReplayable):
        evenhand.run_from_itf(ferry, written(tmp_path, states), told)


def test_what_evenhand_writes_it_reads(tmp_path: Path) -> None:
    """The run that `show --itf` writes comes back."""
    (verdict,) = evenhand.explore(DIE_HARD.die_hard, [DIE_HARD.never_four]).verdicts
    assert isinstance(verdict.evidence, evenhand.Scenario)
    file = tmp_path / "run.itf.json"
    file.write_text(json.dumps(itf_of_run(DIE_HARD.die_hard, verdict.evidence, {})), "utf-8")

    def as_written(state: Any) -> dict[str, Any]:
        return {"state": {"tag": "Jugs", "small": state.small, "big": state.big}}

    back = evenhand.run_from_itf(DIE_HARD.die_hard, file, as_written)
    assert refutes(DIE_HARD.die_hard, DIE_HARD.never_four, back)
    assert len(actions_of(back)) == len(verdict.evidence.actions)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "JSON"),
        ("[]", "no ITF trace"),
        ('{"states": []}', "no ITF trace"),
        ('{"states": [{"small": 0}]}', "has no variable 'big'"),
        ('{"states": [{"small": 0, "big": 0}], "loop": 4}', "`loop` is the number"),
        ('{"states": [{"small": {"#bigint": "x"}, "big": 0}]}', "no ITF trace"),
        ('{"states": [{"small": {"#unserializable": "Int"}, "big": 0}]}', "was not written"),
    ],
)
def test_a_broken_file_gets_one_message(tmp_path: Path, text: str, words: str) -> None:
    """It names the file."""
    file = tmp_path / "broken.json"
    file.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=words) as caught:
        evenhand.run_from_itf(DIE_HARD.die_hard, file, seen)
    assert "broken.json" in str(caught.value)


def test_a_seen_that_raises_is_named(tmp_path: Path) -> None:
    """With the state."""
    with pytest.raises(evenhand.ModelError, match="`seen` of state"):
        evenhand.run_from_itf(DIE_HARD.die_hard, written(tmp_path, jugs(SOLUTION)), lambda state: state.nothing)
