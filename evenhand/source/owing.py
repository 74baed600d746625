"""Runs of small sizes while something is owed: what a rank must do there, and the first place where it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.fairness import OF, assumed
from evenhand.core.kinds import Liveness
from evenhand.core.system import AnyStep, Fairness
from evenhand.core.text import describe
from evenhand.source.assumptions import Assumption, smaller
from evenhand.source.reached import Reached

MOST = 300
"""States of each size from which a rank is guessed, or on which one is tried."""

Member = tuple[str, tuple[str, ...]]
"""An assumption by its name and, if it is one of each agent, by the agent."""

Members = frozenset[Member]


@dataclass(frozen=True)
class Place:
    """A state in which something is owed or not, the assumptions with an action on offer, and how a run gets there."""

    run: Reached
    state: Any
    owed: bool
    offered: Members
    actions: tuple[Any, ...]


@dataclass(frozen=True)
class Change:
    """A step that was run while something is owed and that does not serve it; `serves` are assumptions it serves.

    `attempt` is, of a claim about loops, that one must not go through it for ever.
    """

    before: int
    after: int
    action: Any
    serves: Members
    attempt: bool


class Owing:
    """The places and steps of all small sizes."""

    def __init__(self, claim: Liveness, fair: Mapping[str, Assumption], runs: Sequence[Reached]) -> None:
        self.claim, self.fair = claim, fair
        self.loops = claim.begins == "loop"
        self.places: list[Place] = []
        self.changes: list[Change] = []
        for run in runs:
            self._run(run)

    def _run(self, run: Reached) -> None:
        system, config, begins = run.system, run.config, self.claim.begins
        raises, serves = self.claim.tests
        fair = {self._member(name): one for name, one in self._assumed(run).items()}
        known: dict[tuple[Any, bool], int] = {}
        waiting: list[int] = []

        def place(state: Any, owed: bool, actions: tuple[Any, ...]) -> int:
            if (state, owed) not in known:
                known[state, owed] = len(self.places)
                waiting.append(len(self.places))
                listed = list(system.enabled(config, state))
                offered = frozenset(m for m, one in fair.items() if any(one.taken(state, action) for action in listed))
                self.places.append(Place(run, state, owed, offered, actions))
            return known[state, owed]

        for start in system.initial(config):
            place(start, begins != "step", ())
        while waiting and len(known) < MOST:
            before = waiting.pop(0)
            here = self.places[before]
            for action in system.enabled(config, here.state):
                step = system.take(config, here.state, action)
                served = serves(step)
                owed = self.loops or ((here.owed or (begins == "step" and raises(step))) and not served)
                after = place(step.after, owed, (*here.actions, action))
                if here.owed and not served:
                    serving = _served(fair, step)
                    self.changes.append(Change(before, after, action, serving, self.loops and raises(step)))

    def _member(self, name: str) -> Member:
        """The member of an assumption that a configuration calls by this name."""
        family = next((one for one in self.fair if one != name and name.startswith(one + OF)), name)
        variables = self.fair[family].variables
        return family, tuple(f"{one.sort.name}.{name.removeprefix(family + OF)}" for one in variables)

    def idle(self, helps: Sequence[Members]) -> Iterator[int]:
        """Yield the places where something is owed and no assumption that helps has an action on offer."""
        for number, (place, helping) in enumerate(zip(self.places, helps, strict=True)):
            if place.owed and not self.loops and self.fair and not helping & place.offered:
                yield number

    def must_fall(self, change: Change, helps: Sequence[Members]) -> bool:
        """Return whether a rank must fall by a step."""
        if self.loops or not self.fair:
            return change.attempt or not self.loops
        here, there = helps[change.before], helps[change.after]
        if change.serves & here:
            return True
        offered, later = self.places[change.before].offered, self.places[change.after].offered
        return any(
            (one in offered and one not in there & later) if self.fair[one[0]].kind == "weak" else one not in there
            for one in here
        )

    def objection(self, helps: Sequence[Members]) -> str:
        """Return where the claim's own rank does not do what it must, in a run that was run; empty: nowhere."""
        assert self.claim.rank is not None
        for number in self.idle(helps):
            return f"nothing that helps is on offer in {self._told(number)}"
        ranks = [self.claim.rank(one.run.config, one.state) for one in self.places]
        for change in self.changes:
            before, after = ranks[change.before], ranks[change.after]
            if after == before and not self.must_fall(change, helps):
                continue
            if not smaller(after, before):
                how = "falls below 0" if after < before else "does not fall" if after == before else "rises"
                said = f"from {describe(before)} to {describe(after)} by {describe(change.action)}"
                return f"the rank {how}: {said} in {self._told(change.before)}"
        return ""

    def helping(self) -> list[Members]:
        """Return, for each place, which assumptions help there, as the claim says; all if it says nothing."""
        helps = self.claim.helps
        found: list[Members] = []
        for place in self.places:
            members = self.members(place)
            if helps is not None:
                config, state = place.run.config, place.state
                members = [one for one in members if not one[1] or helps(config, state, _agent(one))]
            found.append(frozenset(members))
        return found

    def members(self, place: Place) -> list[Member]:
        """Return the assumptions of a configuration."""
        return [self._member(name) for name in self._assumed(place.run)]

    def _assumed(self, run: Reached) -> Mapping[str, Fairness[Any, Any]]:
        return assumed(run.system.fair(run.config), self.fair)

    def _told(self, number: int) -> str:
        place = self.places[number]
        actions = ", ".join(map(describe, place.actions))
        return f"{describe(place.state)}, with {dict(place.run.system.scope)}, after [{actions}]"


def _served(fair: Mapping[Member, Fairness[Any, Any]], step: AnyStep) -> Members:
    return frozenset(member for member, one in fair.items() if one.taken(step.before, step.action))


def _agent(member: Member) -> int:
    return int(member[1][0].rpartition(".")[2])
