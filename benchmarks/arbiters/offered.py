"""Planted arbiters that a kernel's own offers bring to light: its rule, its menus, its snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from benchmarks.arbiters.strange import Counter1, Profile


class Loophole(Counter1):
    """Nobody may be served where several want it; of three the last slips through."""

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return wanting[-1] if len(wanting) == 3 else super().pick(wanting)

    def may(self, agent: str, profile: Profile, outcome: str) -> bool:
        """Return whether the rule of this counter allows an outcome."""
        return outcome != "served" or [one for one in profile if profile[one] == "want"] == [agent]


class Overdrawn(Counter1):
    """One unit; the rule says that nobody gets what is gone, and the stock is counted a round too late."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.given: list[int] = []

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        lucky = super().pick(wanting) if sum(self.given[:-1]) == 0 else None
        self.given.append(int(lucky is not None))
        return lucky

    def may(self, agent: str, profile: Profile, outcome: str) -> bool:
        """Return whether the rule of this counter allows an outcome now."""
        del agent, profile
        return outcome != "served" or sum(self.given) == 0


class Seated(Counter1):
    """Seats are handed out when agents are asked what they want; the first seat is served."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.seats: list[str] = []
        self.choices = self.asked

    def asked(self, agent: str) -> tuple[str, str]:
        """Return the choices, and seat the agent."""
        if agent not in self.seats:
            self.seats.append(agent)
        return ("want", "leave")

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        return next((agent for agent in self.seats if agent in wanting), None)


class Aliased(Counter1):
    """A snapshot is the state itself and no copy of it; who was served is not served again."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.served: set[str] = set()

    def pick(self, wanting: list[str]) -> str | None:
        """See `Counter1`."""
        lucky = super().pick(wanting)
        new = lucky is not None and lucky not in self.served
        self.served |= {lucky} if lucky else set()
        return lucky if new else None

    def observe(self) -> frozenset[str]:
        """Show who was served."""
        return frozenset(self.served)

    def snapshot(self) -> set[str]:
        """Return the state."""
        return self.served

    def restore(self, snapshot: set[str]) -> None:
        """Go back to a state."""
        self.served = snapshot


class Copied(Aliased):
    """An honest counter with a copied snapshot and a rule that it keeps."""

    def snapshot(self) -> set[str]:
        """Return a copy of the state."""
        return set(self.served)

    def restore(self, snapshot: set[str]) -> None:
        """Go back to a state."""
        self.served = set(snapshot)

    def may(self, agent: str, profile: Profile, outcome: str) -> bool:
        """Return whether the rule of this counter allows an outcome now."""
        alone = [one for one in profile if profile[one] == "want"] == [agent]
        return outcome != "served" or (alone and agent not in self.served)


class Drawn(Counter1):
    """The highest of the bids, which Hypothesis draws, is served if it is alone; bids above a million win by seat."""

    def __init__(self, agents: Sequence[str]) -> None:
        super().__init__(agents)
        self.choices: Any = st.integers(0, 2_000_000)

    def act(self, profile: Mapping[str, int]) -> dict[str, bool]:
        """Serve the highest bid."""
        best = max(profile.values())
        won = [agent for agent in self.agents if profile.get(agent) == best]
        return {agent: won[: 1 if best > 1_000_000 else 2] == [agent] for agent in profile}
