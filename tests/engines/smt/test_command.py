"""`evenhand prove` as a user runs it: words, exit codes, killed solvers, checked records."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evenhand.cli import app
from evenhand.smt import prove as engine
from evenhand.smt.logic import exists
from evenhand.smt.portfolio import Answered, Portfolio
from evenhand.smt.proved import Proved
from evenhand.smt.theorem import Stated
from evenhand.smt.theory import Axiom
from tests.models.grant import BUNDLE, THEOREM, THEORY, before, blank, granted, x

command: Any = importlib.import_module("evenhand.cli.prove")  # its package gives the function that name
ROOT = Path(__file__).parents[3]
CONTRADICTORY = replace(THEORY, axioms=(*THEORY.axioms, Axiom("never", exists([x], before(x, x)))))
VACUOUS = {
    "contradictory axioms": replace(THEOREM, theory=CONTRADICTORY, needs=(), mutants=()),
    "dead antecedent": replace(THEOREM, assumes=granted(x) & before(x, x), needs=(), mutants=()),
    "needed axiom unused": replace(THEOREM, needs=("least_is_first",), mutants=()),
}


@dataclass(frozen=True)
class Answer:
    """The result of a command."""

    code: int
    out: str
    err: str


Prove = Callable[..., Answer]


@pytest.fixture
def prove(monkeypatch: pytest.MonkeyPatch) -> Prove:
    """Run `evenhand prove …`, where the only protocol states the given theorem, and perhaps one more."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(stated: Stated, *words: str, beside: Stated | None = None) -> Answer:
        known = {one.name: one for one in (stated, beside) if one is not None}

        def named(_protocol: str, name: str) -> Stated:
            return known.get(name, stated)

        monkeypatch.setattr(command, "bundle_named", lambda _name: BUNDLE)  # pyright: ignore
        monkeypatch.setattr(command, "registered", lambda _name: BUNDLE)  # pyright: ignore
        monkeypatch.setattr(command, "theorem_names", lambda _name: tuple(known))  # pyright: ignore
        monkeypatch.setattr(command, "theorem_named", named)
        found = CliRunner().invoke(app, ["prove", *words])
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        return Answer(found.exit_code, found.stdout, found.stderr)

    return run


@pytest.mark.parametrize("how", list(VACUOUS))
def test_each_vacuity_is_called_vacuous_everywhere(prove: Prove, tmp_path: Path, how: str) -> None:
    """In the table, in its reason, in the JSON, in the record; never UNDECIDED alone, and never exit code 0."""
    file = tmp_path / "record.json"
    told = prove(VACUOUS[how], "toy", "--record", str(file))
    assert told.code == 3
    assert "VACUOUS!" in told.out and "undecided by prove: one_granted: VACUOUS: " in told.out
    assert "HOLDS" not in told.out
    made = json.loads(prove(VACUOUS[how], "toy", "--json").out)
    assert made["theorems"][0]["verdict"] == "VACUOUS"
    (verdict,) = made["verdicts"]
    assert (verdict["status"], verdict["scope"]["proof_status"]) == ("UNDECIDED", "VACUOUS")
    assert verdict["because"].startswith("VACUOUS: ")
    assert json.loads(file.read_bytes())["proofs"][0]["verdict"] == "VACUOUS"


def test_disagreement_and_undecided_have_words_of_their_own(prove: Prove, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three different words for three different results."""
    undecided = replace(THEOREM, view=blank, mutants=())
    made = json.loads(prove(undecided, "toy", "--json").out)
    assert (made["theorems"][0]["verdict"], made["verdicts"][0]["scope"]["proof_status"]) == ("UNDECIDED", "UNDECIDED")
    told = prove(undecided, "toy")
    assert told.code == 3 and "UNDECIDED!" in told.out and "VACUOUS" not in told.out

    class Liar(Portfolio):
        def ask(self, query: Any, **more: Any) -> Answered:
            return replace(super().ask(query, **more), status="disagreement")

    with Liar() as liar:
        monkeypatch.setattr(engine, "shared", lambda: liar)
        told = prove(THEOREM, "toy")
        assert told.code == 3 and "DISAGREEMENT!" in told.out
        assert "undecided by prove: one_granted: DISAGREEMENT: the solvers contradict" in told.out
        made = json.loads(prove(THEOREM, "toy", "--json").out)
    assert made["theorems"][0]["verdict"] == made["verdicts"][0]["scope"]["proof_status"] == "DISAGREEMENT"


def test_a_green_theorem_has_its_row(prove: Prove, tmp_path: Path) -> None:
    """The word, the range, and seconds of both solvers; clock readings under `timing` alone."""
    told = prove(THEOREM, "toy", "--smt2", str(tmp_path / "texts"), "--proofs", str(tmp_path / "proofs"))
    assert told.code == 0
    for words in ("one_granted", "HOLDS", "any number of agents, keys, authorities, epochs", "cvc5", "z3", "2 of 2"):
        assert words in told.out
    made = json.loads(prove(THEOREM, "toy", "--json").out)
    assert {"total", "one_granted, cvc5", "one_granted, z3"} == set(made["timing"])
    assert made["theorems"][0]["proofs"] is None
    assert list((tmp_path / "texts" / "asked").iterdir()) and list((tmp_path / "proofs").glob("*.cpc"))


def test_check_believes_nothing(prove: Prove, tmp_path: Path) -> None:
    """0 for a record that proves again, 1 for an edited byte, 2 for a file that is no record; no other code."""
    file = tmp_path / "record.json"
    assert prove(THEOREM, "toy", "--record", str(file), "--proofs", str(tmp_path / "proofs")).code == 0
    good = prove(THEOREM, "--check", str(file))
    assert (good.code, good.err) == (0, "") and "proving it again gives the same bytes" in good.out
    assert "proved again  toy one_granted: HOLDS" in good.out
    data = file.read_bytes()
    file.write_bytes(data.replace(b'"as_declared":true', b'"as_declared":false', 1))
    bad = prove(THEOREM, "--check", str(file))
    assert bad.code == 1 and "do not rely on this one" in bad.err
    assert "mutants.everybody.as_declared: the file says False, proving it again True" in bad.err
    made = json.loads(prove(THEOREM, "--check", str(file), "--json").out)["check"]
    assert made["ok"] is False and len(made["differences"]) == 1
    for nothing in (b"{}", b'{"format":"evenhand/proofs","proofs":[],"version":1}'):
        file.write_bytes(nothing)
        assert prove(THEOREM, "--check", str(file)).code == 2
    assert prove(THEOREM, "--check", str(tmp_path / "none")).code == 2
    for words in (["toy", "--check", str(file)], ["--check", str(file), "--theorem", "x"], []):
        answer = prove(THEOREM, *words)
        assert answer.code == 2 and answer.err.count("\n") == 1


def test_ctrl_c_between_two_theorems_keeps_the_first(
    prove: Prove, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first is printed, the second is named, and no file is written that would look complete."""
    other, proved = replace(THEOREM, name="another"), engine.prove(THEOREM, bundle=BUNDLE)

    def pressed(stated: Stated, **_how: Any) -> Proved:
        if stated is other:
            raise KeyboardInterrupt
        return proved

    monkeypatch.setattr(command, "prove_theorem", pressed)
    file = tmp_path / "record.json"
    answer = prove(THEOREM, "toy", "--json", "--record", str(file), beside=other)
    made = json.loads(answer.out)
    assert answer.code == 130 and made["interrupted"] is True
    assert [one["name"] for one in made["theorems"]] == [THEOREM.name]
    assert made["unfinished"] == ["prove toy another"] and not file.exists()
    told = prove(THEOREM, "toy", beside=other)
    assert told.code == 130 and "INTERRUPTED" in told.out and "prove toy another" in told.out
    early = prove(other, "toy", beside=THEOREM)
    assert early.code == 130 and "2 jobs not finished; the first: prove toy another" in early.out


HANGS = """
import os, time
open(os.path.join({folder!r}, str(os.getpid())), "w").close()
time.sleep(600)
"""
"""A solver module that writes its process id and then hangs on the first query."""


@pytest.mark.slow
def test_solvers_killed_in_mid_run_leave_it_undecided(tmp_path: Path) -> None:
    """`kill -9` on every solver process while it works: exit 3, UNDECIDED with the reason; no traceback, no hang."""
    folder = tmp_path / "busy"
    folder.mkdir()
    for solver in ("z3", "cvc5"):
        body = f"def __getattr__(name):\n    exec({HANGS.format(folder=str(folder))!r})\n"
        (tmp_path / f"{solver}.py").write_text(body, "utf-8")
    over = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        while not over.is_set():
            for busy in folder.iterdir():
                killed.append(int(busy.name))
                busy.unlink()
                os.kill(killed[-1], signal.SIGKILL)
            time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        words = ["prove", "apcm", "--theorem", "only_permitted_actions_execute", "--json"]
        ran = subprocess.run(
            [sys.executable, "-m", "evenhand", *words],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        over.set()
        killer.join()
    errors = [line for line in ran.stderr.splitlines() if not line.startswith("prove: ")]  # progress, if it is slow
    assert (ran.returncode, errors) == (3, [])
    made = json.loads(ran.stdout)
    assert made["theorems"][0]["verdict"] == "UNDECIDED"
    assert "signal 9" in made["verdicts"][0]["because"] and len(killed) >= 4
