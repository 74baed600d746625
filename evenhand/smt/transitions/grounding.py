"""Ground a machine on a universe of fixed size to propositional Horn clauses, and lift clauses back.

Every relation becomes one proposition per tuple, every function one per tuple and value, of which exactly one is true;
quantifiers become conjunctions and disjunctions.  Lifting states a clause of all distinct elements: each element in it
becomes a variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from evenhand.smt import logic as fol
from evenhand.smt.rewriting import symbols
from evenhand.smt.transitions.machine import Machine

PREDICATE = "Invariant"
"""The name of the unknown predicate of the Horn clauses."""


@dataclass(frozen=True, order=True)
class Atom:
    """A proposition: a relation holds of the elements, or (`value`) the last is a function's value of the others."""

    symbol: str
    elements: tuple[str, ...]
    value: bool = False


Clause: TypeAlias = frozenset[tuple[Atom, bool]]
Values: TypeAlias = Mapping[fol.Var, str]


@dataclass
class Grounding:
    """`machine` with `sizes` elements of each sort (1 by default); element i of sort S is called `S.i`."""

    machine: Machine
    sizes: Mapping[str, int]
    names: dict[Atom, str] = field(default_factory=dict[Atom, str])

    @property
    def universe(self) -> Mapping[str, tuple[str, ...]]:
        """The elements of each sort."""
        return {
            sort.name: tuple(f"{sort.name}.{i}" for i in range(self.sizes.get(sort.name, 1)))
            for sort in self.machine.theory.sorts
        }

    def arguments(self) -> tuple[Atom, ...]:
        """Return the unknown predicate's arguments: all atoms of symbols that are no inputs, in a fixed order."""
        kept = [symbol for symbol in self.machine.signature if symbol.name not in self.machine.inputs]
        return tuple(atom for symbol in kept for atom in self._atoms(symbol))

    def horn(self, goal: fol.Formula) -> str:
        """Return the text that asks for a predicate true initially, closed under steps, and implying `goal`."""
        machine, theory = self.machine, self.machine.theory
        before = self.arguments()
        state = frozenset(machine.state)
        later = tuple(Atom(f"{a.symbol}.after", a.elements, a.value) if a.symbol in state else a for a in before)
        inputs = [a for s in machine.signature if s.name in machine.inputs for a in self._atoms(s)]
        functions = [f for f in theory.functions if f.name not in machine.inputs]
        chosen = [f for f in theory.functions if f.name in machine.inputs]
        next_ = [machine.next_function(f) for f in theory.functions if f.name in state]
        always = [a.formula for a in theory.axioms if not self._named(a.formula, machine.inputs)]
        each = [a.formula for a in theory.axioms]
        starts = [*self._total(functions), *self._ground(always), *self._ground([machine.init])]
        steps = [*self._total([*functions, *chosen, *next_]), *self._ground(each), *self._ground([machine.step])]
        bad = [*self._total(functions), *self._ground([fol.Not(goal)])]
        lines = [
            "(set-logic HORN)",
            f"(declare-fun {PREDICATE} ({' '.join('Bool' for _ in before)}) Bool)",
            self._rule(before, starts, self._said(before)),
            self._rule((*before, *inputs, *later), [self._said(before), *steps], self._said(later)),
            self._rule(before, [self._said(before), *bad], "false"),
        ]
        return "\n".join([*lines, ""])

    def _named(self, formula: fol.Formula, names: Iterable[str]) -> bool:
        return not symbols(self.machine.expanded(formula)).isdisjoint(names)

    def _rule(self, over: Sequence[Atom], body: Sequence[str], head: str) -> str:
        bound = " ".join(f"({self._name(atom)} Bool)" for atom in dict.fromkeys(over))
        rule = f"(=> {_all(body)} {head})"
        return f"(assert (forall ({bound}) {rule}))" if bound else f"(assert {rule})"

    def _said(self, atoms: Sequence[Atom]) -> str:
        return f"({PREDICATE} {' '.join(self._name(atom) for atom in atoms)})" if atoms else PREDICATE

    def _name(self, atom: Atom) -> str:
        return self.names.setdefault(atom, f"b{len(self.names)}")

    def _atoms(self, symbol: fol.Function | fol.Relation) -> Iterator[Atom]:
        domain = (*symbol.domain, symbol.codomain) if isinstance(symbol, fol.Function) else symbol.domain
        for elements in itertools.product(*(self.universe[sort.name] for sort in domain)):
            yield Atom(symbol.name, elements, isinstance(symbol, fol.Function))

    def _total(self, functions: Iterable[fol.Function]) -> Iterator[str]:
        """The constraints that each function has exactly one value everywhere."""
        for function in functions:
            for _, row in itertools.groupby(self._atoms(function), key=lambda atom: atom.elements[:-1]):
                values = [self._name(atom) for atom in row]
                yield _any(values)
                yield from (f"(not (and {one} {two}))" for one, two in itertools.combinations(values, 2))

    def _ground(self, formulas: Iterable[fol.Formula]) -> Iterator[str]:
        for formula in formulas:
            yield self._text(self.machine.expanded(formula), {})

    def _text(self, formula: fol.Formula, values: Values) -> str:
        match formula:
            case fol.Holds(relation, arguments):
                return _any(
                    [
                        _all([*conditions, self._name(Atom(relation.name, elements))])
                        for elements, conditions in self._tuples(arguments, values)
                    ]
                )
            case fol.Equal(left, right):
                pairs = self._tuples((left, right), values)
                return _any([_all(conditions) for (one, other), conditions in pairs if one == other])
            case fol.Not(body):
                return _not(self._text(body, values))
            case fol.And(parts):
                return _all([self._text(part, values) for part in parts])
            case fol.Or(parts):
                return _any([self._text(part, values) for part in parts])
            case fol.Implies(left, right):
                return _any([_not(self._text(left, values)), self._text(right, values)])
            case fol.Iff(left, right):
                return f"(= {self._text(left, values)} {self._text(right, values)})"
            case fol.Ite(test, then, other):
                return f"(ite {self._text(test, values)} {self._text(then, values)} {self._text(other, values)})"
            case fol.Forall(bound, body):
                return _all([self._text(body, {**values, **picked}) for picked in self._picks(bound)])
            case fol.Exists(bound, body):
                return _any([self._text(body, {**values, **picked}) for picked in self._picks(bound)])

    def _picks(self, bound: Sequence[fol.Var]) -> Iterator[Values]:
        for elements in itertools.product(*(self.universe[variable.sort.name] for variable in bound)):
            yield dict(zip(bound, elements, strict=True))

    def _tuples(self, terms: Sequence[fol.Term], values: Values) -> Iterator[tuple[tuple[str, ...], list[str]]]:
        """The elements that terms may denote, each with the conditions under which they do."""
        for picked in itertools.product(*(self._stands(term, values) for term in terms)):
            yield tuple(element for element, _ in picked), [text for _, texts in picked for text in texts]

    def _stands(self, term: fol.Term, values: Values) -> list[tuple[str, list[str]]]:
        if isinstance(term, fol.Var):
            return [(values[term], [])]
        found: list[tuple[str, list[str]]] = []
        for elements, conditions in self._tuples(term.arguments, values):
            for value in self.universe[term.sort.name]:
                atom = Atom(term.function.name, (*elements, value), True)
                found.append((value, [*conditions, self._name(atom)]))
        return found


def lifted(machine: Machine, clause: Clause) -> fol.Formula:
    """Return a clause stated of all distinct elements, in the vocabulary of the machine's theory."""
    theory = machine.theory
    functions = {f.name: f for f in theory.functions}
    relations = {r.name: r for r in theory.relations}
    order = [e for atom, _ in sorted(clause) for e in atom.elements]
    sorts = {sort.name: sort for sort in theory.sorts}
    variables: dict[str, fol.Var] = {}
    for element in dict.fromkeys(order):
        sort = sorts[element.rpartition(".")[0]]
        variables[element] = sort(f"{sort.name.lower()}{sum(v.sort == sort for v in variables.values())}")
    literals: list[fol.Formula] = []
    for atom, positive in sorted(clause):
        terms = [variables[element] for element in atom.elements]
        said = (
            fol.same(functions[atom.symbol](*terms[:-1]), terms[-1]) if atom.value else relations[atom.symbol](*terms)
        )
        literals.append(said if positive else fol.Not(said))
    apart = [fol.same(one, two) for one, two in itertools.combinations(variables.values(), 2) if one.sort == two.sort]
    return fol.forall(variables.values(), fol.disjunction([*apart, *literals]))


def _all(parts: Sequence[str]) -> str:
    if "false" in parts:
        return "false"
    kept = [part for part in dict.fromkeys(parts) if part != "true"]
    return f"(and {' '.join(kept)})" if len(kept) > 1 else kept[0] if kept else "true"


def _any(parts: Sequence[str]) -> str:
    if "true" in parts:
        return "true"
    kept = [part for part in dict.fromkeys(parts) if part != "false"]
    return f"(or {' '.join(kept)})" if len(kept) > 1 else kept[0] if kept else "false"


def _not(part: str) -> str:
    return {"true": "false", "false": "true"}.get(part, f"(not {part})")
