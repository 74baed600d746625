"""What is asked about states and steps: the predicates of the claims, each with its plain and its traced form.

An answer is a number: bit 0 says that the antecedent is met (or the predicate true), bit 1 that the claim is violated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.answers import unchecked
from evenhand.core.fairness import assumed
from evenhand.core.kinds import DeadlockFree, Monitor, Property, Reachable, Safety, every_state, every_step
from evenhand.core.system import AnySystem
from evenhand.core.temporal import AboutRuns, fairness_of
from evenhand.search.liveness import Taken, predicates_of, tests_of
from evenhand.search.tables.expressions import Unfollowed
from evenhand.search.tables.proxies import settled
from evenhand.search.witness import NotLearned

MET, VIOLATED, ACTS = 1, 2, 4
"""Bits of an answer; `ACTS` alone says that a step without an action cannot tell."""


@dataclass(frozen=True)
class Question:
    """One question of a claim, given by its number: `plain` asks as every engine does, `traced` the user's functions.

    The question of a monitor takes (value, step), and gives the next value.
    """

    name: str
    claim: int
    plain: Callable[[Any], Any]
    traced: Callable[[Any], Any]


class Questions:
    """The questions of the claims that apply to a configuration."""

    def __init__(self, system: AnySystem, config: Any, claims: Sequence[Property]) -> None:
        self.states: list[Question] = []
        self.steps: list[Question] = []
        self.monitors: list[Question] = []
        self.place: dict[int, int] = {}
        runs: list[AboutRuns] = []
        self.about_runs: dict[int, set[Any]] = {}
        numbers: dict[Any, int] = {}
        for number, claim in enumerate(claims):
            if not claim.applies(config):
                continue
            if isinstance(claim, AboutRuns):
                runs.append(claim)
                self.about_runs[number] = {*tests_of(claim)}
                numbers.update(dict.fromkeys(tests_of(claim), number))
                if isinstance(claim, DeadlockFree):
                    self._add(self.states, number, claim.name, (every_state, claim.wants), (config,))
            elif isinstance(claim, Reachable):
                self._add(self.steps, number, claim.name, (every_step, claim.goal), (), goal=True)
            elif isinstance(claim, Safety) and claim.reads == "states":
                self._add(self.states, number, claim.name, claim.tests, (config,))
            elif isinstance(claim, Safety) and claim.reads == "steps":
                self._add(self.steps, number, claim.name, claim.tests, ())
            elif isinstance(claim, Monitor):
                self._monitor(number, claim)
            else:
                raise Unfollowed(
                    number, f"claim {claim.name!r} is of kind {claim.kind}, which needs the steps themselves"
                )
        self.fair = system.fair(config) if runs else {}
        self.tests = predicates_of(system, self.fair, runs)
        self.first_test = len(self.steps)
        distinct = {place: test for test, place in self.tests.items()}
        for place in sorted(distinct):
            test = distinct[place]
            serves = next(
                (number for number, claim in enumerate(claims) if claim in runs and _assumes(claim, test, self.fair)), 0
            )
            self._predicate(test, numbers.get(test, serves))

    def asking(self, question: Question) -> list[int]:
        """Return the claims, by number, that ask a question; several may share a predicate."""
        tests = {test for test, place in self.tests.items() if self.steps[self.first_test + place] is question}
        return [number for number, some in self.about_runs.items() if tests & some] or [question.claim]

    def _monitor(self, number: int, claim: Monitor) -> None:
        update = unchecked(claim.update)
        self.place[number] = len(self.monitors)
        self.monitors.append(
            Question(f"claim {claim.name!r}", number, lambda at: claim.follow(*at), lambda at: update(*at))
        )

    def _add(
        self, into: list[Question], number: int, name: str, tests: Any, given: tuple[Any, ...], *, goal: bool = False
    ) -> None:
        self.place[number] = len(into)
        when, check = tests
        every = when is every_state or when is every_step
        raw_when, raw_check = unchecked(when), unchecked(check)

        def plain(about: Any) -> int:
            if not every and not when(*given, about):
                return 0
            return MET if bool(check(*given, about)) is not goal else MET | VIOLATED

        def traced(about: Any) -> int:
            if not every and not _answer(raw_when(*given, about), name):
                return 0
            return MET if _answer(raw_check(*given, about), name) is not goal else MET | VIOLATED

        into.append(Question(f"claim {name!r}", number, plain, traced))

    def _predicate(self, test: Any, number: int) -> None:
        if isinstance(test, Taken):
            raw_taken = unchecked(test.fairness.taken)
            about = "a fairness assumption"
            traced: Callable[[Any], int] = lambda step: int(_answer(raw_taken(step.before, step.action), about))  # noqa: E731
        else:
            raw = unchecked(test)
            about = "a predicate of a claim about runs"
            traced = lambda step: int(_answer(raw(step), about))  # noqa: E731
        self.steps.append(Question(about, number, lambda step: int(bool(test(step))), traced))


def _assumes(claim: Any, test: Any, fair: Any) -> bool:
    """Whether a claim about runs assumes this fairness."""
    return isinstance(test, Taken) and any(one is test.fairness for one in assumed(fair, fairness_of(claim)).values())


def _answer(answer: Any, name: str) -> bool:
    real = settled(answer)
    if type(real) is not bool:
        raise NotLearned(f"{name} answers neither True nor False")
    return real
