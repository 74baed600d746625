"""Which solvers there are, with which options, and in which order they are asked.

Cut-offs are resource counts (`rlimit`), so that the same query ends the same way on a slow machine; CPU time is a
net below them, and the clock one below that.  Where a model is expected, both solvers get a glance; then those who
look for models in other ways go on one at a time with more, until somebody has one: a model is tried out afterwards,
so that one solver's will do.  A proof is tried out by nobody, so both solvers get all their units for it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

__all__ = [
    "CVC5",
    "CVC5_ENUMERATE",
    "CVC5_FINITE",
    "CVC5_MODELS",
    "Z3",
    "Z3_GROUND",
    "Expected",
    "Solver",
    "SolverLimits",
    "Turn",
    "turns",
    "units",
]

Expected = Literal["sat", "unsat", "either"]
"""What a query is expected to have: a model, a proof, or nobody knows which."""

PATIENCE = 6
"""How much slower than its CPU time a query may be on a machine that does other things."""

UNITS: Mapping[str, int] = {"cvc5": 10}
"""How many of z3's units take about the time that one of a solver's own takes; where it is not 1."""


@dataclass(frozen=True)
class SolverLimits:
    """`rlimit` in each solver's own resource units; `timeout_ms` of CPU for one query and solver.

    A process that uses no CPU either is given up after `PATIENCE` times that, by the clock on the wall.
    """

    rlimit: int = 20_000_000
    timeout_ms: int = 20_000

    @property
    def seconds(self) -> int:
        """Whole seconds of CPU."""
        return -(-self.timeout_ms // 1000)

    @property
    def patience(self) -> float:
        """Seconds by the clock."""
        return PATIENCE * self.timeout_ms / 1000


@dataclass(frozen=True)
class Solver:
    """A solver with options; `command` starts its process, `{}` options are its defaults."""

    name: str
    module: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    command: tuple[str, ...] = ()

    @property
    def start(self) -> tuple[str, ...]:
        """The command line of its process."""
        return self.command or (sys.executable, "-P", str(Path(__file__).with_name("child.py")), self.module)


Z3 = Solver("z3", "z3")
Z3_GROUND = Solver("z3 ground", "z3", {"core.minimize": False})
"""For what has no quantifiers, and of which only a model is wanted."""

CVC5 = Solver("cvc5", "cvc5")
CVC5_FINITE = Solver("cvc5 finite-model-find", "cvc5", {"finite-model-find": "true"})
CVC5_ENUMERATE = Solver("cvc5 enum-inst", "cvc5", {"enum-inst": "true"})
CVC5_MODELS = Solver("cvc5 mbqi", "cvc5", {"mbqi": "true"})
"""Instantiates by candidate models: in the decidable fragment that ends, with a model or a proof."""


@dataclass(frozen=True)
class Turn:
    """Solvers that are asked side by side, each with its units divided by `divisor`."""

    solvers: tuple[Solver, ...]
    divisor: int = 1


def turns(expected: Expected, fixed: Sequence[Solver] | None = None) -> tuple[Turn, ...]:
    """Who is asked in which order, until one has a model or a proof; `fixed`: these solvers and no others."""
    if expected == "unsat":
        return (Turn(tuple(fixed) if fixed is not None else (Z3, CVC5)),)
    if fixed is not None:
        return tuple(Turn(tuple(fixed), divisor) for divisor in (64, 8, 1))
    if expected == "either":  # after the glance those who find proofs as well, before the hunt for models
        return (Turn((Z3, CVC5_FINITE), 64), Turn((Z3, CVC5_MODELS), 2), Turn((CVC5_FINITE,), 8), Turn((Z3,)))
    return (
        Turn((Z3, CVC5_FINITE), 64),
        Turn((CVC5_MODELS,), 16),
        Turn((Z3,), 8),
        Turn((CVC5_FINITE,), 8),
        Turn((Z3, CVC5_FINITE, CVC5_MODELS)),
    )


def units(solver: Solver, limits: SolverLimits, divisor: int) -> int:
    """The resource units of a solver in a turn; all of them where nothing is divided."""
    return max(1, limits.rlimit // (divisor * UNITS.get(solver.module, 1))) if divisor > 1 else limits.rlimit
