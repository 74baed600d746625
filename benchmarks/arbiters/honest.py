"""Honest kernels that look suspicious: a draw, a rotation, a line, a merge, a clock that is read; nothing decides."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import evenhand
from benchmarks.arbiters.stateful import Corridor
from benchmarks.arbiters.strange import Counter1, Profile
from tests.engines.arbiters.test_honest import Cud as Reference


def _sum(parts: Mapping[str, int]) -> int:
    total = 0
    for agent in sorted(parts):
        total += parts[agent]
    return total


def _union(parts: Profile) -> tuple[str, ...]:
    return tuple(sorted(set(parts.values())))


def _majority(votes: Profile) -> tuple[str, ...]:
    counts = Counter(votes.values())
    return tuple(sorted(one for one in counts if counts[one] == max(counts.values())))


Commutative = evenhand.rule(_sum, [1, 2, 5])
"""A merge by a sum, in the order of the names."""

union = evenhand.rule(_union, ["a", "b", "c"])
"""A merge into a sorted set."""

Majority = evenhand.rule(_majority, ["x", "y"])
"""Most votes win; a tie is told as a tie."""


class Cud(Reference):
    """The reference kernel of `cud`."""


class AnnouncedDraw(Counter1):
    """A tie is drawn, each as likely as another, from a seed that can be set."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.draw = random.Random(0)

    def reset(self, seed: int) -> None:
        """Set the seed."""
        self.draw = random.Random(seed)

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return self.draw.choice(wanting) if wanting else None


class Sortition(AnnouncedDraw):
    """An office is drawn anew each round among those who stand for it: the greatest of numbers drawn for each."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        numbers = {agent: self.draw.random() for agent in wanting}
        return max(numbers, key=lambda agent: numbers[agent], default=None)


class Turns(Counter1):
    """Each round another agent comes first, by a declared order."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.round = 0

    def order(self) -> list[str]:
        """Return who comes first in the next round, and who then."""
        first = self.round % len(self.agents)
        return self.agents[first:] + self.agents[:first]

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        lucky = next((agent for agent in self.order() if agent in wanting), None)
        self.round += 1
        return lucky


class Line(Counter1):
    """Who wants it stands in a line that everybody sees; those of one round stand side by side."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.line: list[frozenset[str]] = []

    def act(self, profile: Profile) -> dict[str, str]:
        """Serve the head of the line together."""
        head: frozenset[str] = self.line.pop(0) if self.line else frozenset()
        if wanting := frozenset(agent for agent, choice in profile.items() if choice == "want"):
            self.line.append(wanting)
        return {agent: "served" if agent in head else "in line" for agent in profile}

    def observe(self) -> tuple[frozenset[str], ...]:
        """Show the line."""
        return tuple(self.line)


class Sealed(Counter1):
    """Sealed bids for one unit; those with the highest bid share it in equal parts."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.choices = (1, 2, 3)

    def act(self, profile: Mapping[str, int]) -> dict[str, Fraction]:
        """Open the bids."""
        best = max(profile.values())
        won = [agent for agent, bid in profile.items() if bid == best]
        return {agent: Fraction(agent in won, len(won)) for agent in profile}

    def more(self, bid: int, than: int) -> bool:
        """Return whether a bid is higher."""
        return bid > than

    def worth(self, outcome: Fraction | None) -> Fraction:
        """Return the share."""
        return outcome or Fraction(0)


class ProRata(Sealed):
    """Two units are shared in proportion to what was asked."""

    def act(self, profile: Mapping[str, int]) -> dict[str, Fraction]:
        """Share."""
        asked = sum(profile.values())
        return {agent: units * min(Fraction(1), Fraction(2, asked)) for agent, units in profile.items()}


class Vickrey(Sealed):
    """The highest bid pays the second highest, in the order of sorted bids; equal bids sell nothing."""

    def act(self, profile: Mapping[str, int]) -> dict[str, Fraction]:
        """Sell something that is worth three to everybody."""
        bids = sorted(profile.values())[::-1]
        second = bids[1] if len(bids) > 1 else 0
        return {agent: Fraction(3 - second if bid > second else 0) for agent, bid in profile.items()}


class TimeOut(Counter1):
    """Whoever holds it loses it after the next round, whoever it is, which is seen; collisions block."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.holder: str | None = None

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        self.holder = None if self.holder else super().pick(wanting)
        return self.holder

    def observe(self) -> str | None:
        """Show the holder."""
        return self.holder

    def holds(self, agent: str) -> list[str]:
        """Return the thing."""
        return ["thing"] if agent == self.holder else []

    def progress(self) -> bool:
        """Return whether somebody holds it."""
        return self.holder is not None


class SortedLoop(Counter1):
    """It goes through the names in order, and tells each how many want it."""

    def act(self, profile: Profile) -> dict[str, int]:
        """Count."""
        told: dict[str, int] = {}
        for agent in sorted(profile):
            told[agent] = sum(choice == "want" for choice in profile.values())
        return told


class Log(Counter1):
    """It prints and keeps a log that nobody reads."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.log: list[Any] = []

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Counter1`."""
        self.log.append(dict(profile))
        print(len(self.log), profile)
        return super().act(profile)  # type: ignore[no-any-return]

    def observe(self) -> str:
        """Show that the counter is open."""
        return "open"


class Clocked(Counter1):
    """It reads the clock and the hash of names, for a trace that decides nothing."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        self.trace = (time.time(), [hash(agent) for agent in wanting])
        return super().pick(wanting)


class Careful(Counter1):
    """Threads count under a lock."""

    threads = True

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.lock, self.total = threading.Lock(), 0

    def act(self, profile: Profile) -> dict[str, str]:
        """Count those who want it."""
        with self.lock:
            for choice in profile.values():
                self.total += choice == "want"
        return dict.fromkeys(profile, "counted")

    def observe(self) -> int:
        """Show the sum."""
        return self.total


class Lake(Corridor):
    """Those that push together stay where they are."""

    def step(self, actions: Mapping[str, int]) -> tuple[dict[str, Any], ...]:
        """Reward one that pushes alone."""
        alone = sum(actions.values()) == 1
        return super().step(actions if alone else dict.fromkeys(actions, 0))


class Renamer:
    """Two seats that can be renamed; both may sit if they come one at a time."""

    def __init__(self) -> None:
        self.agents = ["white", "black"]
        self.choices = ["move", "rest"]

    def rename(self, names: Mapping[str, str]) -> None:
        """Give the seats other names."""
        self.agents = [names[agent] for agent in self.agents]

    def act(self, profile: Profile) -> dict[str, str]:
        """Let one move alone."""
        moving = [agent for agent in self.agents if profile.get(agent) == "move"]
        return {agent: "moved" if moving == [agent] else "rested" for agent in profile}
