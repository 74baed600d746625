"""Say how certificates of queries add up to a theorem or an invariant, as `evenhand_certificates.theorems` reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.core.canonical import Json
from evenhand.core.verdict import Status
from evenhand.smt.certificates.certify import Nodes
from evenhand.smt.certificates.statement import Writer, symbols_of
from evenhand.smt.logic import Formula
from evenhand.smt.smtlib import Query
from evenhand.smt.theorem import Stated, Theorem
from evenhand.smt.theory import Theory
from evenhand.smt.transitions.invariant import Invariant
from evenhand.smt.transitions.machine import Machine
from evenhand_certificates.formulas import Bank
from evenhand_certificates.theorems import FORMAT, VERSION


def told(stated: Stated) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield a theorem, and it again for each mutant that is declared as proved: name, and what the checker reads."""
    if stated.expected is not Status.REFUTED:
        yield "theorem", _told(stated, "theorem", {})
    for mutation in stated.mutants:
        if mutation.expected == "proved":
            name = f"mutant.{mutation.mutant.name}"
            yield name, _told(stated, name, {"definitions": mutation.definitions})


def _told(stated: Stated, name: str, changed: Mapping[str, Any]) -> dict[str, Json]:
    match stated:
        case Theorem():
            theory = stated.theory.redefined(**changed) if changed else stated.theory
            file = _File(theory)
            lines = [file.line(f"{name}.{one.name}", one.formula, *one.opaque) for one in stated.lemmas]
            lines.append(file.line(name, stated.formula, *stated.opaque))
            return file.told(lines, says=stated.formula)
        case Invariant():
            machine = stated.machine.redefined(**changed) if changed else stated.machine
            file = _File(machine.theory)
            bases = [f"{name}.base.{moment}" for moment in range(stated.depth)]
            lines = [file.line(one, stated.formula) for one in (*bases, f"{name}.step")]
            return file.told(lines, says=stated.always, machine=machine)
        case _:
            raise TypeError(f"{stated!r} is neither a theorem nor an invariant")


class _File:
    """A theorem of a theory in the neutral form."""

    def __init__(self, theory: Theory) -> None:
        self._theory = theory
        self._symbols = symbols_of(Query(theory.sorts, theory.functions, theory.relations, ()))
        bank = Bank(*self._symbols)
        self._writer, self._nodes = Writer(bank), Nodes(bank)

    def _place(self, formula: Formula) -> int:
        return self._nodes.place(self._writer.formula(formula))

    def line(self, query: str, formula: Formula, *opaque: str) -> Json:
        """Return a line of a proof: the query that proves it, the formula, the relations that are not expanded."""
        return [f"{query}.json", self._place(formula), [*opaque]]

    def told(self, lines: list[Json], *, says: Formula, machine: Machine | None = None) -> dict[str, Json]:
        """Return all of it."""
        sorts, functions, relations = self._symbols
        definitions: list[Json] = []
        for one in self._theory.definitions:
            body = self._nodes.place(self._writer.formula(one.body, one.variables))
            definitions.append([one.name, [sort.name for sort in one.relation.domain], body])
        axioms: list[Json] = [[axiom.name, self._place(axiom.formula)] for axiom in self._theory.axioms]
        place = self._place(says)
        moving: Json = None
        if machine is not None:
            init, step = self._place(machine.init), self._place(machine.step)
            moving = {"state": [*machine.state], "inputs": [*machine.inputs], "init": init, "step": step}
        return {
            "format": FORMAT,
            "version": VERSION,
            "sorts": [*sorts],
            "functions": functions,
            "relations": relations,
            "nodes": self._nodes.entries,
            "definitions": definitions,
            "axioms": axioms,
            "lines": lines,
            "says": place,
            "machine": moving,
        }
