"""When tables are tried, and what a search from them gives: the result of explicit search, number by number.

Explicit search begins.  When it has found `ENOUGH` states, tables are learned from some of these, for a share of what
these cost.  If that is enough, the search starts again on tables.  If it is not, learning goes on when there are more
states.  If anything differs or cannot be followed, explicit search goes on where it was, and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from evenhand.core.answers import ModelError, error_text
from evenhand.core.kinds import DeadlockFree, Property
from evenhand.core.system import AnySystem
from evenhand.core.temporal import AboutRuns
from evenhand.search import tables
from evenhand.search.actions import NOTHING, ActionsWatch
from evenhand.search.bounds import Bounds
from evenhand.search.contract import initial_states
from evenhand.search.liveness import RunGraph, decide
from evenhand.search.tables.audit import audit
from evenhand.search.tables.expressions import Spent
from evenhand.search.tables.learning import Learner
from evenhand.search.tables.questions import MET, VIOLATED, Questions
from evenhand.search.tables.shape import Path, Reshaped, Shape
from evenhand.search.tables.walk import TableWalk
from evenhand.search.tables.watching import Budget
from evenhand.search.totals import Finished, Result
from evenhand.search.walk import Walk
from evenhand.search.witness import NotLearned, Progress, Tally

SHARE = 0.6
"""What learning may cost, as a share of what explicit search has cost; it goes on later where that is too little."""

AHEAD = 2
"""Up to how many times as many states as were found count for that share, if the search will find as many."""

ATTEMPTS = 4
"""Attempts with enough states, each with half as many states again."""

SAMPLE = 1_000
"""Known states from which tables are learned first."""

RESTARTS = 200
"""How often a search may begin again because a part has no fixed shape, more is read, or a claim cannot be followed."""


class Attempt:
    """One attempt to go on from tables, in the midst of an explicit search of one configuration."""

    def __init__(
        self,
        system: AnySystem,
        config: Any,
        number: int,
        claims: Sequence[Property],
        bounds: Bounds,
        tick: Progress | None,
        counting: ActionsWatch | None,
    ) -> None:
        self.system, self.config, self.number, self.claims = system, config, number, claims
        self.bounds, self.tick, self.counting = bounds, tick, counting
        self.size, self.steps, self.budget = min(tables.EARLY, tables.ENOUGH), tables.NEVER, Budget(SHARE)
        self.why, self.left = "", ATTEMPTS
        self.served: Sequence[Property] = claims
        self.aside: dict[int, str] = {}
        self.opaque: set[Path] = set()
        self.sets: dict[Path, frozenset[Any]] = {}
        self.learner: Any = None
        self.only, self.had = False, 0
        self.wide = ""  # about a part with a value of its own in half of the states that are learned from

    def at_once(self) -> None:
        """Learn from the first state on, at any cost; what cannot be followed ends the search."""
        self.only, self.size, self.steps, self.budget = True, 1, 0, Budget(float("inf"))

    @property
    def how(self) -> tuple[tuple[str, str], ...]:
        """Explicit search, and what was wrong with this attempt."""
        return (("explicit", f"the faster compiled search gave up: {self.why}"),) if self.why else ()

    def __call__(self, walk: Walk) -> None:
        """Search from tables.  Raises Finished; where it returns, `why` says what was wrong.

        Raises ValueError instead of returning if there is no other way.
        """
        early = self.size < tables.ENOUGH and not self.only
        if early and _expected(walk, tables.ENOUGH) < tables.ENOUGH:
            self.size = min(tables.ENOUGH, len(walk.states) * 3 // 2)
            return
        try:
            result = self._result(walk)
            raise Finished(result, self.aside)
        except Spent as error:
            self.why = str(error)
            trees = [] if self.learner is None else [self.learner.offer, *self.learner.steps]
            hopeless = bool(self.wide) or any(tree.is_hopeless for tree in trees)
            self.why += self.wide
            self.size = tables.NEVER
            self.left = 0 if hopeless else self.left - (not early)
            if self.left:
                self._later(walk)
        except (NotLearned, ModelError) as error:
            self.why = str(error)
            self.size = tables.NEVER
        except Exception as error:  # explicit search does without tables, whatever is wrong with them
            self.why = f"an error in the tables, {error_text(error)}"
            self.size = tables.NEVER
        if self.only:
            raise ValueError(f"compiled search cannot explore {self.system.label}: {self.why}; leave the method out")

    def _later(self, walk: Walk) -> None:
        """Go on when there is more to spend; what was learned is kept."""
        self.size = len(walk.states) * 3 // 2

    def _result(self, walk: Walk) -> Result:
        self.had = len(walk.states)
        self.budget.calls = self._calls(walk)
        states = walk.states[:: max(1, len(walk.states) // SAMPLE)]
        starts: dict[Any, int] = {}
        for place, state in enumerate(initial_states(self.system, self.config)):
            starts.setdefault(state, place)
        for _ in range(RESTARTS):
            try:
                return self._searched(states, [(place, state) for state, place in starts.items()])
            except Reshaped as error:
                if error.elements:
                    self.sets[error.path] = self.sets.get(error.path, frozenset()) | error.elements
                else:
                    self.opaque.add(error.path)
                self.learner = None
        raise NotLearned("the states have no fixed shape")

    def _calls(self, walk: Walk) -> int:
        """The calls of the model of which learning may cost a share: those so far, or as many more as are to come."""
        found = len(walk.states)
        return int((found + walk.transitions) * max(1, _expected(walk, AHEAD * found) / found))

    def _searched(self, states: Sequence[Any], starts: Sequence[Any]) -> Result:
        """Search once.  Raises Reshaped where the search may begin again."""
        budget, learner = self.budget, self.learner
        if learner is None:
            questions = Questions(self.system, self.config, self.claims)
            if questions.monitors:
                raise NotLearned(f"{questions.monitors[0].name} is of kind monitor, which needs the steps themselves")
            learner = Learner(self.system, self.config, Shape(states, self.opaque, self.sets), questions, budget)
            self.learner = learner
        shape = learner.shape
        counting = None if self.counting is None else ActionsWatch()
        trial = TableWalk(learner, self.number, self.bounds, None)
        rows = np.asarray([shape.numbers(state) for state in states], dtype=np.int32).T
        shape.crowded()
        name, values = max(shape.named(), key=lambda one: one[1])
        if 2 * values > len(states) and not self.why:  # later attempts have other values, too
            self.wide = f", as {name} alone has {values:,} values in {len(states):,} states"
        trial.steps_of(rows)
        walk = TableWalk(learner, self.number, self.bounds, counting)
        walk.run(starts, self.tick, audit, self.had)
        tallies = tuple(self._tally(walk, number, claim) for number, claim in enumerate(self.claims))
        why = (
            f"{budget.runs} runs on proxies taught the tables of {walk.states:,} states with {len(shape.columns)} "
            "columns; samples were compared with the step"
        )
        return walk.result(tallies, (("compiled", why),), NOTHING if counting is None else counting.counted(walk))

    def _tally(self, walk: TableWalk, number: int, claim: Property) -> Tally:
        if not claim.applies(self.config):
            return Tally()
        if isinstance(claim, AboutRuns):
            return decide(claim, graph_of(walk, self.served))
        return tally_of(walk, number, claim)


def _expected(walk: Walk, most: int) -> float:
    """How many states the search will find if its levels widen less and less as the last three did; at most `most`."""
    widths = [after - before for before, after in pairwise(walk.levels[-4:])]
    if len(widths) < 3:
        return 0
    first, second, width = map(float, widths)
    found, growth, slower = float(walk.levels[-1]), width / second, width * first / second**2
    while width >= 1 and found < most:
        growth *= slower
        width *= growth
        found += width
    return min(found, most)


def tally_of(walk: TableWalk, number: int, claim: Property) -> Tally:
    """Return the tally of a claim about states or single steps."""
    place = walk.learner.questions.place[number]
    if getattr(claim, "reads", "") == "states":
        answers = np.concatenate(walk.state_answers[place])
        bad = np.flatnonzero(answers & VIOLATED)
        finding = walk.finding(int(bad[0])) if len(bad) else None
        return Tally(1, walk.size, walk.counted(answers & MET), walk.counted(answers & VIOLATED), finding)
    counts, at = walk.counts[place], walk.first[place]
    finding = None if at is None else walk.finding(*at)
    return Tally(1, walk.transitions, int(counts[1] + counts[3]), int(counts[2] + counts[3]), finding)


def graph_of(walk: TableWalk, claims: Sequence[Property]) -> RunGraph:
    """Return the graph that a search from tables kept."""
    questions = walk.learner.questions

    def wanting(wants: Callable[[Any, Any], bool]) -> Sequence[int]:
        number = next(n for n, claim in enumerate(claims) if isinstance(claim, DeadlockFree) and claim.wants is wants)
        answers = np.concatenate(walk.state_answers[questions.place[number]])
        found: list[int] = np.flatnonzero(answers & MET & ~(answers >> 1)).tolist()
        return found

    def count(test: Callable[[Any], bool]) -> int:
        return int(walk.counts[questions.first_test + questions.tests[test]][MET])

    def many(states: Sequence[int]) -> int:
        return walk.counted(np.bincount(np.asarray(states, dtype=np.int64), minlength=walk.states))

    return RunGraph(walk, questions.fair, lambda: walk.edges()[0], walk.where, count, wanting, many)
