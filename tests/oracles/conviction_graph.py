"""A naive enumerator of the conviction-staking consensus in small numbers; it imports nothing of the workbench.

Written from the protocol's text for its default readings (and the gated clock), with another representation than the
model's: an agent is a list, a phase is a place in the list of phases, stakes are single points with the round at whose
beginning they were placed, and LastStakeTick is a real tick number.  Two states are merged if they agree after ticks
are replaced by their order and ages by rounds held; the future depends on nothing else.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

TEXTS = (("a",), ("a", "b"), ("c", "d"))


class Counts(NamedTuple):
    """States, transitions (state x action on offer), and ticks of the longest run of the first Issue."""

    states: int
    transitions: int
    longest: int


class Sizes(NamedTuple):
    """The sizes of a search, under the names of the model's scope."""

    agents: int = 2
    issues: int = 1
    think: int = 1
    cycles: int = 0
    rounds: int = 2
    texts: int = 1
    budget: int = 3
    stake: int = 2
    penalty: int = 1
    ready: int = 1
    gated: bool = False
    saturation: int = 2


class World:
    """One state, mutable, with plain numbers."""

    def __init__(self, sizes: Sizes) -> None:
        self.issue = 0
        self.place = -1  # -1: no Issue is open
        self.tick = 0
        self.opened = 0
        self.balance = [sizes.budget] * sizes.agents
        self.late = [0] * sizes.agents
        self.ready = [False] * sizes.agents
        self.staked = [False] * sizes.agents  # whether it took a staking action in this tick
        self.said = [0] * sizes.agents
        self.proposal: list[Any] = [None] * sizes.agents  # None, or (tokens or (), substituted)
        self.last: list[int | None] = [None] * sizes.agents
        self.points: list[tuple[int, int, int]] = []  # owner, proposal, rounds held
        self.burned = 0

    def key(self) -> Any:
        """Return the parts of the state on which the future depends."""
        ticks = sorted({t for t in self.last if t is not None}, reverse=True)
        shift = 0 if ticks and ticks[0] == self.tick else 1
        order = [None if t is None else ticks.index(t) + shift for t in self.last]
        return (
            self.issue,
            self.place,
            tuple(self.balance),
            tuple(self.late),
            tuple(self.ready),
            tuple(self.staked),
            tuple(self.said),
            tuple(self.proposal),
            tuple(order),
            tuple(sorted(self.points)),
            self.burned,
        )


def phases(sizes: Sizes) -> list[str]:
    """Return PROPOSE, the cycles, the rounds, FINALIZE."""
    rounds = [f"STAKE {n}" for n in range(1, sizes.rounds + 1)]
    return ["PROPOSE", *["FEEDBACK", "REVISE"] * sizes.cycles, *rounds, "FINALIZE"]


def price(old: tuple[str, ...], new: tuple[str, ...], stake: int) -> int:
    """Return changed tokens over the longer length, times the self-stake; whole in the counted sizes."""
    best = 0
    for size in range(min(len(old), len(new)), -1, -1):
        if set(itertools.combinations(old, size)) & set(itertools.combinations(new, size)):
            best = size
            break
    longest = max(len(old), len(new))
    amount = stake * (longest - best) / longest if longest else 0
    assert amount == int(amount), "the oracle counts whole points"
    return int(amount)


def self_stake(world: World, who: int, sizes: Sizes) -> None:
    """Return the automatic stake on one's own proposal, or the rest of the balance."""
    amount = min(sizes.stake, world.balance[who])
    world.balance[who] -= amount
    world.points += [(who, who, 0)] * amount


def finished(world: World, who: int, phase: str) -> bool:
    """Return whether the agent is finished for this tick."""
    return world.proposal[who] is not None if phase == "PROPOSE" else world.ready[who] or world.staked[who]


def acts(world: World, sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    """Return the actions on offer."""
    if world.issue == sizes.issues:
        return
    yield ("tick",)
    if world.place < 0:
        return
    phase = phases(sizes)[world.place]
    if phase == "FINALIZE":
        return
    people = range(sizes.agents)
    for who in people:
        if world.ready[who]:
            continue
        if sizes.ready and (phase != "PROPOSE" or world.proposal[who] is not None):
            yield ("ready", who)
        if phase == "PROPOSE" and world.proposal[who] is None:
            yield ("propose", who, ())
            yield from (("propose", who, text) for text in TEXTS[: sizes.texts])
        elif phase == "FEEDBACK":
            yield from (("feedback", who, other) for other in people if other != who)
        elif phase == "REVISE":
            yield from (("revise", who, text) for text in TEXTS[: sizes.texts])
        elif phase.startswith("STAKE") and phase != "STAKE 1":
            yield from (("add", who, to) for to in people)
            for source in people:
                if any((owner, on) == (who, source) for owner, on, _ in world.points):
                    yield from (("move", who, source, to) for to in people if to != source)


def act(world: World, action: tuple[Any, ...], sizes: Sizes) -> None:
    """Take an action, in place; a refused one has no effect."""
    if action[0] == "tick":
        tick(world, sizes)
        return
    who = action[1]
    match action[0]:
        case "ready":
            world.ready[who], world.staked[who] = True, False  # READY says more
        case "propose":
            world.proposal[who] = (action[2], False)
            self_stake(world, who, sizes)
        case "feedback":
            if world.proposal[action[2]][0] and world.said[who] < 1 and world.balance[who] >= 1:
                world.said[who] += 1
                world.balance[who] -= 1
                world.burned += 1
        case "revise":
            old, substituted = world.proposal[who]
            if not old:
                return
            due = price(old, action[2], sizes.stake)
            mine = sorted(p for p in world.points if p[:2] == (who, who))
            if due > world.balance[who] + len(mine):
                return
            while world.balance[who] < due:
                world.points.remove(mine.pop())
                world.balance[who] += 1
            world.balance[who] -= due
            world.burned += due
            world.proposal[who] = (action[2], substituted)
        case "add":
            if world.balance[who] >= 1:
                world.balance[who] -= 1
                world.points.append((who, action[2], 0))
                world.last[action[2]] = world.tick
                world.staked[who] = True
        case _:
            oldest = max(p for p in world.points if p[:2] == (who, action[2]))
            world.points.remove(oldest)
            world.points.append((who, action[3], 0))
            world.last[action[3]] = world.tick
            world.staked[who] = True


def tick(world: World, sizes: Sizes) -> None:
    """Run one tick of the scheduler."""
    order = phases(sizes)
    if world.place < 0:
        world.place, world.tick = 0, world.tick + 1
        world.opened = world.tick
        return
    phase = order[world.place]
    if phase == "FINALIZE":
        world.burned += len(world.points)
        kept, burned, issue, now, began = world.balance, world.burned, world.issue + 1, world.tick + 1, world.opened
        world.__init__(sizes)  # type: ignore[misc]
        world.balance, world.burned, world.issue, world.tick, world.opened = kept, burned, issue, now, began
        return
    missing = [who for who in range(sizes.agents) if not finished(world, who, phase)]
    if sizes.gated and missing:
        return
    fired = False
    for who in missing:
        world.late[who] += 1
        if world.late[who] >= sizes.think:
            fired = True
            if phase == "PROPOSE":
                world.proposal[who] = ((), True)
                self_stake(world, who, sizes)
            if not phase.startswith("STAKE"):
                paid = min(sizes.penalty, world.balance[who])
                world.balance[who] -= paid
                world.burned += paid
    world.ready, world.staked = [False] * sizes.agents, [False] * sizes.agents
    world.tick += 1
    if fired or not missing:
        world.place += 1
        world.late = [0] * sizes.agents
        if phase.startswith("STAKE") and order[world.place].startswith("STAKE"):
            world.points = [(owner, on, min(held + 1, sizes.saturation)) for owner, on, held in world.points]


def count(sizes: Sizes) -> Counts:
    """Count all reachable states."""
    start = World(sizes)
    seen = {start.key(): 0}
    todo, transitions, longest = [(start, True)], 0, 0
    while todo:
        world, new = todo.pop()
        for action in acts(world, sizes):
            transitions += new
            after = copy.copy(world)
            for name in ("balance", "late", "ready", "staked", "said", "proposal", "last", "points"):
                setattr(after, name, list(getattr(world, name)))
            act(after, action, sizes)
            key, elapsed = after.key(), after.tick - after.opened + 1 if after.place >= 0 else 0
            if after.issue == 1 and world.issue == 0:
                longest = max(longest, after.tick - after.opened + 1)
            if key not in seen or (after.issue == 0 and elapsed > seen[key]):
                # A state is expanded again when it is reached later in the Issue, for the longest run.
                todo.append((after, key not in seen))
                seen[key] = elapsed
    return Counts(len(seen), transitions, longest)
