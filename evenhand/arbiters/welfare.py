"""Questions about what outcomes are worth: who loses by asking, by asking for more, or by what another refuses."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from dataclasses import replace

from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.plays import Play, Shown, longer, menus, perform, without
from evenhand.arbiters.question import Question, Witness
from evenhand.arbiters.shares import less, worths
from evenhand.arbiters.values import comparable
from evenhand.core.text import describe

MOST = 200
"""Plays that are looked at to see whether one choice gains anything."""


def _mean(worth: list[float]) -> str:
    return f"{sum(worth) / len(worth):g}"


def _whole(play: Play, shown: Shown) -> bool:
    """Return whether every round came to its end, with an outcome for each agent."""
    done = bool(shown.rounds) and not shown.error and len(shown.rounds) == len(play.rounds)
    return done and hasattr(shown.rounds[-1].outcomes, "get")


class Participation(Question):
    """Is an agent better off when it does not ask?"""

    name = "participation"
    sentence = "No agent is worse off because it asks."
    needs = (("worth",),)

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Leave each agent out of the last round, and compare what it gets itself.  Raises Unable."""
        if not _whole(play, shown):
            return None
        for agent, _ in play.rounds[-1]:
            other = without(play, agent)
            mine, absent = worths(subject, play, agent), worths(subject, other, agent)
            if less(mine, absent):
                why = f"{agent} gets what is worth {_mean(mine)}, and {_mean(absent)} when it does not ask"
                return Witness(play, shown, why, f"{agent} does not ask", other, perform(subject, other))
        return None


class Monotonicity(Question):
    """Is an agent worse off because it asks for more?"""

    name = "monotonicity"
    sentence = "No agent is worse off because it asks for more."
    needs = (("more",), ("worth",))

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Let each agent ask for more in the last round, by the kernel's own order of choices.  Raises Unable."""
        if not _whole(play, shown):
            return None
        more = play.start(subject).kernel.more
        before = replace(play, rounds=play.rounds[:-1])
        offered = menus(subject, before)
        for agent, choice in play.rounds[-1]:
            for greater in (one for one in offered.get(agent, ()) if more(one, choice)):
                last = tuple((one, greater if one == agent else picked) for one, picked in play.rounds[-1])
                other = replace(before, rounds=(*before.rounds, last))
                mine, theirs = worths(subject, play, agent), worths(subject, other, agent)
                if less(theirs, mine):
                    change = f"{agent} asks for more: {describe(greater)}"
                    why = f"{agent} gets what is worth {_mean(mine)}, and {_mean(theirs)} when it asks for more"
                    return Witness(play, shown, why, change, other, perform(subject, other))
        return None


class Veto(Question):
    """Does a refusal take from others what they get where the refusing agent does not ask at all?

    A refusal is a choice by which an agent never gains, in any small play.
    """

    name = "veto"
    sentence = "A choice that gains nothing for its agent makes no other agent worse off."
    needs = (("worth",),)

    def __init__(self) -> None:
        self._gains: dict[Hashable, bool] = {}

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Leave each agent out of a first round, and compare what the others get.  Raises Unable."""
        if len(play.rounds) != 1 or not _whole(play, shown):
            return None
        for agent, choice in play.rounds[0]:
            if (loser := self._blocked(subject, play, agent)) and not self._may_gain(subject, play, agent):
                other = without(play, agent)
                why = f"{describe(choice)} of {agent} gains it nothing, and {loser} gets more when {agent} does not ask"
                return Witness(play, shown, why, f"{agent} does not ask", other, perform(subject, other))
        return None

    def named(self, subject: Subject, witness: Witness) -> str:
        """Return who has the veto: let each agent refuse in the place of the one that does."""
        play, other = witness.play, witness.other
        assert other is not None
        asking = [one for one, _ in other.rounds[0]]
        agent, choice = next(pair for pair in play.rounds[0] if pair[0] not in asking)
        having = [agent]
        for one in asking:
            swapped = play.exchanged({agent: one, one: agent})
            offered = menus(subject, replace(play, rounds=())).get(one, ())
            if comparable(choice) in map(comparable, offered) and self._blocked(subject, swapped, one):
                having.append(one)
        who = "any agent" if set(having) == set(play.agents) else ", ".join(map(str, having))
        return f"veto: {describe(choice)} of {who} takes from others what they get without it"

    def _blocked(self, subject: Subject, play: Play, agent: str) -> str:
        """Return who gets less than where this agent does not ask; empty if nobody does."""
        other = without(play, agent)
        for one, _ in other.rounds[0]:
            if less(worths(subject, play, one), worths(subject, other, one)):
                return one
        return ""

    def _may_gain(self, subject: Subject, play: Play, agent: str) -> bool:
        """Return whether the agent's choice gains anything for it alone, or in a play of up to two rounds."""
        key = (play.agents, agent, comparable(dict(play.rounds[0])[agent]))
        if key not in self._gains:
            alone = replace(play, rounds=(tuple(pair for pair in play.rounds[0] if pair[0] == agent),))
            absent = worths(subject, without(play, agent), agent)
            self._gains[key] = less(absent, worths(subject, alone, agent)) or any(
                less(worths(subject, without(one, agent, 0), agent), worths(subject, one, agent))
                for one in itertools.islice(_with_choice(subject, play, agent), MOST)
            )
        return self._gains[key]


def _with_choice(subject: Subject, play: Play, agent: str) -> Iterator[Play]:
    """Yield the plays of one and two rounds in which the agent starts with the choice that it makes in this play."""
    choice = comparable(dict(play.rounds[0])[agent])
    for rounds in (1, 2):
        for one in longer(subject, replace(play, rounds=()), rounds):
            if comparable(dict(one.rounds[0]).get(agent)) == choice:
                yield one
