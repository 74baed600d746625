"""Plays in a process of its own, under another hash seed or another clock: `python -m evenhand.arbiters.child`.

It reads one line of JSON from standard input (`origin`, `clock`, `plays`, and `again`: the key of one play to repeat,
or null) and writes one line: `shown`, for each play what it showed; `absent`, why the kernel is not found; or `error`.
All are texts that are the same under any hash seed.
What the kernel prints goes to standard error, because it is no outcome.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

from evenhand.arbiters.kernels import NotExaminable
from evenhand.arbiters.loading import Origin
from evenhand.arbiters.plays import Play, perform, plays
from evenhand.arbiters.subjects import subject_of
from evenhand.arbiters.values import comparable, fixed


def sort_key(choice: Any) -> str:
    """Return the text by which choices are sorted, so that each process tries the same plays."""
    return fixed(comparable(choice))


def key_of(play: Play) -> str:
    """Return the text by which another process finds the same play."""
    return fixed(comparable((play.agents, play.rounds)))


def shift_clock(seconds: int) -> None:
    """Put the clocks of the module `time` ahead, and let each reading take some time."""
    readings = [0]

    def ahead(read: Any, unit: int) -> Any:
        def shifted() -> Any:
            readings[0] += 1
            return read() + (seconds + readings[0]) * unit

        return shifted

    for name in ("time", "monotonic", "perf_counter"):
        setattr(time, name, ahead(getattr(time, name), 1))
        setattr(time, f"{name}_ns", ahead(getattr(time, f"{name}_ns"), 1_000_000_000))


def shift_calendar(seconds: int) -> None:
    """Put `datetime` ahead, wherever modules in Python have imported it.

    It comes after the imports of a kernel, because extension modules in C fail to load with another class in its place.
    """
    real = datetime.datetime

    class Kind(type):
        def __instancecheck__(cls, one: object) -> bool:
            return isinstance(one, real)

    class Shifted(datetime.datetime, metaclass=Kind):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return real.now(tz) + datetime.timedelta(seconds=seconds)

        @classmethod
        def utcnow(cls) -> Any:
            return real.now(datetime.UTC).replace(tzinfo=None) + datetime.timedelta(seconds=seconds)

    for module in [*sys.modules.values()]:
        if str(getattr(module, "__file__", "")).endswith(".py"):
            for name in [name for name, value in vars(module).items() if value is real]:
                setattr(module, name, Shifted)


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what each of the first plays shows: a text that is compared, and its outcomes in words."""
    if asked["clock"]:
        shift_clock(asked["clock"])
    try:
        factory = Origin(**asked["origin"]).factory()
    except NotExaminable as error:
        return {"absent": str(error)}
    try:
        subject, most = subject_of(factory), asked["plays"]
        if asked["clock"]:
            for play in islice(plays(subject, sort=sort_key), 1):
                perform(subject, play)  # it may import more
            shift_calendar(asked["clock"])
        some: Iterator[tuple[str, Play]] = ((key_of(one), one) for one in islice(plays(subject, sort=sort_key), most))
        if asked["again"]:  # found before any kernel acts, so that the first of its runs is the first of this process
            again = next((play for key, play in some if key == asked["again"]), None)
            some = ((str(number), again) for number in range(most) if again is not None)
        performed = ((key, perform(subject, play)) for key, play in some)
        shown = {key: [fixed(one.compared()), [row.text for row in one.rounds]] for key, one in performed}
    except NotExaminable as error:
        return {"error": str(error)}
    return {"shown": shown}


def main() -> None:
    """Answer one line; the kernel cannot write between."""
    asked = json.loads(sys.stdin.readline())
    sys.stdout.flush()
    out = os.dup(1)
    os.dup2(2, 1)
    made = json.dumps(answer(asked))
    with open(out, "w", encoding="utf-8") as stream:
        stream.write(f"{made}\n")


if __name__ == "__main__":
    main()
