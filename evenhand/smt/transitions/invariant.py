"""Invariants: a claim about every run of a system, stated of a machine, and the conformance of the two.

The proof says that the machine never leaves the invariant.  Conformance extends this to the executable model: on
sampled runs of the reference and every mutant, initial states are initial, steps are steps, and the formula is true
exactly where the claim is.  A step of the reference outside the theory breaks the induction, so a single one is a
doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import Scenario
from evenhand.smt.logic import Formula, conjunction
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Lemma, Stated
from evenhand.smt.transitions.machine import Machine
from evenhand.smt.transitions.runs import Run

Steps: TypeAlias = tuple[AnyStep, ...]


def around(run: Steps, number: int, told: Callable[..., Mapping[str, Any]], claim: Any = None) -> dict[str, Any]:
    """Return what is `told` of the state before a step, and of the one after, whose names end in `.after`.

    With a claim that remembers, `told` gets also what it remembers then.
    """
    step = run[number]
    sides: list[tuple[Any, ...]] = [(step.before,), (step.after,)]
    if claim is not None:
        memory = claim.memory(step.config)
        for earlier in run[:number]:
            memory = claim.follow(memory, earlier)
        sides = [(step.before, memory), (step.after, claim.follow(memory, step))]
    before, after = (told(*side) for side in sides)
    return {**before, **{f"{name}.after": one for name, one in after.items()}}


def _no_runs(_system: AnySystem) -> Iterable[Steps]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Invariant(Stated):
    """`always`, about a state or a step of `machine`, is true in every run.

    `lemmas` are true in every run too and make it inductive; `depth` is how many states the induction looks back.
    `view(run, i)` reads step i of a run of the model as a structure (state, inputs, state after), None where it
    lies outside the theory.  `samples(system)` makes runs from initial states, of any variant.  `realise(run)` turns a
    run of the machine, from any state, into a scenario; None if none matches.  Without `realise` the sampled run that
    breaks the claim takes the place of the machine's.  `memory` names the state symbols that
    only the claim's observer remembers: no state of the model holds them.  A mutant's violation is searched within
    `reach` steps.
    """

    machine: Machine
    always: Formula
    lemmas: tuple[Lemma, ...] = ()
    depth: int = 1
    reach: int = 4
    view: Callable[[Steps, int], Structure | None]
    realise: Callable[[Run], Scenario[Any, Any, Any] | None] | None = None
    samples: Callable[[AnySystem], Iterable[Steps]] = _no_runs
    memory: tuple[str, ...] = ()

    @property
    def formula(self) -> Formula:
        """The formula to prove inductive: the claim and the lemmas."""
        return conjunction([self.always, *(lemma.formula for lemma in self.lemmas)])
