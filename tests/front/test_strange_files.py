"""Files of strangers: limits, what is left after a refusal, and damaged rows; `tests/attack` mutates them."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from evenhand.core.files import MIB, VARIABLE, Unreadable, content_of
from evenhand.core.registry import find
from evenhand.evidence.store import is_record
from evenhand.jobs.engines import run
from evenhand.jobs.plan import Job
from evenhand.report.report import Report
from tests.attack.kinds import MATRIX
from tests.attack.uses import PLAN
from tests.front.conftest import Command


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
    (refuted,) = run(find("latch"), Job("latch", "explore", variant="always_free", claims=("one_inside",)))
    report = Report((refuted,)).to_json()
    good, out = tmp_path / "good", tmp_path / "out"
    good.write_text(json.dumps(report), "utf-8")
    for kind, place, whole in (("report", "verdicts", report), ("matrix", "matrix", MATRIX)):
        made = json.loads(json.dumps(whole))
        made[place][0] = {"mutant": 3} if kind == "matrix" else {**made[place][0], "scope": 3}
        bad = tmp_path / kind
        bad.write_text(json.dumps(made), "utf-8")
        files = [good, bad] if kind == "matrix" else [bad]
        answer = cli("report", *map(str, files), "--out", str(out))
        assert answer.code == 2 and answer.err.startswith(f"evenhand: {bad}: a damaged ")
        assert ("kill matrix" in answer.err) == (kind == "matrix")
        assert not out.exists()


def test_a_fifo_is_no_record(tmp_path: Path) -> None:
    """Nothing waits for a writer when a folder is collected."""
    os.mkfifo(tmp_path / "fifo")
    assert not is_record(tmp_path / "fifo")


def test_a_store_with_damaged_rows_is_bad_input(cli: Command, tmp_path: Path) -> None:
    """An empty number, an empty text, a number in place of bytes."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(PLAN), "utf-8")
    assert cli("campaign", "run", str(plan), "--jobs", "1").code == 0
    whole = plan.with_suffix(".store").read_bytes()
    for change in (
        "outcome = 'x'",
        "outcome = 'time'",
        'limits = \'{"seconds":"x"}\'',
        "seconds = ''",
        "limits = ''",
        "content = 1000000000000",
        "limits = x'ff'",
        "digest = ''",
    ):
        plan.with_suffix(".store").write_bytes(whole)
        with sqlite3.connect(plan.with_suffix(".store")) as there:
            there.execute(f"UPDATE evenhand_results SET {change}")
        there.close()
        answer = cli("campaign", "report", str(plan))
        assert answer.code == 2 and answer.err.count("\n") == 1, (change, answer)
        assert "plan.store: " in answer.err or "plan.store cannot" in answer.err
