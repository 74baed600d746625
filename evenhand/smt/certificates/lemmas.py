"""Lemmas that exclude a truth assignment: of equality first, then of arithmetic.

The weights of an arithmetic lemma are a solution of linear equations and inequalities, which a solver gives exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial, reduce

from evenhand.smt.arithmetic import NUMBER, at_least, at_most, number, plus, times, zero
from evenhand.smt.certificates.congruence import Explained, violated
from evenhand.smt.certificates.statement import GroundReader
from evenhand.smt.logic import Formula, Function, Not, Term, same
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import SolverLimits
from evenhand_certificates.arithmetic import Fact, added, fact, product
from evenhand_certificates.clauses import Clause, Clauses

Factors = tuple[int, ...]
"""Places of facts that are multiplied; a term is a negative number, minus 1 less its own."""

Sum = list[tuple[Factors, Fraction]]


MOST_COLUMNS = 400
"""The most facts and products of which a sum is sought."""


@dataclass
class Lemmas:
    """The lemmas of one certificate, as they are found; `equalities` are the atoms that they add.

    `found`: each lemma with its sums, none for a lemma of equality.
    """

    made: Clauses
    query: Query
    portfolio: Portfolio
    limits: SolverLimits
    found: dict[Clause, Sequence[Sum]] = field(default_factory=dict[Clause, Sequence[Sum]])
    equalities: list[int] = field(default_factory=list[int])

    def against(self, model: set[int]) -> Iterator[Clause]:
        """Yield lemmas that are false in a truth assignment (its true literals); none if it has a model."""
        found = list(violated(self.made.bank, self.made.atoms, model))
        found = found or list(self._congruent(model))
        for clause in found:
            self.found[clause] = ()
        if not found:
            found = list(self._numeric(model))
        yield from found

    def _congruent(self, model: set[int]) -> Iterator[Clause]:
        """Applications with numbers as values whose arguments are equal, and which are not said to be equal."""
        bank, atoms = self.made.bank, self.made.atoms
        classes = Explained(bank)
        for formula in atoms.values():
            node = bank.nodes[formula]
            for term in node[1:] if node[0] == "=" else node[2:]:
                classes.add(term)
        for literal, formula in atoms.items():
            node = bank.nodes[formula]
            if node[0] == "=" and literal in model and bank.sort(node[1]) != NUMBER.name:
                classes.join(node[1], node[2], literal)
        classes.close()
        groups: dict[int, list[int]] = {}
        for term in classes.terms:
            node = bank.nodes[term]
            if node[0] == "app" and node[1] in bank.functions and bank.sort(term) == NUMBER.name:
                groups.setdefault(classes.root(term), []).append(term)
        for group in groups.values():
            for other in group[1:]:
                literal = self._equality(group[0], other)
                if literal not in model:
                    yield (literal, *sorted(-one for one in classes.why(group[0], other)))

    def _equality(self, one: int, other: int) -> int:
        bank, before = self.made.bank, len(self.made.atoms)
        formula = bank.add(("=", one, other))
        literal = self.made.atom(formula)
        if len(self.made.atoms) > before:
            self.equalities.append(formula)
        return literal

    def _numeric(self, model: set[int]) -> Iterator[Clause]:
        """A lemma of arithmetic that excludes the model; none if its numbers are possible."""
        true = [literal if literal in model else -literal for literal in self.made.atoms]
        facts = {literal: known for literal in true if (known := fact(self.made.bank, self.made.atoms, literal))}
        core = self._core(list(facts))
        if core is None:
            return
        core += [literal for literal in facts if literal > 0 and self.made.atoms[literal] in self.equalities]
        core = list(dict.fromkeys(core))
        apart = [literal for literal in core if facts[literal][1] == "!="]
        others = [literal for literal in core if literal not in apart]
        for split in ([], *([one] for one in apart)):
            used = [*others, *split]
            sums = self._sums([facts[literal] for literal in used])
            if sums is not None:
                yield self._kept(tuple(-literal for literal in used), sums)
                return
        yield from self._squeezed([literal for literal in others if facts[literal][1] != "="], facts, model)

    def _squeezed(self, literals: Sequence[int], facts: dict[int, Fact], model: set[int]) -> Iterator[Clause]:
        """Equalities that follow from two comparisons, each the other turned around."""
        for one, other in itertools.combinations(literals, 2):
            if added(facts[one][0], facts[other][0], Fraction(1)):
                continue
            node = self.made.bank.nodes[self.made.atoms[abs(one)]]
            literal = self._equality(*node[2:])
            clause = (-one, -other, literal)
            sums = self._sums([known for place in clause if (known := self._fact(-place))])
            if literal not in model and sums is not None:
                yield self._kept(clause, sums)

    def _fact(self, literal: int) -> Fact | None:
        return fact(self.made.bank, self.made.atoms, literal)

    def _kept(self, clause: Clause, sums: Sequence[Sum]) -> Clause:
        self.found[clause] = sums
        return clause

    def _core(self, literals: Sequence[int]) -> list[int] | None:
        """Literals of comparisons that contradict each other; None if a solver finds numbers for all."""
        read = GroundReader(self.made.bank)
        said: list[tuple[str, Formula]] = []
        for literal in literals:
            formula = read.ground(self.made.atoms[abs(literal)])
            said.append((f"f{len(said)}", formula if literal > 0 else Not(formula)))
        functions = (*self.query.functions, *read.constants.values())
        asked = Query(self.query.sorts, functions, self.query.relations, tuple(said))
        answer = self.portfolio.model(asked, limits=self.limits).answers[-1]
        if answer.core is None:
            return None
        return [literals[int(name[1:])] for name in answer.core]

    def _sums(self, facts: Sequence[Fact]) -> list[Sum] | None:
        """The sums that refute facts, of which the last may be that a polynomial is not 0; None if none are found."""
        if not facts or facts[-1][1] != "!=":
            found = self._weights(facts)
            return None if found is None else [found]
        apart = facts[-1][0]
        below = self._weights([*facts[:-1], (apart, "<")])
        above = None if below is None else self._weights([*facts[:-1], (added({}, apart, Fraction(-1)), "<")])
        return None if below is None or above is None else [below, above]

    def _weights(self, facts: Sequence[Fact]) -> Sum | None:
        columns: list[tuple[Factors, Fact]] = []
        for degree in (1, 2, 3):
            columns += self._products(facts, degree)
            found = self._solved([known for _, known in columns]) if len(columns) <= MOST_COLUMNS else None
            if found is not None:
                return [(columns[place][0], weight) for place, weight in enumerate(found) if weight]
        return None

    def _products(self, facts: Sequence[Fact], degree: int) -> Iterator[tuple[Factors, Fact]]:
        """Products of so many facts; for two also of an equality with a term."""
        bank = self.made.bank
        for places in itertools.combinations_with_replacement(range(len(facts)), degree):
            yield places, reduce(partial(product, bank), (facts[place] for place in places))
        if degree == 2:
            terms = {term: None for polynomial, _ in facts for monomial in polynomial for term in monomial}
            for place, term in itertools.product(range(len(facts)), terms):
                if facts[place][1] == "=":
                    yield (place, -1 - term), product(bank, facts[place], ({(term,): Fraction(1)}, "any"))

    def _solved(self, columns: Sequence[Fact]) -> list[Fraction] | None:
        """Weights of facts whose sum is a contradiction."""
        weights = tuple(Function(f"w{place}", (), NUMBER) for place in range(len(columns)))

        def total(factors: Sequence[Fraction]) -> Term:
            return plus(*(times(number(f), w()) for f, w in zip(factors, weights, strict=True) if f))

        monomials = dict.fromkeys(monomial for polynomial, _ in columns for monomial in polynomial if monomial)
        said = [zero(total([one.get(m, Fraction(0)) for one, _ in columns])) for m in monomials]
        constant = total([one.get((), Fraction(0)) for one, _ in columns])
        strict = total([Fraction(relation == "<") for _, relation in columns])
        said += [at_least(constant, number(0)), same(plus(constant, strict), number(1))]
        said += [at_most(number(0), w()) for w, (_, relation) in zip(weights, columns, strict=True) if relation != "="]
        query = Query((), weights, (), tuple((f"e{place}", formula) for place, formula in enumerate(said)))
        model = self.portfolio.model(query, limits=self.limits).model
        return None if model is None else [Fraction(model.functions[w.name][()]) for w in weights]
