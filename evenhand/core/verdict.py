"""The verdict of an engine on a claim, with its scope, its evidence and its coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyLasso, AnyScenario, Lasso, Pair, Scenario

UNREPLAYED = "unreplayed"
"""Coverage key: runs that looked wrong and do not replay, so that some function is impure."""


class Status(StrEnum):
    """HOLDS within its scope; REFUTED by a run that replays; UNDECIDED for everything else.

    A time-out, an unknown, a bound that was hit, an antecedent never met: all are UNDECIDED, never HOLDS.
    """

    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"

    def __bool__(self) -> bool:
        """Return whether it is HOLDS, so that `assert verdict.status` means what it says."""
        return self is Status.HOLDS


Evidence = AnyScenario | AnyLasso | Pair[Any, Any, Any]
"""Evidence that refutes a claim, or witnesses a reachable one: it replays in the executable model."""


def runs(evidence: Evidence) -> tuple[AnyScenario, ...]:
    """Return the runs of evidence: itself, a lasso's stem and one turn, or both runs of a pair."""
    match evidence:
        case Scenario():
            return (evidence,)
        case Lasso():
            return (evidence.unrolled,)
        case Pair():
            return (evidence.left, evidence.right)


@dataclass(frozen=True)
class Verdict:
    """One engine's answer on one claim of one system.

    `scope` says what was covered in words and sizes (`agents`, `depth`, `examples`, `complete`, …); `coverage` counts
    what made it non-vacuous (`states`, `steps`, `met`, `unmet`, rare events); `because` is the reason of an UNDECIDED
    in one sentence, or how a refutation looks; `trusted_base` names what must be right for the verdict to be right.
    """

    claim: str
    status: Status
    engine: str
    system: str
    variant: str = "reference"
    scope: Mapping[str, Any] = field(default_factory=dict[str, Any])
    readings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    evidence: Evidence | None = None
    coverage: Mapping[str, int] = field(default_factory=dict[str, int])
    because: str = ""
    trusted_base: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the claim holds in the named scope; False for UNDECIDED too."""
        return self.status is Status.HOLDS

    def __bool__(self) -> bool:
        """Return `holds`, so that `assert verdict` means what it says."""
        return self.holds


def verdict_on(system: AnySystem, claim: str, engine: str, status: Status, **more: Any) -> Verdict:
    """Return a verdict on a claim of a system, about its scope unless `scope` says otherwise."""
    told: dict[str, Any] = {"scope": dict(system.scope), **more}
    return Verdict(claim, status, engine, system.name, system.variant, **told)


def in_short(verdicts: Sequence[Verdict]) -> str:
    """Return up to three verdicts on one line, those that do not hold first and with their reasons."""
    worst = sorted(verdicts, key=lambda verdict: verdict.holds)[:3]
    listed = [f"{one.claim} {one.status.value}{f' ({one.because[:120]})' * (not one.holds)}" for one in worst]
    return ", ".join(listed) + (f" and {len(verdicts) - 3} more" if len(verdicts) > 3 else "") or "no claims"
