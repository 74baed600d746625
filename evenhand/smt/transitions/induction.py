"""Proof by induction over the steps of a machine, and by k-induction where one step back is not enough.

A property is k-inductive if no run from an initial state violates it within k steps, and no run of k states that
satisfy it, from any state, leads to a state that does not.  Where the second part fails, the solver's run is a
counterexample to induction: its states are shown, but its first state may be unreachable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenhand.smt.logic import Formula, Not
from evenhand.smt.portfolio import Answered
from evenhand.smt.transitions.machine import Ask, Machine
from evenhand.smt.transitions.runs import Run, reach, read


@dataclass(frozen=True)
class Inductive:
    """The result of an induction.

    `proved`; `refuted` by `run`, which begins in an initial state; `open` with `run` as the counterexample to
    induction (only its last state, or step, violates the property), or without one where no solver decides.  `base`
    and `step` are the answers it rests on.
    """

    status: Literal["proved", "refuted", "open"]
    depth: int
    run: Run | None
    base: tuple[Answered, ...]
    step: tuple[Answered, ...]
    because: str = ""


def induct(machine: Machine, goal: Formula, ask: Ask, *, depth: int = 1, name: str = "theorem") -> Inductive:
    """Prove that `goal`, of a state or a step, is true in every run, by k-induction with k = `depth`.

    Raises ValueError for a depth below 1.
    """
    if depth < 1:
        raise ValueError(f"an induction uses at least 1 earlier state, not {depth}")
    base = reach(machine, Not(goal), depth - 1, ask, name=f"{name}.base")
    if base.run is not None:
        return Inductive("refuted", depth, base.run, base.answers, (), "a run from an initial state violates it")
    if base.because:
        return Inductive("open", depth, None, base.answers, (), base.because)
    steps = depth + machine.span(goal)
    claims = [(f"assumed.{i}", machine.at(goal, i)) for i in range(depth)]
    query = machine.query(steps, *claims, ("goal", Not(machine.at(goal, depth))), initial=False)
    answered = ask(f"{name}.step", query, "unsat")
    if answered.status == "unsat":
        return Inductive("proved", depth, None, base.answers, (answered,))
    if answered.status == "sat" and answered.model is not None:
        true = [*((goal, i) for i in range(depth)), (Not(goal), depth)]
        run, said = read(machine, answered.model, steps, initial=False, true=true)
        if said:
            because = f"the evaluator contradicts the solver's run: {said}"
            return Inductive("open", depth, None, base.answers, (answered,), because)
        return Inductive("open", depth, run, base.answers, (answered,), f"it is not {depth}-inductive")
    return Inductive("open", depth, None, base.answers, (answered,), answered.because)
