"""The kill matrix: every theorem against every mutant kernel that the theory of an epoch can say.

A cell is found by the same query and the same replay as in `prove`; where the theorem speaks of no word that the
mutant changes, the query is the reference's and needs no solver.  What comes out must be what `faults` registered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from evenhand.proofs.countermodel import Refutation, follow
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.faults import KILLED, lean, said, touches
from evenhand.proofs.cud.theorems import UNTRIMMED
from evenhand.proofs.cud.words import FAULTS
from evenhand.proofs.smt.logic import Holds, Not, walk
from evenhand.proofs.smt.portfolio import CVC5_FINITE, Z3, Limits, Portfolio
from evenhand.proofs.theorem import Mutation, Theorem
from evenhand.properties.registry import find

__all__ = ["Cell", "cells", "table"]

Outcome = Literal["killed", "spared", "not touched", "not replayed", "unknown"]
_LIMITS = Limits(rlimit=5_000_000, timeout_ms=30_000)


@dataclass(frozen=True)
class Cell:
    """What a theorem makes of a mutant: `killed` by a countermodel that replays in the mutant, `spared` by a proof.

    `registered` says whether the theorem was registered to kill it.
    """

    theorem: str
    mutant: str
    outcome: Outcome
    registered: bool


def cells(theorems: Iterable[str] = (), *, portfolio: Portfolio | None = None) -> Iterator[Cell]:
    """The cells of these theorems (by default all about the default readings), theorem by theorem."""
    wanted = tuple(theorems)
    asked = portfolio or Portfolio((Z3, CVC5_FINITE))
    for theorem in UNTRIMMED:
        if theorem.readings or (wanted and theorem.name not in wanted):
            continue
        for mutant in FAULTS:
            outcome = _outcome(theorem, mutant, asked)
            yield Cell(theorem.name, mutant, outcome, mutant in KILLED.get(theorem.name, ()))


def _outcome(theorem: Theorem, mutant: str, portfolio: Portfolio) -> Outcome:
    definitions = said(theorem.theory, EPOCH, FAULTS[mutant])
    spoken = [part.relation.name for part in walk(theorem.formula) if isinstance(part, Holds)]
    if not touches(theorem.theory, spoken, definitions):
        return "not touched"
    tried = lean(replace(theorem, mutants=(Mutation(mutant=mutant, definitions=definitions),)))
    theory = tried.theory.redefined(definitions)
    found: Outcome = "spared"
    for part in tried.parts:
        answered = portfolio.ask(theory.query(("goal", Not(part))), expected="sat", limits=_LIMITS)
        if answered.model is not None:
            bundle: Any = find("cud")
            claim = next(claim for claim in bundle.claims if claim.name == tried.claim)
            rules = next(one.rules for one in bundle.model.mutants if one.name == mutant)
            system = replace(bundle.model.systems[tried.system], rules=rules, variant=mutant)
            outcome = follow(tried, theory, answered.model, claim, system)
            return "killed" if isinstance(outcome, Refutation) else "not replayed"
        if answered.status != "unsat":
            found = "unknown"
    return found


_SIGNS: Mapping[Outcome, str] = {
    "killed": "X",
    "spared": "o",
    "not touched": ".",
    "not replayed": "?",
    "unknown": "-",
}


def table(found: Iterable[Cell]) -> str:
    """One row for each mutant, one column for each theorem: X killed, o spared by a proof, . not touched."""
    every = list(found)
    theorems = list(dict.fromkeys(cell.theorem for cell in every))
    signs = {(cell.theorem, cell.mutant): _SIGNS[cell.outcome] for cell in every}
    lines = [f"{number:2} {name}" for number, name in enumerate(theorems, start=1)]
    lines.append(f"{'':36}" + "".join(f"{number:3}" for number in range(1, len(theorems) + 1)))
    for mutant in dict.fromkeys(cell.mutant for cell in every):
        lines.append(f"{mutant:36}" + "".join(f"{signs[name, mutant]:>3}" for name in theorems))
    return "\n".join(lines)
