"""A second guard for one resource, written from the text without the model: plain dictionaries, another encoding.

It counts the states that two or three agents can reach, so that the pinned sizes have an origin of their own.  Intents
carry the instant of writing and of expiry on a running clock; a state is normalised by that clock only for counting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["count"]

World = dict[str, Any]


def _normal(world: World) -> Any:
    left = tuple((who, level, until - world["clock"]) for who, level, until in world["intents"])
    return left, tuple(sorted(world["doing"].items())), world["owner"], tuple(sorted(world["asked"]))


def _next(world: World, policy: str, ttl: int, levels: int) -> Iterator[World]:
    clock = world["clock"] + 1
    yield {**world, "clock": clock, "intents": [i for i in world["intents"] if i[2] >= clock]}
    for who, doing in world["doing"].items():
        if doing == "idle":
            for level in range(levels):
                yield _ask(world, who, level, policy, ttl)
        elif doing == "may":
            yield {**world, "doing": {**world["doing"], who: "runs"}}
            yield {**world, "doing": {**world["doing"], who: "idle"}}
        else:
            rest = [i for i in world["intents"] if i[0] != who]
            ended = {**world, "doing": {**world["doing"], who: "idle"}, "intents": rest}
            yield {**ended, "owner": who}
            yield ended
    if policy == "deferred" and world["intents"]:
        yield _boundary(world)


def _ask(world: World, who: str, level: int, policy: str, ttl: int) -> World:
    if world["owner"] not in (None, who):
        return world
    intents = [i for i in world["intents"] if i[0] != who] + [(who, level, world["clock"] + ttl)]
    after = {**world, "intents": intents}
    if policy == "deferred":
        return after
    rivals = [i for i in intents if i[0] != who]
    if policy == "yield_all" and rivals:
        return {**after, "asked": world["asked"] | {who}}
    if not rivals or _best(intents, policy) == who:
        return {**after, "doing": {**world["doing"], who: "may"}}
    return after


def _best(intents: list[Any], policy: str) -> Any:
    if policy == "first_writer":
        return intents[0][0]
    best = intents[0]
    for one in intents[1:]:
        if one[1] > best[1]:
            best = one
    return best[0]


def _boundary(world: World) -> World:
    fit = [i for i in world["intents"] if world["owner"] in (None, i[0])]
    if not fit:
        return world
    who = _best(fit, "highest_confidence")
    if world["doing"][who] != "idle":
        return world
    return {**world, "doing": {**world["doing"], who: "may"}}


def count(policy: str, agents: int, ttl: int, levels: int) -> int:
    """How many states there are."""
    names = [chr(ord("a") + n) for n in range(agents)]
    start: World = {
        "clock": 0,
        "intents": [],
        "doing": dict.fromkeys(names, "idle"),
        "owner": None,
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
