"""Write the events of a campaign as JSON Lines for other programs: one object a line, `schema/events.json`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TextIO, TypeAlias

from msgspec import Meta, to_builtins

from evenhand.campaign.executor import Ending, Order
from evenhand.campaign.progress import Pace
from evenhand.campaign.scheduler import Watch
from evenhand.core.canonical import canonical_text
from evenhand.evidence.schemas import Natural, Shape

EVENTS: Final = "evenhand/campaign-events"
VERSION: Final = 1
NotNegative: TypeAlias = Annotated[float, Meta(ge=0)]
EVERY = 10.0
"""Seconds between two lines of progress."""


class CampaignEvent(Shape, frozen=True, kw_only=True, tag_field="event"):
    """One line: when it was, and what happened."""

    at: str
    """When, UTC, ISO 8601."""


class Begun(CampaignEvent, frozen=True, kw_only=True, tag="begun"):
    """A campaign is run or resumed."""

    format: Literal["evenhand/campaign-events"] = EVENTS
    version: Literal[1] = VERSION
    plan: str
    """The digest of the plan."""

    resumed: bool
    jobs: Natural
    tasks: Natural
    """Tasks to do now; joins of pieces come later."""

    reused: Natural
    """Jobs whose result is in the store."""


class Started(CampaignEvent, frozen=True, kw_only=True, tag="started"):
    """A task began (on a cluster: was seen at work)."""

    task: str
    """The address of the task in the store."""

    title: str


class Ended(Started, frozen=True, kw_only=True, tag="ended"):
    """A task came to an end."""

    outcome: Literal["done", "time", "memory", "died", "error"]
    seconds: NotNegative
    because: str
    """Why it is not done; empty if it is."""


class Progress(CampaignEvent, frozen=True, kw_only=True, tag="progress"):
    """Now and then."""

    done: Natural
    left: Natural
    running: Natural
    per_minute: NotNegative
    """Tasks ended in a minute, since the begin."""

    estimate: float | None
    """Seconds that the tasks left will take at least, from how long they took before; null where none was measured."""

    measured: Natural
    """How many of the tasks left were measured before."""


class Finished(CampaignEvent, frozen=True, kw_only=True, tag="finished"):
    """The run ends."""

    done: Natural
    undecided: Natural
    """Jobs that ended without a result."""

    left: Natural
    exit_code: int
    seconds: NotNegative


class EventsError(ValueError):
    """A file of events that cannot be written."""


class Events(Watch):
    """Appends events to a file, a line at a time, each flushed."""

    def __init__(self, path: Path, pace: Pace, head: Mapping[str, Any]) -> None:
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
        self.tell(Begun(at=_now(), jobs=jobs, tasks=orders, reused=reused, **self.head))

    def started(self, order: Order) -> None:
        """Write that a task began."""
        self.tell(Started(at=_now(), task=order.address, title=order.task.title))

    def ended(self, order: Order, end: Ending) -> None:
        """Write that a task ended."""
        outcome: Any = end.outcome
        seconds = round(end.seconds, 3)
        about = {"at": _now(), "task": order.address, "title": order.task.title}
        self.tell(Ended(**about, outcome=outcome, seconds=seconds, because=end.because))

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
            Progress(
                at=_now(),
                done=pace.done,
                left=len(pace.left),
                running=len(pace.running),
                per_minute=round(pace.per_minute, 3),
                estimate=None if about is None else round(about, 1),
                measured=pace.measured,
            )
        )

    def finished(self, *, done: int, undecided: int, left: int, exit_code: int) -> None:
        """Write that the run ends, and close the file."""
        self.progress()
        seconds = round(self.pace.seconds, 3)
        counts = {"done": done, "undecided": undecided, "left": left}
        self.tell(Finished(at=_now(), **counts, exit_code=exit_code, seconds=seconds))
        self.file.close()

    def tell(self, event: CampaignEvent) -> None:
        """Write one line.  Raises EventsError if that fails."""
        try:
            self.file.write(canonical_text(to_builtins(event)) + "\n")
            self.file.flush()
        except OSError as error:
            raise EventsError(
                f"{self.path}: an event cannot be written ({error.strerror or error}). Make room; what was finished is "
                "in the store, and `evenhand campaign resume` goes on"
            ) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
