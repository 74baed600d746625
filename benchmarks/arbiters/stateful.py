"""Planted arbiters as strangers would write them: the past, what is held, progress, an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

from benchmarks.arbiters.strange import Counter1, Profile


class Leaking(Counter1):
    """A counter belongs to the class and not to the kernel, so that earlier kernels decide ties."""

    served: ClassVar[list[int]] = [0]

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        self.served[0] += 1
        return sorted(wanting)[self.served[0] % len(wanting)] if wanting else None


class Incumbent(Counter1):
    """Whoever was served in the round before wins a tie, which `observe` does not show."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.before: str | None = None

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        self.before = self.before if self.before in wanting else super().pick(wanting)
        return self.before

    def observe(self) -> str:
        """Show that the counter is open."""
        return "open"


class Seniority(Counter1):
    """Of several the one with the most requests so far is served, which `observe` does not show."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.asked = dict.fromkeys(self.agents, 0)

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        most = max((self.asked[agent] for agent in wanting), default=0)
        lucky = super().pick([agent for agent in wanting if self.asked[agent] == most])
        for agent in wanting:
            self.asked[agent] += 1
        return lucky

    def observe(self) -> str:
        """Show that the counter is open."""
        return "open"


class SpareKey(Counter1):
    """A key is lent; whoever wants it alone gets it, though another may have it still."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.lent: set[str] = set()

    def act(self, profile: Profile) -> dict[str, str]:
        """Lend and take back."""
        self.lent -= {agent for agent, choice in profile.items() if choice == "leave"}
        return super().act(profile)  # type: ignore[no-any-return]

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        new = [agent for agent in wanting if agent not in self.lent]
        lucky = super().pick(new)
        self.lent |= {lucky} if lucky else set()
        return lucky

    def holds(self, agent: str) -> list[str]:
        """Return the key."""
        return ["key"] if agent in self.lent else []


class Philosophers:
    """Two forks between two; each takes one, and keeps it until it has both."""

    def __init__(self, agents: Sequence[str]) -> None:
        self.agents = list(agents)
        self.forks: dict[str, str] = {}
        self.ate = False

    def choices(self, agent: str) -> list[str]:
        """Return which fork may be reached for; who has one can only wait."""
        return ["wait"] if agent in self.forks.values() else ["rest", "left", "right"]

    def act(self, profile: Profile) -> dict[str, str]:
        """Reach for the forks; eat if one agent alone has reached."""
        reached = {fork: [a for a, choice in profile.items() if choice == fork] for fork in ("left", "right")}
        for fork, agents in reached.items():
            if len(agents) == 1 and fork not in self.forks:
                self.forks[fork] = agents[0]
        holders = set(self.forks.values())
        self.ate = len(holders) == 1 and len(self.forks) == 1
        self.forks = {} if self.ate else self.forks
        return dict.fromkeys(profile, "ate" if self.ate else "hungry")

    def observe(self) -> tuple[tuple[str, str], ...]:
        """Show who has which fork."""
        return tuple(sorted(self.forks.items()))

    def progress(self) -> bool:
        """Return whether somebody ate."""
        return self.ate


class Polite(Counter1):
    """Two that meet step to the same side, and again to the other, for ever."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.side, self.passed = "", False

    def act(self, profile: Profile) -> dict[str, str]:
        """Walk."""
        met = list(profile.values()).count("want") > 1
        if self.side or met:
            self.side = "right" if self.side == "left" else "left"
        self.passed = not self.side and "want" in profile.values()
        return dict.fromkeys(profile, "passed" if self.passed else "stepped aside")

    def observe(self) -> str:
        """Show where they stand."""
        return self.side

    def progress(self) -> bool:
        """Return whether somebody passed."""
        return self.passed


class Skipping(Counter1):
    """Each round another agent comes first; the last in the list never does."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.round = 0

    def order(self) -> list[str]:
        """Return who comes first in the next round, and who then."""
        first = self.round % (len(self.agents) - 1)
        return self.agents[first:] + self.agents[:first]

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        lucky = next((agent for agent in self.order() if agent in wanting), None)
        self.round += 1
        return lucky


class Corridor:
    """An environment with PettingZoo's parallel interface: of two that push, the one listed last gets the reward."""

    def __init__(self) -> None:
        self.possible_agents = ["north", "south"]
        self.agents: list[str] = []

    def action_space(self, agent: str) -> Any:
        """Return two actions: rest and push."""
        del agent
        return SimpleNamespace(n=2, start=0)

    def reset(self, seed: int | None = None) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
        """Start."""
        del seed
        self.agents = list(self.possible_agents)
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, int]) -> tuple[dict[str, Any], ...]:
        """Reward the last that pushes."""
        here = list(self.agents)
        lucky = next((agent for agent in reversed(here) if actions.get(agent) == 1), None)
        reward = {agent: float(agent == lucky) for agent in here}
        never = dict.fromkeys(here, False)
        return dict.fromkeys(here, 0), reward, never, dict(never), {agent: {} for agent in here}
