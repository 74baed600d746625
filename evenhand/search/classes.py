"""Search one state of each class of states, and carry what is found among classes back to the model.

The search takes the model's own step, and then the state that stands for the class of the state after it.  A finding is
evidence only if a run of the model itself follows it and the judge agrees.  A loop of classes may never close in the
model, for example where it counts up for ever.  The model goes round it some times: if it returns to one of its states,
that is a lasso for the judge, else nothing is refuted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar

from evenhand.core.answers import ModelError, short
from evenhand.core.kinds import Property
from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyLasso, AnyScenario, Lasso, replay
from evenhand.core.verdict import Evidence
from evenhand.evidence.judge import FORWARD_LIMIT, Judgement, judge
from evenhand.search.evidence import trimmed
from evenhand.search.witness import Witness

ROUNDS = 32
"""Rounds of a loop of classes that the model takes."""

TOLD = 400
"""Characters of a candidate that a verdict shows."""


def key_of(system: AnySystem, quotient: str, of: Callable[[Any, Any], Any], config: Any, state: Any) -> Any:
    """Return what a view or map gives for a state.  Raises ModelError if it raises, or gives a value without a hash."""
    try:
        found = of(config, state)
        hash(found)
    except Exception as error:
        raise ModelError(
            f"{system.label}: quotient {quotient!r} of state {short(state)} raised {type(error).__name__}: {error}"
        ) from error
    return found


@dataclass
class Classes(ABC):
    """The classes of a system's states under a licensed quotient; subclasses say what stands for a class.

    `refused` says by name why some claims are not searched, `trusted` what is trusted, `why` adds to the reason for the
    method, and `says` is what the scope of a verdict says of a licence that no theorem gave.
    """

    system: AnySystem
    name: str
    claims: tuple[Property, ...]
    refused: Mapping[str, str] = field(init=False)
    trusted: str = field(init=False)
    why: str = field(init=False, default="")
    says: str = field(init=False, default="")
    ahead: ClassVar[int] = FORWARD_LIMIT
    """States that the judge of a deadlock may visit at least."""

    @abstractmethod
    def first(self, config: Any, state: Any) -> Any:
        """Return the state that stands for the class of `state`."""

    @abstractmethod
    def runs(self, claim: Property, config: Any, start: int, numbers: Sequence[int]) -> Iterator[AnyScenario]:
        """Yield runs of the model that follow the actions of these numbers among classes, as far as the claim sees."""

    @abstractmethod
    def doubts(self, configs: Sequence[Any]) -> tuple[str, ...]:
        """Return for each claim why the quotient cannot decide it, else an empty text."""

    def searched(self) -> AnySystem:
        """Return the system to search: every state is replaced by the one that stands for its class."""
        system, first = self.system, self.first

        def initial(config: Any) -> Iterator[Any]:
            return (first(config, state) for state in system.initial(config))

        def step(rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
            after, shown = system.step(rules, config, state, action)
            return first(config, after), shown

        return replace(system, initial=initial, step=step, separated=None, quotients=(), abstractions=(), views={})

    def carried(
        self, configs: Sequence[Any], claim: Property, finding: Witness, states: int, _doubt: str
    ) -> tuple[Evidence | None, Judgement]:
        """Return a run of the model that a finding among classes stands for, and the judge's answer.

        `states` is the size of the search, `_doubt` why the claim may tell a state from the one that stands for it.
        """
        config, numbers = configs[finding.config], (*finding.path, *finding.loop * ROUNDS)
        best: tuple[Evidence | None, Judgement] = (None, Judgement(False, "no run follows the classes", decided=False))
        for run in self.runs(claim, config, finding.start, numbers):
            if finding.loop:
                return self.closed(claim, run, finding)
            best = run, judge(self.system, claim, run, limit=max(states + 1, self.ahead))
            if best[1]:
                break
        return best

    def closed(self, claim: Property, run: AnyScenario, finding: Witness) -> tuple[AnyLasso | None, Judgement]:
        """Return the lasso of a run that goes round a loop of classes and comes back to a state, and the answer."""
        states, stem = replay(self.system, run).states, len(finding.path)
        for begin, end in combinations(range(stem, len(states), len(finding.loop)), 2):
            if states[begin] == states[end]:
                lasso = trimmed(
                    self.system, claim, Lasso(run.config, run.start, run.actions[:begin], run.actions[begin:end])
                )
                return lasso, judge(self.system, claim, lasso)
        formatted = f"after {[*run.actions[:stem]]!r} for ever {[*run.actions[stem:][: len(finding.loop)]]!r}"
        return None, Judgement(
            False,
            f"a loop of {len(finding.loop)} actions closes among classes alone: {ROUNDS} rounds of it in the model "
            f"come back to no state, so there is a candidate and no lasso ({formatted[:TOLD]})",
            decided=False,
        )
