"""Carry evidence found among classes of states back: the model takes the same actions from its own start.

A run that violates a claim must violate it in the model, too; if not, the licence is wrong, and ModelError says so.  A
loop of classes may never close in the model, for example where it counts up for ever.  The model goes round it a few
times: if it returns to one of its states, that is a lasso for the judge, else nothing is refuted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Liveness, Property
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyLasso, Lasso, Scenario, replay
from evenhand.core.verdict import Evidence
from evenhand.evidence.judge import Judgement, judge
from evenhand.search.bounds import Bounds
from evenhand.search.evidence import judged
from evenhand.search.witness import Witness

ROUNDS = 4
"""Rounds of a loop of classes that the model takes."""

AHEAD = 2_000
"""States that the judge of a deadlock may visit at least: the model may have infinitely many."""

TOLD = 400
"""Characters of a candidate that a verdict shows."""


def carried(
    system: AnySystem,
    configs: Sequence[Any],
    claim: Property,
    finding: Witness,
    bounds: Bounds,
    *,
    states: int,
    doubt: str,
) -> tuple[Evidence | None, Judgement]:
    """Return the evidence in the model for a finding among classes, and the judge's answer.

    `doubt` is why the claim may tell a state from its image; without one, a run that the model contradicts raises
    ModelError.
    """
    evidence, judgement = judged(system, configs, claim, finding, bounds, states, least=AHEAD)
    if judgement:
        return evidence, judgement
    if isinstance(evidence, Lasso):
        evidence, judgement = _rounds(system, claim, evidence)
    if judgement or not judgement.decided:
        return evidence, judgement
    if doubt:
        return None, Judgement(False, doubt, decided=False)
    raise ModelError(
        f"{system.label}: {claim.name} fails among classes of states, and the model that takes the same actions says: "
        f"{judgement.reason}. The licence is wrong, or the claim tells a state from its image where no sample did; "
        "explore without the quotient"
    )


def _rounds(system: AnySystem, claim: Property, lasso: AnyLasso) -> tuple[AnyLasso | None, Judgement]:
    """A lasso of the model that repeats the loop, or why there is none."""
    entries = [replay(system, Scenario(lasso.config, lasso.start, lasso.stem)).final]
    for turn in range(1, ROUNDS + 1):
        trace = replay(system, Scenario(lasso.config, entries[-1], lasso.loop))
        for step in trace.steps:
            if not system.is_enabled(step.config, step.before, step.action):
                return None, Judgement(False, f"in round {turn} of the loop {step.action!r} is not on offer")
            if _kept(claim, step):
                return None, Judgement(False, f"in round {turn} of the loop {step.action!r} keeps the promise")
        entries.append(trace.final)
    judgement = Judgement(False, "")
    for first, second in combinations(range(len(entries)), 2):
        if entries[first] == entries[second]:
            longer = Lasso(lasso.config, lasso.start, lasso.stem + lasso.loop * first, lasso.loop * (second - first))
            judgement = judge(system, claim, longer)
            if judgement:
                return longer, judgement
    if judgement.reason:
        return None, judgement
    formatted = f"after {list(lasso.stem)!r} for ever {list(lasso.loop)!r}"
    return None, Judgement(
        False,
        f"a loop of {len(lasso.loop)} actions closes among classes alone: {ROUNDS} rounds of it in the model never "
        f"keep the promise and come back to no state, so there is a candidate and no lasso ({formatted[:TOLD]})",
        decided=False,
    )


def _kept(claim: Property, step: AnyStep) -> bool:
    return isinstance(claim, Liveness) and bool(claim.tests[1](step))
