"""Programs of others that check the refutations in certificates, each by propagation of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from dratify import check_proof, parse_dimacs  # pyright: ignore[reportUnknownVariableType]

Clauses = Sequence[Sequence[int]]


def dratify_accepts(clauses: Clauses, proof: Clauses) -> bool:
    """Return whether `dratify` accepts a refutation; it needs no hints."""
    most = max((abs(literal) for clause in clauses for literal in clause), default=0)
    problem = f"p cnf {most} {len(clauses)}\n{_lines(clauses)}"
    return bool(check_proof(parse_dimacs(problem), _lines(proof)).ok)


def drup_accepts(clauses: Clauses, proof: Clauses) -> bool:
    """Return whether `drup` accepts a refutation: its core is extracted from code that is verified in Why3."""
    drup: Any = pytest.importorskip("drup", reason="drup is a library for Linux on x86-64")
    found = drup.check_proof([[*clause] for clause in clauses], [[*clause] for clause in proof])
    return bool(found.outcome == drup.Outcome.VALID)


def _lines(clauses: Iterable[Sequence[int]]) -> str:
    """Clauses as DIMACS writes them."""
    return "".join(" ".join(map(str, (*clause, 0))) + "\n" for clause in clauses)
