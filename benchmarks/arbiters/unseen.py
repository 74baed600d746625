"""Planted arbiters written without reading the code of the questions: mistakes that pass a review."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

import evenhand
from benchmarks.arbiters.strange import Counter1, Profile


def _most_common(votes: Profile) -> str:
    return Counter(votes.values()).most_common(1)[0][0]  # type: ignore[no-any-return]


def _total(parts: Mapping[str, float]) -> float:
    total = 0.0
    for part in parts.values():
        total += part
    return total


most_common = evenhand.rule(_most_common, ["x", "y"], labels=["x", "y"])
"""Plurality by `Counter.most_common`, which answers a tie with the vote that it met first."""

float_total = evenhand.rule(_total, [0.1, 0.2, 0.3])
"""A sum of floats depends on the order of its parts."""


class Wordy(Counter1):
    """Several requests are one message each; the longest is read first."""

    labels = ("want", "want please", "want it very much")

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.choices = self.labels

    def act(self, profile: Profile) -> dict[str, str]:
        """Tell everybody which message was read."""
        read: str = max(profile.values(), key=len)
        return dict.fromkeys(profile, read)


class Uptime(Counter1):
    """A lease whose hours are counted by the monotonic clock; in odd hours nobody is served."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return super().pick(wanting) if int(time.monotonic()) // 3600 % 2 == 0 else None


class Request:
    """One who waits."""

    def __init__(self, agent: str) -> None:
        self.agent = agent


class FirstDone(Counter1):
    """Requests are objects in a set, as `asyncio.wait` returns them; the first of the set is served."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        pending = {Request(agent) for agent in wanting}
        return next((request.agent for request in pending), None)


class Mailbox(Counter1):
    """A request is kept under the first three letters of a name, so that agents with like names share a box."""

    def act(self, profile: Profile) -> dict[str, str]:
        """Tell each what lies in its box."""
        boxes = {agent[:3]: choice for agent, choice in profile.items()}
        return {agent: boxes[agent[:3]] for agent in profile}


class Waiting(Counter1):
    """A default argument that all kernels share: who asked an earlier kernel is known already."""

    def __init__(self, agents: Sequence[str], known: set[str] = set()) -> None:  # noqa: B006
        super().__init__(agents)
        self.known = known

    def act(self, profile: Profile) -> dict[str, str]:
        """Serve those that are known."""
        told = {agent: "served" if agent in self.known else "registered" for agent in profile}
        self.known.update(profile)
        return told


class Permits(Counter1):
    """Three permits; each collision loses one, and without a permit nobody is ever served."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.permits, self.served = 3, False

    def act(self, profile: Profile) -> dict[str, str]:
        """Serve whoever asks alone."""
        wanting = [agent for agent, choice in profile.items() if choice == "want"]
        if len(wanting) > 1:
            self.permits = max(0, self.permits - 1)
        self.served = len(wanting) == 1 and self.permits > 0
        return {agent: "served" if self.served and agent in wanting else "not served" for agent in profile}

    def observe(self) -> int:
        """Show the permits."""
        return self.permits

    def progress(self) -> bool:
        """Return whether somebody was served."""
        return self.served


class NoShow(Counter1):
    """A motion needs two votes to count at all; one who is against it brings the quorum and so the motion."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.choices = ("for", "against")

    def act(self, profile: Profile) -> dict[str, str]:
        """Count; an exact tie carries."""
        votes = list(profile.values())
        carried = len(votes) >= 2 and votes.count("for") >= votes.count("against")
        return {agent: self.told(choice, carried) for agent, choice in profile.items()}

    def told(self, choice: str, carried: bool) -> str:
        """Return what the motion means for a voter."""
        return ("pleased" if choice == "for" else "overruled") if carried else "as before"

    def worth(self, outcome: str | None) -> int:
        """Return what an outcome is worth."""
        return {"pleased": 1, "overruled": -1}.get(outcome or "", 0)


class Misrouted(Counter1):
    """The answers are made in the order of the requests and handed out in the order of the names."""

    def act(self, profile: Profile) -> dict[str, str]:
        """Repeat to each what it said, or mean to."""
        return dict(zip(sorted(profile), profile.values(), strict=True))


class WarmCache(Counter1):
    """What was decided is kept by how many asked, so that the winner of an earlier round wins again."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.kept: dict[int, dict[str, str]] = {}

    def act(self, profile: Profile) -> dict[str, str]:
        """Serve one that asks alone, or look up what was decided for as many."""
        wanting = list(profile.values()).count("want")
        return dict(self.kept.setdefault(wanting, super().act(profile)))

    def observe(self) -> str:
        """Show that the counter is open."""
        return "open"


class Poisoned(Counter1):
    """A bad request ends the batch: those listed before it are served, it and those after it are not."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.choices = ("want", "nonsense")

    def act(self, profile: Profile) -> dict[str, str]:
        """Serve until something cannot be read."""
        told = dict.fromkeys(profile, "not served")
        for agent in self.agents:
            if profile.get(agent) == "nonsense":
                break
            if agent in told:
                told[agent] = "served"
        return told
