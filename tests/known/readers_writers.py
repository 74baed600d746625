"""Readers and writers in a queue, so that none is overtaken.

Published: `ReadersWriters` of the TLA+ examples has 21,527 distinct states; with three actors there are 1,957 queues
without repetition of six requests, and eleven ways for three actors to read together or write alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import evenhand
from tests.known.known import Known

ACTORS = range(3)
NOBODY: frozenset[int] = frozenset()
Action = tuple[str, int]


@dataclass(frozen=True)
class State:
    """The readers, the writers, and the requests in the order of arrival."""

    readers: frozenset[int] = NOBODY
    writers: frozenset[int] = NOBODY
    waiting: tuple[tuple[str, int], ...] = ()


def actions(state: State) -> Iterator[Action]:
    """Each actor may queue once for either; the first in the queue enters if it can; an actor inside may stop."""
    yield from (
        (f"try {what}", who) for who in ACTORS for what in ("read", "write") if (what, who) not in state.waiting
    )
    if state.waiting and not state.writers:
        what, who = state.waiting[0]
        if what == "read" or not state.readers:
            yield (what, who)
    yield from (("stop", who) for who in sorted(state.readers | state.writers))


def step(state: State, action: Action) -> State:
    """Take one action of the specification."""
    verb, who = action
    match verb:
        case "read":
            return replace(state, readers=state.readers | {who}, waiting=state.waiting[1:])
        case "write":
            return replace(state, writers=state.writers | {who}, waiting=state.waiting[1:])
        case "stop":
            return replace(state, readers=state.readers - {who}, writers=state.writers - {who})
        case _:
            return replace(state, waiting=(*state.waiting, (verb.removeprefix("try "), who)))


@evenhand.always("Nobody reads while somebody writes, and at most one writes.")
def safe(state: State) -> bool:
    """The invariant of the specification."""
    return not (state.readers and state.writers) and len(state.writers) <= 1


@evenhand.reachable("All can read together.")
def together(step: evenhand.Step[None, State, Action, None]) -> bool:
    """A plain lock would be safe as well."""
    return len(step.after.readers) == len(ACTORS)


LIBRARY = evenhand.system("readers_writers", initial=[State()], actions=actions, step=step)
KNOWN = Known(LIBRARY, states=21_527, true=(safe,), reached=((together, 2 * len(ACTORS)),))
