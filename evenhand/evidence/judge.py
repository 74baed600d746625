"""The one judge: decide whether evidence refutes a claim.

Search, state machine, shrinker, fixtures and proofs find evidence in ways of their own; none is trusted.  All evidence
is replayed here, in the executable model, and judged by the claim's own predicates (for `Reachable`: does it *witness*
the claim?).

Which runs count depends on the claim.  A safety claim is about every step from a reachable state, and `step` is total,
so hostile actions that are not on offer are valid evidence.  A claim about what can or must happen (`Reachable`, the
liveness kinds, `DeadlockFree`) is about the runs the system offers: every action must be on offer, or a machine could
"starve" a system by repeating a request that no agent may make.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evenhand.core.ending import has_ended
from evenhand.core.fairness import assumed
from evenhand.core.kinds import DeadlockFree, Liveness, Property, Reachable, Safety
from evenhand.core.lookup import UnknownName
from evenhand.core.relations import DeterminedBy, Paired
from evenhand.core.system import AnyStep, AnySystem, Fairness
from evenhand.core.temporal import Temporal, is_kept
from evenhand.core.trace import (
    AnyLasso,
    AnyScenario,
    AnyTrace,
    Lasso,
    NotReplayable,
    Pair,
    Scenario,
    replay,
    replay_lasso,
    stepping,
)
from evenhand.core.verdict import Evidence, runs
from evenhand.evidence.second_runs import compare, refuting_pair, ways_at_end

FORWARD_LIMIT = 50_000
"""States in a deadlock's forward search before the judge gives up."""


@dataclass(frozen=True)
class Judgement:
    """The judge's answer: `refutes`, the reason in one sentence, and whether it could be `decided` at all."""

    refutes: bool
    reason: str
    decided: bool = True

    def __bool__(self) -> bool:
        return self.refutes


def refutes(system: AnySystem, claim: Property, evidence: Evidence, *, limit: int = FORWARD_LIMIT) -> bool:
    """Return whether `evidence`, replayed in `system`, refutes `claim` (witnesses it, for `Reachable`).

    False also if the judge cannot decide; `judge` tells the two apart.
    """
    return judge(system, claim, evidence, limit=limit).refutes


def judge(system: AnySystem, claim: Property, evidence: Evidence, *, limit: int = FORWARD_LIMIT) -> Judgement:
    """Return whether `evidence` refutes `claim`, with the reason.

    Not decided if a deadlock's forward search meets more than `limit` states, or if the system lacks a fairness
    assumption of the claim under this configuration.
    """
    for scenario in own_runs(claim, evidence):
        if not claim.applies(scenario.config):
            return Judgement(False, f"{claim.name} is not claimed under this configuration")
        if not any(scenario.start == start for start in system.initial(scenario.config)):
            return Judgement(False, "the run does not begin in an initial state of its configuration")
    if system.constrained and (why := _goes_on_outside(system, evidence)):
        return Judgement(False, why)
    match claim, evidence:
        case Safety(), Scenario():
            return _along(system, claim, evidence)
        case Reachable(), Scenario():
            return _reached(system, claim, evidence)
        case Liveness(begins="start" | "step"), Scenario():
            return _ended(system, claim, evidence)
        case DeadlockFree(), Scenario():
            return _stuck(system, claim, evidence, limit)
        case Temporal(), Scenario():
            return _stopped(system, claim, evidence)
        case Temporal(), Lasso():
            return _repeated(system, claim, evidence)
        case Liveness(), Lasso():
            return _forever(system, claim, evidence)
        case DeterminedBy(), Pair():
            return _differ(system, claim, evidence)
        case Paired(), Pair():
            return _paired(system, claim, evidence)
        case _:
            return Judgement(False, f"a {type(evidence).__name__.lower()} cannot refute a claim of kind {claim.kind}")


def first_refuted_step(system: AnySystem, claim: Property, evidence: Evidence) -> int | None:
    """Return the number of actions until the claim is false (or witnessed); None if it never is.

    0 means that the start itself violates.  For a lasso it is where the loop begins, for a pair the length of the left
    run: these refute only as a whole.
    """
    match claim, evidence:
        case ((Safety() | Reachable()), Scenario()):
            return _first(system, claim, evidence) if judge(system, claim, evidence) else None
        case _, Scenario():
            return len(evidence.actions) if judge(system, claim, evidence) else None
        case _, Lasso():
            return len(evidence.stem) if judge(system, claim, evidence) else None
        case _, Pair():
            return len(evidence.left.actions) if judge(system, claim, evidence) else None


def unserved(system: AnySystem, config: Any, loop: Sequence[AnyStep], names: Sequence[str]) -> tuple[str, ...]:
    """Return the fairness assumptions among `names` that repeating `loop` for ever breaks.

    A loop that never serves an assumption breaks it if a serving action is on offer in every state of the loop (weak)
    or in any (strong).  Raises UnknownName for a name that `system.fair` lacks.
    """
    named = assumed(system.fair(config), names)
    return tuple(name for name, fairness in named.items() if _breaks(system, config, loop, fairness))


def own_runs(claim: Property, evidence: Evidence) -> tuple[AnyScenario, ...]:
    """Return the runs that must be runs of the system; a second run made from a step is computed."""
    return runs(evidence)[:1] if isinstance(claim, Paired) and claim.reads == "steps" else runs(evidence)


def _breaks(system: AnySystem, config: Any, loop: Sequence[AnyStep], fairness: Fairness[Any, Any]) -> bool:
    if any(fairness.taken(step.before, step.action) for step in loop):
        return False
    on_offer = (_serving(system, config, step.before, fairness) for step in loop)
    return all(on_offer) if fairness.kind == "weak" else any(on_offer)


def _serving(system: AnySystem, config: Any, state: Any, fairness: Fairness[Any, Any]) -> bool:
    return any(fairness.taken(state, action) for action in system.enabled(config, state))


def _not_on_offer(system: AnySystem, trace: AnyTrace) -> str:
    """Why the system does not offer this trace; empty if it does."""
    for index, step in enumerate(trace.steps):
        if not system.is_enabled(step.config, step.before, step.action):
            return f"action {index + 1} is not on offer in the state it is taken in"
    return ""


def _goes_on_outside(system: AnySystem, evidence: Evidence) -> str:
    """Why a run goes on where a constraint lets none; empty if it does not.  A lasso goes on after its last action."""
    for scenario in runs(evidence):
        steps = replay(system, scenario).steps
        if steps and not system.inside(scenario.config, scenario.start):
            return "the run goes on from an initial state outside the constraint"
        for taken, step in enumerate(steps if isinstance(evidence, Lasso) else steps[:-1], start=1):
            if not system.stays(step):
                return f"the run goes on after action {taken}, which leaves the constraint"
    return ""


def _along(system: AnySystem, claim: Safety, scenario: AnyScenario) -> Judgement:
    """Judge a claim about states, steps or the history so far, after every action."""
    found = _first(system, claim, scenario)
    if found is None:
        return Judgement(False, f"{claim.name} is true all along this run")
    why = claim.why(scenario.config, scenario.start, tuple(stepping(system, scenario))[:found])
    told = f": {why}" if why else ""
    return Judgement(True, f"{claim.name} is false after {found} of {len(scenario.actions)} actions{told}")


def _reached(system: AnySystem, claim: Reachable, scenario: AnyScenario) -> Judgement:
    if why := _not_on_offer(system, replay(system, scenario)):
        return Judgement(False, why)
    found = _first(system, claim, scenario)
    return Judgement(found is not None, "no step meets the goal" if found is None else f"step {found} meets the goal")


def _first(system: AnySystem, claim: Safety | Reachable, scenario: AnyScenario) -> int | None:
    """After how many actions the claim is first false (met, for `Reachable`)."""
    steps = stepping(system, scenario)
    if isinstance(claim, Reachable):
        return next((taken for taken, step in enumerate(steps, start=1) if claim.goal(step)), None)
    answers = claim.answers(scenario.config, scenario.start, steps)
    return next((taken for taken, kept in enumerate(answers) if kept is False), None)


def owed_since(claim: Liveness, steps: Sequence[AnyStep]) -> int | None:
    """Return the index of the step from which a run through `steps` lacks its goal; None if it does not."""
    raises, serves = claim.tests
    from_start = claim.begins == "start"
    waiting: int | None = 0 if from_start else None
    for index, step in enumerate(steps):
        if not from_start and waiting is None and raises(step):
            waiting = index
        if serves(step):
            if from_start:
                return None
            waiting = None
    return waiting


def _ended(system: AnySystem, claim: Liveness, scenario: AnyScenario) -> Judgement:
    """A run that ends refutes a liveness claim it does not satisfy."""
    trace = replay(system, scenario)
    if why := _not_on_offer(system, trace):
        return Judgement(False, why)
    if not has_ended(system, scenario.config, trace.final):
        return Judgement(False, "the run can go on, so nothing that must come later is missing yet")
    if owed_since(claim, trace.steps) is None:
        return Judgement(False, "the goal is met in time on this run")
    return Judgement(True, f"the run ends after {len(trace.steps)} actions without the goal")


def _forever(system: AnySystem, claim: Liveness, lasso: AnyLasso) -> Judgement:
    """A lasso refutes a liveness claim if its loop is fair and never satisfies it."""
    try:
        trace, loop = replay_lasso(system, lasso)
    except NotReplayable as error:
        return Judgement(False, str(error))
    if why := _not_on_offer(system, trace):
        return Judgement(False, why)
    try:
        broken = unserved(system, lasso.config, loop, claim.fairness)
    except UnknownName as error:
        return Judgement(False, str(error), decided=False)
    if broken:
        return Judgement(False, f"the loop is not fair: it starves {', '.join(broken)}")
    raises, serves = claim.tests
    if claim.begins == "loop":
        if not any(raises(step) for step in loop):
            return Judgement(False, "no agent attempts anything in the loop")
        if any(serves(step) for step in loop):
            return Judgement(False, "the loop makes progress")
        return Judgement(True, f"a fair loop of {len(loop)} actions attempts and never progresses")
    # A goal anywhere in the loop recurs, so it also follows a later trigger.
    if any(serves(step) for step in loop) or owed_since(claim, trace.steps) is None:
        return Judgement(False, "the goal is met in time on this run")
    return Judgement(True, f"a fair loop of {len(loop)} actions never meets the goal")


def _stopped(system: AnySystem, claim: Temporal, scenario: AnyScenario) -> Judgement:
    """A run that stops refutes a temporal claim that its last state, for ever, does not satisfy."""
    trace = replay(system, scenario)
    if why := _not_on_offer(system, trace):
        return Judgement(False, why)
    config, end = scenario.config, trace.final
    if not has_ended(system, config, end):
        if not claim.stutter:
            return Judgement(False, "the run can go on, so nothing that must come later is missing yet")
        try:
            named = assumed(system.fair(config), claim.fairness)
        except UnknownName as error:
            return Judgement(False, str(error), decided=False)
        broken = [name for name, fairness in named.items() if _serving(system, config, end, fairness)]
        if broken:
            return Judgement(False, f"the run may not stop there: that starves {', '.join(broken)}")
    if is_kept(claim.says(config), config, trace.steps, end, 0):
        return Judgement(False, "the formula is true of this run")
    return Judgement(True, f"the run stops after {len(trace.steps)} actions, and the formula is false of it")


def _repeated(system: AnySystem, claim: Temporal, lasso: AnyLasso) -> Judgement:
    """A lasso refutes a temporal claim that is false of it, if its loop is fair."""
    try:
        trace, loop = replay_lasso(system, lasso)
        why = _not_on_offer(system, trace)
        broken = () if why else unserved(system, lasso.config, loop, claim.fairness)
    except NotReplayable as error:
        return Judgement(False, str(error))
    except UnknownName as error:
        return Judgement(False, str(error), decided=False)
    if why or broken:
        return Judgement(False, why or f"the loop is not fair: it starves {', '.join(broken)}")
    if is_kept(claim.says(lasso.config), lasso.config, trace.steps, trace.final, len(loop)):
        return Judgement(False, "the formula is true of this run")
    return Judgement(True, f"the formula is false of this fair loop of {len(loop)} actions")


def _stuck(system: AnySystem, claim: DeadlockFree, scenario: AnyScenario, limit: int) -> Judgement:
    """A deadlock: the final state wants, and a closed forward search finds no completing step."""
    config = scenario.config
    trace = replay(system, scenario)
    if why := _not_on_offer(system, trace):
        return Judgement(False, why)
    if not claim.wants(config, trace.final):
        return Judgement(False, "no agent wants to act in the final state")
    seen = {trace.final}
    queue = deque([trace.final])
    while queue:
        state = queue.popleft()
        for action in system.enabled(config, state):
            step = system.take(config, state, action)
            if claim.completes(step):
                return Judgement(False, "a continuation completes")
            if step.after not in seen:
                if len(seen) >= limit:
                    return Judgement(False, f"more than {limit} states lie ahead: not known", decided=False)
                seen.add(step.after)
                queue.append(step.after)
    return Judgement(True, f"none of the {len(seen)} states ahead completes anything")


def _last(system: AnySystem, scenario: AnyScenario) -> AnyStep | None:
    trace = replay(system, scenario)
    return trace.steps[-1] if trace.steps else None


def _differ(system: AnySystem, claim: DeterminedBy, pair: Pair[Any, Any, Any]) -> Judgement:
    left, right = _last(system, pair.left), _last(system, pair.right)
    if left is None or right is None:
        return Judgement(False, "a pair of runs compares its last steps; one run has none")
    if not claim.across and left.config != right.config:
        return Judgement(False, "the claim compares steps of one configuration only")
    if not (claim.when(left) and claim.when(right)):
        return Judgement(False, "the claim's antecedent is false of one of the two steps")
    if claim.key(left) != claim.key(right):
        return Judgement(False, "the two steps have different keys")
    if claim.value(left) == claim.value(right):
        return Judgement(False, "the two steps have the same value")
    return Judgement(True, "two steps with the same key have different values")


def _paired(system: AnySystem, claim: Paired, pair: Pair[Any, Any, Any]) -> Judgement:
    """The last step against all its second runs, or both runs against those that the claim picks in their last state.

    Runs that part in a state begin alike, and the claim must pick these two there.
    """
    left, right = pair.left, pair.right
    ways = ways_at_end(system, claim, left)
    if claim.reads == "states":
        if len(left.actions) < claim.taken or (left.config, left.start) != (right.config, right.start):
            return Judgement(False, f"both runs begin in one state, and the first takes at least {claim.taken} actions")
        past = left.actions[: -claim.taken]
        meant = ((at, way) for at, way in ways if (*past, *claim.fork(way, *at[:3]).right) == right.actions)
        ways = islice(meant, 1)
    none = True
    for place, way in ways:
        none = False
        if why := compare(system, claim, place, way).why:
            return Judgement(True, why)
    return Judgement(False, claim.silent if none and claim.reads == "states" else claim.alike)


def restate(system: AnySystem, claim: Property, evidence: Evidence) -> Evidence:
    """Return the evidence with its computed part computed anew: the second run of a pair.

    A shrinker knows no claims, so the computed run it leaves is meaningless.  Other evidence, and a pair that no longer
    refutes, comes back unchanged.
    """
    if isinstance(evidence, Pair) and isinstance(claim, Paired) and claim.reads == "steps":
        return refuting_pair(system, claim, evidence.left) or evidence
    return evidence
