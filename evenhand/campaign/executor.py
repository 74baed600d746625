"""Define orders for tasks and how they end, and execute them on this machine."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from evenhand.campaign.tasks import Task
from evenhand.campaign.worker import Work, message
from evenhand.core.canonical import Json, parse
from evenhand.processes.group import Ended
from evenhand.processes.pool import NO_LIMITS, ChildTask, ProcessLimits, in_children


class Enough(Exception):
    """The time limit of a run is reached."""


@dataclass(frozen=True)
class Order:
    """A task to execute: the address of its result, its limits, and the answers that it joins."""

    task: Task
    address: str
    limits: ProcessLimits = NO_LIMITS
    pieces: tuple[Json, ...] = ()


@dataclass(frozen=True)
class Ending:
    """How a task ended: `made` if it is `done`; else `time`, `memory`, `died` or `error`, and the reason.

    `had` is the time that one which ended by `time` had.
    """

    outcome: str
    seconds: float
    made: Json = None
    because: str = ""
    had: float = 0.0


@dataclass(frozen=True)
class ExecutorEvents:
    """Callbacks of an executor: an order began, an order ended (returns those that follow), time passes."""

    started: Callable[[Order], None]
    ended: Callable[[Order, Ending], Iterable[Order]]
    tick: Callable[[], None]


class Executor(Protocol):
    """Executes orders, several at a time, until none is left; an exception from `ExecutorEvents` ends it."""

    @property
    def workers(self) -> int:
        """Number of tasks at a time."""
        ...

    def run(self, orders: Sequence[Order], events: ExecutorEvents) -> None:
        """Execute the orders and those that follow from them."""
        ...


def ending(order: Order, what: Ended) -> Ending:
    """Return how an order ended, given how its process did."""
    seconds = what.seconds
    if what.late:
        because = f"it took longer than its limit of {order.limits.seconds:g} seconds"
        return Ending("time", seconds, because=because, had=what.had)
    if what.answer is None:
        return Ending("died", seconds, because=f"its process ended with exit code {what.code}")
    reply: dict[str, Any] = parse(what.answer)
    if reply["outcome"] == "done":
        return Ending("done", seconds, made=reply["made"])
    because = str(reply["because"])
    if reply["outcome"] == "memory" and order.limits.memory is not None:
        because = f"it needs more than its limit of {order.limits.memory >> 20} MiB of memory ({because})"
    return Ending(reply["outcome"], seconds, because=because)


_ENGINES = {
    "explore": "evenhand.search",
    "fuzz": "evenhand.machine",
    "prove": "evenhand.jobs.proving",
    "compare": "evenhand.variants.separate",
    "replay": "evenhand.jobs.fixtures",
    "plan": "evenhand.jobs.unplanned",
}
"""The module that each kind of job loads."""


@dataclass(frozen=True)
class _Here:
    workers: int

    def run(self, orders: Sequence[Order], events: ExecutorEvents) -> None:
        """Execute the orders, as `Executor` says."""
        known = list(orders)
        for module in sorted({_ENGINES[order.task.job.engine] for order in orders}):
            importlib.import_module(module)  # once here, not in every child: it takes longer than a small task

        def ended(number: int, what: Ended) -> list[ChildTask]:
            order = known[number]
            more = list(events.ended(order, ending(order, what)))
            known.extend(more)
            return [_child_task(one) for one in more]

        with tempfile.TemporaryDirectory(prefix="evenhand-", ignore_cleanup_errors=True) as shared:
            in_children(
                [_child_task(order) for order in orders],
                Work(Path(shared)),
                workers=self.workers,
                started=lambda number: events.started(known[number]),
                finished=ended,
                tick=events.tick,
            )


def here(workers: int) -> Executor:
    """Return an executor with `workers` processes of this machine."""
    return _Here(workers)


def _child_task(order: Order) -> ChildTask:
    reply = message(order.task, memory=order.limits.memory, pieces=order.pieces)
    return ChildTask(reply, order.task.job.affinity, order.limits)
