"""Plays in a process of its own, under another hash seed or another clock: `python -m evenhand.arbiters.child`.

It reads one JSON object from standard input (`place`, `clock`, `plays`) and prints one line for each play: what it
showed, as a text that is the same under any hash seed.
"""

from __future__ import annotations

import datetime
import json
import sys
import time
from collections.abc import Hashable
from itertools import islice
from typing import Any, cast

from evenhand.arbiters.kernels import subject_of
from evenhand.arbiters.loading import factory_at
from evenhand.arbiters.plays import perform, plays


def fixed(value: Hashable) -> str:
    """Return a text of a comparable value that is the same under any hash seed."""
    if isinstance(value, frozenset):
        return "{" + ",".join(sorted(map(fixed, cast("frozenset[Hashable]", value)))) + "}"
    if isinstance(value, tuple):
        return "(" + ",".join(map(fixed, cast("tuple[Hashable, ...]", value))) + ")"
    return repr(value)


def shift_clock(seconds: int) -> None:
    """Put the clocks of this process ahead, and let each reading take some time."""
    readings = [0]

    def ahead(read: Any, unit: int) -> Any:
        def shifted() -> Any:
            readings[0] += 1
            return read() + (seconds + readings[0]) * unit

        return shifted

    for name in ("time", "monotonic", "perf_counter"):
        setattr(time, name, ahead(getattr(time, name), 1))
        setattr(time, f"{name}_ns", ahead(getattr(time, f"{name}_ns"), 1_000_000_000))

    class Shifted(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return super().now(tz) + datetime.timedelta(seconds=seconds)

        @classmethod
        def utcnow(cls) -> Any:
            return super().now(datetime.UTC).replace(tzinfo=None) + datetime.timedelta(seconds=seconds)

    datetime.datetime = Shifted  # type: ignore[misc]


def main() -> None:
    """Do what the object asks."""
    asked = json.loads(sys.stdin.read())
    if asked["clock"]:
        shift_clock(asked["clock"])
    subject = subject_of(factory_at(asked["place"]))
    for play in islice(plays(subject), asked["plays"]):
        print(json.dumps(fixed(perform(subject, play).compared())))


if __name__ == "__main__":
    main()
