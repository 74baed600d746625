"""Report the progress of a campaign: what runs, what is next, how fast, and how long it will take at least.

The estimate uses measured times alone: how long each remaining task took when it was last done, under any sources.  The
line says how many tasks were never measured.  Nothing is extrapolated from one task to another, because their lengths
differ by orders of magnitude.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from evenhand.campaign.executor import Ending, Enough, Order
from evenhand.campaign.planfile import Campaign
from evenhand.campaign.scheduler import Watch
from evenhand.core.text import inert

SHOWN = 8
"""Running tasks that are listed; more are counted."""


class Pace(Watch):
    """Counts and clock of a run; `durations` are seconds by a task's identity, from earlier runs."""

    def __init__(self, campaign: Campaign, durations: Mapping[str, float], workers: int) -> None:
        self.campaign = campaign
        self.durations = durations
        self.workers = workers
        self.began = time.monotonic()
        self.done = 0
        self.left: dict[str, Order] = {}
        self.running: dict[str, float] = {}

    def ordered(self, order: Order) -> None:
        """Add one more task."""
        self.left[order.address] = order

    def started(self, order: Order) -> None:
        """Count a task as running (again, if its process had died)."""
        self.left[order.address] = order
        self.running[order.address] = time.monotonic()

    def ended(self, order: Order, end: Ending) -> None:
        """Count a task as done."""
        self.left.pop(order.address, None)
        self.running.pop(order.address, None)
        self.done += 1

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    @property
    def per_minute(self) -> float:
        """Tasks ended per minute, so far."""
        return 60 * self.done / max(self.seconds, 1e-3)

    @property
    def waiting(self) -> list[Order]:
        """Tasks that are left and not running."""
        return [order for address, order in self.left.items() if address not in self.running]

    @property
    def measured(self) -> int:
        """How many of the remaining tasks were measured before."""
        return sum(order.task.identity in self.durations for order in self.left.values())

    def estimate(self) -> float | None:
        """Return the least seconds that the measured remaining tasks take; None if none was measured.

        In any order they take at least their sum shared by all workers, and at least as long as the longest.
        """
        now = time.monotonic()
        known = [
            max(0.0, self.durations[order.task.identity] - (now - self.running.get(address, now)))
            for address, order in self.left.items()
            if order.task.identity in self.durations
        ]
        return max(sum(known) / max(1, self.workers), max(known)) if known else None

    def lines(self) -> list[str]:
        """Return the progress in words: one line, then what runs, then what is next."""
        every = self.done + len(self.left)
        head = f"{self.done:,} of {every:,} tasks, {self.per_minute:.1f} a minute, {span(self.seconds)} so far"
        about = self.estimate()
        if about is not None:
            rest = len(self.left) - self.measured
            more = f", {rest:,} never measured" if rest else ""
            head += f"; at least {span(about)} more by earlier runs of {self.measured:,} of {len(self.left):,}{more}"
        elif self.left:
            head += "; no task that is left was ever measured"
        now = time.monotonic()
        works = [(address, since) for address, since in self.running.items()]
        lines = [head, *(f"  {span(now - since)}  {self.left[address].task.title}" for address, since in works[:SHOWN])]
        lines += [f"  and {len(works) - SHOWN:,} more"] if len(works) > SHOWN else []
        following = self.waiting
        lines += [f"  next: {following[0].task.title}"] if following else []
        return lines


class Bar(Watch):
    """The lines of a pace on a terminal, drawn at every event and tick.

    Nothing refreshes on its own, because a thread beside forked children can deadlock them.
    """

    def __init__(self, pace: Pace, console: Console) -> None:
        self.pace = pace
        self.live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Bar:
        self.live.start()
        return self

    def __exit__(self, *_error: Any) -> None:
        self.live.stop()

    def started(self, order: Order) -> None:
        """Draw the lines."""
        self.tick()

    def ended(self, order: Order, end: Ending) -> None:
        """Draw the lines."""
        self.tick()

    def tick(self) -> None:
        """Draw the lines."""
        width = self.live.console.width
        self.live.update(Group(*(Text(inert(line)[:width]) for line in self.pace.lines())), refresh=True)


class Deadline(Watch):
    """Ends a run when its time is over."""

    def __init__(self, seconds: float) -> None:
        self.until = time.monotonic() + seconds

    def tick(self) -> None:
        """Raise Enough if the time is over."""
        if time.monotonic() >= self.until:
            raise Enough


def span(seconds: float) -> str:
    """Return a time in words.

    >>> span(3.2), span(75), span(7500)
    ('3 s', '1 min 15 s', '2 h 05 min')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
