"""What is registered before a run: the runs of each budget, and the expected verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.core.lookup import UnknownName
from evenhand.core.verdict import Status

BUDGETS = ("quick", "standard", "deep")
"""The budgets of a run, cheapest first."""


@dataclass(frozen=True)
class Expectation:
    """A verdict registered before the run: for this claim, in this system, under these readings.

    An empty `system` or `engine`, and `readings` of None, match all.  `because` is the reason, required for everything
    but HOLDS.  Claims carry theirs (`expected=`), made by `refuted`, `holds` and `undecided`.
    """

    claim: str
    expected: Status
    system: str = ""
    engine: str = ""
    readings: Mapping[str, Any] | None = None
    because: str = ""

    def speaks_of(self, claim: str, system: str, engine: str, readings: Mapping[str, Any]) -> bool:
        """Return whether this is about such a verdict; `readings` are those that are not default."""
        return (
            self.claim == claim
            and self.system in ("", system)
            and self.engine in ("", engine)
            and (self.readings is None or dict(self.readings) == dict(readings))
        )


def refuted(
    because: str, *, system: str = "", engine: str = "", readings: Mapping[str, Any] | None = None, **chosen: Any
) -> Expectation:
    """Return the expectation that the claim which carries it is refuted, and why.

    Without `system`, `engine` and readings it is about all of them.  Readings are keywords (`clock="gated"`) or a
    mapping; `readings={}` means the default readings alone.
    """
    return Expectation("", Status.REFUTED, system, engine, {**(readings or {}), **chosen} or readings, because)


def holds(
    because: str, *, system: str = "", engine: str = "", readings: Mapping[str, Any] | None = None, **chosen: Any
) -> Expectation:
    """Return the expectation that the claim holds there, against a wider one.  Arguments as of `refuted`."""
    return Expectation("", Status.HOLDS, system, engine, {**(readings or {}), **chosen} or readings, because)


def undecided(
    because: str, *, system: str = "", engine: str = "", readings: Mapping[str, Any] | None = None, **chosen: Any
) -> Expectation:
    """Return the expectation that the claim stays undecided there; arguments as of `refuted`."""
    return Expectation("", Status.UNDECIDED, system, engine, {**(readings or {}), **chosen} or readings, because)


def _default() -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Plan:
    """One run of one engine on one system, and the budgets it belongs to.

    `scope` changes sizes of the system's own scope, `readings` its readings; `claims` names the claims to check (empty:
    all of the system).  `max_states` and `depth` bound the search, which then may end UNDECIDED; `examples` and `steps`
    size a random run.  `quotient` is used only under a licence (`a+b`: two abstractions in turn).  `part` k/n takes
    every n-th configuration (or orbit) from the k-th on and leaves the rest to other budgets.  A system without a plan
    is run at its own scope under every budget.
    """

    system: str
    engine: Literal["explore", "fuzz"]
    budgets: tuple[str, ...] = BUDGETS
    scope: Mapping[str, int] = field(default_factory=_default)
    readings: Mapping[str, Any] = field(default_factory=_default)
    claims: tuple[str, ...] = ()
    max_states: int | None = None
    depth: int | None = None
    examples: int | None = None
    steps: int | None = None
    quotient: str = ""
    part: str = ""

    def __post_init__(self) -> None:
        unknown = [budget for budget in self.budgets if budget not in BUDGETS]
        if unknown:
            raise UnknownName("budget", unknown[0], BUDGETS)
        if not self.budgets:
            raise ValueError(f"a plan of {self.engine} for {self.system} has no budget; there is: {', '.join(BUDGETS)}")
