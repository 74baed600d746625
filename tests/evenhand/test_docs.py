"""The documents say what the programs do: every option is in the reference, every Python block runs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.evenhand.conftest import Command

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs/reference/cli.md").read_text("utf-8")
COMMANDS = ("verify", "explore", "fuzz", "prove", "check", "validate", "mutants", "replay", "show")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_in_the_reference(cli: Command, command: str) -> None:
    """An option that nobody can look up is not there."""
    options = set(re.findall(r"--[a-z0-9-]+", cli(command, "--help").out)) - {"--help"}
    assert options
    assert f"## `evenhand {command} " in REFERENCE
    missing = [option for option in sorted(options) if f"`{option}" not in REFERENCE]
    assert missing == []


def test_the_reference_names_no_option_that_is_gone(cli: Command) -> None:
    """The other way round."""
    known = {"--help"} | {o for c in COMMANDS for o in re.findall(r"--[a-z0-9-]+", cli(c, "--help").out)}
    assert set(re.findall(r"`(--[a-z0-9-]+)", REFERENCE)) <= known


def test_every_key_of_the_json_is_in_the_reference(cli: Command) -> None:
    """Other programs rely on them."""
    told = set(re.findall(r"`([a-z_]+)`", REFERENCE))
    report = cli("explore", "latch", "--json").json
    matrix = cli("mutants", "latch", "--mutant", "sticky", "--json").json
    assert set(report) | set(report["verdicts"][0]) | set(matrix) | set(matrix["automatic"]) <= told


def blocks(path: str) -> list[str]:
    """The Python blocks of a document."""
    return re.findall(r"```python\n(.*?)```", (ROOT / path).read_text("utf-8"), re.DOTALL)


def names_of(code: str, folder: Path) -> dict[str, Any]:
    """What a Python file with this content defines."""
    file = folder / "document.py"
    file.write_text(code, "utf-8")
    return runpy.run_path(str(file))


def test_the_readme_s_test_file_fails_as_it_says(tmp_path: Path) -> None:
    """The light can be broken."""
    (block,) = blocks("README.md")
    with pytest.raises(AssertionError):
        names_of(block, tmp_path)["test_light"]()


def test_the_tutorial_ends_with_a_lock_that_holds(tmp_path: Path) -> None:
    """First it fails, then it is mended."""
    system, claim, test, mended, reachable = blocks("docs/tutorial/first-bug.md")
    with pytest.raises(AssertionError):
        names_of(system + claim + test, tmp_path)["test_lock"]()
    lock = "lock =" + system.partition("lock =")[2]
    both = test.replace("[mutual_exclusion]", "[mutual_exclusion, can_enter]")
    names_of("import evenhand\n" + mended + lock + claim + reachable + both, tmp_path)["test_lock"]()


def test_links_lead_somewhere() -> None:
    """Relative links of our documents."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", path.read_text("utf-8")):
            assert (path.parent / link).exists(), f"{path.name}: {link}"
