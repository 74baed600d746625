"""Files of strangers: seeded mutations of every kind, files that never end, and what is left after a refusal.

Whatever a file holds, a command ends with 0 to 3, without a traceback, and bad input is one line.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.canonical import canonical_bytes
from evenhand.core.files import MIB, VARIABLE, Unreadable, content_of
from evenhand.core.registry import find
from evenhand.evidence.record import Record
from evenhand.evidence.store import is_record
from evenhand.jobs.engines import run
from evenhand.jobs.fixtures import fixture_files
from evenhand.jobs.plan import Job
from evenhand.report.report import Report
from tests.attack.mutation import mutated, values
from tests.front.conftest import Command

PLAN = {"format": "evenhand/campaign", "version": 1, "runs": [{"protocol": "latch", "engine": "replay"}]}
PROOFS = {
    "format": "evenhand/proofs",
    "version": 1,
    "proofs": [{"theorem": {"protocol": "latch", "name": "x"}, "proofs": None, "queries": {}}],
}
LOG: dict[str, Any] = {"format": "evenhand/log", "version": 1, "protocol": "latch", "system": "latch", "scope": {}}
MATRIX = {
    "format": "evenhand/mutants",
    "protocol": "latch",
    "idle_claims": ["one_inside"],
    "matrix": [
        {
            "mutant": "sticky",
            "status": "killed",
            "kills": [{"claim": "one_inside", "engine": "explore", "length": 3}],
        }
    ],
}


def originals() -> dict[str, tuple[list[Any], list[list[str]]]]:
    """Return for each kind of file some of its kind, and the commands that read it."""
    (refuted,) = run(find("latch"), Job("latch", "explore", variant="always_free", claims=("one_inside",)))
    record = json.loads(Record.from_json(refuted.record).to_bytes())
    shipped = [json.loads(path.read_bytes()) for path in fixture_files("cud")[::9]]
    report = json.loads(canonical_bytes(Report((refuted,)).to_json()))
    return {
        "record": ([record, *shipped], [["replay", "{file}"], ["show", "{file}", "--json"]]),
        "report": ([report], [["report", "{file}", "--out", "{out}"]]),
        "matrix": ([MATRIX], [["report", "{good}", "{file}", "--out", "{out}"]]),
        "log": ([LOG], [["validate", "latch", "--log", "{file}"], ["validate", "latch", "--log", "{file}", "--json"]]),
        "plan": ([PLAN], [["campaign", "status", "{file}"]]),
        "proofs": ([PROOFS], [["prove", "--check", "{file}"]]),
    }


KINDS = ("record", "report", "matrix", "log", "plan", "proofs")


def attacked(cli: Command, folder: Path, kind: str, seed: int, count: int) -> None:
    """Mutate files of a kind and run its commands on each."""
    kept, commands = originals()[kind]
    (folder / "good").write_text(json.dumps(originals()["report"][0][0]), "utf-8")
    words = {"file": str(folder / "file.json"), "good": str(folder / "good"), "out": str(folder / "out")}
    random_ = random.Random(f"{kind} {seed}")
    for _ in range(count):
        content = random_.choice(kept)
        data = mutated(content, random_, values(content))
        Path(words["file"]).write_bytes(data)
        for command in commands:
            try:
                answer = cli(*(word.format(**words) for word in command))
            except Exception as error:
                raise AssertionError(f"{command} ends in {error!r} with {data[:3_000]!r}") from error
            assert answer.code in (0, 1, 2, 3), (command, data)
            assert answer.code != 1 or kind in ("record", "log"), (command, data)
            assert answer.code != 2 or (answer.err.count("\n") == 1 and answer.out == ""), (command, answer, data)


@pytest.mark.parametrize("kind", KINDS)
def test_no_mutation_of_a_file_is_a_traceback(cli: Command, tmp_path: Path, kind: str) -> None:
    """A few of each kind."""
    attacked(cli, tmp_path, kind, 0, 60)


@pytest.mark.deep
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_no_mutation_of_a_file_is_a_traceback_in_many(cli: Command, tmp_path: Path, kind: str, seed: int) -> None:
    """1,200 of each kind for each of three seeds."""
    attacked(cli, tmp_path, kind, seed, 1_200)


READS = {
    "report": ["report", "{file}", "--out", "{out}"],
    "log": ["validate", "latch", "--log", "{file}"],
    "constitution": ["check", "sovereign", "--constitution", "{file}"],
    "proofs": ["prove", "--check", "{file}"],
    "plan": ["campaign", "status", "{file}"],
    "store": ["campaign", "status", "{plan}", "--store", "{file}"],
    "record": ["replay", "{file}"],
    "fixture": ["serve", "--fixture", "{file}"],
}


@pytest.mark.timeout(60)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
@pytest.mark.parametrize("device", ["fifo", "/dev/zero", "/dev/tty", "/dev/stdin"])
@pytest.mark.parametrize("what", READS)
def test_only_regular_files_are_read(cli: Command, tmp_path: Path, what: str, device: str) -> None:
    """Nothing waits for a writer, and nothing reads without an end."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "plan.json").write_text(json.dumps(PLAN), "utf-8")
    file = str(tmp_path / "fifo") if device == "fifo" else device
    words = {"file": file, "out": str(tmp_path / "out"), "plan": str(tmp_path / "plan.json")}
    answer = cli(*(word.format(**words) for word in READS[what]))
    assert answer.code == 2 and answer.out == "" and answer.err.startswith("evenhand: ")
    assert answer.err.count("\n") == 1 and file in answer.err
    assert not (tmp_path / "out").exists()
    assert not is_record(tmp_path / "fifo")


def test_a_limit_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one variable; a value that is no number is said."""
    file = tmp_path / "large"
    file.write_bytes(b"x" * (2 * MIB + 1))
    with pytest.raises(Unreadable, match=r"it has 2,097,153 bytes, more than the 2 MiB .* EVENHAND_MAX_FILE"):
        content_of(file, 2 * MIB)
    for value, enough in (("1", False), ("3", True), ("2", False), ("", False)):
        monkeypatch.setenv(VARIABLE, value)
        if enough:
            assert len(content_of(file, 2 * MIB)) == 2 * MIB + 1
        else:
            with pytest.raises(Unreadable, match="more than"):
                content_of(file, 2 * MIB)
    for value in ("x", "-1", "1.5", "9" * 20, "\u0663"):
        monkeypatch.setenv(VARIABLE, value)
        with pytest.raises(Unreadable, match=r"EVENHAND_MAX_FILE: .* is no number of MiB"):
            content_of(file, 2 * MIB)


def test_a_bad_report_leaves_no_folder_and_is_itself_blamed(cli: Command, tmp_path: Path) -> None:
    """Whether it or the matrix is damaged."""
    kinds = originals()
    good, out = tmp_path / "good", tmp_path / "out"
    good.write_text(json.dumps(kinds["report"][0][0]), "utf-8")
    for kind, place in (("report", "verdicts"), ("matrix", "matrix")):
        made = json.loads(json.dumps(kinds[kind][0][0]))
        made[place][0] = {"mutant": 3} if kind == "matrix" else {**made[place][0], "scope": 3}
        bad = tmp_path / kind
        bad.write_text(json.dumps(made), "utf-8")
        answer = cli("report", str(good), str(bad), "--out", str(out))
        assert answer.code == 2 and answer.err.startswith(f"evenhand: {bad}: a damaged ")
        assert ("kill matrix" in answer.err) == (kind == "matrix")
        assert not out.exists()


def test_a_store_with_damaged_rows_is_bad_input(cli: Command, tmp_path: Path) -> None:
    """An empty number, an empty text, a number in place of bytes."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(PLAN), "utf-8")
    assert cli("campaign", "run", str(plan), "--jobs", "1").code == 0
    whole = plan.with_suffix(".store").read_bytes()
    for change in ("seconds = ''", "limits = ''", "content = 1000000000000", "limits = x'ff'", "digest = ''"):
        plan.with_suffix(".store").write_bytes(whole)
        with sqlite3.connect(plan.with_suffix(".store")) as there:
            there.execute(f"UPDATE evenhand_results SET {change}")
        there.close()
        answer = cli("campaign", "report", str(plan))
        assert answer.code == 2 and answer.err.count("\n") == 1, (change, answer)
        assert "plan.store: " in answer.err or "plan.store cannot" in answer.err
