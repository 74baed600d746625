"""Execute tasks on a Dask cluster; Dask does the scheduling.

Each task runs in a process of its own beside the worker (`python -m evenhand.campaign.worker`), so that it cannot harm
the worker; a worker with other sources or versions refuses.  Workers keep nothing: results come back here and into the
store.  Dask pickles what it sends, by default without a password, so a cluster is for machines that trust one another.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from evenhand.campaign.executor import Ending, Executor, ExecutorEvents, Order, ending
from evenhand.campaign.worker import message
from evenhand.processes.group import Ended, answered

REACHED = 10.0
"""Seconds in which a scheduler must answer, and within which a silent one must be back."""
GLANCE = 0.5
"""Seconds between two checks of what runs."""


class ClusterError(ValueError):
    """A cluster that cannot be reached, or that is gone; finished results are in the store."""


def cluster(address: str) -> Executor:
    """Return an executor on the workers of the Dask scheduler at an address.  Raises ClusterError."""
    from distributed import Client as Untyped

    connected: Any = Untyped
    _silenced(("distributed", "tornado", "asyncio"))
    try:
        client = connected(address, timeout=REACHED, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        cause = " ".join(str(error).split())[:160] or type(error).__name__
        raise ClusterError(
            f"--cluster {address}: no scheduler answers ({cause}). Start one with `dask scheduler`"
        ) from error
    return _Cluster(client, address)


def _silenced(families: tuple[str, ...]) -> None:
    """Keep loggers, each with a level of its own, from the terminal, because one line here reports their message."""
    for name in (*families, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in families:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class _Cluster:
    def __init__(self, client: Any, address: str) -> None:
        self.client = client
        self.address = address

    @property
    def workers(self) -> int:
        """Threads of all workers."""
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def run(self, orders: Sequence[Order], events: ExecutorEvents) -> None:
        """Execute the orders, as `Executor` says."""
        try:
            if not self.client.nthreads():
                raise ClusterError(
                    f"--cluster {self.address}: it has no worker. Start one with `dask worker {self.address}`"
                )
            _Round(self.client, self.address, events).run(orders)
        finally:
            self.client.close(timeout=2)


class _Round:
    """Orders under way: the future of each, and which were seen at work."""

    def __init__(self, client: Any, address: str, events: ExecutorEvents) -> None:
        self.client = client
        self.address = address
        self.events = events
        self.orders: dict[str, tuple[Any, Order]] = {}
        self.seen: set[str] = set()
        self.number = 0
        self.silent: float | None = None

    def run(self, orders: Sequence[Order]) -> None:
        """Run until no order is left."""
        try:
            for order in orders:
                self.submit(order)
            while self.orders:
                ended = [key for key, (future, _) in self.orders.items() if future.status != "pending"]
                for key in ended:
                    self.end(key)
                if not ended:
                    time.sleep(GLANCE)
                self.look()
                self.events.tick()
        finally:
            if self.silent is None and self.client.status == "running":
                self.client.cancel([future for future, _ in self.orders.values()], force=True)

    def submit(self, order: Order) -> None:
        """Send an order to the scheduler."""
        request = message(order.task, memory=order.limits.memory, address=order.address, pieces=order.pieces)
        self.number += 1
        key = f"evenhand-{os.getpid()}-{self.number}-{order.address[-16:]}"
        self.orders[key] = (self.client.submit(carried_out, request, order.limits.seconds, key=key, pure=False), order)

    def end(self, key: str) -> None:
        """Report how an order ended, and submit those that follow from it."""
        future, order = self.orders[key]
        if future.status in ("cancelled", "lost"):
            self.gone()
        if key not in self.seen:
            self.events.started(order)
        del self.orders[key]
        if future.status == "error":  # its worker died under it, more often than the scheduler allows
            error = future.exception(timeout=REACHED)
            what = Ending("died", 0.0, because=f"its worker died or failed: {type(error).__name__}: {error!s:.200}")
        else:
            what = ending(order, future.result(timeout=REACHED))
        for more in self.events.ended(order, what):
            self.submit(more)

    def look(self) -> None:
        """Report orders now at work, and check that the scheduler still answers."""
        if self.client.status != "running":
            self.silent = self.silent or time.monotonic()
            if time.monotonic() - self.silent > REACHED:
                self.gone()
            return
        self.silent = None
        try:
            working = {key for keys in self.client.processing().values() for key in keys}
        except Exception:  # the connection broke just now: the next look reports it
            return
        for key in sorted(working & set(self.orders) - self.seen):
            self.seen.add(key)
            self.events.started(self.orders[key][1])

    def gone(self) -> None:
        """Raise ClusterError, because the scheduler lost its orders."""
        self.silent = self.silent or time.monotonic()
        raise ClusterError(
            f"--cluster {self.address}: the scheduler is gone, or forgot the campaign; what was finished is kept. "
            "Start it again, then `evenhand campaign resume`"
        )


def carried_out(request: bytes, seconds: float | None) -> Ended:
    """Return how a task ended in a process beside a worker."""
    return answered([sys.executable, "-m", "evenhand.campaign.worker"], request, seconds)
