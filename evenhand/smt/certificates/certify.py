"""Make the certificate of a query: instances, lemmas and a refutation, as `evenhand_certificates` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.core.canonical import Json
from evenhand.smt.certificates.instances import NotFound, Search, Steps
from evenhand.smt.certificates.lemmas import Lemmas, Sum
from evenhand.smt.certificates.refute import Derived, NoRefutation, hinted, learned
from evenhand.smt.certificates.statement import symbols_of
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import SolverLimits
from evenhand_certificates.check import FORMAT, VERSION
from evenhand_certificates.clauses import Clause
from evenhand_certificates.formulas import Bank


def certificate(query: Query, portfolio: Portfolio, limits: SolverLimits) -> dict[str, Json]:
    """Return a certificate that the assertions of a query have no model.

    `portfolio` is asked for models and for weights: one solver is enough.  Raises NotFound, and ImportError without the
    package python-sat.
    """
    steps, lemmas, proof = _refutation(Search(query, portfolio, limits).run(), query, portfolio, limits)
    sorts, functions, relations = symbols_of(query)
    nodes = Nodes(steps.bank)
    assertions: list[Json] = [[one.name, nodes.place(one.formula)] for one in steps.assumed]
    written = _Steps(steps)
    return {
        "format": FORMAT,
        "version": VERSION,
        "sorts": [*sorts],
        "functions": functions,
        "relations": relations,
        "nodes": nodes.entries,
        "assertions": assertions,
        "steps": written.steps(),
        "atoms": [[written.term(side) for side in steps.bank.nodes[atom][1:]] for atom in lemmas.equalities],
        "lemmas": [written.lemma(clause, sums) for clause, sums in lemmas.found.items()],
        "refutation": [[list(clause), list(hints)] for clause, hints in proof],
    }


def _refutation(
    steps: Steps, query: Query, portfolio: Portfolio, limits: SolverLimits
) -> tuple[Steps, Lemmas, list[Derived]]:
    """The steps that are needed, the lemmas, and the refutation of all their clauses.  Raises NotFound."""
    while True:
        made = steps.clauses()
        clauses = list(made.clauses.clauses)
        lemmas = Lemmas(made.clauses, query, portfolio, limits)
        try:
            proof = hinted(clauses, learned(clauses, lemmas.against))
        except NoRefutation as error:
            raise NotFound(str(error)) from error
        used = {hint for _, hints in proof for hint in hints}
        fewer = steps.only({number for place, number in made.origins.items() if place in used}, made.introduced)
        if len(fewer.assumed) + len(fewer.taken) == len(steps.assumed) + len(steps.taken):
            return steps, lemmas, proof
        steps = fewer


class Nodes:
    """The nodes of a bank that some formulas consist of, in the order of first use."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._places: dict[int, int] = {}
        self.entries: list[Json] = []

    def place(self, number: int) -> int:
        """Return the place of a node, which is added with its parts if it is new."""
        if number not in self._places:
            tag, *rest = self._bank.nodes[number]
            plain = 1 if tag in ("app", "rel", "all", "some") else len(rest) if tag in ("var", "any") else 0
            first = [list(rest[0]) if tag in ("all", "some") else rest[0]] if plain else []
            entry: list[Any] = [tag, *first, *(self.place(part) for part in rest[plain:])]
            self.entries.append(entry)
            self._places[number] = len(self.entries) - 1
        return self._places[number]


class _Steps:
    """Steps as a certificate writes them: quantified formulas and witnesses by number."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        quantified = steps.clauses().clauses.quantified
        self._numbers = {formula: number for number, formula in enumerate(quantified)}
        self._witnesses = {formula: place for place, (formula, terms) in enumerate(steps.taken) if terms is None}

    def term(self, term: int) -> Json:
        """Return a closed term."""
        tag, *rest = self._steps.bank.nodes[term]
        if tag == "wit":
            return ["wit", self._witnesses[rest[0]], rest[1]]
        return ["app", rest[0], *(self.term(part) for part in rest[1:])] if tag == "app" else [tag, *rest]

    def lemma(self, clause: Clause, sums: Sequence[Sum]) -> Json:
        """Return a lemma: a clause, and its sums if it is one of arithmetic."""
        if not sums:
            return [*clause]
        return {
            "clause": [*clause],
            "sums": [[[*map(self._factor, factors), str(weight)] for factors, weight in one] for one in sums],
        }

    def _factor(self, factor: int) -> Json:
        return factor if factor >= 0 else self.term(-1 - factor)

    def steps(self) -> list[Json]:
        """Return all steps."""
        return [
            [self._numbers[formula]] if terms is None else [self._numbers[formula], [self.term(one) for one in terms]]
            for formula, terms in self._steps.taken
        ]
