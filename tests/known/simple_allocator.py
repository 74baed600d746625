"""An allocator that gives free resources, in any order, as far as they are requested (Merz, `SimpleAllocator`).

Published: `SimpleAllocator` of the TLA+ examples has 400 distinct states: three clients, two resources.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import evenhand
from tests.known.known import Known, put, some_of

CLIENTS, RESOURCES = range(3), range(2)
NONE: frozenset[int] = frozenset()
Action = tuple[str, int, frozenset[int]]
Moment = evenhand.Step[None, "State", Action, None]


@dataclass(frozen=True)
class State:
    """The wanted and the held resources of each client."""

    asked: tuple[frozenset[int], ...] = (NONE,) * len(CLIENTS)
    given: tuple[frozenset[int], ...] = (NONE,) * len(CLIENTS)


def actions(state: State) -> Iterator[Action]:
    """A client without resources and requests asks; it may be given, and return, any part."""
    free = NONE.union(RESOURCES).difference(*state.given)
    for client, (asked, given) in enumerate(zip(state.asked, state.given, strict=True)):
        if not asked and not given:
            yield from (("ask", client, some) for some in some_of(RESOURCES))
        yield from (("give", client, some) for some in some_of(free & asked))
        yield from (("return", client, some) for some in some_of(given))


def step(state: State, action: Action) -> State:
    """Take one action of the specification."""
    verb, client, some = action
    asked, given = state.asked[client], state.given[client]
    match verb:
        case "ask":
            return replace(state, asked=put(state.asked, client, some))
        case "give":
            return State(put(state.asked, client, asked - some), put(state.given, client, given | some))
        case _:
            return replace(state, given=put(state.given, client, given - some))


@evenhand.always("No resource is given to two clients.")
def exclusion(state: State) -> bool:
    """The invariant `ResourceMutex` of the specification."""
    return sum(map(len, state.given)) == len(NONE.union(*state.given))


@evenhand.reachable("Two clients can each hold one resource and wait for the other's.")
def can_deadlock(step: Moment) -> bool:
    """The weakness that the scheduling allocator repairs; a client with resources may still return them."""
    held = [(asked, given) for asked, given in zip(step.after.asked, step.after.given, strict=True) if asked and given]
    return len(held) == 2


ALLOCATOR = evenhand.system("simple_allocator", initial=[State()], actions=actions, step=step)
# Two ask for both, and each is given one.
KNOWN = Known(ALLOCATOR, states=400, true=(exclusion,), reached=((can_deadlock, 4),))
