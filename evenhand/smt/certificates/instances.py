"""Find the instances that refute a query: by models of what is instantiated so far.

A model of the ground clauses is a finite structure.  Where it gives a quantified formula another truth value than the
formula has in that structure, an instance (of terms that name the elements in question) or a witness is missing.  The
sorts of a stratified query have finitely many ground terms, so this ends; elsewhere a limit ends it.  Nothing here is
trusted: what is found is checked by `evenhand_certificates`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.certificates.statement import GroundReader, Writer, structure_value, symbols_of
from evenhand.smt.logic import And, Formula, Holds, Iff, Implies, Ite, Not, Or
from evenhand.smt.portfolio import Answered, Portfolio
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import SolverLimits
from evenhand.smt.structure import Reader, Structure
from evenhand_certificates.clauses import Clauses
from evenhand_certificates.errors import Work
from evenhand_certificates.formulas import Bank

ROUNDS = 200
"""The most models that are asked for."""

UNITS = 10**12
"""Work that a search may do; what it finds is checked with less."""

AT_ONCE = 3
"""The most instances of one quantified formula that one model gives."""


Step = tuple[int, tuple[int, ...] | None]
"""A quantified formula with terms, or with None for its witness."""


class NotFound(Exception):
    """No instances were found that refute the query; the message says why."""


@dataclass(frozen=True)
class Named:
    """A formula of the query, by its name."""

    name: str
    formula: int


@dataclass(frozen=True)
class Made:
    """Clauses, for the place of each clause of an assertion or step its number, and for each quantified formula too."""

    clauses: Clauses
    origins: Mapping[int, int]
    introduced: Mapping[int, int]


@dataclass
class Steps:
    """Assertions, and instances and witnesses of quantified formulas: with terms, or None for the witness, in order."""

    bank: Bank
    assumed: list[Named]
    taken: list[Step]

    def clauses(self) -> Made:
        """Return the clauses of the assertions and steps, and what each of them brought."""
        made = Clauses(self.bank)
        origins: dict[int, int] = {}
        introduced: dict[int, int] = {}
        every: list[Named | Step] = [*self.assumed, *self.taken]
        for number, one in enumerate(every):
            known = len(made.quantified)
            if isinstance(one, Named):
                made.assume(one.formula)
            elif one[1] is None:
                made.witness(one[0])
            else:
                made.instance(one[0], one[1])
            origins[len(made.clauses) - 1] = number
            introduced |= dict.fromkeys(made.quantified[known:], number)
        return Made(made, origins, introduced)

    def only(self, numbers: Collection[int], introduced: Mapping[int, int]) -> Steps:
        """Return these assertions and steps, and those that they need: by a witness's constants, by a formula."""
        first, kept = len(self.assumed), set(numbers)
        spoken: set[int] = set()
        for number in range(first + len(self.taken) - 1, first - 1, -1):
            step = self.taken[number - first]
            if number in kept or (step[1] is None and step[0] in spoken):
                kept |= {number, introduced[step[0]]}
                spoken |= self._witnesses(step)
        return Steps(
            self.bank,
            [one for number, one in enumerate(self.assumed) if number in kept],
            [step for number, step in enumerate(self.taken, start=first) if number in kept],
        )

    def _witnesses(self, step: Step) -> set[int]:
        """The quantified formulas whose witnesses occur in a step."""
        found: set[int] = set()
        waiting, done = [step[0], *(step[1] or ())], set[int]()
        while waiting:
            number = waiting.pop()
            if number in done:
                continue
            done.add(number)
            node = self.bank.nodes[number]
            if node[0] == "wit":
                found.add(node[1])
            elif node[0] not in ("var", "any"):
                waiting += node[2:] if node[0] in ("app", "rel", "all", "some") else node[1:]
        return found


def _enough(parts: Sequence[tuple[bool, frozenset[int]]], decisive: bool) -> tuple[bool, frozenset[int]]:
    """The truth of a conjunction or disjunction, which one part of the `decisive` truth decides, and fewest reasons."""
    enough = [reasons for truth, reasons in parts if truth == decisive]
    if enough:
        return decisive, min(enough, key=len)
    return not decisive, frozenset(reason for _, reasons in parts for reason in reasons)


class Search:
    """The search for instances that refute the assertions of a query."""

    def __init__(self, query: Query, portfolio: Portfolio, limits: SolverLimits) -> None:
        self._query, self._portfolio, self._limits = query, portfolio, limits
        self.bank = Bank(*symbols_of(query))
        self.bank.work = Work(UNITS)
        writer = Writer(self.bank)
        self.steps = Steps(self.bank, [Named(name, writer.formula(formula)) for name, formula in query.assertions], [])
        self._read = GroundReader(self.bank)
        self._reader = Reader()
        self._opened: dict[int, Formula] = {}
        self._seen: set[tuple[int, tuple[int, ...] | None]] = set()
        self._clauses = self.steps.clauses().clauses
        self._said = [self._read.ground(one.formula) for one in self.steps.assumed]

    def run(self) -> Steps:
        """Return steps whose clauses have no model.  Raises NotFound."""
        for _ in range(ROUNDS):
            answered = self._asked()
            if answered.status == "unsat":
                return self._needed(answered)
            model = answered.model
            if model is None:
                raise NotFound(f"no solver decides the instances: {answered.because}")
            if not self._extend(model):
                raise NotFound("the search for instances ends in a structure that is a model")
        raise NotFound(f"no refutation within {ROUNDS} rounds of instances")

    def _asked(self) -> Answered:
        """Ask for a model of the assertions and steps so far, in which quantified formulas are propositions."""
        read = self._read
        functions = (*self._query.functions, *read.constants.values())
        relations = (*self._query.relations, *read.propositions.values())
        said = tuple((f"s{number}", formula) for number, formula in enumerate(self._said))
        return self._portfolio.model(Query(self._query.sorts, functions, relations, said), limits=self._limits)

    def _needed(self, answered: Answered) -> Steps:
        """The steps that a solver used, and what they depend on."""
        core = next((answer.core for answer in answered.answers if answer.core is not None), None)
        if core is None:
            return self.steps
        return self.steps.only({int(name[1:]) for name in core}, self.steps.clauses().introduced)

    def _extend(self, model: Structure) -> int:
        """Add the steps that a model lacks; return how many."""
        names = self._names(model)
        found = 0
        needed = self._needed_by(model)
        for quantified in tuple(self._clauses.quantified):
            if quantified not in needed:
                continue
            tag = self.bank.nodes[quantified][0]
            claimed = bool(model.relations[self._read.proposition(quantified).name])
            if claimed == (tag == "all"):
                for terms in itertools.islice(self._against(quantified, model, names, claimed), AT_ONCE):
                    found += self._take(quantified, terms)
            elif next(self._against(quantified, model, names, not claimed), None) is None:
                found += self._take(quantified, None)
        return found

    def _needed_by(self, model: Structure) -> set[int]:
        """The quantified formulas whose truth in a model suffices for what is said; others may have any."""
        numbers = {relation.name: number for number, relation in self._read.propositions.items()}
        seen: dict[int, tuple[bool, frozenset[int]]] = {}

        def why(formula: Formula) -> tuple[bool, frozenset[int]]:
            found = seen.get(id(formula))
            if found is None:
                found = seen[id(formula)] = self._why(formula, model, numbers, why)
            return found

        return {number for formula in self._said for number in why(formula)[1]}

    def _why(
        self,
        formula: Formula,
        model: Structure,
        numbers: Mapping[str, int],
        why: Callable[[Formula], tuple[bool, frozenset[int]]],
    ) -> tuple[bool, frozenset[int]]:
        """The truth of a ground formula, and quantified formulas whose truth suffices for it."""
        match formula:
            case Not(body):
                truth, reasons = why(body)
                return not truth, reasons
            case And(parts) | Or(parts):
                return _enough([why(part) for part in parts], isinstance(formula, Or))
            case Implies(left, right):
                truth, reasons = why(left)
                return _enough([(not truth, reasons), why(right)], True)
            case Iff(left, right):
                (one, ones), (two, twos) = why(left), why(right)
                return one == two, ones | twos
            case Ite(test, then, other):
                truth, reasons = why(test)
                value, more = why(then if truth else other)
                return value, reasons | more
            case Holds(relation) if relation.name in numbers:
                return bool(model.relations[relation.name]), frozenset((numbers[relation.name],))
            case _:
                return self._reader.holds(formula, model, {}), frozenset()

    def _against(
        self, quantified: int, model: Structure, names: dict[str, dict[str, int]], claimed: bool
    ) -> Iterator[tuple[int, ...]]:
        """Terms for which the body of a quantified formula is not `claimed` in the model."""
        _, sorts, body = self.bank.nodes[quantified]
        variables = self._read.variables(sorts, 0)
        opened = self._opened.setdefault(quantified, self._read.opened(body, variables))
        for picked in itertools.product(*(names[sort] for sort in sorts)):
            if self._reader.holds(opened, model, dict(zip(variables, picked, strict=True))) != claimed:
                yield tuple(names[sort][element] for sort, element in zip(sorts, picked, strict=True))

    def _names(self, model: Structure) -> dict[str, dict[str, int]]:
        """For each sort the elements that a term of the clauses denotes, each with its smallest such term."""
        names: dict[str, dict[str, int]] = {sort: {} for sort in self.bank.sorts}
        for number in self._terms():
            sort = self.bank.sort(number)
            if sort != NUMBER.name:
                names[sort].setdefault(structure_value(self._read.term(number), model.functions), number)
        for sort, found in names.items():
            if not found:
                number = self.bank.add(("any", sort))
                self._read.term(number)  # makes it known to the next query
                found[model.universe[sort][0]] = number
        return names

    def _terms(self) -> list[int]:
        """The closed terms in the atoms of the clauses, with their parts, the smallest first."""
        found: set[int] = set()
        waiting: list[int] = []
        for atom in self._clauses.atoms.values():
            node = self.bank.nodes[atom]
            waiting += node[1:] if node[0] == "=" else node[2:]
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                node = self.bank.nodes[number]
                waiting += node[2:] if node[0] == "app" else ()
        for quantified, terms in self.steps.taken:
            if terms is None:
                found.update(self.bank.add(("wit", quantified, i)) for i in range(len(self.bank.nodes[quantified][1])))
        usable = [n for n in found if self.bank.sort(n) != NUMBER.name and self._known(n)]
        return sorted(usable, key=lambda number: (self._size(number), number))

    def _known(self, number: int) -> bool:
        node = self.bank.nodes[number]
        if node[0] == "app":
            return node[1] in self.bank.functions and all(self._known(part) for part in node[2:])
        return number in self._read.constants

    def _size(self, number: int) -> int:
        node = self.bank.nodes[number]
        return 1 + sum(self._size(part) for part in node[2:]) if node[0] == "app" else 1

    def _take(self, quantified: int, terms: tuple[int, ...] | None) -> int:
        step = quantified, terms
        if step in self._seen:
            return 0
        self._seen.add(step)
        self.steps.taken.append(step)
        tag = self.bank.nodes[quantified][0]
        whole = self._read.ground(quantified)
        if terms is None:
            terms = self._clauses.witness(quantified)
            for term in terms:
                self._read.term(term)
        else:
            self._clauses.instance(quantified, terms)
        body = self._read.ground(self.bank.instance(quantified, terms))
        forwards = (tag == "all") == (step[1] is not None)
        self._said.append(Implies(whole, body) if forwards else Implies(body, whole))
        return 1
