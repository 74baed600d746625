"""Symmetric search for the engine: divide a configuration's states, search, compare samples, decide the claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.answers import ModelError, error_text
from evenhand.core.kinds import Liveness, Monitor, Property, Reachable, Safety
from evenhand.core.system import AnySystem
from evenhand.core.temporal import AboutRuns
from evenhand.search.bounds import Bounds
from evenhand.search.contract import initial_states
from evenhand.search.estimate import ends_at_once
from evenhand.search.liveness import decide
from evenhand.search.steps import Method
from evenhand.search.symmetric.check import compare_orbits
from evenhand.search.symmetric.group import AnyQuotient, Group, NoGroup, group_of
from evenhand.search.symmetric.learner import Alone, OrbitLearner
from evenhand.search.symmetric.walk import OrbitWalk
from evenhand.search.tables.asking import MoreRead
from evenhand.search.tables.expressions import Unfollowed
from evenhand.search.tables.method import RESTARTS, graph_of, tally_of
from evenhand.search.tables.questions import Questions
from evenhand.search.tables.shape import Path, Reshaped, Shape
from evenhand.search.tables.watching import Budget
from evenhand.search.totals import Result
from evenhand.search.witness import NotLearned, Progress, Tally


@dataclass
class Orbits:
    """Symmetric search; `below` takes over a configuration that it cannot search (None: no fallback)."""

    system: AnySystem
    quotient: AnyQuotient
    below: Method | None = None

    name = "symmetric"

    def result(
        self, config: Any, number: int, claims: Sequence[Property], bounds: Bounds, tick: Progress | None
    ) -> Result:
        """Return the counts and tallies of one configuration.  Raises NotLearned or ModelError."""
        aside = {
            place: f"{why}, and symmetric search keeps orbits"
            for place, claim in enumerate(claims)
            if (why := beyond_orbits(claim))
        }
        walk = self.search(config, number, claims, aside, bounds, tick)
        asked = [place for place in range(len(claims)) if place not in aside]
        found = [Tally(1, walk.transitions, 0, doubts=(aside.get(place, ""),)) for place in range(len(claims))]
        for place, index in zip(asked, range(len(asked)), strict=True):
            found[place] = _tally(walk, index, claims[place])
        every = zip(claims, found, strict=True)
        return walk.result(tally if claim.applies(config) else Tally() for claim, tally in every)

    def search(
        self,
        config: Any,
        number: int,
        claims: Sequence[Property] = (),
        aside: dict[int, str] | None = None,
        bounds: Bounds | None = None,
        tick: Progress | None = None,
    ) -> OrbitWalk:
        """Search one configuration and compare samples; claims that cannot be followed are put `aside`.

        Raises NotLearned or ModelError.
        """
        within, left = Bounds() if bounds is None else bounds, {} if aside is None else aside
        opaque: set[Path] = set()
        alone: frozenset[int] = frozenset()
        learner: OrbitLearner | None = None
        for _ in range(RESTARTS):
            asked = [place for place in range(len(claims)) if place not in left]
            try:
                if learner is None:
                    shape, group = self._divided(config, opaque)
                    if self.below is not None and ends_at_once(self.system, config):
                        raise NotLearned("no step leads to a state that offers another, so that none is saved")
                    budget = Budget(float("inf"))
                    learner = OrbitLearner(self.system, config, shape, budget, self.quotient, group, alone)
                if len(learner.claims) != len(asked):
                    learner.claims = [claims[place] for place in asked]
                    learner.ask(Questions(self.system, config, learner.claims))
                walk = OrbitWalk(learner, number, within)
                walk.run(walk.starts(), tick, compare_orbits)
                if learner.of_monitors:
                    walk.remember()
                    compare_orbits(walk, walk.states)
                return walk
            except Reshaped as error:
                opaque.add(error.path)
                learner = None
            except Alone as error:
                alone |= error.columns
                learner = None
            except MoreRead as error:
                if learner is None:
                    raise
                learner.more_read(error.columns)
            except Unfollowed as error:
                if self.below is not None:
                    raise
                left[asked[error.claim]] = f"symmetric search cannot follow it: {error}"
            except (NotLearned, ModelError):
                raise
            except OverflowError as error:
                raise NotLearned("there are more steps than are counted here") from error
            except Exception as error:  # another method does without tables, whatever is wrong with them
                raise NotLearned(f"an error in the tables, {error_text(error)}") from error
        raise NotLearned("too much is read that was not read before")

    def _divided(self, config: Any, opaque: set[Path]) -> tuple[Shape, Group]:
        """The layout of a configuration's states, and its group.  Raises NoGroup."""
        if self.quotient.swap is None:
            raise NoGroup(f"{self.system.label}: quotient {self.quotient.name!r} exchanges no names")
        states = list(initial_states(self.system, config))
        shape = Shape(states, opaque)
        return shape, group_of(self.system, self.quotient, config, shape, states[0])

    def why(self, config: Any) -> str:
        """Return why this method was chosen, in one sentence.  Raises NotLearned."""
        _, group = self._divided(config, set())
        return (
            f"quotient {self.quotient.name!r} is licensed and leaves this configuration as it is in {group.order} "
            "ways: one state of each orbit, from learned tables; samples and their images were compared with the step"
        )


def _tally(walk: OrbitWalk, number: int, claim: Property) -> Tally:
    """The tally of a claim; one that may tell images apart has no findings on picked states."""
    if not claim.applies(walk.learner.config):
        return Tally()
    if number in walk.doubts:
        total = walk.size if getattr(claim, "reads", "") == "states" else walk.transitions
        return Tally(1, total, doubts=(walk.doubts[number],))
    if isinstance(claim, AboutRuns):
        return decide(claim, graph_of(walk, walk.learner.claims))
    if isinstance(claim, Monitor):
        return walk.histories[number].tally()
    return tally_of(walk, number, claim)


def beyond_orbits(claim: Property) -> str:
    """Return why a claim is not decided on orbits; empty where it is, unless it tells images apart."""
    if isinstance(claim, Liveness) and claim.fairness:
        return f"claim {claim.name!r} assumes fairness, perhaps of single agents, which trade places on the way"
    if isinstance(claim, Reachable | AboutRuns | Monitor) or (isinstance(claim, Safety) and claim.reads != "histories"):
        return ""
    return f"a claim of kind {claim.kind} needs the steps themselves"


def reason_against(system: AnySystem, claims: Sequence[Property]) -> str:
    """Return why symmetric search is not even tried; empty where it is."""
    if system.joint is None:
        return "its actions are no joint choices"
    if system.constrained:
        return "constraints are asked of each state and step"
    return next((why for claim in claims if (why := beyond_orbits(claim))), "")
