"""The right use of every command, and files for it: what bad use, signals, streams and disks start from."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from evenhand.campaign.planfile import read_plan
from evenhand.campaign.store import opened, store_url
from evenhand.cli import COMMANDS
from evenhand.core.canonical import canonical_bytes
from evenhand.core.registry import find
from evenhand.evidence.record import Record
from evenhand.jobs.engines import run
from evenhand.jobs.plan import Job
from evenhand.report.report import Report
from tests.attack.running import Arena
from tests.front.conftest import PLUGINS, installed

RIGHT: dict[str, list[str]] = {
    "verify": ["latch"],
    "explore": ["latch"],
    "fuzz": ["latch", "--examples", "5"],
    "prove": ["latch"],
    "certify": ["latch", "--out", "{fresh}"],
    "check": ["latch", "--adapter", "json:loads"],
    "validate": ["latch", "--log", "{log}"],
    "compare": ["latch", "--reading", "again=granted"],
    "examine": ["tests.engines.arbiters.kernels:Honest", "--examples", "1"],
    "mutants": ["latch", "--mutant", "sticky"],
    "vectors": ["latch", "generate", "--out", "{fresh}"],
    "profile": ["latch"],
    "sweep": ["latch", "--over", "agents=2..3", "--no-proofs"],
    "campaign plan": ["latch"],
    "campaign run": ["{plan}"],
    "campaign resume": ["{begun}"],
    "campaign status": ["{begun}"],
    "campaign report": ["{begun}"],
    "replay": ["{record}"],
    "show": ["{record}"],
    "serve": ["latch"],
    "mcp": ["--json"],
    "init": ["--out", "{fresh}"],
    "report": ["{report}"],
}
"""The arguments after the command's name; words in braces are files of the test."""

ALONE: dict[tuple[str, str], list[str]] = {
    ("examine", "--command"): ["examine"],
    ("prove", "--check"): ["prove"],
    ("check", "--constitution"): ["check", "latch"],
    ("check", "--command"): ["check", "latch"],
    ("check", "--skeleton"): ["check", "latch"],
    ("compare", "--reading"): ["compare", "latch"],
    ("explore", "--spill"): ["explore", "latch", "--max-memory", "500"],
    ("validate", "--trace"): ["validate", "latch"],
    **{("validate", name): ["validate", "latch", "--trace", "{empty}"] for name in ("--seen", "--system", "--out")},
    ("vectors", "--adapter"): ["vectors", "cud", "verify"],
    ("vectors", "--command"): ["vectors", "cud", "verify"],
}
"""The arguments that an option needs where they differ from the right use."""


PLAN = {"format": "evenhand/campaign", "version": 1, "runs": [{"protocol": "latch", "engine": "replay"}]}


def made(folder: Path) -> dict[str, str]:
    """Write right and wrong files, and return their paths by name."""
    (folder / "empty").write_bytes(b"")
    (folder / "folder").mkdir()
    (folder / "log").write_text(
        json.dumps({"format": "evenhand/log", "version": 1, "protocol": "latch", "system": "latch"}), "utf-8"
    )
    (refuted,) = run(find("latch"), Job("latch", "explore", variant="always_free", claims=("one_inside",)))
    (folder / "report").write_bytes(canonical_bytes(Report((refuted,)).to_json()))
    (folder / "record").write_bytes(Record.from_json(refuted.record).to_bytes())
    for name in ("plan", "begun"):
        (folder / f"{name}.json").write_text(json.dumps(PLAN), "utf-8")
    campaign = read_plan(folder / "begun.json", json.dumps(PLAN).encode())
    store = opened(store_url("", folder / "begun.json"), make=True)
    store.begin(campaign.digest, PLAN)
    store.close()
    plans = {name: str(folder / f"{name}.json") for name in ("plan", "begun")}
    others = ("empty", "folder", "log", "record", "report", "missing")
    return {**plans, **{name: str(folder / name) for name in others}}


@dataclass(frozen=True)
class Use:
    """The right use of a command, undisturbed: its exit code, how long it takes, whether it prints or never ends."""

    code: int
    seconds: float
    prints: bool
    endless: bool


@dataclass(frozen=True)
class Uses:
    """The right use of every command of the application, and the folder of their files."""

    folder: Path
    names: Mapping[str, str]
    by_command: Mapping[str, Use]

    def files(self, place: Path) -> dict[str, str]:
        """Return copies of the files in a place, by name, and one that does not exist."""
        shutil.copytree(self.folder, place / "files", dirs_exist_ok=True)
        there = {name: str(place / "files" / Path(path).name) for name, path in self.names.items()}
        return {**there, "fresh": str(place / "fresh")}

    def words(self, command: str, place: Path) -> list[str]:
        """Return the words of a command, with files in a place of their own."""
        files = self.files(place)
        return [*command.split(), *(word.format(**files) for word in RIGHT[command])]


ENDLESS = {"serve"}
"""Commands that run until they are interrupted."""


def uses(arena: Arena) -> Uses:
    """Return the right uses, each tried once in the arena."""
    return arena.once("uses", lambda: _tried(arena))


def _tried(arena: Arena) -> Uses:
    folder = arena.new()
    with pytest.MonkeyPatch.context() as patch:
        installed(patch, PLUGINS)
        names = made(folder)
    found = Uses(folder, names, {})
    by_command = dict[str, Use]()
    for command in COMMANDS:
        place = arena.new()
        endless = command in ENDLESS
        signals = [[int(signal.SIGINT), 1.0]] if endless else []
        ran = arena.run(found.words(command, place), folder=place, signals=signals, starts=True, seconds=120)
        assert not ran.hung and ran.last.code >= 0, (command, ran)
        by_command[command] = Use(ran.last.code, ran.seconds, bool(ran.last.out), endless)
    return Uses(folder, names, by_command)
