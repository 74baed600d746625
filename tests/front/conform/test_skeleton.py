"""`evenhand check --skeleton`: the adapter runs at once, its steps are those of the reference and fit the schema."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from evenhand.cli.check import check
from evenhand.cli.console import BadUse
from evenhand.cli.skeleton import write_skeleton
from evenhand.conform.adapters.host import load_factory
from evenhand.core.lookup import UnknownName
from evenhand.core.registry import find
from tests.deep import rest_slow


def written(folder: Path, protocol: str, *systems: str) -> tuple[Path, list[Any], dict[str, Any]]:
    """Return the adapter, the lines of its steps, and the schema."""
    adapter, steps, schema = write_skeleton(find(protocol), list(systems), folder / f"my_{protocol}.py")
    lines = [json.loads(line) for line in steps.read_text("utf-8").splitlines()]
    return adapter, lines, json.loads(schema.read_text("utf-8"))


def ran(adapter: Path) -> list[str]:
    """Run an adapter as a program, and return the lines that it prints."""
    done = subprocess.run([sys.executable, adapter], capture_output=True, text=True, check=True)
    assert "asked: " in done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("protocol", "systems"),
    rest_slow(
        [("cud", ("run", "free")), ("conviction", ("issue",)), ("markspace", ("space", "layers")), ("apcm", ("run",))]
    ),
)
def test_the_skeleton_runs_and_its_steps_fit_the_schema(
    protocol: str, systems: tuple[str, ...], tmp_path: Path
) -> None:
    """Ten steps of each system, each as expected."""
    adapter, lines, schema = written(tmp_path, protocol, *systems)
    assert [line.split(":")[0] for line in ran(adapter)] == ["as expected"] * 10 * len(systems)
    Draft202012Validator.check_schema(schema)
    validator: Any = Draft202012Validator(schema)
    system = ""
    for line in lines:
        system = line.get("system", system)
        part = {name: line[name] for name in ("config", "start", "action", "shown") if name in line}
        validator.validate({system: part})


def test_a_skeleton_that_answers_something_else_differs(tmp_path: Path) -> None:
    """The steps can fail, and so can the schema."""
    adapter, lines, schema = written(tmp_path, "cud", "free")
    source = adapter.read_text("utf-8")
    wrong = 'return {**self.reference.step(action), "tokens": []}'
    adapter.write_text(source.replace("return self.reference.step(action)", wrong), "utf-8")
    assert any(line.startswith("differs:") for line in ran(adapter))
    step = next(line for line in lines if line["do"] == "step")
    validator: Any = Draft202012Validator(schema)
    assert not validator.is_valid({"free": {"shown": {**step["shown"], "tokens": "none"}}})
    assert not validator.is_valid({"free": {"action": step["shown"]}})


def test_a_step_that_fails_does_not_end_the_others(tmp_path: Path) -> None:
    """Its traceback is printed, and the next run begins."""
    adapter, lines, _ = written(tmp_path, "cud", "universe")
    source = adapter.read_text("utf-8")
    wrong = 'return 1 // len(action["choices"][0][1]["request"]["proposed_delta"])'
    adapter.write_text(source.replace("return self.reference.step(action)", wrong), "utf-8")
    done = subprocess.run([sys.executable, adapter], capture_output=True, text=True, check=True)
    assert "Error: " in done.stderr and done.stderr.count("asked: ") == sum(line["do"] == "step" for line in lines)


def test_each_system_is_said_to_be_what_it_is(tmp_path: Path) -> None:
    """The rules of `repaired` are not the source's: who does not know it would look for a fault."""
    adapter, _, _ = written(tmp_path, "apcm", "repaired")
    assert '"repaired",  # `universe` under the repaired rules, which are ours' in adapter.read_text("utf-8")


def test_every_name_in_the_adapter_is_imported_and_used(tmp_path: Path) -> None:
    """Annotations are not evaluated when it runs, but the user's linter reads them."""
    adapter, _, _ = written(tmp_path, "cud", "free")
    words = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F", str(adapter)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_case_for_every_kind_of_action(tmp_path: Path) -> None:
    """Also for one that no short run meets."""
    adapter, _, _ = written(tmp_path, "markspace", "space")
    cases = adapter.read_text("utf-8")
    for kind in ("Write", "Read", "Ask", "Decide", "Tick", "Needs", "Resolve"):
        assert f'case "{kind}":' in cases


def test_the_adapter_of_a_skeleton_loads_as_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host makes a kernel of it; a system that it does not take is unsupported."""
    _, lines, _ = written(tmp_path, "cud", "free")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    kernel = load_factory("my_cud:make")(lines[0])
    assert kernel.step(lines[1]["action"]) == lines[1]["shown"]


def test_nothing_is_overwritten_and_bad_names_are_refused(tmp_path: Path) -> None:
    """One clear error each."""
    written(tmp_path, "cud", "free")
    with pytest.raises(BadUse, match=r"exists; name another file"):
        written(tmp_path, "cud", "free")
    with pytest.raises(BadUse, match=r"such as my_adapter.py"):
        write_skeleton(find("cud"), [], tmp_path / "my-kernel.txt")
    with pytest.raises(UnknownName, match=r"unknown system of cud: 'fre'.*did you mean free"):
        write_skeleton(find("cud"), ["fre"], tmp_path / "other.py")
    with pytest.raises(SystemExit, match="2"):
        check("cud", adapter="a:b", skeleton=tmp_path / "other.py")
