"""The notebooks, executed: each runs to its end within a minute and shows what is kept in it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from tests.evenhand.conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SECONDS = 60
"""What one may take; `deep` ones are not held to it, for machines differ and theirs is a whole run of searches."""


def read(path: Path) -> Any:
    """A notebook."""
    return nbformat.read(str(path), as_version=4)  # type: ignore[no-untyped-call]


def shown(notebook: Any) -> list[tuple[str, list[dict[str, Any]]]]:
    """What each code cell prints, in one piece however it arrived, and what it displays, by kind of content."""
    cells = [cell["outputs"] for cell in notebook.cells if cell["cell_type"] == "code"]
    return [
        ("".join(one.get("text", "") for one in cell), [_rich(one) for one in cell if "data" in one]) for cell in cells
    ]


def _rich(output: Any) -> dict[str, Any]:
    """The picture or table; the plain text only of what has neither."""
    rich = {kind: content for kind, content in output["data"].items() if kind != "text/plain"}
    return rich or dict(output["data"])


def executed(notebook: Any, folder: Path) -> Any:
    """The notebook after a run of all its cells.  Raises CellExecutionError."""
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute(cwd=str(folder))
    return notebook


def is_deep(path: Path) -> bool:
    """Whether it says that it takes long."""
    return bool(read(path).metadata.get("evenhand", {}).get("deep"))


@pytest.mark.timeout(700)
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.deep] if is_deep(path) else [], id=path.stem) for path in NOTEBOOKS],
)
def test_a_notebook_shows_what_it_keeps(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own assertions hold, and every picture and table is the one that stands in the file."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    kept = read(path)
    began = time.process_time()
    again = executed(read(path), tmp_path)
    assert time.process_time() - began < SECONDS or is_deep(path)
    assert shown(again) == shown(kept), f"{path.name} shows something else: run it again and look at it"
    assert any(printed or displayed for printed, displayed in shown(kept)), "nothing is shown"


def test_there_are_notebooks_and_each_has_assertions() -> None:
    """A notebook that asserts nothing would run green whatever it showed."""
    assert len(NOTEBOOKS) >= 6
    for path in NOTEBOOKS:
        code = "\n".join(cell["source"] for cell in read(path).cells if cell["cell_type"] == "code")
        assert "assert " in code, path.name


def test_a_wrong_notebook_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An assertion that fails ends it; another output is another output."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    wrong = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert 1 == 2")])  # type: ignore[no-untyped-call]
    with pytest.raises(CellExecutionError):
        executed(wrong, tmp_path)
    one, two = (
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"print({number})")])  # type: ignore[no-untyped-call]
        for number in (1, 2)
    )
    assert shown(executed(one, tmp_path)) != shown(executed(two, tmp_path))
