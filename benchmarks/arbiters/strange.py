"""Planted arbiters as strangers would write them: functions of a profile, and desks without a past."""

from __future__ import annotations

import os
import random
import secrets
import sys
import time
import uuid
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import evenhand

Profile = Mapping[str, Any]


def _last_write(writes: Mapping[str, str]) -> str:
    value = ""
    for node in sorted(writes):
        value = writes[node]
    return value


def _tie_to_zero(votes: Mapping[str, int]) -> int:
    counts = [list(votes.values()).count(candidate) for candidate in range(3)]
    return counts.index(max(counts))


def _yes_on_ties(votes: Profile) -> str:
    counts = Counter(votes.values())
    return "yes" if counts["yes"] >= counts["no"] else "no"


def _set_order(parts: Mapping[str, str]) -> str:
    return next(iter(set(parts.values())))


last_write = evenhand.rule(_last_write, ["a", "b"])
"""A graph's step: the writes of its nodes to one key are applied in the order of the nodes' names."""

tie_to_zero = evenhand.rule(_tie_to_zero, [0, 1, 2], labels=[0, 1, 2])
"""Plurality; an exact tie goes to the candidate with the smallest number."""

yes_on_ties = evenhand.rule(_yes_on_ties, ["no", "yes"], labels=["no", "yes"])
"""A ballot of two answers; an exact tie is a yes."""

set_order = evenhand.rule(_set_order, ["north", "south", "west"])
"""The first part that a set happens to yield."""


class Counter1:
    """A counter with one thing to give; a subclass picks who of several gets it."""

    def __init__(self, agents: Sequence[str]) -> None:
        self.agents = list(agents)
        self.choices: Any = ("want", "leave")

    def pick(self, wanting: list[str]) -> str | None:
        """Return who gets it; nobody where several want it."""
        return wanting[0] if len(wanting) == 1 else None

    def act(self, profile: Profile) -> Any:
        """Serve one round."""
        lucky = self.pick([agent for agent, choice in profile.items() if choice == "want"])
        return {agent: "served" if agent == lucky else "not served" for agent in profile}


class Cells:
    """A simulator of a lane with two cells: those who want a taken cell stay outside; the list says who moves first."""

    def __init__(self, agents: Sequence[str]) -> None:
        self.agents = list(agents)

    def choices(self, agent: str) -> list[int]:
        """Return the cells."""
        del agent
        return [0, 1]

    def act(self, profile: Mapping[str, int]) -> dict[str, str]:
        """Move the agents one after the other."""
        taken: dict[int, str] = {}
        for agent in self.agents:
            if agent in profile:
                taken.setdefault(profile[agent], agent)
        return {agent: "in" if taken[cell] == agent else "out" for agent, cell in profile.items()}


class Doors:
    """Two doors; of those asked for only the one whose word is smaller opens."""

    labels = ("left door", "right door")

    def __init__(self, agents: Sequence[str]) -> None:
        self.agents = list(agents)
        self.choices = self.labels

    def act(self, profile: Profile) -> dict[str, str]:
        """Tell everybody which door is open."""
        door: str = min(profile.values())
        return {agent: door for agent in profile}


class Racers(Counter1):
    """Claims on one task: each looks whether it is free, and takes it a little later."""

    threads = True

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.owners: list[str] = []

    def act(self, profile: Profile) -> dict[str, str]:
        """Let each claim."""
        for agent, choice in profile.items():
            free = not self.owners
            if free and choice == "want":
                self.owners.append(agent)
        return dict.fromkeys(profile, "told")

    def observe(self) -> int:
        """Show how many believe that the task is theirs."""
        return len(self.owners)


class Bucket(Counter1):
    """Each name has a shard, its hash; the lowest shard goes first."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return min(wanting, key=lambda name: (hash(name) % 1024, name), default=None)


class Evening(Counter1):
    """After six in the evening everything is refused."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return super().pick(wanting) if datetime.now().hour < 18 else None


class Ticks(Counter1):
    """The last digits of a fine clock say who is served."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return wanting[time.perf_counter_ns() // 100 % len(wanting)] if wanting else None


class Secret(Counter1):
    """The system's entropy says who is served."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return secrets.choice(wanting) if wanting else None


class Tickets(Counter1):
    """Each request gets an identifier; the smallest is served."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return min(((uuid.uuid4().hex, agent) for agent in wanting), default=("", None))[1]


class ByProcess(Counter1):
    """A draw from the number of the process."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        wanted = ",".join(sorted(wanting))
        return random.Random(f"{os.getpid()} {wanted}").choice(sorted(wanting)) if wanting else None


class Checksum(Counter1):
    """The name with the smallest checksum is served."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return min(wanting, key=lambda name: zlib.crc32(name.encode()), default=None)


class Interned(Counter1):
    """A choice counts if it is the very text of the menu."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.want = sys.intern("want")
        self.choices = (self.want, "leave")

    def act(self, profile: Profile) -> dict[str, str]:
        """Serve nobody where several want it; compare by identity."""
        wanting = [agent for agent in profile if any(agent is one for one in self.agents)]
        wanting = [agent for agent in wanting if profile[agent] is self.want]
        lucky = self.pick(wanting)
        return {agent: "served" if agent == lucky else "not served" for agent in profile}


class Popped(Counter1):
    """Requests lie on a pile; the newest is served."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        pile = dict.fromkeys(wanting)
        return pile.popitem()[0] if pile else None


class Middle(Counter1):
    """Of three who want it, the one listed between the others is served."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        if len(wanting) != 3:
            return super().pick(wanting)
        return sorted(wanting, key=self.agents.index)[1]


class Quorum(Counter1):
    """A round counts if at most two agents of the whole list say nothing."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Counter1`."""
        given: dict[str, str] = super().act(profile)
        return given if len(self.agents) - len(profile) <= 2 else dict.fromkeys(profile, "no quorum")


class Chairman(Counter1):
    """Where the agent listed first leaves, nobody is served."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return super().pick(wanting) if self.agents[0] in wanting else None


class ShortStraw(Counter1):
    """Requests are drawn by a seed; a number is off by one, so that the last is never drawn."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.draw = random.Random(0)

    def reset(self, seed: int) -> None:
        """Set the seed."""
        self.draw = random.Random(seed)

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return wanting[self.draw.randrange(max(1, len(wanting) - 1))] if wanting else None


class Greedy(Counter1):
    """Two units; who asks for more than are there gets nothing, and two who ask for too much together get nothing."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.choices = (1, 2, 3)

    def act(self, profile: Mapping[str, int]) -> dict[str, int]:
        """Give."""
        enough = sum(units for units in profile.values() if units <= 2) <= 2
        return {agent: units if enough and units <= 2 else 0 for agent, units in profile.items()}

    def worth(self, outcome: int | None) -> int:
        """Return the units."""
        return outcome or 0

    def more(self, units: int, than: int) -> bool:
        """Return whether more units are asked for."""
        return units > than


class Deposit(Counter1):
    """Whoever wants it pays a deposit, and gets it back only when served."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Counter1`."""
        given: dict[str, str] = super().act(profile)
        lost = {agent: "deposit lost" for agent, choice in profile.items() if choice == "want"}
        return {agent: told if told == "served" else lost.get(agent, told) for agent, told in given.items()}

    def worth(self, outcome: str | None) -> int:
        """Return what an outcome is worth."""
        return {"served": 1, "deposit lost": -1}.get(outcome or "", 0)


class Deduped(Counter1):
    """Requests are kept by their content, so that one of two equal ones vanishes."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Counter1`."""
        kept = {choice: agent for agent, choice in profile.items()}
        return dict.fromkeys(kept.values(), "seen")


class Chatty(Counter1):
    """All agents of the list are told something when anybody is served."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Counter1`."""
        given: dict[str, str] = super().act(profile)
        return {**dict.fromkeys(self.agents, "news"), **given} if "served" in given.values() else given
