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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Commute, DeadlockFree, DeterminedBy, Liveness, Property, Reachable, Safety, TwoRun
from evenhand.core.system import AnyStep, AnySystem, Fairness, UnknownName
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

FORWARD_LIMIT = 50_000
"""States in a deadlock's forward search before the judge gives up."""

PAIRS_FROM = 4_096
"""Enabled actions of one state from which a `Commute` claim picks its pairs."""


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
    for scenario in _runs(claim, evidence):
        if not claim.applies(scenario.config):
            return Judgement(False, f"{claim.name} is not claimed under this configuration")
        if not any(scenario.start == start for start in system.initial(scenario.config)):
            return Judgement(False, "the run does not begin in an initial state of its configuration")
    match claim, evidence:
        case Safety(), Scenario():
            return _along(system, claim, evidence)
        case Reachable(), Scenario():
            return _reached(system, claim, evidence)
        case Liveness(begins="start" | "step"), Scenario():
            return _ended(system, claim, evidence)
        case DeadlockFree(), Scenario():
            return _stuck(system, claim, evidence, limit)
        case Liveness(), Lasso():
            return _forever(system, claim, evidence)
        case DeterminedBy(), Pair():
            return _differ(system, claim, evidence)
        case TwoRun(), Pair():
            return _unwound(system, claim, evidence)
        case Commute(), Pair():
            return _either_order(system, claim, evidence)
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


def has_ended(system: AnySystem, config: Any, state: Any) -> bool:
    """Return whether no action is on offer in `state`, so that the run ends there."""
    return next(iter(system.enabled(config, state)), None) is None


def unserved(system: AnySystem, config: Any, loop: Sequence[AnyStep], names: Sequence[str]) -> tuple[str, ...]:
    """Return the fairness assumptions among `names` that repeating `loop` for ever breaks.

    A loop that never serves an assumption breaks it if a serving action is on offer in every state of the loop (weak)
    or in any (strong).  Raises UnknownName for a name that `system.fair` lacks.
    """
    assumptions = system.fair(config)
    for name in names:
        if name not in assumptions:
            raise UnknownName("fairness assumption", name, assumptions)
    return tuple(name for name in names if _breaks(system, config, loop, assumptions[name]))


def twins_of(system: AnySystem, claim: TwoRun, step: AnyStep) -> Iterator[tuple[Any, AnyStep | None]]:
    """Yield every `w` of a 2-safety claim at `step`, with the second trace's step (None if it is purged)."""
    for w in claim.twins(step.config, step.before, step.action):
        config = claim.config(w, step.config)
        state = claim.state(w, step.config, step.before)
        others = tuple(claim.other(w, step.action))
        if len(others) > 1:
            raise ModelError(
                f"claim {claim.name!r}: `other` gives {len(others)} actions for one; one, or none, is meant"
            )
        yield w, system.take(config, state, others[0]) if others else None


def _runs(claim: Property, evidence: Evidence) -> tuple[AnyScenario, ...]:
    """The runs that must be runs of the system; the second trace of a 2-safety pair is computed."""
    return runs(evidence)[:1] if isinstance(claim, TwoRun) else runs(evidence)


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


def _along(system: AnySystem, claim: Safety, scenario: AnyScenario) -> Judgement:
    """Judge a claim about states, steps or the history so far, after every action."""
    found = _first(system, claim, scenario)
    if found is None:
        return Judgement(False, f"{claim.name} is true all along this run")
    return Judgement(True, f"{claim.name} is false after {found} of {len(scenario.actions)} actions")


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


def _waiting(claim: Liveness, steps: Sequence[AnyStep]) -> int | None:
    """The index of the step from which a run through `steps` lacks its goal; None if it does not."""
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
    if _waiting(claim, trace.steps) is None:
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
    if any(serves(step) for step in loop) or _waiting(claim, trace.steps) is None:
        return Judgement(False, "the goal is met in time on this run")
    return Judgement(True, f"a fair loop of {len(loop)} actions never meets the goal")


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


def _unwound(system: AnySystem, claim: TwoRun, pair: Pair[Any, Any, Any]) -> Judgement:
    found = _bad_twin(system, claim, pair.left)
    if found is None:
        return Judgement(False, "every twin of the last step agrees with it")
    return Judgement(True, found[1])


def _bad_twin(system: AnySystem, claim: TwoRun, left: AnyScenario) -> tuple[Any, str] | None:
    """The first `w` that refutes the claim at the last step of `left`, and how."""
    step = _last(system, left)
    if step is None:
        return None
    return next(bad_twins(system, claim, step, first=len(left.actions) == 1), None)


def bad_twins(system: AnySystem, claim: TwoRun, step: AnyStep, *, first: bool) -> Iterator[tuple[Any, str]]:
    """Yield every `w` whose second trace does not relate at `step`, and how; `first`: `step` begins a run."""
    for w, other in twins_of(system, claim, step):
        if first and claim.starts:
            config, state = claim.config(w, step.config), claim.state(w, step.config, step.before)
            if not any(state == start for start in system.initial(config)):
                yield w, "the twin of an initial state is not initial"
                continue
        if not claim.agree(w, step, other):
            yield w, "the two runs do not agree after the last step"


def _either_order(system: AnySystem, claim: Commute, pair: Pair[Any, Any, Any]) -> Judgement:
    """Same start, same actions, the last two exchanged; the claim must pick those two in that state."""
    left, right = pair.left, pair.right
    if len(left.actions) < 2 or (left.config, left.start) != (right.config, right.start):
        return Judgement(False, "two orders begin in one state and take at least two actions")
    *prefix, one, two = left.actions
    if right.actions != (*prefix, two, one):
        return Judgement(False, "the runs are not two orders of their last two actions")
    state = replay(system, Scenario(left.config, left.start, tuple(prefix))).final
    if not _picks(system, claim, left.config, state, one, two):
        return Judgement(False, "the claim is not about these two actions in this state")
    first, second = _last(system, left), _last(system, right)
    assert first is not None and second is not None
    # `same` takes the picked order first; an asymmetric claim is judged in that order.
    if claim.same(left.config, first, second):
        return Judgement(False, "both orders lead to the same")
    return Judgement(True, "the two orders lead to different ends")


def _picks(system: AnySystem, claim: Commute, config: Any, state: Any, one: Any, two: Any) -> bool:
    """Whether the claim picks (one, two) in `state`, from these two alone or from all that is on offer."""
    if all(system.is_enabled(config, state, action) for action in (one, two)) and any(
        pair == (one, two) for pair in claim.pairs(config, state, (one, two))
    ):
        return True
    offered = tuple(islice(system.enabled(config, state), PAIRS_FROM))
    return any(pair == (one, two) for pair in claim.pairs(config, state, offered))


def restate(system: AnySystem, claim: Property, evidence: Evidence) -> Evidence:
    """Return the evidence with its computed part computed anew: a 2-safety pair's second trace.

    A shrinker knows no claims, so the right run it leaves is meaningless.  Other evidence, and a pair that no longer
    refutes, comes back unchanged.
    """
    if isinstance(claim, TwoRun) and isinstance(evidence, Pair):
        return twin_pair(system, claim, evidence.left) or evidence
    return evidence


def twin_pair(system: AnySystem, claim: TwoRun, left: AnyScenario) -> Pair[Any, Any, Any] | None:
    """Return the pair that refutes a 2-safety claim at the last step of `left`; None if no second trace disagrees.

    The right run is the second trace's step (or none, if purged), from the state that unwinding gives.
    """
    found = _bad_twin(system, claim, left)
    step = _last(system, left)
    if found is None or step is None:
        return None
    w = found[0]
    right = Scenario(
        claim.config(w, step.config), claim.state(w, step.config, step.before), tuple(claim.other(w, step.action))
    )
    return Pair(left, right, w if isinstance(w, str) else claim.name)
