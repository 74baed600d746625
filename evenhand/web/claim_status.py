"""The status of each claim on one run, as far as it is walked.

The claim's own predicates decide it.  It is no verdict, because a verdict covers every run of a scope.  Violations
that only a finished or an infinite run can show are looked for where the run ends or closes a loop.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from evenhand.core.ending import has_ended
from evenhand.core.kinds import DeadlockFree, Liveness, Property, Reachable, Safety
from evenhand.core.ltl import Atom, so_far
from evenhand.core.relations import DeterminedBy, Paired
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.temporal import Temporal, word_of
from evenhand.core.trace import Lasso, Pair, Scenario, Trace
from evenhand.core.verdict import Evidence
from evenhand.evidence.judge import judge
from evenhand.evidence.second_runs import compare, refuting_pair, ways_at_end

AHEAD = 400
"""States that the search for a way out of a deadlock may meet; the judge of a saved run looks much further."""

TWINS = 200
"""Second runs that are compared at the end of a run."""


class Truth(StrEnum):
    """The status of a claim on a run; FALSE and MET are final, because a longer run cannot change them."""

    FALSE = "false"
    MET = "met"
    WAITING = "waiting"
    TRUE = "true"
    SILENT = "silent"


@dataclass(frozen=True)
class ClaimStatus:
    """One claim: `step` is the number of actions after which it was first seen false or met; `note` says more."""

    claim: Property
    truth: Truth
    step: int | None = None
    note: str = ""


def standings(
    system: AnySystem, claims: Sequence[Property], trace: Trace[Any, Any, Any, Any]
) -> tuple[ClaimStatus, ...]:
    """Return the status of each claim, in their order.  A claim that raises is reported as such, never left out."""
    return tuple(_guarded(system, claim, trace) for claim in claims)


def _guarded(system: AnySystem, claim: Property, trace: Trace[Any, Any, Any, Any]) -> ClaimStatus:
    try:
        if not claim.applies(trace.scenario.config):
            return ClaimStatus(claim, Truth.SILENT, note="not claimed under this configuration")
        return _standing(system, claim, trace)
    except Exception as error:
        return ClaimStatus(claim, Truth.WAITING, note=f"it cannot be evaluated: {type(error).__name__}: {error}")


def _standing(system: AnySystem, claim: Property, trace: Trace[Any, Any, Any, Any]) -> ClaimStatus:
    match claim:
        case Safety():
            return _along(claim, trace)
        case Reachable():
            return _reached(system, claim, trace.steps)
        case DeterminedBy():
            return _determined(claim, trace.steps)
        case Paired():
            return _paired(system, claim, trace.scenario)
        case DeadlockFree():
            return _stuck(system, claim, trace)
        case Liveness(begins="loop"):
            return _circling(system, claim, trace)
        case Liveness():
            return _awaited(system, claim, trace)
        case Temporal():
            return _foreseen(system, claim, trace)
        case _:
            return ClaimStatus(claim, Truth.SILENT, note=f"there is no status for claims of kind {claim.kind}")


def _along(claim: Safety, trace: Trace[Any, Any, Any, Any]) -> ClaimStatus:
    answers = list(claim.answers(trace.scenario.config, trace.scenario.start, trace.steps))
    if False in answers:
        return ClaimStatus(claim, Truth.FALSE, answers.index(False))
    if True in answers:
        return ClaimStatus(claim, Truth.TRUE)
    return ClaimStatus(claim, Truth.SILENT, note="does not apply to this run")


def _reached(system: AnySystem, claim: Reachable, steps: Sequence[AnyStep]) -> ClaimStatus:
    """Return MET if the goal occurs and every step was on offer; a run with a hostile request witnesses nothing."""
    met = next((n for n, step in enumerate(steps, 1) if claim.goal(step)), None)
    if met is None:
        return ClaimStatus(claim, Truth.WAITING, note="not met so far")
    for number, step in enumerate(steps, 1):
        if not system.is_enabled(step.config, step.before, step.action):
            note = f"its goal is met in step {met}, but step {number} was not on offer"
            return ClaimStatus(claim, Truth.WAITING, met, note)
    return ClaimStatus(claim, Truth.MET, met)


def _determined(claim: DeterminedBy, steps: Sequence[AnyStep]) -> ClaimStatus:
    """Compare the steps of this run with each other; only a search covers other runs."""
    known: dict[Hashable, Hashable] = {}
    for number, step in enumerate(steps, 1):
        if claim.when(step) and known.setdefault(claim.key(step), claim.value(step)) != claim.value(step):
            return ClaimStatus(
                claim, Truth.FALSE, number, "two steps of this run have the same key and different values"
            )
    if not known:
        return ClaimStatus(claim, Truth.SILENT, note="does not apply to this run")
    return ClaimStatus(claim, Truth.TRUE, note="compares this run's steps with each other")


def _paired(system: AnySystem, claim: Paired, scenario: Scenario[Any, Any, Any]) -> ClaimStatus:
    """Compare the end of the run with second runs; earlier ends were compared when they were reached."""
    actions = len(scenario.actions)
    if actions < claim.taken:
        return ClaimStatus(claim, Truth.SILENT, note=claim.early)
    few = tuple(islice(ways_at_end(system, claim, scenario), TWINS + 1))
    if not few:
        return ClaimStatus(claim, Truth.SILENT, note=claim.silent)
    if len(few) > TWINS:
        return ClaimStatus(
            claim, Truth.WAITING, note=f"the last step has more than {TWINS} twins; ask for a run that breaks it"
        )
    for place, way in few:
        if why := compare(system, claim, place, way).why:
            return ClaimStatus(claim, Truth.FALSE, actions, why)
    note = f"compares the last step with its {len(few)} twins" if claim.reads == "steps" else claim.alike
    return ClaimStatus(claim, Truth.TRUE, note=note)


def _stuck(system: AnySystem, claim: DeadlockFree, trace: Trace[Any, Any, Any, Any]) -> ClaimStatus:
    if not claim.wants(trace.scenario.config, trace.final):
        return ClaimStatus(claim, Truth.SILENT, note="no agent wants to act now")
    for action in islice(system.enabled(trace.scenario.config, trace.final), AHEAD):
        if claim.completes(system.take(trace.scenario.config, trace.final, action)):
            return ClaimStatus(claim, Truth.TRUE, note="a next step completes")
    judged = judge(system, claim, trace.scenario, limit=AHEAD)
    if judged:
        return ClaimStatus(claim, Truth.FALSE, len(trace.steps), judged.reason)
    return ClaimStatus(claim, Truth.TRUE if judged.decided else Truth.WAITING, note=judged.reason)


def _awaited(system: AnySystem, claim: Liveness, trace: Trace[Any, Any, Any, Any]) -> ClaimStatus:
    scenario = trace.scenario
    for lasso in _loops(trace):
        if judged := judge(system, claim, lasso):
            return ClaimStatus(claim, Truth.FALSE, len(trace.steps), judged.reason)
    if has_ended(system, scenario.config, trace.final) and (judged := judge(system, claim, scenario)):
        return ClaimStatus(claim, Truth.FALSE, len(trace.steps), judged.reason)
    raises, serves = claim.tests
    from_start = claim.begins == "start"
    since = 0 if from_start else None
    for number, step in enumerate(trace.steps, 1):
        if since is None and raises(step):
            since = number
        if serves(step):
            if from_start:
                return ClaimStatus(claim, Truth.MET, number)
            since = None
    if since is None:
        return ClaimStatus(claim, Truth.TRUE, note="nothing is awaited")
    return ClaimStatus(claim, Truth.WAITING, since, "the goal is awaited")


def _circling(system: AnySystem, claim: Liveness, trace: Trace[Any, Any, Any, Any]) -> ClaimStatus:
    note = "the run closes no loop"
    for lasso in _loops(trace):
        judged = judge(system, claim, lasso)
        if judged:
            return ClaimStatus(claim, Truth.FALSE, len(trace.steps), judged.reason)
        note = judged.reason
    return ClaimStatus(claim, Truth.SILENT if note == "the run closes no loop" else Truth.TRUE, note=note)


def _foreseen(system: AnySystem, claim: Temporal, trace: Trace[Any, Any, Any, Any]) -> ClaimStatus:
    """Look for a loop or an end that breaks a formula; else say what is known of it whatever comes."""
    tried: list[Evidence] = [*_loops(trace), trace.scenario]
    for evidence in tried:
        if judged := judge(system, claim, evidence):
            return ClaimStatus(claim, Truth.FALSE, len(trace.steps), judged.reason)
    formula, config = claim.says(trace.scenario.config), trace.scenario.config
    word: dict[Atom, list[bool | None]] = {
        atom: [*known[:-1], known[-1] if atom.of == "state" else None]
        for atom, known in word_of(formula, config, trace.states, trace.steps).items()
    }
    match so_far(formula, word, len(trace.states)):
        case True:
            return ClaimStatus(claim, Truth.TRUE, note="true of every run that goes on from here")
        case False:
            return ClaimStatus(claim, Truth.WAITING, note="false of every run that goes on from here, fair ones too")
        case None:
            return ClaimStatus(claim, Truth.WAITING, note="open: what comes decides")


def _loops(trace: Trace[Any, Any, Any, Any]) -> Iterator[Lasso[Any, Any, Any]]:
    """Yield the lassos that end here, because the run was in this state before; the shortest loop first."""
    actions, states = trace.scenario.actions, trace.states
    for begin in reversed(range(len(actions))):
        if states[begin] == trace.final:
            yield Lasso(trace.scenario.config, trace.scenario.start, actions[:begin], actions[begin:])


def evidence_for(
    system: AnySystem, claim: Property, trace: Trace[Any, Any, Any, Any], given: Evidence | None = None
) -> Evidence | None:
    """Return the evidence of this run against (or for) a claim: itself, a lasso, or a pair; None where there is none.

    `given` is the evidence with which the walk began; it is tried while the run is still its first run.
    """
    scenario = trace.scenario
    tried: list[Evidence | None] = [scenario, *_loops(trace)]
    if isinstance(claim, Paired):
        tried.append(refuting_pair(system, claim, scenario))
    if isinstance(given, Pair) and given.left == scenario:
        tried.append(given)
    if isinstance(given, Lasso) and given.unrolled == scenario:
        tried.append(given)
    return next((one for one in tried if one is not None and judge(system, claim, one)), None)
