"""Schedule a campaign: which results exist, which tasks remain, and how each ends.

Every ending is in the store before anything else happens, so that this process may be killed at any moment.  A task
with a valid result is not repeated; one that ran out of time or memory is repeated if it gets more than before; one
that raised, or whose process died three times, is repeated by the next run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from evenhand.campaign.executor import Ending, Enough, Executor, ExecutorEvents, Order
from evenhand.campaign.planfile import Campaign
from evenhand.campaign.sources import Sources, address
from evenhand.campaign.store import Kept, Store
from evenhand.campaign.tasks import JobTasks, Task
from evenhand.core.canonical import Json
from evenhand.processes.pool import ProcessLimits

ATTEMPTS = 3
"""How often a run tries a task whose process dies, because the cause may be outside it."""


class SourcesChanged(ValueError):
    """A source was edited while the campaign ran."""


@dataclass(frozen=True)
class State:
    """The state of a unit: its result, if there is one, and the results of its pieces so far."""

    unit: JobTasks
    whole: Kept | None
    pieces: Mapping[Task, Kept]

    @property
    def done(self) -> bool:
        """Whether it has its result."""
        return self.whole is not None and self.whole.outcome == "done"

    @property
    def because(self) -> str:
        """Why it has no result and will get none as it stands; empty if it has one, or may still get it."""
        if self.done:
            return ""
        for task, kept in self.pieces.items():
            if kept.outcome != "done":
                return f"{f'piece {task.part}: ' if task.part else ''}{kept.made['because']}"
        return str(self.whole.made["because"]) if self.whole is not None else ""


@dataclass
class CampaignState:
    """The state of a campaign's units in a store, under the current sources."""

    campaign: Campaign
    store: Store
    sources: Sources = field(default_factory=Sources)
    kept: dict[str, Kept] = field(default_factory=dict[str, Kept])
    _addresses: dict[Task, str] = field(default_factory=dict[Task, str])

    def __post_init__(self) -> None:
        tasks = [task for unit in self.campaign.units for task in (unit.whole, *unit.pieces)]
        self.kept = self.store.results(map(self.address, tasks))

    def address(self, task: Task) -> str:
        """Return the address of a task's result."""
        if task not in self._addresses:
            self._addresses[task] = address(task, self.sources)
        return self._addresses[task]

    def states(self) -> Iterator[State]:
        """Yield the state of every unit, in the order of the plan."""
        yield from map(self.state, self.campaign.units)

    def state(self, unit: JobTasks) -> State:
        """Return the state of a unit."""
        found = {task: self.kept[self.address(task)] for task in unit.pieces if self.address(task) in self.kept}
        return State(unit, self.kept.get(self.address(unit.whole)), found)

    def orders(self, unit: JobTasks, wanted: Callable[[Kept, ProcessLimits], bool]) -> list[Order]:
        """Return the next orders of a unit: none, its pieces, or the whole of it."""
        state = self.state(unit)
        if state.whole is not None and not wanted(state.whole, unit.limits):
            return []
        missing = [task for task in unit.pieces if task not in state.pieces or wanted(state.pieces[task], unit.limits)]
        if missing:
            return [Order(task, self.address(task), unit.limits) for task in missing]
        if any(kept.outcome != "done" for kept in state.pieces.values()):
            return []
        made = tuple(state.pieces[task].made for task in unit.pieces)
        return [Order(unit.whole, self.address(unit.whole), unit.limits, made)]


def unfinished(kept: Kept, limits: ProcessLimits) -> bool:
    """Return whether a result is to be made again: its limit was lower, or its cause may not recur."""
    match kept.outcome:
        case "done":
            return False
        case "time":
            return _more(limits.seconds, kept.limits["seconds"])
        case "memory":
            return _more(limits.memory, kept.limits["memory"])
        case _:
            return True


def _more(now: float | None, then: float | None) -> bool:
    return then is not None and (now is None or now > then)


def _not_done(kept: Kept, _limits: ProcessLimits) -> bool:
    return kept.outcome != "done"


class Watch:
    """Receives the events of a campaign; each method does nothing by default."""

    def begun(self, orders: int, reused: int) -> None:
        """Called at the start: `orders` tasks are to be done, `reused` jobs are done already."""

    def started(self, order: Order) -> None:
        """Called when a task begins."""

    def ended(self, order: Order, end: Ending) -> None:
        """Called when a task ended and its result is in the store."""

    def ordered(self, order: Order) -> None:
        """Called when a task is added."""

    def tick(self) -> None:
        """Called while time passes."""


def schedule(now: CampaignState, executor: Executor, *watches: Watch, again: bool = False) -> bool:
    """Do what is missing; return whether it was ended early (Ctrl-C, or by `Enough`).

    Every event goes to each of `watches`, in order.
    With `again` everything without a result is repeated.  Raises StoreError if a result cannot be kept, and
    SourcesChanged if a source changed since the campaign began.
    """
    wanted = _not_done if again else unfinished
    owners: dict[str, list[JobTasks]] = {}
    attempts: dict[str, int] = {}
    known: set[str] = set()

    def tell(event: str, *about: Any) -> None:
        for watch in watches:
            getattr(watch, event)(*about)

    def new(unit: JobTasks) -> Iterator[Order]:
        for order in now.orders(unit, wanted):
            if unit not in owners.setdefault(order.address, []):
                owners[order.address].append(unit)
            if order.address not in known:  # once in a run, and units may share a piece
                known.add(order.address)
                yield order

    def ended(order: Order, end: Ending) -> list[Order]:
        if end.outcome == "died":
            attempts[order.address] = attempts.get(order.address, 0) + 1
            if attempts[order.address] < ATTEMPTS:
                return [order]
            end = Ending("died", end.seconds, because=f"{end.because}, {ATTEMPTS} times")
        _keep(now, order, end)
        tell("ended", order, end)
        more = [one for unit in owners[order.address] for one in new(unit)]
        for one in more:
            tell("ordered", one)
        return more

    orders = _by_turns([order for unit in now.campaign.units for order in new(unit)])
    for one in orders:
        tell("ordered", one)
    tell("begun", len(orders), sum(state.done for state in now.states()))
    try:
        executor.run(orders, ExecutorEvents(partial(tell, "started"), ended, partial(tell, "tick")))
    except (KeyboardInterrupt, Enough):
        return True
    return False


def _by_turns(orders: Sequence[Order]) -> list[Order]:
    """One order of each protocol in turn, so that a run that ends early has begun all of them."""
    turns: Counter[str] = Counter()
    ranks: list[int] = []
    for order in orders:
        ranks.append(turns[order.task.job.protocol])
        turns[order.task.job.protocol] += 1
    return [order for _, order in sorted(zip(ranks, orders, strict=True), key=lambda one: one[0])]


def _keep(now: CampaignState, order: Order, end: Ending) -> None:
    job = order.task.job
    if now.sources.changed(job):
        raise SourcesChanged(
            f"a source of {job.protocol} or of an engine was edited while the campaign ran; the result of "
            f"{order.task.title!r} is not kept. Run the campaign again: work with the old sources is repeated"
        )
    made: Json = end.made if end.outcome == "done" else {"because": end.because}
    seconds = order.limits.seconds
    if end.outcome == "time" and seconds is not None:  # less on a very busy machine: then the next run repeats it
        seconds = min(seconds, round(end.had, 3))
    limits: dict[str, Any] = {"seconds": seconds, "memory": order.limits.memory}
    kept = Kept(order.address, order.task.identity, end.outcome, limits, made, end.seconds)
    now.store.keep(kept)
    now.kept[order.address] = kept
