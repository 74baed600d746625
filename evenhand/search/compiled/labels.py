"""Claims about single steps and whole runs, evaluated along with the step itself: one label for each row.

A label says which predicates hold of the steps that a row stands for.  For a row of several joint actions predicates
are evaluated without the action; a claim that reads it falls back to memoised search.  Fairness reads the action alone:
joint actions are merged only if they serve the same assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeGuard

from evenhand.core.property import Property, Reachable, Safety
from evenhand.core.system import AnySystem, Fairness
from evenhand.search.action_independent import ActionNeeded, action_independent_step, make_step, was_touched
from evenhand.search.liveness import AboutRuns, Taken, predicates_of, tests_of


class LooksAtAction(Exception):
    """A claim reads the joint actions that a row merges."""


def about_steps(claim: Property) -> bool:
    """Return whether a claim is decided state by state and step by step."""
    return isinstance(claim, Reachable) or (isinstance(claim, Safety) and claim.reads != "histories")


def about_states(claim: Property) -> TypeGuard[Safety]:
    """Return whether a claim is decided state by state."""
    return isinstance(claim, Safety) and claim.reads == "states"


def speaks_of(claim: Property) -> bool:
    """Return whether compiled search can decide a claim of that kind."""
    return about_steps(claim) or isinstance(claim, AboutRuns)


class Labeller:
    """A numbering of the sets of predicates that steps satisfy.

    Bits 2k and 2k+1 mean met and violated of step claim k; then come those of `tests`, the predicates of claims about
    runs and of the fairness that they assume, in their order.
    """

    def __init__(self, system: AnySystem, claims: Sequence[Property], config: Any) -> None:
        self.claims = [c for c in claims if about_steps(c) and not about_states(c) and c.applies(config)]
        runs: list[AboutRuns] = [c for c in claims if isinstance(c, AboutRuns) and c.applies(config)]
        self.fair: Mapping[str, Fairness[Any, Any]] = system.fair(config) if runs else {}
        known = predicates_of(system, self.fair, runs)
        self.tests = {test: 2 * len(self.claims) + place for test, place in known.items()}
        self.about = {test: _name(runs, test) for test in self.tests}
        self.numbers: dict[int, int] = {0: 0} if not self else {}

    def __bool__(self) -> bool:
        """Return whether any predicate has to be evaluated."""
        return bool(self.claims or self.tests)

    @property
    def sets(self) -> list[int]:
        """The bits of each label."""
        return list(self.numbers)

    def label(
        self, config: Any, before: Any, action: tuple[Any] | None, shown: Any, after: Any, serves: int = 0
    ) -> int:
        """Return the label of a step.

        `action` is in a tuple; None means a merged row, for which `serves` has the bits of the fairness it serves.
        """
        if not self:
            return 0
        bits = 0 if action is None else self.served(before, action[0])
        bits |= serves

        def ask(name: str, question: Callable[[Any], Any]) -> Any:
            step: Any
            if action is None:
                step = action_independent_step(config, before, shown, after)
            else:
                step = make_step(config, before, action[0], shown, after)
            try:
                answer = question(step)
            except ActionNeeded:
                raise LooksAtAction(f"claim {name!r} reads actions that a row merges") from None
            if action is None and was_touched(step):
                raise LooksAtAction(f"claim {name!r} reads actions that a row merges")
            return answer

        for place, claim in enumerate(self.claims):
            met, violated = ask(claim.name, partial(_said, claim))
            bits |= (met << 2 * place) | (violated << 2 * place + 1)
        for test, place in self.tests.items():
            if not isinstance(test, Taken):
                bits |= bool(ask(self.about[test], test)) << place
        return self.numbers.setdefault(bits, len(self.numbers))

    def served(self, before: Any, action: Any) -> int:
        """Return the bits of the fairness assumptions that an action serves."""
        taken = ((test.fairness.taken, place) for test, place in self.tests.items() if isinstance(test, Taken))
        return sum(bool(serves(before, action)) << place for serves, place in taken)

    @property
    def fairness(self) -> bool:
        """Whether some assumption is evaluated."""
        return any(isinstance(test, Taken) for test in self.tests)


def _name(runs: Sequence[AboutRuns], test: Callable[[Any], bool]) -> str:
    """The first claim that uses a predicate."""
    return next((claim.name for claim in runs if test in tests_of(claim)), "")


def _said(claim: Property, step: Any) -> tuple[bool, bool]:
    if isinstance(claim, Reachable):
        return True, bool(claim.goal(step))
    assert isinstance(claim, Safety)
    when, check = claim.tests
    if not when(step):
        return False, False
    return True, not check(step)
