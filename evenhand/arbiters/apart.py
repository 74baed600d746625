"""Questions about the surroundings: plays are repeated in other processes, with one thing changed in each."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from evenhand.arbiters.child import key_of, sort_key
from evenhand.arbiters.kernels import Left, Subject
from evenhand.arbiters.loading import Origin
from evenhand.arbiters.plays import Play, Round, Shown, plays
from evenhand.arbiters.question import Answer, Witness
from evenhand.core.verdict import Status
from evenhand.processes.clock import OutOfTime
from evenhand.processes.group import MEBIBYTES, PROCESSES
from evenhand.processes.lines import Failure, LineProcess, NoLine

COUNT = 40
"""Plays that are repeated in each process."""

SHORTEST = 0.5
"""Seconds without which no process is started."""

NO_PLACE = "not asked: another process cannot import the kernel; give its place"

NO_CLOCK = "not asked: the clock of a program cannot be put ahead"

Seen = Mapping[str, tuple[str, list[str]]]
"""Key of a play → what is compared of it, and its outcomes in words."""


@dataclass(frozen=True)
class _World:
    """One process: its hash seed, the seconds that its clock is ahead, and what that is in words."""

    words: str
    hash_seed: str = "0"
    ahead: int = 0


BASE = _World("a process with hash seed 0")


@dataclass(frozen=True)
class _Change:
    """What a question changes, and what decides if that changes outcomes."""

    name: str
    sentence: str
    decides: str
    worlds: tuple[_World, ...]


CHANGES = (
    _Change(
        "process",
        "The same plays give the same outcomes in another process.",
        "depends on the process",
        (_World("another process"), _World("a third process")),
    ),
    _Change(
        "hash seed",
        "Python's hash seed decides nothing.",
        "depends on the hash seed (PYTHONHASHSEED)",
        tuple(_World(f"hash seed {seed}", seed) for seed in "1234"),
    ),
    _Change(
        "clock",
        "The clock decides nothing.",
        "the clock decides",
        (
            *(_World(f"a clock {n} hours ahead", "0", n * 3_600) for n in (1, 6, 12, 18)),
            _World("a clock 200 days ahead", "0", 200 * 86_400 + 4_321),
        ),
    ),
)


class _Absent(Exception):
    """Another process finds no kernel; the message says why."""


class _Failed(Exception):
    """Another process gave no answer; the message says why."""


def apart(subject: Subject, origin: Origin | None, left: Left, explained: Collection[str]) -> Iterator[Answer]:
    """Answer the questions about process, hash seed and clock in the seconds `left`, unless findings explain them."""
    because = "" if origin else NO_PLACE
    because = f"explained by: {', '.join(sorted(explained))}" if explained else because
    base: Seen = {}
    for change in CHANGES:
        if because or origin is None:
            yield _undecided(change, because)
            continue
        if change.name == "clock" and origin.command:
            yield _undecided(change, NO_CLOCK)
            continue
        try:
            base = base or _shown(origin, BASE, left)
            others = [(world, _shown(origin, world, left)) for world in change.worlds]
            made = _compared(subject, change, base, others, left)
        except OutOfTime:
            made = _undecided(change, "there was no time left", open=True)
        except _Absent as error:
            because = f"{NO_PLACE} ({error})"
            made = _undecided(change, because)
        except _Failed as error:
            made = _undecided(change, f"the other process failed: {error}", open=True)
        yield made
        if change.name == "process" and made.status is Status.REFUTED:
            because = "explained by: process"


def _undecided(change: _Change, because: str, *, open: bool = False) -> Answer:
    return Answer(change.name, change.sentence, Status.UNDECIDED, because, open=open)


def repeats(origin: Origin, play: Play, left: Left) -> bool:
    """Return whether a play that varies within a process varies in the same way in another: earlier runs decide it."""
    try:
        one, other = (_shown(origin, BASE, left, key_of(play)) for _ in range(2))
    except (_Absent, _Failed):
        return False
    return one == other and len({compared for compared, _ in one.values()}) > 1


def _compared(subject: Subject, change: _Change, base: Seen, others: list[tuple[_World, Seen]], left: Left) -> Answer:
    """Compare what the processes showed, play by play."""
    for world, other in others:
        if missing := [key for key in base if key not in other]:
            why = f"{change.decides}: the choices that are offered differ"
            witness = _witness(subject, missing[0], (base, {}), world, left)
            return Answer(change.name, change.sentence, Status.REFUTED, why, why, witness, len(base))
    differing = {key: world for world, other in reversed(others) for key in base if base[key][0] != other[key][0]}
    if not differing:
        scope = f"{'all' if len(base) < COUNT else 'the first'} {len(base)} plays, in {len(others) + 1} processes"
        return Answer(change.name, change.sentence, Status.HOLDS, scope, plays=len(base), complete=len(base) < COUNT)
    first = next(key for key in base if key in differing)
    other = next(seen for world, seen in others if world is differing[first])
    witness = _witness(subject, first, (base, other), differing[first], left)
    named = f"{change.decides}: {len(differing)} of {len(base)} plays differ"
    return Answer(change.name, change.sentence, Status.REFUTED, witness.why, named, witness, len(base))


def _witness(subject: Subject, key: str, seen: tuple[Seen, Seen], world: _World, left: Left) -> Witness:
    """Return the play with this key, and what each process said of it."""
    play = Play(subject.agents, ())
    play = next((one for one in plays(replace(subject, left=left), sort=sort_key) if key_of(one) == key), play)
    shown, also = (Shown(tuple(Round(None, told=text) for text in one[key][1]) if key in one else ()) for one in seen)
    return Witness(play, shown, "the outcomes differ", f"{world.words} in place of {BASE.words}", play, also)


def _shown(origin: Origin, world: _World, left: Left, again: str | None = None) -> Seen:
    """Return what each of the first plays shows in a fresh process, or one play with this key again and again.

    Raises _Absent, _Failed and OutOfTime.
    """
    if left() < SHORTEST:
        raise OutOfTime
    path = os.pathsep.join([os.getcwd(), *sys.path])
    environment = {**os.environ, "PYTHONHASHSEED": world.hash_seed, "PYTHONPATH": path}
    process = LineProcess(
        [sys.executable, "-m", "evenhand.arbiters.child"],
        memory=MEBIBYTES << 20,
        processes=PROCESSES,
        environment=environment,
    )
    try:
        asked = {"origin": asdict(origin), "clock": world.ahead, "plays": COUNT, "again": again}
        process.send([json.dumps(asked).encode() + b"\n"])
        made = json.loads(process.line(left()))
    except NoLine as error:
        if error.failure is Failure.HUNG:
            raise OutOfTime from error
        raise _Failed(f"{error}") from error
    finally:
        process.stop()
    if "absent" in made:
        raise _Absent(made["absent"])
    if "error" in made:
        raise _Failed(made["error"])
    return {key: (compared, words) for key, (compared, words) in made["shown"].items()}
