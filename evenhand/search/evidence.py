"""Turn findings into evidence: replay the numbers in the model, and ask the judge.

A finding that does not replay, or that the judge does not confirm, never becomes evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evenhand.core.kinds import Property
from evenhand.core.lookup import UnknownName
from evenhand.core.relations import Paired
from evenhand.core.system import AnySystem
from evenhand.core.temporal import Temporal
from evenhand.core.trace import AnyLasso, AnyScenario, Lasso, Pair, Scenario, replay
from evenhand.core.verdict import Evidence
from evenhand.evidence.judge import FORWARD_LIMIT, Judgement, judge
from evenhand.evidence.second_runs import Place, compared, pair_of, refuting_pair
from evenhand.search.bounds import Bounds, held
from evenhand.search.graph import search
from evenhand.search.steps import nth_action
from evenhand.search.witness import StepNumber, Witness


def judged(
    system: AnySystem,
    configs: Sequence[Any],
    claim: Property,
    finding: Witness,
    bounds: Bounds,
    states: int,
) -> tuple[Evidence | None, Judgement]:
    """Return the evidence of a finding, and the judge's answer.

    A deadlock's judge may visit `states` states, the size of the search, and `FORWARD_LIMIT` in any case.
    """
    try:
        evidence = realised(system, configs, claim, finding, bounds)
    except IndexError as error:
        return None, Judgement(False, str(error))
    if evidence is None:
        return None, Judgement(False, "no second run disagrees when both are taken again")
    try:
        if isinstance(evidence, Lasso):
            evidence = trimmed(system, claim, evidence)
        return evidence, judge(system, claim, evidence, limit=max(states + 1, FORWARD_LIMIT))
    except UnknownName as error:
        return None, Judgement(False, str(error))


def trimmed(system: AnySystem, claim: Property, lasso: AnyLasso) -> AnyLasso:
    """Return a lasso that enters its loop as early as it may: an automaton waits for steps the run does not need."""
    if not isinstance(claim, Temporal):
        return lasso
    states = replay(system, lasso.unrolled).states
    entry = states[len(lasso.stem)]
    shorter = (replace(lasso, stem=lasso.stem[:at]) for at in range(len(lasso.stem)) if states[at] == entry)
    return next((one for one in shorter if judge(system, claim, one)), lasso)


def realised(
    system: AnySystem, configs: Sequence[Any], claim: Property, finding: Witness, bounds: Bounds
) -> Evidence | None:
    """Return the run, lasso or pair of a finding; None if no pair disagrees.  Raises IndexError if none replays."""
    if finding.places:
        left, right = (_to_place(system, configs, place, bounds) for place in finding.places)
        return Pair(left, right, claim.name)
    config = configs[finding.config]
    run, final = walked(system, config, finding.start, (*finding.path, *finding.loop))
    stem = len(finding.path)
    if finding.loop:
        return Lasso(config, run.start, run.actions[:stem], run.actions[stem:])
    if not isinstance(claim, Paired):
        return run
    if claim.reads == "steps":
        return refuting_pair(system, claim, run)
    place = Place(config, final, tuple(system.enabled(config, final)))
    return next((pair_of(claim, run, one) for one in compared(system, claim, place) if one.why), None)


def walked(system: AnySystem, config: Any, start: int, numbers: Sequence[int]) -> tuple[AnyScenario, Any]:
    """Return the scenario of these action numbers, and its last state."""
    first = state = list(system.initial(config))[start]
    actions: list[Any] = []
    for number in numbers:
        actions.append(nth_action(system, config, state, number))
        state = system.take(config, state, actions[-1]).after
    return Scenario(config, first, tuple(actions)), state


def _to_place(system: AnySystem, configs: Sequence[Any], place: StepNumber, bounds: Bounds) -> AnyScenario:
    """A shortest run that ends with that step; the path is searched again, because it was not kept."""
    with held(bounds) as within:
        walk = search(system, configs[place.config], place.config, (), within, until=place.state)
        start, path = walk.path(place.state)
    return walked(system, configs[place.config], start, (*path, place.action))[0]
