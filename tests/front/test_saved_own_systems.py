"""Runs of a user's own system: saved, replayed, mended; and which code a saved run may execute."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

import evenhand
from evenhand.core.canonical import digest
from evenhand.core.loading import module_at
from evenhand.core.own_file import GlobalName
from evenhand.core.registry import find
from evenhand.evidence.home import found_within, placed
from evenhand.evidence.record import BadRecord, Own, Record
from evenhand.evidence.replay import record_run, replay_record
from evenhand.evidence.store import load, save
from evenhand.jobs.fixtures import recorded
from tests.front.conftest import Command
from tests.front.own_files import HERE, LIGHT, MENDED, ROOT, in_process, is_zero, project_folder, saved, write

__all__ = ["project_folder"]
from tests.front.test_contributing import BLOCK, commands, pattern

# Saved, replayed, mended


@pytest.mark.slow
def test_the_page_does_what_it_says(cli: Command, project: Path) -> None:
    """From an empty folder to a regression, in the order of the page; pytest in processes of its own."""
    text = (ROOT / "docs/how-to/check-your-own-system.md").read_text("utf-8")
    ran = 0
    for found in BLOCK.finditer(text):
        if found["file"]:
            write(project, found["text"], found["file"])
            continue
        for command, printed in commands(found["text"]):
            words = [
                str(one)
                for word in shlex.split(command)
                for one in (sorted(Path().glob(word)) if "*" in word else [word])
            ]
            answer = (
                in_process("-p", "no:cacheprovider", *words[1:], module="pytest")
                if words[0] == "pytest"
                else cli(*words[1:])
            )
            assert re.search(pattern(printed), answer.out, re.DOTALL), f"{command}\n{answer.out}\n{answer.err}"
            ran += 1
    assert ran == 12


@pytest.mark.slow
def test_a_saved_run_is_red_until_the_system_is_mended(cli: Command, project: Path) -> None:
    """`replay` and pytest, with the sentence and the command that shows it; `show` shows both times."""
    write(project)
    file = saved(cli)
    red = cli("replay", str(file), "--json")
    assert (red.code, red.json["replays"][0]["ok"]) == (1, False)
    assert red.json["verdicts"][0]["status"] == "REFUTED"
    assert red.json["verdicts"][0]["expected"] == "HOLDS"
    tested = in_process("-p", "no:cacheprovider", "-q", "found", module="pytest")
    assert tested.code == 1
    assert f"The claim: The light is never dark.\nSee the run: evenhand show {file.resolve()}" in tested.out
    assert "still refuted" in cli("show", str(file)).out
    write(project, MENDED)
    green = cli("replay", str(file))
    assert green.code == 0
    assert (
        "mended: the run no longer refutes never_dark in light (never_dark is true all along this run); keep the "
        "file as a regression test or delete it"
    ) in green.out
    assert cli("replay", str(file), "--json").json["verdicts"][0]["status"] == "HOLDS"
    tested = in_process("-p", "no:cacheprovider", "-q", "found", module="pytest")
    assert tested.code == 0, tested.out
    assert f"evenhand: {file}: mended: the run no longer refutes never_dark" in tested.out
    assert "mended" in cli("show", str(file)).out


SMASHED = LIGHT.replace('"break"', '"smash"').replace("return {", "assert action == 'next'\n    return {")
BROKEN = LIGHT.replace('return "dark"', "raise OSError('broken')")
CHANGES: dict[str, tuple[str, int, str]] = {
    "not on offer": (
        LIGHT.replace('["next", "break"]', '["next"]'),
        0,
        "action 1 of it, 'break', is not on offer there",
    ),
    "another start": (LIGHT.replace('["red"]', '["off"]'), 0, "it does not begin in an initial state"),
    "renamed": (SMASHED, 0, "'break', is not on offer"),
    "raises": (BROKEN, 2, "the system raised ModelError along the run: system 'light'"),
    "no claim": (LIGHT.replace("never_dark", "ever_dark"), 2, "unknown claim about system 'light': 'never_dark'"),
    "no system": (LIGHT.replace("light =", "lamp ="), 2, "unknown system of light.py: 'light'; there is: lamp"),
    "other meaning": (
        LIGHT.replace('dark.")', 'dark.", version=2)'),
        2,
        "it is about version 1 of never_dark, which is of version 2 now",
    ),
    "other states": (LIGHT.replace('return "dark"', 'return "dark "'), 0, "never_dark is true all along"),
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_what_became_of_the_system_is_told_apart(cli: Command, project: Path, change: str) -> None:
    """A run that the system no longer offers is mended although `step` is total; a run that raises is not mended."""
    write(project)
    file = saved(cli)
    text, code, said = CHANGES[change]
    write(project, text)
    answer = cli("replay", str(file))
    assert answer.code == code, answer.out + answer.err
    assert said in answer.out + answer.err
    assert ("mended" in answer.out) is (code == 0)


def test_a_hostile_run_is_judged_by_what_step_answers(project: Path) -> None:
    """Its action was never on offer, so a missing offer proves nothing."""
    text = LIGHT.replace('["next", "break"]', '["next"]')
    write(project, text)
    bundle = find("light.py:light")
    (claim,) = bundle.claims
    run = evenhand.Scenario(None, "red", ("break",))
    record = record_run(bundle, bundle.model.systems["light"], claim, run, engine="fuzz")
    assert record.own == Own(False, "", "")
    assert replay_record(record, bundle).refuted


def test_verify_saves_where_the_system_lives(project: Path) -> None:
    """The same file as an exploration writes; `evenhand replay` finds it then."""
    write(project)
    module = module_at(Path("light.py"))
    report = evenhand.verify(module.light, [module.never_dark], save="found/light", quiet=True)
    (file,) = Path("found/light").iterdir()
    record = load(file)
    assert record.own == Own(True, "../../light.py", "light")
    assert f"saved in {file}, which is replayed first from now on; evenhand show {file}" in str(report)
    bundle = find("light.py:light")
    explored = evenhand.explore(module.light, bundle.claims).verdicts[0]
    made, _ = recorded(bundle, module.light, bundle.claims[0], explored, "")
    assert Record.from_json(made).file_name == file.name
    again = evenhand.verify(module.light, [module.never_dark], save="found/light", quiet=True)
    assert [finding.engine for finding in again.findings] == ["replay", "explore"]
    assert list(Path("found/light").iterdir()) == [file]


def test_an_old_file_learns_where_the_system_lives(project: Path) -> None:
    """Under the same name; a file with a place keeps it."""
    write(project)
    module = module_at(Path("light.py"))
    evenhand.verify(module.light, [module.never_dark], save="found", quiet=True)
    (file,) = Path("found").iterdir()
    record = load(file)
    old = Record.from_json({key: value for key, value in _resealed(record.to_json(), "own").items()})
    file.write_bytes(old.to_bytes())
    assert load(file).own is UNSET
    evenhand.verify(module.light, [module.never_dark], save="found", quiet=True)
    assert load(file).own == record.own
    save(old, "found")
    assert load(file).own == record.own


def _resealed(data: dict[str, Any], *without: str, **changed: Any) -> dict[str, Any]:
    """Return a record as JSON with other content under a valid seal."""
    content = {key: value for key, value in {**data, **changed}.items() if key not in (*without, "sha256")}
    return {**content, "sha256": digest(content)}


def test_a_system_of_a_function_says_how_it_replays(project: Path, cli: Command) -> None:
    """The report and the replay say in one sentence how to change that."""

    @evenhand.always("It is zero.")
    def zero(n: int) -> bool:
        return n == 0

    local = evenhand.system("local", initial=[0], actions=lambda _n: [1], step=lambda n, _a: 1 - n)
    report = evenhand.verify(local, [zero], save="found", quiet=True)
    (file,) = Path("found").iterdir()
    assert load(file).own == Own(True, "", "")
    assert (
        f"saved in {file}, which is replayed first from now on, and only by this verify(..., save=...): local and zero "
        "are not both globals of one Python file; make them so, and `evenhand replay` and pytest find the system too"
    ) in str(report)
    answer = cli("replay", str(file))
    assert answer.code == 2
    assert (
        "its system 'local' is no global of a file in the project. It replays only through the evenhand.verify"
        in answer.err
    )
    write(project)

    @evenhand.always("The light is red.")
    def red(state: str) -> bool:
        return state == "red"

    evenhand.verify(module_at(Path("light.py")).light, [red], save="half", quiet=True)
    (half,) = Path("half").iterdir()
    assert load(half).own == Own(True, "", ""), "the claim is no global, so the file would not replay"
    assert "not both inside the working directory" in str(evenhand.verify(HERE, is_zero, save="here", quiet=True))


# A record leads to code of the project and to no other


def test_a_record_runs_no_code_outside_the_project(cli: Command, project: Path) -> None:
    """Not by a path, not through a link, not where the file is missing; executed code would leave a trace."""
    write(project)
    file = saved(cli)
    record = load(file)
    inner = project / "project"
    inner.mkdir()
    trap = f"open({str(project / 'ran')!r}, 'w').close()\n{LIGHT}"
    write(project, trap, "trap.py")
    write(project, trap, "project/text.txt")
    (inner / "link.py").symlink_to(project / "trap.py")
    (inner / "folder.py").mkdir()
    os.chdir(inner)
    for place, said in {
        "../trap.py": "which lies outside the project",
        "link.py": "which lies outside the project",
        "../project/../trap.py": "which lies outside the project",
        "missing.py": "there is no such file",
        "folder.py": "there is no such file",
        str(project / "trap.py"): "$.own.file is wrong",
        "text.txt": "$.own.file is wrong",
        "..\\trap.py": "$.own.file is wrong",
        "text.txt\n.py": "$.own.file is wrong",
        "text.py\n": "no relative path of a Python file",
    }.items():
        own = {"file": place, "name": "light", "offered": True}
        Path("run.json").write_text(json.dumps(_resealed(record.to_json(), own=own)), "utf-8")
        for command in ("replay", "show"):
            answer = cli(command, "run.json")
            assert (answer.code, answer.out) == (2, "")
            assert said in answer.err, f"{place}: {answer.err}"
    assert not (project / "ran").exists()
    os.chdir(project)
    own = {"file": "trap.py", "name": "light", "offered": True}
    Path("run.json").write_text(json.dumps(_resealed(record.to_json(), own=own)), "utf-8")
    assert cli("replay", "run.json").code == 1
    assert (project / "ran").exists(), "the trap works, where it may"


def test_a_protocol_s_name_in_a_file_leads_to_no_code(project: Path) -> None:
    """`FILE.py:name` as the protocol of a record is an unknown protocol; elsewhere the file must be in the project."""
    write(project, f"open('ran', 'w').close()\n{LIGHT}")
    write(project, LIGHT, "harmless.py")
    bundle = find("harmless.py:light")
    run = evenhand.explore(bundle.model.systems["light"], bundle.claims).verdicts[0]
    made, _ = recorded(bundle, bundle.model.systems["light"], bundle.claims[0], run, "")
    stranger = Record.from_json(_resealed(made, "own", protocol="light.py:light"))
    with pytest.raises(BadRecord, match=r"unknown protocol 'light\.py:light'"):
        replay_record(stranger, file=project / "run.json")
    assert not Path("ran").exists()
    with pytest.raises(ValueError, match="outside the project"):
        found_within("../light.py:light")
    assert found_within("harmless.py:light") is bundle


def test_a_place_is_written_down_only_within_one_project(project: Path) -> None:
    """A path across the machine is private."""
    write(project)
    bundle = find("light.py:light")
    run = evenhand.explore(bundle.model.systems["light"], bundle.claims).verdicts[0]
    made, _ = recorded(bundle, bundle.model.systems["light"], bundle.claims[0], run, "")
    record = Record.from_json(made)
    assert placed(record, project / "a" / "b", GlobalName(project / "light.py", "light")).own == Own(
        True, "../../light.py", "light"
    )
    assert placed(record, project.parent, GlobalName(project / "light.py", "light")).own == Own(True, "", "")
    assert placed(record, project, GlobalName(project.parent / "light.py", "light")).own == Own(True, "", "")
