"""Runs from an initial state: to a bad state within so many steps, or round a loop for ever.

What is found is a run of the theory, read back moment by moment and confirmed by the evaluator.  That nothing is
found within a bound decides nothing beyond it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.smt.countermodel import minimise
from evenhand.smt.logic import TRUE, Formula, Not, conjunction, disjunction
from evenhand.smt.portfolio import Answered
from evenhand.smt.structure import Reader, Structure
from evenhand.smt.transitions.machine import Ask, Machine

__all__ = ["Run", "Search", "lasso", "reach", "read"]


@dataclass(frozen=True)
class Run:
    """The states of a run, each with the inputs of the step that follows; `loop` is where the last one leads back."""

    states: tuple[Structure, ...]
    loop: int | None = None

    @property
    def steps(self) -> int:
        """How many steps it has."""
        return len(self.states) - 1


@dataclass(frozen=True)
class Search:
    """What a bounded search found: a run, or none within `depth` steps, or `because` nobody knows."""

    run: Run | None
    depth: int
    answers: tuple[Answered, ...]
    because: str = ""


def read(
    machine: Machine, model: Structure, steps: int, *, initial: bool, true: Sequence[tuple[Formula, int]]
) -> tuple[Run, str]:
    """A solver's model as a run, made small; and what the evaluator finds wrong with the solver's, else empty."""

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
    """The shortest run of at most `depth` steps from an initial state to a state (or step) that is `bad`.

    `expected` helps solvers on: `sat` where there should be such a run, as of a mutant.
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


def lasso(
    machine: Machine,
    goal: Formula,
    depth: int,
    ask: Ask,
    *,
    trigger: Formula = TRUE,
    fair: Sequence[Formula] = (),
    name: str = "lasso",
) -> Search:
    """A run of at most `depth` steps whose last state is an earlier one, so that it can go round for ever.

    After a state or step that satisfies `trigger` nothing ever satisfies `goal`; each formula of `fair` is true
    somewhere in the loop.
    """
    answers: list[Answered] = []
    for steps in range(1, depth + 1):
        bends = [_bend(machine, steps, at, goal, trigger, fair) for at in range(steps)]
        claims = (("goal", disjunction(bends)),)
        answers.append(ask(f"{name}.{steps}", machine.query(steps, *claims, initial=True), "unsat"))
        status, model = answers[-1].status, answers[-1].model
        if status == "sat" and model is not None:
            return _bent(machine, machine.moments(model, steps), goal, trigger, fair, depth, tuple(answers))
        if status != "unsat":
            return Search(None, depth, tuple(answers), f"{name}.{steps}: {answers[-1].because}")
    return Search(None, depth, tuple(answers))


def _bend(machine: Machine, steps: int, loop: int, goal: Formula, trigger: Formula, fair: Sequence[Formula]) -> Formula:
    """That the run leads back to `loop`, with the goal avoided from some trigger on and every fairness served."""
    avoided = [
        conjunction([machine.at(trigger, start), *(Not(machine.at(goal, i)) for i in range(min(start, loop), steps))])
        for start in range(steps)
    ]
    served = [disjunction(machine.at(one, i) for i in range(loop, steps)) for one in fair]
    return conjunction([machine.same(loop, steps), disjunction(avoided), *served])


def _bent(
    machine: Machine,
    states: tuple[Structure, ...],
    goal: Formula,
    trigger: Formula,
    fair: Sequence[Formula],
    depth: int,
    answers: tuple[Answered, ...],
) -> Search:
    """The lasso with the bend that the evaluator confirms; without one, why not."""
    said = machine.false_in(states, initial=True)
    reader, steps = Reader(machine.theory.meanings), len(states) - 1
    for loop in range(steps):
        back = all(_meaning(states[loop], n) == _meaning(states[steps], n) for n in machine.state)
        avoided = any(
            reader.holds(trigger, states[start])
            and not any(reader.holds(goal, states[i]) for i in range(min(start, loop), steps))
            for start in range(steps)
        )
        served = all(any(reader.holds(one, states[i]) for i in range(loop, steps)) for one in fair)
        if not said and back and avoided and served:
            return Search(Run(states, loop), depth, answers)
    return Search(None, depth, answers, f"the evaluator contradicts the solver's lasso: {said or 'no loop of it fits'}")


def _meaning(state: Structure, name: str) -> object:
    """What a state symbol means in a state."""
    return state.relations[name] if name in state.relations else dict(state.functions[name])
