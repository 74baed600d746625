"""Turn tallies into verdicts.

REFUTED needs evidence that the judge confirms.  HOLDS needs a closed search, an antecedent that was met, and no doubt.
Everything else is UNDECIDED, with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from evenhand.core.kinds import Property, Safety
from evenhand.core.relations import DeterminedBy
from evenhand.core.system import AnySystem, reading_values
from evenhand.core.temporal import AboutRuns, Temporal, fairness_of
from evenhand.core.verdict import UNREPLAYED, Evidence, Status, Verdict
from evenhand.evidence.judge import Judgement
from evenhand.search.bounds import Bounds
from evenhand.search.classes import Classes
from evenhand.search.evidence import judged
from evenhand.search.pairs import VALUED, differing
from evenhand.search.totals import Result
from evenhand.search.witness import Tally, Witness

ENGINE = "explore"
"""The name of this engine in verdicts and expectations."""


@dataclass(frozen=True)
class Covered:
    """The coverage of a search, for all its verdicts: exact counts, bounds, scope, trusted base.

    With `classes`, states are classes of states, each searched by one of them.
    """

    total: Result
    configs: int
    bounds: Bounds
    scope: Mapping[str, Any]
    trusted: tuple[str, ...]
    classes: Classes | None = None

    @property
    def looked_at(self) -> str:
        """The states and steps covered, in words."""
        kind = "classes of states" if self.classes else "states"
        return f"{self.total.states} {kind} and {self.total.transitions} steps"


def changed_readings(system: AnySystem) -> dict[str, Any]:
    """Return the readings of a system that differ from their defaults."""
    record = system.readings
    if record is None or not is_dataclass(record):
        return {}
    legal = reading_values(record)
    defaults = {entry.name: legal[entry.name][0] if legal[entry.name] else entry.default for entry in fields(record)}
    return {name: getattr(record, name) for name, usual in defaults.items() if getattr(record, name) != usual}


def verdict_of(
    system: AnySystem, configs: Sequence[Any], claim: Property, tally: Tally, covered: Covered, doubt: str
) -> Verdict:
    """Return the verdict on one claim; `doubt` is why a quotient cannot carry it over to the whole space."""
    if isinstance(claim, DeterminedBy):
        if claim.across:
            violations, finding = differing(tally.table)
            valued = sum(any(value is not None for value, _ in seen) for seen in tally.table.values())
            more = {**tally.more, "keys": len(tally.table), VALUED: valued}
            tally = Tally(tally.configs, tally.total, tally.met, violations, finding, tally.doubts, more)
        doubt = doubt or _nothing_compared(tally)
    status, evidence, because, unreplayed = Status.UNDECIDED, None, "", False
    if tally.finding is not None:
        evidence, judgement = _evidence(system, configs, claim, tally.finding, covered, doubt)
        because = judgement.reason
        if evidence is not None and judgement:
            status = Status.HOLDS if claim.existential else Status.REFUTED
        else:
            evidence = None
            unreplayed = judgement.decided
            because = f"the search found a run that the judge does not confirm: {judgement.reason}"
    else:
        because = _undecided(claim, tally, covered, doubt)
        if not because:
            status, because = Status.HOLDS, ""
            if claim.existential:
                status = Status.REFUTED
                because = f"none of the {covered.total.transitions} steps meets the goal, and there are no others"
    coverage = {
        "configs": tally.configs,
        "classes" if covered.classes else "states": covered.total.states,
        "steps": covered.total.transitions,
        "met": tally.met,
        "unmet": tally.total - tally.met,
        "violations": tally.violations,
        **{name: count for name, count in tally.more.items() if name != VALUED},
        **({UNREPLAYED: 1} if unreplayed else {}),
    }
    if claim.existential:
        coverage["witnesses"] = coverage.pop("violations")
    assumed = {"fairness": list(fairness_of(claim))} if isinstance(claim, AboutRuns | Temporal) else {}
    return Verdict(
        claim=claim.name,
        status=status,
        engine=ENGINE,
        system=system.name,
        variant=system.variant,
        scope={**covered.scope, **assumed},
        readings=changed_readings(system),
        evidence=evidence,
        coverage=coverage,
        because=because,
        trusted_base=covered.trusted,
    )


def _evidence(
    system: AnySystem, configs: Sequence[Any], claim: Property, finding: Witness, covered: Covered, doubt: str
) -> tuple[Evidence | None, Judgement]:
    """The evidence in the system itself for a finding among its states or classes, and the judge's answer."""
    if covered.classes is not None:
        return covered.classes.carried(configs, claim, finding, covered.total.states, doubt)
    return judged(system, configs, claim, finding, covered.bounds, covered.total.states)


def _undecided(claim: Property, tally: Tally, covered: Covered, doubt: str) -> str:
    """Why a claim without violation is undecided; empty if it is decided."""
    seen = covered.looked_at
    if tally.configs == 0:
        return f"it applies to none of the {covered.configs} configurations"
    if tally.doubts and not tally.total:
        return tally.doubts[0]  # the claim was not checked, so the coverage does not matter
    if covered.total.open:
        if isinstance(claim, AboutRuns | Temporal):
            return f"a graph that {covered.bounds} left open decides no claim about whole runs ({seen} were covered)"
        found = "not met" if claim.existential else "not violated"
        return f"{found} on the {seen} that were covered, but {covered.bounds} left the search open"
    if covered.total.outside and claim.existential:
        beyond = f"the constraint lets none go on from {covered.total.outside} of the states"
        return f"no run inside meets the goal, and {beyond}"
    if tally.doubts:
        return tally.doubts[0]
    if doubt:
        return doubt
    if tally.met == 0 and not claim.existential:
        if isinstance(claim, Safety) and claim.reads != "states" and covered.total.transitions == 0:
            return "no step was reached, and the claim is about steps"
        return "antecedent never met"
    return ""


def _nothing_compared(tally: Tally) -> str:
    """Why a `DeterminedBy` claim compared nothing: no key comes twice, or no value is given; else empty."""
    if tally.met and not tally.more.get(VALUED, 1):
        return "its value never was anything but None; is a `return` missing?"
    if tally.met and tally.met <= tally.more.get("keys", 0):
        return "no two steps share a key, so nothing was compared"
    return ""
