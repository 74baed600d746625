"""Plays: what is done with a fresh kernel, and what it shows.  Small plays come first: a first finding is smallest."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from evenhand.arbiters.kernels import Profile, Subject
from evenhand.arbiters.values import Names, comparable, renamed
from evenhand.core.answers import error_text

MOST_AGENTS = 3
"""Agents of the largest population whose plays are enumerated."""

MOST_ROUNDS = 2
"""Rounds of the longest play that is enumerated."""


@dataclass(frozen=True)
class Play:
    """Agents in the order in which they are listed, and the choices of each round in the order of delivery."""

    agents: tuple[str, ...]
    rounds: tuple[Profile, ...]
    seed: int = 0
    names: tuple[tuple[str, str], ...] = ()

    def under(self, names: Names) -> Play:
        """Return the same play with other names."""
        rounds = tuple(
            tuple((names.get(agent, agent), renamed(choice, names)) for agent, choice in profile)
            for profile in self.rounds
        )
        return replace(self, agents=tuple(names.get(agent, agent) for agent in self.agents), rounds=rounds)

    def exchanged(self, names: Names) -> Play:
        """Return the play in which agents have exchanged their choices; listing and delivery stay."""
        rounds = tuple(
            tuple((agent, dict(self._moved(profile, names))[agent]) for agent, _ in profile) for profile in self.rounds
        )
        return replace(self, rounds=rounds)

    def _moved(self, profile: Profile, names: Names) -> Iterator[tuple[str, Any]]:
        for agent, choice in profile:
            yield names.get(agent, agent), renamed(choice, names)

    def relabelled(self, labels: Names) -> Play:
        """Return the play with other labels in its choices."""
        rounds = tuple(tuple((agent, renamed(choice, labels)) for agent, choice in one) for one in self.rounds)
        return replace(self, rounds=rounds)


@dataclass(frozen=True)
class Round:
    """What one round showed: outcomes as the kernel gave them, its state, who holds what, and progress."""

    outcomes: Any
    observed: Any = None
    holds: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    progress: bool | None = None
    error: str = ""

    def compared(self, names: Names | None = None) -> Hashable:
        """Return what is compared of it, with names put in place of others."""
        return (
            comparable(renamed(self.outcomes, names or {})),
            comparable(renamed(self.observed, names or {})),
            self.error,
        )


@dataclass(frozen=True)
class Shown:
    """What a play showed, round by round; it ends with the first exception."""

    rounds: tuple[Round, ...]

    def compared(self, names: Names | None = None) -> Hashable:
        """Return what is compared of it."""
        return tuple(one.compared(names) for one in self.rounds)


def perform(subject: Subject, play: Play) -> Shown:
    """Perform a play with a fresh kernel.  An exception of the kernel becomes the last round's error."""
    rounds: list[Round] = []
    try:
        session = subject.start(play.agents, names=dict(play.names), seed=play.seed)
    except Exception as error:
        return Shown((Round(None, error=f"the start raised {error_text(error)}"),))
    for profile in play.rounds:
        try:
            outcomes = session.act(profile)
            kernel = session.kernel
            held = [(agent, tuple(kernel.holds(agent))) for agent, _ in profile] if "holds" in subject.abilities else []
            progress = bool(kernel.progress()) if "progress" in subject.abilities else None
            rounds.append(Round(outcomes, session.observe(), tuple(held), progress))
        except Exception as error:
            rounds.append(Round(None, error=error_text(error)))
            break
    return Shown(tuple(rounds))


def plays(subject: Subject, most_rounds: int = MOST_ROUNDS) -> Iterator[Play]:
    """Yield plays of all agents in every round, the fewest agents and rounds first."""
    sizes = range(2, MOST_AGENTS + 1) if "population" in subject.abilities else [len(subject.agents)]
    for rounds in range(1, most_rounds + 1):
        for size in sizes:
            yield from longer(subject, Play(subject.agents[:size], ()), rounds)


def longer(subject: Subject, play: Play, rounds: int = 1) -> Iterator[Play]:
    """Yield the plays that go on from `play` for that many rounds; choices may depend on what happened."""
    if rounds == 0:
        yield play
        return
    menus = _menus(subject, play)
    for picked in itertools.product(*menus):
        profile = tuple(zip(play.agents, picked, strict=True))
        yield from longer(subject, replace(play, rounds=(*play.rounds, profile)), rounds - 1)


def _menus(subject: Subject, play: Play) -> list[tuple[Any, ...]]:
    """Return each agent's choices after a play; none where the kernel raised."""
    try:
        session = subject.start(play.agents, seed=play.seed)
        for profile in play.rounds:
            session.act(profile)
        return [session.choices(agent) for agent in play.agents]
    except Exception:
        return [()]
