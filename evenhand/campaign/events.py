"""Write the events of a campaign as JSON Lines for other programs: one object a line, `schema/events.json`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from evenhand.campaign.executor import Ending, Order
from evenhand.campaign.progress import Pace
from evenhand.campaign.scheduler import Watch
from evenhand.core.canonical import Json, canonical_text

EVENTS = "evenhand/campaign-events"
VERSION = 1
EVERY = 10.0
"""Seconds between two lines of progress."""


class EventsError(ValueError):
    """A file of events that cannot be written."""


class Events(Watch):
    """Appends events to a file, a line at a time, each flushed."""

    def __init__(self, path: Path, pace: Pace, head: Mapping[str, Json]) -> None:
        self.path = path
        self.pace = pace
        self.head = head
        self.told = time.monotonic()
        try:
            self.file: TextIO = path.open("a", encoding="utf-8")
        except OSError as error:
            raise EventsError(
                f"cannot write to {path}: {error.strerror or error}; choose another file for --events"
            ) from error

    def begun(self, orders: int, reused: int) -> None:
        """Write the head of a run."""
        jobs = len(self.pace.campaign.units)
        self.tell("begun", format=EVENTS, version=VERSION, jobs=jobs, tasks=orders, reused=reused, **self.head)

    def started(self, order: Order) -> None:
        """Write that a task began."""
        self.tell("started", task=order.address, title=order.task.title)

    def ended(self, order: Order, end: Ending) -> None:
        """Write that a task ended."""
        about: dict[str, Json] = {"task": order.address, "title": order.task.title}
        self.tell("ended", **about, outcome=end.outcome, seconds=round(end.seconds, 3), because=end.because)

    def tick(self) -> None:
        """Write the progress every `EVERY` seconds."""
        if time.monotonic() - self.told >= EVERY:
            self.progress()

    def progress(self) -> None:
        """Write the progress."""
        self.told = time.monotonic()
        pace = self.pace
        about = pace.estimate()
        self.tell(
            "progress",
            done=pace.done,
            left=len(pace.left),
            running=len(pace.running),
            per_minute=round(pace.per_minute, 3),
            estimate=None if about is None else round(about, 1),
            measured=pace.measured,
        )

    def finished(self, *, done: int, undecided: int, left: int, exit_code: int) -> None:
        """Write that the run ends, and close the file."""
        self.progress()
        seconds = round(self.pace.seconds, 3)
        self.tell("finished", done=done, undecided=undecided, left=left, exit_code=exit_code, seconds=seconds)
        self.file.close()

    def tell(self, event: str, **more: Json) -> None:
        """Write one line.  Raises EventsError if that fails."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            self.file.write(canonical_text({"at": at, "event": event, **more}) + "\n")
            self.file.flush()
        except OSError as error:
            raise EventsError(
                f"{self.path}: an event cannot be written ({error.strerror or error}). Make room; what was finished is "
                "in the store, and `evenhand campaign resume` goes on"
            ) from error
