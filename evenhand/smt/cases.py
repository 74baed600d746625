"""The cases of a claim in the steps of a model: what its theorem is compared on, and what refutes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from evenhand.core.kinds import Property, Safety
from evenhand.core.relations import DeterminedBy, Paired
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyScenario, Pair
from evenhand.core.verdict import Evidence
from evenhand.evidence.second_runs import PAIRS_FROM, Compared, Place, at_step, compared, pair_of


def cases(system: AnySystem, claim: Property, steps: Iterable[AnyStep]) -> Iterator[tuple[Any, bool]]:
    """Yield the cases of a claim in some steps, each with whether the claim is true of it.

    A case is a step for a claim that reads steps; the first step of a run for one that reads histories (the theorem is
    an induction step, which must contain the claim's memory); (way, step, other step) for `Paired` claims about steps;
    (fork, last step, last step) for those about what the state before a step offers; a pair of steps with equal keys
    for `DeterminedBy`.  Raises TypeError for other kinds.
    """
    match claim:
        case Safety(reads="steps" | "histories"):
            for step in steps:
                if claim.applies(step.config):
                    memory = claim.follow(claim.memory(step.config), step)
                    yield step, claim.at(step.config, memory, step) is not False
        case Paired():
            for step in steps:
                yield from ((case_of(claim, one), not one.why) for one in second_runs(system, claim, step))
        case DeterminedBy():
            first: dict[Any, AnyStep] = {}
            for step in steps:
                if claim.applies(step.config) and claim.when(step):
                    kept = first.setdefault(claim.key(step), step)
                    if kept is not step:
                        yield (kept, step), claim.value(kept) == claim.value(step)
        case _:
            raise TypeError(
                f"claim {claim.name} is of kind {claim.kind}; theorems state claims about steps or pairs, and with a "
                "`ranking` claims about whole runs"
            )


def second_runs(system: AnySystem, claim: Paired, step: AnyStep) -> tuple[Compared, ...]:
    """Return the second runs of a step, compared."""
    return tuple(compared(system, claim, place_of(system, claim, step))) if claim.applies(step.config) else ()


def place_of(system: AnySystem, claim: Paired, step: AnyStep) -> Place:
    """Return the step, or the state before it with all that it offers, as the claim reads."""
    if claim.reads == "steps":
        return at_step(step, first=False)
    offered = islice(system.enabled(step.config, step.before), PAIRS_FROM)
    return Place(step.config, step.before, tuple(offered))


def case_of(claim: Paired, one: Compared) -> tuple[Any, AnyStep, AnyStep | None]:
    """Return a comparison as a case."""
    return one.way if claim.reads == "steps" else one.fork, one.left, one.right


def wrong_ends(
    system: AnySystem, claim: Property, ends: Iterable[tuple[AnyScenario, AnyStep]]
) -> Iterator[tuple[Any, Evidence]]:
    """Yield the cases in which a claim is false of the last steps of runs, each with its evidence.

    `ends` are runs from initial states, each with its last step as `system` takes it.
    """
    first: dict[Any, tuple[AnyScenario, AnyStep]] = {}
    for run, step in ends:
        if isinstance(claim, Paired):
            past = replace(run, actions=run.actions[:-1])
            for one in second_runs(system, claim, step):
                if one.why:
                    yield case_of(claim, one), pair_of(claim, past, one)
        elif isinstance(claim, DeterminedBy):
            if claim.applies(step.config) and claim.when(step):
                kept, other = first.setdefault(claim.key(step), (run, step))
                if claim.value(other) != claim.value(step):
                    yield (other, step), Pair(kept, run, claim.name)
        else:
            yield from ((case, run) for case, truth in cases(system, claim, (step,)) if not truth)
