"""The documents agree with the programs: every option is in the reference, every Python block runs."""

from __future__ import annotations

import glob
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.cli import COMMANDS
from tests.front.conftest import PLUGINS, Command
from tests.front.test_contributing import commands, pattern

ROOT = Path(__file__).parents[2]
OPTIONS_PAGE = "docs/reference/commands.md"
COMMANDS_PAGE = (ROOT / "docs/reference/cli.md").read_text("utf-8")
REFERENCE = COMMANDS_PAGE + (ROOT / OPTIONS_PAGE).read_text("utf-8")


def options_of(cli: Command, *words: str) -> set[str]:
    """Return the options in the help of a command; each command is asked once."""
    if words not in _OPTIONS:
        _OPTIONS[words] = set(re.findall(r"--[a-z0-9-]+", cli(*words, "--help").out))
    return _OPTIONS[words]


_OPTIONS: dict[tuple[str, ...], set[str]] = {}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_in_the_reference(cli: Command, command: str) -> None:
    """Users look options up there."""
    options = options_of(cli, *command.split()) - {"--help"}
    assert options
    assert f"## `evenhand {command} " in COMMANDS_PAGE
    assert [option for option in sorted(options) if option not in REFERENCE] == []


def test_the_reference_names_no_option_that_is_gone(cli: Command) -> None:
    """Every option in the reference exists."""
    known = set[str]().union(options_of(cli), *(options_of(cli, *command.split()) for command in COMMANDS))
    assert set(re.findall(r"`(--[a-z0-9-]+)", REFERENCE)) <= known | {"--help"}


def test_every_key_of_the_json_is_in_the_reference(cli: Command) -> None:
    """Other programs rely on them."""
    told = set(re.findall(r"`([a-z_]+)`", REFERENCE))
    report = cli("explore", "latch", "--json").json
    matrix = cli("mutants", "latch", "--mutant", "sticky", "--json").json
    assert set(report) | set(report["verdicts"][0]) | set(matrix) | set(matrix["automatic"]) <= told


@pytest.mark.slow
def test_the_generated_list_of_options_is_of_today(tmp_path: Path) -> None:
    """It equals the output of `make docs`."""
    (command,) = re.findall(r"\(BIN\)/(python -m typer .*\\\n.*)", (ROOT / "Makefile").read_text("utf-8"))
    made = tmp_path / "commands.md"
    words = [str(made) if word == OPTIONS_PAGE else word for word in shlex.split(command.replace("\\\n", ""))[1:]]
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True)
    assert made.read_text("utf-8") == (ROOT / OPTIONS_PAGE).read_text("utf-8")


def blocks(path: str) -> list[str]:
    """Return the Python blocks of a document."""
    return re.findall(r"```python\n(.*?)```", (ROOT / path).read_text("utf-8"), re.DOTALL)


def names_of(code: str, folder: Path) -> dict[str, Any]:
    """Return the names that a Python file with this content defines."""
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


@pytest.mark.slow
def test_the_guide_to_examining_finds_what_it_says(tmp_path: Path) -> None:
    """The desk fails with the printed words; the rule and the exception do as their assertions say."""
    path = "docs/how-to/examine-your-code.md"
    desk, rule, allowed = blocks(path)
    with pytest.raises(AssertionError) as raised:
        names_of(desk, tmp_path)["test_nothing_decides_at_the_desk"]()
    (printed,) = re.findall(r"```text\n(.*?)```", (ROOT / path).read_text("utf-8"), re.DOTALL)
    assert printed in str(raised.value)
    names_of(desk + rule + allowed, tmp_path)


@pytest.mark.slow
def test_the_guide_to_any_number_proves_what_it_says(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock holds in a test, and the command prints what the page shows; the hint is proved too, and the ring.

    With a rank that forgets that the token may begin where it is awaited, the step that the page shows is told.
    """
    page = "docs/how-to/prove-any-number.md"
    lock, hint, ring = blocks(page)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lock.py").write_text(lock, "utf-8")
    ((command, printed),) = commands(
        re.findall(r"```console\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)[0]
    )
    answer = cli(*shlex.split(command)[1:])
    assert answer.code == 0
    assert re.match(pattern(printed), answer.out, re.DOTALL), answer
    (tmp_path / "both.py").write_text(lock + hint, "utf-8")
    assert [one["status"] for one in cli("prove", "both.py:lock", "--json").json["verdicts"]] == ["HOLDS"] * 3
    (tmp_path / "ring.py").write_text(ring, "utf-8")
    assert [one["status"] for one in cli("prove", "ring.py:ring", "--json").json["verdicts"]] == ["HOLDS"]
    wrong = ring.replace("(state.at == state.watched, ahead(config, state))", "ahead(config, state)")
    (tmp_path / "wrong.py").write_text(wrong.replace("here < there", "here <= there"), "utf-8")
    (verdict,) = cli("prove", "wrong.py:ring", "--json").json["verdicts"]
    assert verdict["status"] == "UNDECIDED"
    assert verdict["because"] in (ROOT / page).read_text("utf-8")


def test_the_guide_to_temporal_claims_runs(tmp_path: Path) -> None:
    """Two formulas hold, the third does not."""
    (block,) = blocks("docs/how-to/claim-what-must-come.md")
    names_of(block, tmp_path)["test_light"]()


def test_the_guide_for_users_of_tla_runs(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant, step and refinement hold, with the counts of TLC; a constraint, symmetry and a trace, in both ways."""
    page = "docs/how-to/coming-from-tla.md"
    (trace,) = re.findall(r'```json title="solved.itf.json"\n(.*?)```', (ROOT / page).read_text("utf-8"), re.DOTALL)
    (tmp_path / "solved.itf.json").write_text(trace, "utf-8")
    monkeypatch.chdir(tmp_path)
    for block, test in zip(blocks(page), ("test_commit", "test_counter", "test_lock", "test_jugs"), strict=True):
        names_of(block, tmp_path)[test]()
    (tmp_path / "jugs.py").write_text(blocks(page)[-1], "utf-8")
    console = re.findall(r"```console\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)[-1]
    for command, printed in commands(console):
        answer = cli(*[str(file) for word in shlex.split(command)[1:] for file in glob.glob(word) or [word]])
        assert re.match(pattern(printed), answer.out, re.DOTALL), answer


def test_links_lead_somewhere() -> None:
    """Relative links of our documents."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", path.read_text("utf-8")):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


@pytest.mark.slow
def test_the_site_builds_and_fetches_nothing(tmp_path: Path) -> None:
    """Built strictly: a dead link fails; no page loads a font, style or script from another site."""
    build = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 10
    for page in pages:
        loaded = re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"([^\"]+)\"", page.read_text("utf-8"))
        assert not [name for name in loaded if name.startswith(("http:", "https:", "//"))], page
    assert "livelock_free" in (tmp_path / "site" / "reference" / "api" / "index.html").read_text("utf-8")


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    """The same settings, one page, one dead link."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[gone](gone.md)", "utf-8")
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    (tmp_path / "mkdocs.yml").write_text(settings, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "gone.md" in done.stderr


@pytest.mark.slow
def test_the_commands_of_the_example_workflow_run(tmp_path: Path) -> None:
    """Our commands, in their order, for a toy protocol, as a CI runner runs them."""
    text = (ROOT / "docs/examples/ci/evenhand.yml").read_text("utf-8")
    steps = yaml.safe_load(text)["jobs"]["verify"]["steps"]
    commands = [step["run"] for step in steps if "run" in step and "pip install" not in step["run"]]
    assert len(commands) == 3
    (tmp_path / "evenhand").write_text(f'#!/bin/sh\nexec {sys.executable} -m evenhand "$@"\n', "utf-8")
    (tmp_path / "pytest").write_text(f'#!/bin/sh\nexec {sys.executable} -m pytest -p no:cacheprovider "$@"\n', "utf-8")
    for name in ("evenhand", "pytest"):
        (tmp_path / name).chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{PLUGINS}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "page.md"),
    }
    for command in commands:
        told = command.replace("evenhand verify", "evenhand verify latch")
        done = subprocess.run(told, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{told}\n{done.stdout}{done.stderr}"
    assert (tmp_path / "page.md").read_text("utf-8").startswith("## evenhand: All as expected")
    used = {step["with"][key] for step in steps for key in ("sarif_file", "path") if key in step.get("with", {})}
    assert all((tmp_path / name).exists() for name in used)


def test_the_hook_replays_what_is_committed(cli: Command, tmp_path: Path) -> None:
    """The command of `.pre-commit-hooks.yaml`, on a file that replays and on one that does not."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    words = hook["entry"].split()
    assert words[0] == "evenhand"
    cli("mutants", "latch", "--mutant", "always_free", "--fixtures", str(tmp_path))
    (file,) = (tmp_path / "latch").iterdir()
    assert cli(*words[1:], str(file)).code == 0
    file.write_text(file.read_text("utf-8").replace("one_inside", "taken"), "utf-8")
    assert cli(*words[1:], str(file)).code == 2


def named_paths(text: str) -> set[str]:
    """Return the files and folders of the repository that a page names in backticks."""
    return set(re.findall(r"`((?:model|properties|proofs|counterexamples|notebooks|evenhand)/[\w./-]*)`", text))


def test_the_architecture_page_names_what_is_there() -> None:
    """Newcomers follow the page, so a missing path is an error."""
    named = named_paths((ROOT / "docs/explanation/architecture.md").read_text("utf-8"))
    assert len(named) > 20
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
    assert named_paths("`evenhand/nowhere.py` and `model/`") == {"evenhand/nowhere.py", "model/"}


def test_the_glossary_is_short_and_in_order() -> None:
    """At most 40 terms, each once."""
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|.*\|$", (ROOT / "docs/reference/glossary.md").read_text("utf-8"), re.M)
    terms = [term for term, meaning in rows[1:] if meaning.strip()]
    assert 30 <= len(terms) <= 40 and terms == sorted(set(terms))
