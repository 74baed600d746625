"""The notebooks, executed: each ends within a minute and shows its stored output."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from evenhand.core.registry import protocols
from evenhand.studies.profiling import Profile, profiles
from tests.front.conftest import ROOT

LONG = {"6-who-decides"}
"""Notebooks that ask every engine, and take a minute."""
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SECONDS = 60
"""Seconds of CPU time for one notebook, over all its processes."""


def read(path: Path) -> Any:
    """Return a notebook."""
    return nbformat.read(str(path), as_version=4)  # type: ignore[no-untyped-call]


def shown(notebook: Any) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the printed text of each code cell, in one piece, and its displayed content by kind."""
    cells = [cell["outputs"] for cell in notebook.cells if cell["cell_type"] == "code"]
    return [
        ("".join(one.get("text", "") for one in cell), [_rich(one) for one in cell if "data" in one]) for cell in cells
    ]


def _rich(output: Any) -> dict[str, Any]:
    """Return the picture or table; the plain text only if there is neither."""
    rich = {kind: content for kind, content in output["data"].items() if kind != "text/plain"}
    return rich or dict(output["data"])


def executed(notebook: Any, folder: Path) -> tuple[Any, float]:
    """Return the notebook after a run of all its cells, and the CPU seconds of the run. Raises CellExecutionError."""
    before = os.times()
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute(cwd=str(folder))
    after = os.times()  # its kernel is a child of this process, and has ended
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return notebook, spent


@pytest.mark.slow
@pytest.mark.timeout(700)
@pytest.mark.parametrize(
    "path",
    [pytest.param(one, marks=[pytest.mark.deep] if one.stem in LONG else []) for one in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_a_notebook_shows_what_it_keeps(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own assertions hold, and every picture and table equals the one in the file."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    for data in path.parent.glob("*.json"):  # files beside the notebooks
        shutil.copy2(data, tmp_path)
    kept = read(path)
    again, spent = executed(read(path), tmp_path)
    assert spent < SECONDS
    assert shown(again) == shown(kept), f"{path.name} shows something else: run it again and look at it"
    assert any(printed or displayed for printed, displayed in shown(kept)), "nothing is shown"


def test_there_are_notebooks_and_each_has_assertions() -> None:
    """A notebook without assertions would pass whatever it shows."""
    assert len(NOTEBOOKS) >= 6
    for path in NOTEBOOKS:
        code = "\n".join(cell["source"] for cell in read(path).cells if cell["cell_type"] == "code")
        assert "assert " in code, path.name


def test_a_wrong_notebook_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing assertion ends the run; a different output is a difference."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    wrong = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert 1 == 2")])  # type: ignore[no-untyped-call]
    with pytest.raises(CellExecutionError):
        executed(wrong, tmp_path)
    one, two = (
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"print({number})")])  # type: ignore[no-untyped-call]
        for number in (1, 2)
    )
    assert shown(executed(one, tmp_path)[0]) != shown(executed(two, tmp_path)[0])


@pytest.mark.slow
def test_what_a_notebook_computes_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its kernel and in the kernel's children; a limit on anything else would never be reached."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    work = "import time\nwhile time.process_time() < {}:\n    pass"
    code = work.format(2) + f"\nimport subprocess, sys\nsubprocess.run([sys.executable, '-c', {work.format(2)!r}])"
    busy = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])  # type: ignore[no-untyped-call]
    assert executed(busy, tmp_path)[1] > 3.5


KEPT = ROOT / "notebooks" / "6-profile.json"


def answers(profile: Profile) -> dict[str, str]:
    """Return the answer to each question, with a mark where another reading changes it."""
    return {cell.aspect.value: cell.answer.value + "*" * bool(cell.other) for cell in profile.cells}


def test_the_kept_profile_is_one_of_this_version() -> None:
    """Its answers are possible for the present claims of every shipped protocol, and it survives a round trip."""
    kept = json.loads(KEPT.read_text("utf-8"))
    shipped = {bundle.name: bundle for bundle in protocols() if bundle.name != "latch"}
    assert {made["protocol"] for made in kept["protocols"]} == set(shipped)
    for made in kept["protocols"]:
        bundle, profile = shipped[made["protocol"]], Profile.from_json(made)
        known = {claim.name for claim in bundle.claims}
        for cell, wrote in zip(profile.cells, made["cells"], strict=True):
            asked = {one.claim for one in bundle.profile if one.aspect is cell.aspect}
            assert {one.finding.claim for one in cell.shown} == asked - {""} <= known
            assert cell.answer.value == wrote["answer"] and list(cell.systems) == wrote["systems"]
            told = [
                {**one.to_json(), "trace": two["trace"]} for one, two in zip(cell.shown, wrote["verdicts"], strict=True)
            ]
            assert told == wrote["verdicts"]
            assert len(cell.other) == len(wrote["other_readings"])


@pytest.mark.deep
@pytest.mark.timeout(1800)
def test_the_kept_profile_is_what_is_found_today() -> None:
    """Every answer is searched again."""
    kept = {made["protocol"]: Profile.from_json(made) for made in json.loads(KEPT.read_text("utf-8"))["protocols"]}
    found, interrupted, _ = profiles([bundle for bundle in protocols() if bundle.name in kept], jobs=2)
    assert not interrupted
    assert {one.protocol: answers(one) for one in found} == {name: answers(one) for name, one in kept.items()}
