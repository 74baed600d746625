"""Questions about the surroundings: plays are repeated in other processes, with one thing changed in each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from evenhand.arbiters.answer import Answer
from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.plays import perform, plays
from evenhand.arbiters.questions import Witness
from evenhand.core.verdict import Status

COUNT = 40
"""Plays that are repeated in each process."""

LIMIT = 60
"""Seconds that one process may take."""

AHEAD = (3_600, 200 * 86_400 + 4_321)
"""Seconds that a changed clock is ahead: an hour, and some months."""


@dataclass(frozen=True)
class _Change:
    """What a question changes: the pairs of a hash seed and the seconds that the clock is ahead, one process each."""

    name: str
    sentence: str
    processes: tuple[tuple[str, int], ...]


CHANGES = (
    _Change("process", "The same plays give the same outcomes in another process.", (("0", 0), ("0", 0))),
    _Change("hash seed", "Python's hash seed decides nothing.", tuple((seed, 0) for seed in "1234")),
    _Change("clock", "The clock decides nothing.", tuple(("0", ahead) for ahead in AHEAD)),
)


def apart(subject: Subject, place: str, *, random: bool) -> Iterator[Answer]:
    """Answer the questions about process, hash seed and clock; a kernel that is `random` anyway is not asked."""
    because = "" if place else "not asked: another process cannot import the kernel; give its place"
    because = "explained by: repetition" if random else because
    base: list[str] = []
    for change in CHANGES:
        if because:
            yield Answer(change.name, change.sentence, Status.UNDECIDED, because)
            continue
        try:
            base = base or _shown(place, "0", 0)
            others = [_shown(place, seed, ahead) for seed, ahead in change.processes]
        except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as error:
            yield Answer(change.name, change.sentence, Status.UNDECIDED, f"the other process failed: {error}")
            continue
        differing = sorted({n for other in others for n, (a, b) in enumerate(zip(base, other, strict=True)) if a != b})
        if not differing:
            yield Answer(change.name, change.sentence, Status.HOLDS, plays=len(base), complete=True)
            continue
        because = "explained by: process" if change.name == "process" else ""
        play = next(islice(plays(subject), differing[0], None))
        what = f"depends on the {change.name}" + (" (PYTHONHASHSEED)" if change.name == "hash seed" else "")
        witness = Witness(play, perform(subject, play), "the outcomes differ", f"another {change.name}")
        named = f"{what}: {len(differing)} of {len(base)} plays differ"
        yield Answer(change.name, change.sentence, Status.REFUTED, witness.why, named, witness, len(base))


def _shown(place: str, seed: str, clock: int) -> list[str]:
    """Return what each of the first plays shows in a fresh process.  Raises RuntimeError if it fails."""
    made = subprocess.run(
        [sys.executable, "-m", "evenhand.arbiters.child"],
        input=json.dumps({"place": place, "clock": clock, "plays": COUNT}),
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    if made.returncode:
        raise RuntimeError(made.stderr.strip().splitlines()[-1] if made.stderr.strip() else f"exit {made.returncode}")
    return made.stdout.splitlines()
