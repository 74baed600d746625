"""Outputs that take nothing and disks that are full or read-only, for every command and every option that writes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

from evenhand.cli import COMMANDS
from tests.attack.kinds import kinds
from tests.attack.running import ANSWERS, Arena, faults_of, half_written
from tests.attack.table import Attack, Row
from tests.attack.uses import ALONE, RIGHT, uses
from tests.front.parameters import parameters

OUTPUTS: dict[str, tuple[dict[str, str], tuple[int, ...]]] = {
    "a full device": ({"out": "/dev/full"}, (2,)),
    "closed": ({"out": "closed"}, (2,)),
    "a closed pipe": ({"out": "pipe"}, (141,)),
    "no error output": ({"err": "closed"}, ()),
    "a full error output": ({"err": "/dev/full"}, ()),
    "an error output that nobody reads": ({"err": "pipe"}, ()),
    "neither output": ({"out": "closed", "err": "closed"}, (2,)),
}
"""Where outputs lead, and how a command ends that prints."""

ENDS = {".dot": ("--graph", "--wait-for"), ".yaml": ("--to",), ".py": ("--skeleton",)}
"""How files are named whose kind is chosen by the end of their name."""

SMALLEST, LARGEST = 4_096, 200_000
"""Bytes of a small disk."""


def attacks(arena: Arena) -> Iterator[Attack]:
    """Yield an attack for each output, one for full disks and one for read-only ones."""
    del arena
    for name, (how, codes) in OUTPUTS.items():
        yield Attack("disks", f"standard output: {name}" if "out" in how else name, 50, 1, partial(outputs, how, codes))
    yield Attack("disks", "a full disk", 600, 4, partial(small, False))
    yield Attack("disks", "a read-only disk", 100, 1, partial(small, True))


def outputs(how: dict[str, str], codes: tuple[int, ...], arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Run the right use of every command with such outputs."""
    there, names = uses(arena), random.sample([*COMMANDS], len(COMMANDS))
    for trial in range(trials):
        name = names[trial % len(names)]
        use, place = there.by_command[name], arena.new()
        words = there.words(name, place)
        if trial % 2 and any("--json" in one.names for one in parameters(name)) and "--json" not in words:
            words.append("--json")
        signals = [[int(signal.SIGINT), use.seconds + 0.1]] if use.endless else []
        ran = arena.run(words, folder=place, starts=True, signals=signals, **how)
        allowed = (*codes, use.code) if not codes or not use.prints else codes
        faults = [*ran.faults(arena.base), *faults_of(ran.last, (*allowed, *((0, 130) if use.endless else ())),
                                                      one_line=False)]  # fmt: skip
        row.count(f"{words}", faults)


def writers(arena: Arena) -> list[tuple[str, str]]:
    """Return the commands and options that take a path and read no file of a known kind: they write."""
    read = {(words[0], option) for kind in kinds(arena) for words in kind.commands for option in words}
    found: list[tuple[str, str]] = []
    for command in COMMANDS:
        for one in parameters(command):
            if one.kind is Path and one.names and (command.split()[0], one.names[0]) not in read:
                found.append((command, one.names[0]))
    return [*found, ("vectors", "--out"), ("campaign run", "")]


def small(read_only: bool, arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Write to a disk that is full at some moment, or takes nothing."""
    every = writers(arena)
    random.shuffle(every)
    for trial in range(trials):
        command, option = every[trial % len(every)]
        place = arena.new()
        disk = place / "disk"
        disk.mkdir()
        words = writing(arena, command, option, disk)
        size = int(random.uniform(1, LARGEST / SMALLEST)) * SMALLEST
        if not arena.mount(disk, size, read_only=read_only):
            row.left_out = "needs a user who may mount disks"
            return
        try:
            signals = [[int(signal.SIGINT), 1.0]] if command == "serve" else []
            ran = arena.run(words, folder=place, starts=True, signals=signals, seconds=40.0)
            faults = [*ran.faults(arena.base), *faults_of(ran.last, (*ANSWERS, 130), one_line=False)]
            faults += half_written(arena.seen(disk))
            if read_only and ran.last.code != 2 and command != "serve":
                faults.append(f"exit code {ran.last.code} although nothing could be written")
        finally:
            arena.unmount(disk)
        row.count(f"{words} on {size:,} bytes", [*faults, *arena.harmed()])


def writing(arena: Arena, command: str, option: str, disk: Path) -> list[str]:
    """Return the words of a command that writes to the disk by this option; without an option: beside its plan."""
    files = uses(arena).files(disk.parent)
    if not option:
        return [*command.split(), files["plan"], "--store", str(disk / "store"), "--jobs", "1"]
    words = [word.format(**files) for word in ALONE.get((command, option), [*command.split(), *RIGHT[command]])]
    while option in words:
        at = words.index(option)
        del words[at : at + 2]
    end = next((end for end, options in ENDS.items() if option in options), "")
    return [*words, option, str(disk / f"out{end}")]
