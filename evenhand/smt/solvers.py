"""Solver configurations, their limits, and the order in which they are asked.

Cut-offs are resource counts (`rlimit`), so that the same query ends the same way on a slow machine; limits on CPU time
and wall-clock time back them up.  Where a model is expected, both solvers first get 1/64 of the budget, then single
configurations get a larger share in turn, until one has a model: models are replayed, so one is enough.  Proofs are
not re-checked, so both solvers get the full budget.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Expected = Literal["sat", "unsat", "either"]
"""The expected answer to a query: a model, a proof, or either."""

PATIENCE = 6
"""Wall-clock limit of a query as a multiple of its CPU limit, because the machine may be busy."""

UNITS: Mapping[str, int] = {"cvc5": 10}
"""How many z3 units take about as long as one unit of this solver; 1 where not listed."""


@dataclass(frozen=True)
class SolverLimits:
    """Limits of one query and solver: `rlimit` in the solver's own resource units, `timeout_ms` of CPU time.

    The wall-clock limit, for a process that uses no CPU, is `PATIENCE` times `timeout_ms`.
    """

    rlimit: int = 20_000_000
    timeout_ms: int = 20_000

    @property
    def seconds(self) -> int:
        """The CPU limit in whole seconds, rounded up."""
        return -(-self.timeout_ms // 1000)

    @property
    def patience(self) -> float:
        """The wall-clock limit in seconds."""
        return PATIENCE * self.timeout_ms / 1000


@dataclass(frozen=True)
class Solver:
    """A solver with options (`{}`: its defaults); an empty `command` stands for `child.py`."""

    name: str
    module: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    command: tuple[str, ...] = ()

    @property
    def start(self) -> tuple[str, ...]:
        """The command line that starts its process."""
        return self.command or (sys.executable, "-P", str(Path(__file__).with_name("child.py")), self.module)


Z3 = Solver("z3", "z3")
Z3_GROUND = Solver("z3 ground", "z3", {"core.minimize": False})
"""For models of queries without quantifiers."""

CVC5 = Solver("cvc5", "cvc5")
CVC5_FINITE = Solver("cvc5 finite-model-find", "cvc5", {"finite-model-find": "true"})
CVC5_ENUMERATE = Solver("cvc5 enum-inst", "cvc5", {"enum-inst": "true"})
CVC5_MODELS = Solver("cvc5 mbqi", "cvc5", {"mbqi": "true"})
"""Model-based instantiation, which terminates in the decidable fragment, with a model or a proof."""


@dataclass(frozen=True)
class Turn:
    """Solvers that are asked in parallel, each with its units divided by `divisor`."""

    solvers: tuple[Solver, ...]
    divisor: int = 1


def turns(expected: Expected, fixed: Sequence[Solver] | None = None) -> tuple[Turn, ...]:
    """Return the turns to take until a solver has a model or a proof; with `fixed`, of these solvers only."""
    if expected == "unsat":
        return (Turn(tuple(fixed) if fixed is not None else (Z3, CVC5)),)
    if fixed is not None:
        return tuple(Turn(tuple(fixed), divisor) for divisor in (64, 8, 1))
    if expected == "either":  # configurations that also find proofs come before those that only find models
        return (Turn((Z3, CVC5_FINITE), 64), Turn((Z3, CVC5_MODELS), 2), Turn((CVC5_FINITE,), 8), Turn((Z3,)))
    return (
        Turn((Z3, CVC5_FINITE), 64),
        Turn((CVC5_MODELS,), 16),
        Turn((Z3,), 8),
        Turn((CVC5_FINITE,), 8),
        Turn((Z3, CVC5_FINITE, CVC5_MODELS)),
    )


def units(solver: Solver, limits: SolverLimits, divisor: int) -> int:
    """Return the resource units of a solver in a turn: all of them for divisor 1."""
    return max(1, limits.rlimit // (divisor * UNITS.get(solver.module, 1))) if divisor > 1 else limits.rlimit
