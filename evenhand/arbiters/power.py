"""Who can block whom: the powers of single agents, as information beside the answers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.plays import Play, longer, perform
from evenhand.arbiters.values import comparable

MOST = 300
"""Plays of one round beyond which the powers are not computed."""

SIZE = 3
"""Agents whose powers are computed, where the population can be varied."""

Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Power:
    """The pairs of agents of which the first has a power over the second, in one round.

    `takes`: its choice alone changes what the other gets (in worth, where the kernel offers `worth`).  `blocks`: it has
    a choice with which the other gets the least, whatever it and all others choose; only with `worth`.
    """

    agents: tuple[str, ...]
    takes: Pairs
    blocks: Pairs | None

    @property
    def lines(self) -> tuple[str, ...]:
        """The powers in words."""
        change = "change what another gets" if self.blocks is None else "take from another what it gets otherwise"
        lines = [f"who alone can {change}: {self._told(self.takes)}"]
        if self.blocks is not None:
            lines.append(f"who alone can block another, whatever that one does: {self._told(self.blocks)}")
        return tuple(lines)

    def _told(self, pairs: Pairs) -> str:
        if len(pairs) == len(self.agents) * (len(self.agents) - 1):
            return "everyone"
        over = {one: [str(other) for other in self.agents if (one, other) in pairs] for one in self.agents}
        return "; ".join(f"{one} over {', '.join(some)}" for one, some in over.items() if some) or "nobody"


def power(subject: Subject) -> Power | None:
    """Return the powers; None where a play or `worth` raises, or where there are too many plays."""
    agents = subject.agents[:SIZE] if "population" in subject.abilities else subject.agents
    first = list(itertools.islice(longer(subject, Play(agents, ())), MOST + 1))
    if not first or len(first) > MOST or len({agent for agent, _ in first[0].rounds[0]}) < len(agents):
        return None
    table: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for play in first:
        got = _got(subject, play)
        if got is None:
            return None
        table[tuple(comparable(choice) for _, choice in play.rounds[0])] = got
    pairs = [(i, j) for i, j in itertools.permutations(range(len(agents)), 2)]
    takes = frozenset((agents[i], agents[j]) for i, j in pairs if _takes(table, i, j))
    blocks = frozenset((agents[i], agents[j]) for i, j in pairs if _blocks(table, i, j))
    return Power(agents, takes, blocks if "worth" in subject.abilities else None)


def _got(subject: Subject, play: Play) -> tuple[Any, ...] | None:
    """Return what each agent gets, in worth where there is one; None where that cannot be told."""
    shown = perform(subject, play)
    outcomes = shown.rounds[-1].outcomes
    if shown.error or not hasattr(outcomes, "get"):
        return None
    if "worth" not in subject.abilities:
        return tuple(comparable(outcomes.get(agent)) for agent in play.agents)
    worth = play.start(subject).kernel.worth
    try:
        return tuple(worth(outcomes.get(agent)) for agent in play.agents)
    except Exception:  # `participation` says so
        return None


def _takes(table: dict[tuple[Any, ...], tuple[Any, ...]], i: int, j: int) -> bool:
    """Return whether two profiles that differ in the choice of `i` alone give `j` different outcomes."""
    groups: dict[tuple[Any, ...], set[Any]] = {}
    for choices, got in table.items():
        groups.setdefault((*choices[:i], *choices[i + 1 :]), set()).add(got[j])
    return any(len(group) > 1 for group in groups.values())


def _blocks(table: dict[tuple[Any, ...], tuple[Any, ...]], i: int, j: int) -> bool:
    """Return whether one choice of `i` gives `j` the least in every profile, where another gives it more in some."""
    best: dict[Any, Any] = {}
    for choices, got in table.items():
        best[choices[i]] = max(best.get(choices[i], got[j]), got[j])
    least = min(got[j] for got in table.values())
    return least in best.values() and max(best.values()) > least
