"""What runs with few packages installed, and what a command says that needs one more."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.front.conftest import ROOT

PAGE = (ROOT / "docs/how-to/install.md").read_text("utf-8")
SMALL = re.search(r"^\$ pip install (rfc8785 .*?)\s*#", PAGE, re.MULTILINE)
MODULES = {"pyyaml": "yaml", "z3-solver": "z3"}
BLOCK = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""


def left_out() -> list[str]:
    """Return the modules of our dependencies without which the small install of the documents does."""
    assert SMALL is not None
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extra = wanted["optional-dependencies"]["campaign"]
    names = [re.split(r"[^\w-]", one)[0] for one in (*wanted["dependencies"], *extra)]
    assert set(SMALL[1].split()) <= {*names, "pytest"}
    return [MODULES.get(name, name) for name in names if name not in SMALL[1].split()]


@pytest.fixture(name="run")
def _run(tmp_path: Path) -> Runner:
    """Return what runs a command in the folder `mine`, with those modules blocked in it and in its children."""
    blocked, folder = tmp_path / "blocked", tmp_path / "mine"
    blocked.mkdir()
    folder.mkdir()
    (blocked / "sitecustomize.py").write_text(BLOCK.format(names=set(left_out())), "utf-8")
    return Runner(folder, {**os.environ, "PYTHONPATH": f"{blocked}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"})


class Runner:
    """Runs commands in a folder."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `python -m …`."""
        command = [sys.executable, "-m", *words]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )

    @property
    def files(self) -> set[str]:
        """The names in the folder."""
        return {path.name for path in self.folder.iterdir()}


@pytest.mark.slow
def test_a_system_of_ones_own_needs_few_packages(run: Runner) -> None:
    """Search, random runs, pytest and kept counterexamples; no file is left that was not asked for."""
    assert {"z3", "cvc5", "jinja2", "sqlalchemy"} <= set(left_out())
    assert run("evenhand", "init").returncode == 0
    written = run.files
    for words in (("explore", "lock.py:lock"), ("fuzz", "lock.py:lock"), ("verify", "lock.py:lock", "--jobs", "1")):
        done = run("evenhand", *words)
        assert done.returncode == 0 and "HOLD" in done.stdout, done.stderr
    model = run.folder / "lock.py"
    model.write_text(model.read_text("utf-8").replace('agent if holder == "nobody" else holder', "agent"), "utf-8")
    assert run("evenhand", "explore", "lock.py:lock", "--out", "found").returncode == 1
    (record,) = (run.folder / "found").rglob("*.json")
    assert run("evenhand", "show", str(record)).returncode == 0
    done = run("pytest", "-q", "-p", "no:cacheprovider")
    assert "2 failed, 1 passed" in done.stdout and "nobody_is_robbed" in done.stdout, done.stdout
    assert run.files == written | {"found"}


@pytest.mark.parametrize(
    ("words", "cause", "installed"),
    [
        ("explore cud --system free --claim livelock_free", "this needs scipy", "pip install 'scipy>="),
        ("explore cud --graph graph.dot", "this needs networkx", "pip install 'networkx>="),
        ("verify cud --out out", "this needs jinja2", "pip install 'jinja2>="),
        ("profile cud --out out", "this needs jinja2", "pip install 'jinja2>="),
        ("campaign status plan.json", "this needs sqlalchemy", "pip install 'evenhand[campaign]'"),
        ("serve cud", "this needs uvicorn", "pip install 'evenhand[serve]'"),
        ("mcp", "this needs mcp", "pip install 'evenhand[mcp]'"),
    ],
)
def test_what_is_missing_is_named_with_what_brings_it(run: Runner, words: str, cause: str, installed: str) -> None:
    """One line and exit code 2, before a long run."""
    if "evenhand[" in installed:  # the rest is there: PyYAML reads plans, Jinja2 makes pages
        file = Path(run.environment["PYTHONPATH"].partition(os.pathsep)[0], "sitecustomize.py")
        file.write_text(BLOCK.format(names={cause.split()[-1]}), "utf-8")
    done = run("evenhand", *words.split())
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1, done.stderr
    assert cause in done.stderr and installed in done.stderr


def test_a_module_that_nothing_of_ours_brings_is_a_fault(run: Runner) -> None:
    """Exit code 70, as ever."""
    code = "import sys\nfrom evenhand.exits import ended\nsys.exit(ended(lambda: __import__('nowhere_at_all')))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=run.environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 70 and "this is a bug of evenhand" in done.stderr
