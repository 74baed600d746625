"""Questions about the surroundings: plays are repeated in other processes, with one thing changed in each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
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

SHORTEST = 2.0
"""Seconds that a process has at least, to start."""

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


def apart(subject: Subject, place: str, until: float, *, random: bool) -> Iterator[Answer]:
    """Answer the questions about process, hash seed and clock by the time `until`; a `random` kernel is not asked."""
    because = "" if place else "not asked: another process cannot import the kernel; give its place"
    because = "explained by: repetition" if random else because
    base: list[str] = []
    for change in CHANGES:
        late = "not asked: there was no time left" if time.monotonic() > until else ""
        if because or late:
            yield Answer(change.name, change.sentence, Status.UNDECIDED, because or late)
            continue
        try:
            base = base or _shown(place, "0", 0, until)
            others = [_shown(place, seed, ahead, until) for seed, ahead in change.processes]
        except subprocess.TimeoutExpired:
            yield Answer(change.name, change.sentence, Status.UNDECIDED, "not asked: there was no time left")
            continue
        except (RuntimeError, OSError, ValueError) as error:
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


def _shown(place: str, seed: str, clock: int, until: float) -> list[str]:
    """Return what each of the first plays shows in a fresh process.  Raises RuntimeError if it fails."""
    made = subprocess.run(
        [sys.executable, "-m", "evenhand.arbiters.child"],
        input=json.dumps({"place": place, "clock": clock, "plays": COUNT}),
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])},
        capture_output=True,
        text=True,
        timeout=max(SHORTEST, until - time.monotonic()),
        check=False,
    )
    if made.returncode:
        raise RuntimeError(made.stderr.strip().splitlines()[-1] if made.stderr.strip() else f"exit {made.returncode}")
    return made.stdout.splitlines()
