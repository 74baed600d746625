"""Kernels in which something decides that should not, and kernels that look suspicious and are honest."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Profile = Mapping[str, str]


class Desk:
    """One thing, for which agents ask; a subclass says who of several gets it."""

    def __init__(self, agents: list[str]) -> None:
        self.agents = agents
        self.choices = ["ask", "pass"]

    def winner(self, asking: list[str]) -> str | None:
        """Return who gets it; nobody if several ask."""
        return asking[0] if len(asking) == 1 else None

    def act(self, profile: Profile) -> dict[str, str]:
        """Give the thing to at most one of those who ask."""
        won = self.winner([agent for agent, choice in profile.items() if choice == "ask"])
        answer = {True: "got", False: "no"}
        return {agent: "idle" if choice == "pass" else answer[agent == won] for agent, choice in profile.items()}


class FirstListed(Desk):
    """The agent listed first wins."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return next((agent for agent in self.agents if agent in asking), None)


class LastListed(Desk):
    """The agent listed last wins."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return next((agent for agent in reversed(self.agents) if agent in asking), None)


class FirstAsked(Desk):
    """The request that is handed over first wins."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return next(iter(asking), None)


class LastAsked(Desk):
    """The request that is handed over last overwrites the others."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return asking[-1] if asking else None


class SmallestName(Desk):
    """Ties go to the smallest name."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return min(asking, default=None)


class GreatestName(Desk):
    """Ties go to the greatest name."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return max(asking, default=None)


class LongestName(Desk):
    """Ties go to the longest name; equal lengths block."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        longest = [agent for agent in asking if len(agent) == max(map(len, asking))]
        return longest[0] if len(longest) == 1 else None


class ByHash(Desk):
    """Ties go to the smallest hash, so that a new process may decide otherwise."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return min(asking, key=hash, default=None)


class ByChance(Desk):
    """Ties are drawn, and no seed can be set."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return random.choice(asking) if asking else None


class ByClock(Desk):
    """In odd hours nobody gets anything."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return super().winner(asking) if int(time.time() // 3600) % 2 else None


class Forgetful(Desk):
    """Three requests at a time are too many: the last is never answered."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        return dict(list(super().act(profile).items())[:2])


class Grudge(Desk):
    """Who got it once is never served again, and `observe` does not show it."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.served: set[str] = set()

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        won = super().winner([agent for agent in asking if agent not in self.served])
        self.served |= {won} if won else set()
        return won

    def observe(self) -> str:
        """Show that the thing is free after each round."""
        return "free"


class TwoHolders(Desk):
    """With three requests two agents hold the thing."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.held: set[str] = set()

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        asking = [agent for agent, choice in profile.items() if choice == "ask"]
        self.held = set(asking[:1]) if len(asking) < 3 else set(asking[:2])
        return {agent: "done" for agent in profile}

    def holds(self, agent: str) -> list[str]:
        """Return what the agent holds."""
        return ["thing"] if agent in self.held else []


class Penalty(Desk):
    """Asking together with others costs a fine, so staying away would be better."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        asking = [agent for agent, choice in profile.items() if choice == "ask"]
        return {agent: "fine" if agent in asking and len(asking) > 1 else "fair" for agent in profile}

    def worth(self, outcome: str | None) -> int:
        """Return what an outcome is worth."""
        return {"fine": -1, "fair": 1, None: 0}[outcome]


class Jam(Desk):
    """Two requests at once jam the desk for ever."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.jammed = self.moved = False

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        asking = sum(choice == "ask" for choice in profile.values())
        self.moved = asking == 1 and not self.jammed
        self.jammed = self.jammed or asking > 1
        return dict.fromkeys(profile, "moved" if self.moved else "stayed")

    def observe(self) -> bool:
        """Show whether the desk is jammed."""
        return self.jammed

    def progress(self) -> bool:
        """Return whether the last round moved anything."""
        return self.moved


class FixedSeats:
    """The agents cannot be chosen, and the one with the smaller number wins."""

    agents = ("left", "right")
    choices = ("ask", "pass")

    def act(self, profile: Profile) -> dict[str, str]:
        """Serve `left` first."""
        won = next((agent for agent in self.agents if profile.get(agent) == "ask"), None)
        return {agent: "got" if agent == won else "no" for agent in profile}


def first_candidate(votes: Mapping[str, str]) -> str:
    """Count votes; a tie goes to the candidate that is first in the alphabet."""
    counts = Counter(votes.values())
    return min(candidate for candidate in counts if counts[candidate] == max(counts.values()))


def chair(votes: list[str]) -> str:
    """Count votes; a tie goes to the first vote in the list, the chair's."""
    counts = Counter(votes)
    best = {candidate for candidate in counts if counts[candidate] == max(counts.values())}
    return votes[0] if votes[0] in best else min(best)


class Honest(Desk):
    """Requests that collide block one another."""


class SeededDraw(Desk):
    """Ties are drawn from a seed that can be set, one agent as likely as the other; it shows how the draw came out."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Set the seed."""
        self.seed = seed

    def winner(self, asking: list[str]) -> str | None:
        """Draw nobody where the seed is even."""
        return super().winner(asking) if self.seed % 2 == 0 else None


class Queue(Desk):
    """Who asks waits in a line that everybody sees; those of one round stand side by side and leave together."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.line: tuple[frozenset[str], ...] = ()

    def act(self, profile: Profile) -> dict[str, str]:
        """Serve the head of the line, then let the new requests stand behind it."""
        head = self.line[0] if self.line else frozenset[str]()
        asking = frozenset(agent for agent, choice in profile.items() if choice == "ask")
        self.line = (*self.line[1:], *([asking] if asking else []))
        return {agent: "served" if agent in head else "waits" for agent in profile}

    def observe(self) -> tuple[frozenset[str], ...]:
        """Show the line."""
        return self.line


def merged(parts: Mapping[str, str]) -> tuple[str, ...]:
    """Merge what agents write: every part once, in the order of the alphabet."""
    return tuple(sorted(set(parts.values())))


def unanimous(votes: Iterable[str]) -> str:
    """Return the common vote, else `none`."""
    different = set(votes)
    return different.pop() if len(different) == 1 else "none"


PLANTED: Mapping[Callable[..., Any], tuple[str, str]] = {
    FirstListed: ("listing order", "the first in `agents` gets 'got'"),
    LastListed: ("listing order", "the last in `agents` gets 'got'"),
    FirstAsked: ("delivery order", "whoever is handed over first gets 'got'"),
    LastAsked: ("delivery order", "whoever is handed over last gets 'got'"),
    SmallestName: ("names", "the smallest name gets 'got'"),
    GreatestName: ("names", "the greatest name gets 'got'"),
    LongestName: ("names", "the longest name gets 'got'"),
    ByChance: ("repetition", "random: "),
    Forgetful: ("answers", "round 1 gave no outcome to cid"),
    Grudge: ("history", "the past of bob decides what bob gets"),
    TwoHolders: ("exclusion", "after round 1 ann and bob both hold 'thing'"),
    Penalty: ("participation", "ann gets what is worth -1, and 0 when it does not ask"),
    Jam: ("progress", "no choice makes progress or changes anything from here on"),
    FixedSeats: ("exchange", "left gets 'got' and right gets 'no', whoever makes which choice"),
}
"""Kernel → the question that finds it, and how the answer names it."""
