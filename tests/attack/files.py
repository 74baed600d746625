"""Files of strangers: seeded mutations of every kind, and paths that lead to no regular file."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.attack.kinds import Kind, Words, kinds
from tests.attack.mutation import ODD, mutated, mutated_text, values
from tests.attack.running import ANSWERS, Arena, faults_of, half_written
from tests.attack.table import Attack, Row

BATCH = 20
"""Files whose commands run in one process, one after the other."""


def attacks(arena: Arena) -> Iterator[Attack]:
    """Yield an attack for each kind of file, one on what is no file, and one on the collection by pytest."""
    for kind in kinds(arena):
        yield Attack("files", kind.name, kind.whole, kind.few, partial(mutations, kind))
    yield Attack("files", "no regular file", 600, 12, no_files)
    yield Attack("files", "counterexamples that pytest collects", 300, 0, partial(programs, "counterexample", PYTEST))
    yield Attack("files", "certificates for evenhand-check", 2_000, 0, partial(programs, "certificate", CHECKER))


def mutations(kind: Kind, arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Run every command of the kind on so many mutated files."""
    codes = ANSWERS if kind.refutes else tuple(code for code in ANSWERS if code != 1)
    codes = (*codes, *kind.codes)
    odd = (*ODD, *leading_out(arena))
    for first in range(0, trials, 1 if kind.signals else BATCH):
        place = arena.new()
        folders = [place / str(number) for number in range(min(trials - first, 1 if kind.signals else BATCH))]
        contents = [written(kind, folder, random, odd) for folder in folders]
        lines = [one for folder in folders for one in commands_on(kind, folder)]
        ran = arena.run(*lines, folder=place, signals=kind.signals, starts=kind.starts)
        common = list(ran.faults(arena.base))
        each = len(kind.commands)
        for number, folder in enumerate(folders):
            ends = ran.ends[number * each : (number + 1) * each]
            faults = [fault for end in ends for fault in faults_of(end, codes, one_line=not kind.signals)]
            faults += half_written(folder / "out")
            if len(ends) < each:
                faults.append("the process ended before this file")
            if number == len(folders) - 1:
                faults += [*common, *arena.harmed()]
            row.count(f"{kind.name}: {contents[number][:1_500]!r}", faults)


def leading_out(arena: Arena) -> Iterator[str]:
    """Yield names that lead to the folder beside the arena."""
    up = "../" * 4
    for name in ("secret.json", "own.py", "own.py:x"):
        yield from (str(arena.outside / name), f"../../../outside/{name}", f"{up}outside/{name}")


def written(kind: Kind, folder: Path, random: Random, odd: Sequence[Any]) -> bytes:
    """Write a mutated file of the kind and the whole files beside it; return its content."""
    original = random.choice(kind.originals)
    if isinstance(original, bytes):
        data = mutated_text(original, random)
    elif kind.lines:
        at = random.randrange(len(original))
        others = values(original)
        made = [json.dumps(one).encode() for one in original]
        made[at] = mutated(original[at], random, others, odd)
        data = b"\n".join(made)
    else:
        data = mutated(original, random, values(original), odd)
    for name, content in {**kind.beside, kind.file: data}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return data


def commands_on(kind: Kind, folder: Path) -> Iterator[Words]:
    """Yield the commands of the kind for the file in a folder."""
    for command in kind.commands:
        yield tuple(word.format(folder=folder, file=folder / kind.file, out=folder / "out") for word in command)


def no_files(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Name FIFOs, devices, folders, sockets, links and endless files wherever a command reads a file."""
    place = arena.new()
    os.mkfifo(place / "fifo")
    (place / "folder").mkdir()
    (place / "loop").symlink_to(place / "loop")
    (place / "nowhere").symlink_to(place / "missing")
    (place / "device").symlink_to("/dev/zero")
    with open(place / "huge", "wb") as file:
        file.truncate(1 << 40)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(place / "socket"))
    names = [str(path) for path in sorted(place.iterdir())]
    names += ["/dev/zero", "/dev/tty", "/dev/stdin", "/dev/fd/0", "/proc/self/mem", "/", "", "\0", "x" * 5_000]
    reads = [(kind, at) for kind in kinds(arena) for at, command in enumerate(kind.commands) if "{file}" in command]
    reads = [(kind, at) for kind, at in reads if kind.name != "kill matrix"]
    every = [(kind, at, name) for kind, at in reads for name in names]
    for kind, at, name in random.sample(every, min(trials, len(every))):
        here = arena.new()
        words = [word.format(file=name, out=here / "out", folder=here) for word in kind.commands[at]]
        ran = arena.run(words, folder=here, starts=kind.starts, writable=[str(place)], readable=["/"])
        known = ("--known" in words and name.endswith(("folder", "/", "loop"))) or name == ""
        faults = [*ran.faults(arena.base), *faults_of(ran.last, ANSWERS if known else (2,))]
        if (here / "out").exists():
            faults.append("a folder is left")
        row.count(f"{words[:4]}", faults)
    listening.close()


PYTEST = ("pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "--tb=line")
CHECKER = ("evenhand_certificates",)


def programs(name: str, program: Words, arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Let another program read a folder of mutated files: each passes or fails, and none stops it."""
    kind = next(one for one in kinds(arena) if one.name == name)
    for first in range(0, trials, 100):
        place, count = arena.new(), min(100, trials - first)
        for number in range(count):
            written(kind, place / str(number), random, (*ODD, *leading_out(arena)))
        words = [sys.executable, "-m", *program, str(place)]
        made = subprocess.run(words, cwd=place, env=arena.environment, capture_output=True, text=True, timeout=300)
        faults = [f"exit code {made.returncode}: {made.stderr[-800:]}"] if made.returncode not in (0, 1, 5) else []
        faults += ["a traceback"] if re.search("INTERNALERROR|Traceback", made.stdout + made.stderr) else []
        row.count(f"{program[0]} on {place}", [*faults, *arena.harmed()], trials=count)
