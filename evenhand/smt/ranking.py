"""Rankings: claims about whole runs, proved by a claim about single steps, for runs of any length.

A ranking gives each state a natural number and says which step helps.  The premise is a claim about steps that implies
the claim about runs by the rule of well-founded ranks (Manna and Pnueli), so a theorem about steps proves it:

- a livelock: each step that makes no progress keeps the rank or lowers it, and an attempt lowers it;
- what is raised is served: while a state owes, one weakly or strongly fair assumption is on offer and helps; a step
  that serves it lowers the rank, no other step raises it, or it lowers the rank and another assumption helps;
- a deadlock: in each state that wants, the action that helps is on offer, and completes or lowers the rank.

A premise about steps says nothing of a run without any step, and that ranks are natural numbers is checked on the steps
that are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evenhand.core.fairness import assumed
from evenhand.core.kinds import DeadlockFree, EachStep, Liveness, Property, StateTest, every_state
from evenhand.core.system import AnyStep, AnySystem


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """A natural number for each state, and what helps there.

    `rank(config, state)` must not be negative.  `owes(config, state)` says where something that was raised may still be
    unserved.  `helps(config, state)` is asked where a state owes or wants: for `DeadlockFree` it returns an action, for
    a claim of what must follow the name of one fairness assumption, for a livelock it is not asked.
    """

    rank: Callable[[Any, Any], int]
    owes: StateTest = every_state
    helps: Callable[[Any, Any], Any] | None = None

    def premise(self, claim: Property, system: AnySystem) -> EachStep:
        """Return the claim about steps of `system` that implies `claim`.

        A step from a state in which nothing is on offer is no step of a run.  Raises TypeError for claims of other
        kinds, for one that owes from the start, and where `helps` is missing.
        """
        match claim:
            case Liveness(begins="loop"):
                kept = self._no_livelock(claim)
            case Liveness(begins="step") if self.helps is not None:
                kept = self._served(claim, system, self.helps)
            case DeadlockFree() if self.helps is not None:
                kept = self._completed(claim, system, self.helps)
            case _:
                raise TypeError(f"no rule of rankings proves claim {claim.name}, which is of kind {claim.kind}")
        return EachStep(
            name=claim.name,
            sentence=claim.sentence,
            applies=claim.applies,
            when=lambda step: _offers(system, step.config, step.before, lambda _action: True),
            check=kept,
        )

    def _falls(self, step: AnyStep, *, strictly: bool) -> bool:
        before, after = self.rank(step.config, step.before), self.rank(step.config, step.after)
        return 0 <= after < before or (not strictly and 0 <= after == before)

    def _no_livelock(self, claim: Liveness) -> Callable[[AnyStep], bool]:
        attempts, progresses = claim.tests
        return lambda step: progresses(step) or self._falls(step, strictly=attempts(step))

    def _served(
        self, claim: Liveness, system: AnySystem, helps: Callable[[Any, Any], Any]
    ) -> Callable[[AnyStep], bool]:
        raises, serves = claim.tests

        def kept(step: AnyStep) -> bool:
            config, before, after = step.config, step.before, step.after
            owed = self.owes(config, before)
            if serves(step) or not (owed or raises(step)):
                return True
            if not self.owes(config, after):
                return False
            helper = helps(config, after)
            fair = assumed(system.fair(config), claim.fairness)
            if not _offers(system, config, after, lambda action: fair[helper].taken(after, action)):
                return False
            other = owed and helps(config, before) != helper
            helped = owed and fair[helps(config, before)].taken(before, step.action)
            return not owed or self._falls(step, strictly=helped or other)

        return kept

    def _completed(
        self, claim: DeadlockFree, system: AnySystem, helps: Callable[[Any, Any], Any]
    ) -> Callable[[AnyStep], bool]:
        def stuck(config: Any, state: Any) -> bool:
            if not claim.wants(config, state):
                return False
            action = helps(config, state)
            return not _offers(system, config, state, lambda one: one == action)

        def kept(step: AnyStep) -> bool:
            config, before, after = step.config, step.before, step.after
            if stuck(config, before) or stuck(config, after):
                return False
            if not claim.wants(config, before) or step.action != helps(config, before) or claim.completes(step):
                return True
            return claim.wants(config, after) and self._falls(step, strictly=True)

        return kept


def _offers(system: AnySystem, config: Any, state: Any, test: Callable[[Any], bool]) -> bool:
    """Return whether an action that passes the test is on offer."""
    return any(test(action) for action in system.enabled(config, state))
