"""An allocator that puts its clients in an order and serves them in it (Merz, `SchedulingAllocator`).

Published: `SchedulingAllocator` of the TLA+ examples has 1,690 distinct states: three clients, two resources.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations

import evenhand
from tests.known.known import Known, put, some_of
from tests.known.simple_allocator import CLIENTS, NONE, RESOURCES

Some = frozenset[int] | tuple[int, ...]
Action = tuple[str, int, Some]


@dataclass(frozen=True)
class State:
    """The wanted and held resources of each client, the unscheduled clients, and the order of the others."""

    asked: tuple[frozenset[int], ...] = (NONE,) * len(CLIENTS)
    given: tuple[frozenset[int], ...] = (NONE,) * len(CLIENTS)
    pool: frozenset[int] = NONE
    order: tuple[int, ...] = ()


def next_in_order(state: State, client: int, some: frozenset[int]) -> bool:
    """Return whether the client is scheduled and no client before it waits for any of these resources."""
    if client not in state.order:
        return False
    before = state.order[: state.order.index(client)]
    return not any(state.asked[other] & some for other in before)


def actions(state: State) -> Iterator[Action]:
    """As in the simple allocator, but giving follows the order, and clients in the pool get a place in it."""
    free = NONE.union(RESOURCES).difference(*state.given)
    for client, (asked, given) in enumerate(zip(state.asked, state.given, strict=True)):
        if not asked and not given:
            yield from (("ask", client, some) for some in some_of(RESOURCES))
        yield from (("give", client, some) for some in some_of(free & asked) if next_in_order(state, client, some))
        yield from (("return", client, some) for some in some_of(given))
    if state.pool:
        yield from (("schedule", -1, order) for order in permutations(sorted(state.pool)))


def step(state: State, action: Action) -> State:
    """Take one action of the specification; a client with all requested resources leaves the order."""
    verb, client, some = action
    if isinstance(some, tuple):
        return replace(state, pool=NONE, order=state.order + some)
    asked, given = state.asked[client], state.given[client]
    match verb:
        case "ask":
            return replace(state, asked=put(state.asked, client, some), pool=state.pool | {client})
        case "give":
            order = tuple(other for other in state.order if other != client or some != asked)
            return replace(
                state,
                asked=put(state.asked, client, asked - some),
                given=put(state.given, client, given | some),
                order=order,
            )
        case _:
            return replace(state, given=put(state.given, client, given - some))


@evenhand.always("No resource is given to two clients.")
def exclusion(state: State) -> bool:
    """The invariant `ResourceMutex` of the specification."""
    return sum(map(len, state.given)) == len(NONE.union(*state.given))


@evenhand.always("Whoever waits is in the pool or in the order, once.")
def placed(state: State) -> bool:
    """The first parts of the invariant `AllocatorInvariant` of the specification."""
    waiting = sorted(client for client in CLIENTS if state.asked[client])
    return sorted([*state.pool, *state.order]) == waiting and not any(state.given[client] for client in state.pool)


ALLOCATOR = evenhand.system("scheduling_allocator", initial=[State()], actions=actions, step=step)
KNOWN = Known(ALLOCATOR, states=1_690, true=(exclusion, placed))
