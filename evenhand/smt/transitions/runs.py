"""Bounded search for runs from an initial state: to a bad state, or round a loop for ever.

The result is a run of the theory, read back moment by moment and confirmed by the evaluator.  A search without result
decides nothing beyond its bound.
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


@dataclass(frozen=True)
class Run:
    """The states of a run, each with the inputs of the next step; the last state equals state `loop` of a lasso."""

    states: tuple[Structure, ...]
    loop: int | None = None

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
    """Return a run of at most `depth` steps whose last state equals an earlier one, so that it can loop for ever.

    After some state or step that satisfies `trigger`, `goal` is never true; each formula of `fair` is true somewhere
    in the loop.
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
    """The formula that the run leads back to `loop`, avoids the goal after a trigger, and is fair."""
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
    """The lasso whose loop the evaluator confirms, else the reason why there is none."""
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
    return state.relations[name] if name in state.relations else dict(state.functions[name])
