"""The licence for symmetry in the free-agent graph: renaming free agents renames what they do.

The graph's step is an epoch of the same kernel with a smaller state: tokens, changed keys, the remaining agents and
the number of consecutive livelock epochs.  The menu lists agents by name, so the image of an epoch is submitted in
another order; the theorem therefore holds for every order of the second epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evenhand.core.system import Step, System
from evenhand.core.trace import Pair, Scenario
from evenhand.core.verdict import Evidence
from evenhand.model.cud.free_system import (
    EXITED,
    NONE,
    FreeShown,
    FreeState,
    initial,
    rename_free_shown,
    rename_free_state,
)
from evenhand.model.cud.renaming import Renaming
from evenhand.model.cud.vocabulary import AgentState, Choice, Config, Epoch, Shown, State
from evenhand.proofs.cud.concretisation import scene
from evenhand.proofs.cud.copies import twin
from evenhand.proofs.cud.encoding import CudStep
from evenhand.proofs.cud.epoch import OBSERVED
from evenhand.proofs.cud.pairs import SHARED, view_renamed
from evenhand.proofs.cud.renamed import alike_under_new_names, under_new_names
from evenhand.proofs.cud.samples import LICENCE
from evenhand.properties.cud import symmetry
from evenhand.smt.structure import Structure

FreeStep = Step[Config, FreeState, Epoch, FreeShown]

_IN_COMMON = tuple(name for name in SHARED if name != "sooner")
_TOLD = ("becomes", "gets_done", "gets_failure", "gets_fault", "stays")
_UNTOLD = tuple(f"{name}{copy}" for name in OBSERVED if name not in _TOLD for copy in ("", "2"))
"""Predicates that the graph's steps do not show, in both copies."""


def _epoch(step: FreeStep) -> CudStep:
    """Return the step as an epoch of the kernel, as far as it shows one."""

    def whole(state: FreeState) -> State:
        later = any(mark != NONE for mark in step.before.marks)
        return State(state.world, tuple(AgentState(mark != EXITED, mark) for mark in state.marks), (), int(later))

    here = [name for name, mark in zip(step.config.agents, step.before.marks, strict=True) if mark != EXITED]
    gone = [name for name, mark in zip(step.config.agents, step.after.marks, strict=True) if mark == EXITED]
    shown = Shown(
        tokens=step.shown.tokens, effects=step.shown.effects, exits=tuple(name for name in here if name in gone)
    )
    return Step(step.config, whole(step.before), step.action, shown, whole(step.after))


def _keeps_to_its_scope(choice: Choice) -> bool:
    """Return whether the choice writes only declared keys, as the menu of free agents does."""
    request = choice.request
    return request is None or all(key in request.declared_scope for key, _ in request.proposed_delta)


def _seen(case: tuple[Renaming, FreeStep, FreeStep]) -> Structure | None:
    w, step, other = case
    if not all(_keeps_to_its_scope(choice) for _, choice in step.action.choices):
        return None
    after, shown = rename_free_state(w, step.config, step.after), rename_free_shown(w, step.shown)
    apart = (shown.tokens, shown.effects, after.marks) != (other.shown.tokens, other.shown.effects, other.after.marks)
    if not apart and (shown, after) != (other.shown, other.after):
        return None  # their differences lie outside the theory
    found = view_renamed(w, _epoch(step), _epoch(other), _IN_COMMON)
    return None if found is None else found.without(_UNTOLD)


def _steps(system: System[Any, Any, Any, Any, Any]) -> Iterator[FreeStep]:
    """Yield some of the epochs that other theorems are compared on, as steps of free agents."""
    for _, (config, state, action) in LICENCE.situations(system):
        if not all(_keeps_to_its_scope(choice) for _, choice in action.choices):
            continue
        marks = tuple((one.last or NONE) if one.active else EXITED for one in state.agents)
        yield system.take(config, FreeState(state.world, marks), action)


def _graph(structure: Structure) -> Evidence | None:
    """Return the same epochs by free agents; the layout, of which the claim speaks as well, is the structure's."""
    found = scene(structure)
    if found is None:
        return None
    config = replace(found.config, epochs=None)
    first = Scenario(config, initial(config)[0], found.actions)
    return Pair(first, first, "twin")


_THEORY, _two = under_new_names("cud_free_renamed", _IN_COMMON)

FREE_RENAMED = twin(
    symmetry.equivariance,
    _THEORY,
    name="equivariance_of_free_agents",
    quotient="renaming",
    system="free",
    sentence="Rename free agents and keys, submit in any order, and the graph's step is the same under the new names.",
    source="D12, FQ19, FQ4",
    realise=_graph,
    view=_seen,
    samples=_steps,
    mutants=(),
    **alike_under_new_names(_two),
)
"""The licence for symmetry within the free-agent graph."""
