"""The rules of ranks: a number for each state, by which a claim about whole runs follows from single steps.

Deadlock: a list with a number, or null, for each state.  A state with a number has a step that completes, or a step to
a state with a smaller number; so something completes after finitely many steps.

Liveness: `{"ranks": [number or null, …], "quiet": {rank: {"assumption": name, "ranks": …, "quiet": …}}}`.  States with
a number are those where a run may owe something, and a step that does not serve leads from them to no larger number.
So a run that is never served ends in one state, or stays at one rank for ever.  A rank with such steps inside names a
fairness assumption that no step inside serves.

- weak: every state inside offers a serving action, so to stay would be unfair;
- strong: a fair run leaves the states that offer one for good, and for the steps between the others the same rules hold
  again, with the ranks given there.
"""

# SPDX-License-Identifier: MIT
# What is read may be anything, so its parts have no known type until they are looked at.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evenhand_certificates.errors import Invalid

Ranks = list[int | None]


def _ranks(given: Any) -> Ranks:
    if not isinstance(given, list) or any(rank is not None and type(rank) is not int for rank in given):
        raise Invalid("ranks are no list of integers and null")
    return given


def _rank(ranks: Ranks, place: int) -> int | None:
    if place >= len(ranks):
        raise Invalid(f"state {place} has no place among the ranks")
    return ranks[place]


class DeadlockRanks:
    """The ranks of one claim that something completes."""

    def __init__(self, given: Any) -> None:
        self._ranks = _ranks(given)
        self._place, self._fine, self._states = 0, False, 0

    def need(self, place: int) -> None:
        """Ask for a number.  Raises Invalid."""
        if _rank(self._ranks, place) is None:
            raise Invalid(f"state {place} wants something and has no rank")

    def begin(self, place: int) -> None:
        """Begin with the steps of a state."""
        self._place, self._fine = place, _rank(self._ranks, place) is None
        self._states += 1

    def step(self, there: int, *, completes: bool) -> None:
        """Take a step from the state."""
        if not self._fine:
            own, other = _rank(self._ranks, self._place), _rank(self._ranks, there)
            self._fine = completes or (own is not None and other is not None and other < own)

    def end(self) -> None:
        """Check the number of the state.  Raises Invalid."""
        if not self._fine:
            raise Invalid(f"no step from state {self._place} completes or leads to a smaller rank")

    def close(self) -> None:
        """Refuse numbers of states that there are not.  Raises Invalid."""
        if len(self._ranks) != self._states:
            raise Invalid(f"there are {self._states} states and {len(self._ranks)} ranks")


class Inside(NamedTuple):
    """A step that serves nothing between two states of one rank; `taken` are the assumptions that it serves."""

    before: int
    after: int
    raised: bool
    taken: frozenset[str]


class LivenessRanks:
    """The ranks of one claim that what is raised is served; `kinds` are its assumptions, `weak` or `strong`."""

    def __init__(self, given: Any, kinds: Mapping[str, str], begins: str) -> None:
        self._ranks, self._quiet = _read(given)
        self._kinds, self._begins = kinds, begins
        self._offers: dict[str, set[int]] = {name: set() for name in kinds}
        self._inside: list[Inside] = []
        self._place = self._states = 0

    def arrive(self, place: int) -> None:
        """Meet a state; in a loop anything may be owed from anywhere."""
        if self._begins == "loop":
            self.owe(place)

    def owe(self, place: int) -> None:
        """Ask for a number.  Raises Invalid."""
        if _rank(self._ranks, place) is None:
            raise Invalid(f"something is owed in state {place}, which has no rank")

    def begin(self, place: int, *, ends: bool) -> None:
        """Begin with the steps of a state; `ends`: there are none.  Raises Invalid."""
        self._place = place
        self._states += 1
        if ends and self._begins != "loop" and _rank(self._ranks, place) is not None:
            raise Invalid(f"a run that owes something ends in state {place}")

    def step(self, there: int, *, raised: bool, served: bool, taken: frozenset[str]) -> None:
        """Take a step from the state.  Raises Invalid."""
        for name in taken:
            self._offers[name].add(self._place)
        if served:
            return
        own = _rank(self._ranks, self._place)
        if raised or own is not None:
            self.owe(there)
        other = _rank(self._ranks, there)
        if own is not None and other is not None:
            if other > own:
                raise Invalid(f"a step from state {self._place} to {there} raises the rank")
            if other == own:
                self._inside.append(Inside(self._place, there, raised, taken))

    def close(self) -> None:
        """Check every rank with steps inside.  Raises Invalid."""
        if len(self._ranks) != self._states:
            raise Invalid(f"there are {self._states} states and {len(self._ranks)} ranks")
        self._check(self._inside, self._ranks, self._quiet)

    def _check(self, inside: Sequence[Inside], ranks: Ranks, quiet: Mapping[str, Any]) -> None:
        levels: dict[int | None, list[Inside]] = {}
        for step in inside:
            levels.setdefault(ranks[step.before], []).append(step)
        for level, steps in levels.items():
            if self._begins == "loop" and not any(step.raised for step in steps):
                continue  # a run that stays here raises nothing any more
            reason = quiet.get(str(level))
            name = reason.get("assumption") if isinstance(reason, Mapping) else None
            if not isinstance(name, str) or name not in self._kinds:
                raise Invalid(f"rank {level} has steps inside and names no assumption that ends them")
            if any(name in step.taken for step in steps):
                raise Invalid(f"rank {level} names {name!r}, which a step inside serves")
            offering = self._offers[name]
            if self._kinds[name] == "weak":
                if any(step.before not in offering for step in steps):
                    raise Invalid(f"rank {level} names {name!r}, which a state inside does not offer")
            elif not any(step.before in offering for step in steps):  # else ranks could repeat it for ever
                raise Invalid(f"rank {level} names {name!r}, which no state inside offers")
            elif rest := [step for step in steps if step.before not in offering and step.after not in offering]:
                self._check_again(rest, reason)

    def _check_again(self, steps: Sequence[Inside], reason: Any) -> None:
        """Check the steps between states that do not offer what a strong assumption is about."""
        ranks, quiet = _read(reason)
        equal: list[Inside] = []
        for step in steps:
            own, other = _rank(ranks, step.before), _rank(ranks, step.after)
            if own is None or other is None or other > own:
                raise Invalid(f"a step from state {step.before} to {step.after} raises the second rank")
            if own == other:
                equal.append(step)
        self._check(equal, ranks, quiet)


def _read(given: Any) -> tuple[Ranks, Mapping[str, Any]]:
    ranks = _ranks(given.get("ranks") if isinstance(given, Mapping) else None)
    quiet = given.get("quiet")
    if not isinstance(quiet, Mapping):
        raise Invalid("ranks come without what they say of `quiet`")
    return ranks, quiet
