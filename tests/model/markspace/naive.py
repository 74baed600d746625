"""A second guard, written from the text without the model: plain dictionaries, another encoding.

It counts the states that agents can reach, so that the pinned sizes have an independent origin.  Intents carry the
instant of writing and of expiry on a running clock; a state is normalised by that clock only for counting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

World = dict[str, Any]
IDLE = ("idle", 0)


def _normal(world: World) -> Any:
    left = tuple((who, room, level, until - world["clock"]) for who, room, level, until in world["intents"])
    return left, tuple(sorted(world["doing"].items())), tuple(world["owner"]), tuple(sorted(world["asked"]))


def _next(world: World, policy: str, ttl: int, levels: int) -> Iterator[World]:
    clock = world["clock"] + 1
    yield {**world, "clock": clock, "intents": [i for i in world["intents"] if i[3] >= clock]}
    rooms = range(len(world["owner"]))
    for who, (doing, room) in world["doing"].items():
        if doing == "idle":
            for wanted in rooms:
                for level in range(levels):
                    yield _ask(world, who, wanted, level, policy, ttl)
        elif doing == "may":
            yield _doing(world, who, ("runs", room))
            yield _doing(world, who, IDLE)
        else:
            rest = [i for i in world["intents"] if (i[0], i[1]) != (who, room)]
            ended = {**_doing(world, who, IDLE), "intents": rest}
            owner = [who if place == room else one for place, one in enumerate(world["owner"])]
            yield {**ended, "owner": owner}
            yield ended
    if policy == "deferred":
        for room in rooms:
            yield _boundary(world, room)


def _doing(world: World, who: str, what: tuple[str, int]) -> World:
    return {**world, "doing": {**world["doing"], who: what}}


def _ask(world: World, who: str, room: int, level: int, policy: str, ttl: int) -> World:
    if world["owner"][room] not in (None, who):
        return world
    mine = (who, room, level, world["clock"] + ttl)
    intents = [i for i in world["intents"] if (i[0], i[1]) != (who, room)] + [mine]
    after = {**world, "intents": intents}
    if policy == "deferred":
        return after
    here = [i for i in intents if i[1] == room]
    rivals = [i for i in here if i[0] != who]
    if policy == "yield_all" and rivals:
        return {**after, "asked": world["asked"] | {(who, room)}}
    if not rivals or _best(here, policy) == who:
        return _doing(after, who, ("may", room))
    return after


def _best(intents: list[Any], policy: str) -> Any:
    if policy == "first_writer":
        return intents[0][0]
    best = intents[0]
    for one in intents[1:]:
        if one[2] > best[2]:
            best = one
    return best[0]


def _boundary(world: World, room: int) -> World:
    fit = [i for i in world["intents"] if i[1] == room and world["owner"][room] in (None, i[0])]
    if not fit:
        return world
    who = _best(fit, "highest_confidence")
    return _doing(world, who, ("may", room)) if world["doing"][who] == IDLE else world


def count(policy: str, agents: int, ttl: int, levels: int, resources: int = 1) -> int:
    """Return how many states there are."""
    names = [chr(ord("a") + n) for n in range(agents)]
    start: World = {
        "clock": 0,
        "intents": [],
        "doing": dict.fromkeys(names, IDLE),
        "owner": [None] * resources,
        "asked": frozenset(),
    }
    seen, todo = {_normal(start)}, [start]
    while todo:
        for after in _next(todo.pop(), policy, ttl, levels):
            key = _normal(after)
            if key not in seen:
                seen.add(key)
                todo.append(after)
    return len(seen)
