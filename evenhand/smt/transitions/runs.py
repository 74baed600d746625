"""Bounded search for runs from an initial state to a bad state.

The result is a run of the theory, read back moment by moment and confirmed by the evaluator.  A search without result
decides nothing beyond its bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.smt.countermodel import minimise
from evenhand.smt.logic import Formula
from evenhand.smt.portfolio import Answered
from evenhand.smt.structure import Structure
from evenhand.smt.transitions.machine import Ask, Machine


@dataclass(frozen=True)
class Run:
    """The states of a run, each with the inputs of the next step."""

    states: tuple[Structure, ...]

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.states) - 1


@dataclass(frozen=True)
class Search:
    """The result of a bounded search: a run, none within `depth` steps, or `because` it is not decided."""

    run: Run | None
    depth: int
    answers: tuple[Answered, ...]
    because: str = ""


def read(
    machine: Machine, model: Structure, steps: int, *, initial: bool, true: Sequence[tuple[Formula, int]]
) -> tuple[Run, str]:
    """Return a solver's model as a minimised run, and what the evaluator finds wrong with the model (else empty)."""

    def wrong(candidate: Structure) -> str:
        return machine.false_in(machine.moments(candidate, steps), initial=initial, true=true)

    said = wrong(model)
    small = model if said else minimise(model, lambda candidate: not wrong(candidate))
    return Run(machine.moments(small, steps)), said


def reach(
    machine: Machine,
    bad: Formula,
    depth: int,
    ask: Ask,
    *,
    name: str = "reach",
    expected: Literal["sat", "unsat"] = "unsat",
) -> Search:
    """Return the shortest run of at most `depth` steps from an initial state to a state (or step) that is `bad`.

    `expected` guides the solvers: `sat` where such a run should exist, as of a mutant.
    """
    answers: list[Answered] = []
    for moment in range(depth + 1):
        steps = moment + machine.span(bad)
        claims = (("goal", machine.at(bad, moment)),)
        answers.append(ask(f"{name}.{moment}", machine.query(steps, *claims, initial=True), expected))
        status, model = answers[-1].status, answers[-1].model
        if status == "sat" and model is not None:
            run, said = read(machine, model, steps, initial=True, true=((bad, moment),))
            because = f"the evaluator contradicts the solver's run: {said}" if said else ""
            return Search(None if said else run, depth, tuple(answers), because)
        if status != "unsat":
            return Search(None, depth, tuple(answers), f"{name}.{moment}: {answers[-1].because}")
    return Search(None, depth, tuple(answers))
