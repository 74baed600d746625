"""Where an attack takes place: a folder, a launcher of commands, and what counts as a fault of a command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from evenhand.exits import BUG
from tests.front.conftest import PLUGINS, ROOT

T = TypeVar("T")
ABOVE = 500
"""MiB of memory that a command may take above the launcher and above the limit that it was given."""

HANG = 20.0
"""Seconds after which a command hangs."""

ANSWERS = (0, 1, 2, 3)
LINUX = sys.platform.startswith("linux")
SECRET = "the secret of the folder beside"


@dataclass(frozen=True)
class End:
    """How one command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Ran:
    """How a request to the launcher ended: each of its commands, and what all of them did."""

    ends: tuple[End, ...]
    seconds: float
    memory: int
    hung: bool
    left: tuple[str, ...]
    outside: tuple[str, ...]

    @property
    def last(self) -> End:
        """How the last command ended."""
        return self.ends[-1]

    def faults(self, base: int, *, limit: int = 0) -> Iterator[str]:
        """Yield what no command may do: hang, take memory without end, leave processes, reach outside."""
        if self.hung:
            yield f"no end after {HANG:g} s"
        if self.memory > base + limit + ABOVE:
            yield f"{self.memory} MiB of memory"
        yield from (f"left running: {one}" for one in self.left)
        yield from (f"outside: {one}" for one in self.outside)


def faults_of(end: End, codes: Collection[int] = ANSWERS, *, one_line: bool = True) -> Iterator[str]:
    """Yield what is wrong with the end of a command: its exit code, a traceback, more than a line about bad input."""
    if end.code not in codes:
        yield f"exit code {end.code}"
    if "Traceback" in end.err or "Traceback" in end.out or "Exception ignored" in end.err:
        yield f"a traceback: {end.err[-600:]!r}"
    if end.code == BUG:
        yield f"a fault of evenhand: {end.err[-400:]!r}"
    if one_line and end.code == 2 and (end.err.count("\n") != 1 or end.out):
        yield f"bad input is not one line: {end.err[:300]!r} {end.out[:100]!r}"
    if SECRET in end.out or SECRET in end.err:
        yield "the secret beside the folder is told"


class Arena:
    """A folder with the launcher, and a folder beside it that nothing may read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "arena"
        self.spool = folder / "spool"
        self.outside = folder / "outside"
        for one in (self.folder, self.spool, self.outside, self.folder / "tmp"):
            one.mkdir(parents=True)
        (self.outside / "secret.json").write_text(json.dumps({"secret": SECRET}), "utf-8")
        (self.outside / "own.py").write_text(f"open({str(self.outside / 'ran')!r}, 'w').close()", "utf-8")
        self._started: subprocess.Popen[str] | None = None
        self.base = 0
        self._numbers = iter(range(1, sys.maxsize))
        self._kept: dict[str, Any] = {}

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a command: its caches and temporary files lie in the folder."""
        paths = os.pathsep.join((str(PLUGINS), str(PLUGINS.parent / "campaign" / "plugins"), str(ROOT)))
        own = {name: str(self.folder / "tmp") for name in ("TMPDIR", "HOME", "XDG_CACHE_HOME")}
        return {**os.environ, "PYTHONPATH": paths, "COLUMNS": "120", **own}

    @property
    def _launcher(self) -> subprocess.Popen[str]:
        if self._started is None:
            words = [*_alone(), sys.executable, "-m", "tests.attack.launcher", str(self.spool)]
            self._started = subprocess.Popen(
                words, cwd=ROOT, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            assert self._started.stdout is not None
            self.base = int(json.loads(self._started.stdout.readline())["memory"])
        return self._started

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request to the launcher and return its reply."""
        there = self._launcher
        assert there.stdin is not None and there.stdout is not None
        there.stdin.write(json.dumps(request) + "\n")
        there.stdin.flush()
        made: dict[str, Any] = json.loads(there.stdout.readline())
        return made

    def run(self, *commands: Sequence[str], folder: Path | None = None, **how: Any) -> Ran:
        """Run commands one after the other in one process, in `folder`; see the launcher for `how`."""
        writable = [str(self.folder / "tmp"), *how.pop("writable", ())]
        request = {
            "commands": [*map(list, commands)],
            "folder": str(folder or self.folder),
            "writable": writable,
            **how,
        }
        made = self.ask(request)
        ends = tuple(End(one["code"], one["out"], one["err"]) for one in made["ends"])
        return Ran(ends, made["seconds"], made["memory"], made["hung"], tuple(made["left"]), tuple(made["outside"]))

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` returns, made at the first call for this name."""
        if name not in self._kept:
            self._kept[name] = make()
        made: T = self._kept[name]
        return made

    def new(self) -> Path:
        """Return a new empty folder in the arena."""
        made = self.folder / str(next(self._numbers))
        made.mkdir()
        return made

    def mount(self, at: Path, size: int, *, read_only: bool = False) -> bool:
        """Put a small disk over a folder, as the launcher sees it; return whether this machine can."""
        disk = {"at": str(at), "bytes": size, "read_only": read_only}
        return bool(self.ask({"disk": disk})["mounted"])

    def unmount(self, at: Path) -> None:
        """Take the disk away."""
        self.ask({"disk": {"at": str(at)}})

    def seen(self, path: Path) -> Path:
        """Return the path under which this process sees what the launcher sees at `path`."""
        return Path(f"/proc/{self._launcher.pid}/root{path}")

    def harmed(self) -> Iterator[str]:
        """Yield what happened to the folder beside."""
        if (self.outside / "ran").exists():
            (self.outside / "ran").unlink()
            yield "a Python file outside was run"
        if len(there := sorted(path.name for path in self.outside.iterdir())) != 2:
            yield f"files appeared outside: {there}"

    def close(self) -> None:
        """End the launcher and remove everything."""
        if self._started is not None:
            self._started.communicate(timeout=60)
            self._started = None
        shutil.rmtree(self.folder.parent, ignore_errors=True)


def _alone() -> list[str]:
    """The words before a command that give it mounts of its own, where this machine can."""
    words = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    with suppress(OSError):
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return words
    return []


def half_written(folder: Path) -> Iterator[str]:
    """Yield JSON files that are cut off, and parts that a command left although it could end in order."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".json", ".sarif") and path.is_file():
            try:
                json.loads(path.read_bytes())
            except ValueError as error:
                yield f"{path.name} is half-written ({error!s:.60})"
