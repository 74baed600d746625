"""Prove claims about two steps of any two runs, for any number of agents, by a second copy of the system.

Both runs are of one configuration and know nothing of each other.  A relation of their states is proved by induction on
the number of steps of both together: it holds of two ends if it holds wherever one of them, or both, are a step before.
Relations are guessed among equalities of fields: "where these fields are equal, that one is", of the whole states and
of what one agent has.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.smt import logic as fol
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.smtlib import Query, show
from evenhand.smt.structure import Reader, Structure
from evenhand.smt.theory import Theory
from evenhand.source.family import OTHER, STATE, Family, Side, twin_of
from evenhand.source.induction import LIMITS, PROOF, SEARCH, Induction, Proof
from evenhand.source.probes import Meanings, after, meanings
from evenhand.source.simplify import all_of, every, implication, negation, replaced
from evenhand.source.values import FRESH, equals

Parts = Sequence[tuple[str, fol.Formula]]


@dataclass(frozen=True)
class End:
    """The end of one of the two runs: a start, or a step from a state; its variables stand for any values."""

    name: str
    known: fol.Formula
    means: Meanings
    variables: tuple[fol.Var, ...]
    start: bool


def conclusion(one: Side, other: Side) -> fol.Formula:
    """Return that two steps with equal keys, which the claim is about, have equal values."""
    asked = all_of((one.when, other.when, equals(one.key, other.key)))
    return implication(asked, equals(one.value, other.value))


class Pairs:
    """Two copies of one family, with the solvers that decide about them."""

    def __init__(self, family: Family, portfolio: Portfolio) -> None:
        self.family, self.portfolio = family, portfolio
        self.twin = twin_of(family)
        self.renamed = meanings(family.shape, self.twin.state, STATE)
        self.left = self._ends(STATE)
        self.right = self._ends(OTHER)

    @property
    def theory(self) -> Theory:
        """The symbols of both states, and of the initial choices of both."""
        theory, twin = self.family.theory, self.twin
        return replace(
            theory,
            functions=(*theory.functions, *twin.vocabulary.functions, *(one for one, _ in twin.chosen)),
            relations=(*theory.relations, *twin.vocabulary.relations),
            axioms=(*theory.axioms, *twin.vocabulary.axioms, *(one for _, one in twin.chosen if one is not None)),
        )

    def _ends(self, name: str) -> list[End]:
        whose = self.family if name == STATE else self.twin
        shape = self.family.shape
        found = [End("start", s.guard, meanings(shape, s.state, name), s.variables, True) for s in whose.starts]
        return [
            *found,
            *(End(m.name, m.guard, meanings(shape, m.after, name), m.variables, False) for m in whose.moves),
        ]

    def _places(self) -> Iterator[tuple[int, int]]:
        """Each two ends once: relations and claims are the same the other way round."""
        return itertools.combinations_with_replacement(range(len(self.left)), 2)

    def _kinds(self) -> Iterator[tuple[int, int]]:
        """Each two kinds of steps once."""
        return itertools.combinations_with_replacement(range(len(self.family.moves)), 2)

    def prove(self, name: str, induction: Induction, kept: Sequence[fol.Formula], related: Parts) -> Proof:
        """Prove a claim by invariants that were kept and by relations that were."""
        sides, others = self.family.claims[name].sides, self.twin.sides[name]
        first = len(self.family.starts)
        total = [(move, negation(side.raises)) for move, side in zip(self.family.moves, sides, strict=True)]
        proof = induction.prove_steps([pair for pair in total if pair[1] != fol.TRUE], kept)
        if not proof.proved:
            return replace(proof, because=f"it is open whether the claim raises: {proof.because}")
        wanted: list[tuple[int, int, str, fol.Formula]] = []
        for i, j in self._kinds():
            goal = conclusion(sides[i], others[j])
            if goal != fol.TRUE:
                wanted.append((first + i, first + j, name, goal))
        return self._rest(wanted, induction, kept, related, proof)

    def _rest(
        self,
        wanted: list[tuple[int, int, str, fol.Formula]],
        induction: Induction,
        kept: Sequence[fol.Formula],
        related: Parts,
        proof: Proof,
    ) -> Proof:
        """Prove goals about pairs of ends, then what they rest on, each by both solvers."""
        needed: dict[str, fol.Formula] = {}
        used: dict[int, fol.Formula] = {}
        queries = proof.queries
        while wanted:
            i, j, what, goal = wanted.pop()
            parts = self._parts(i, j, kept, related)
            limits = LIMITS if related else SEARCH  # without relations it is a first try
            answered = induction.quick.ask(self._query(i, j, parts, goal), expected="unsat", limits=limits)
            if answered.status != "unsat":
                where = f"{self.left[i].name} beside {self.right[j].name}"
                return Proof(False, because=f"no invariant or relation that was found shows {what} for {where}")
            core = next((one.core for one in answered.answers if one.status == "unsat" and one.core), ())
            few = [(n, formula) for n, formula in parts if n in core]
            both = self.portfolio.ask(self._query(i, j, few, goal), expected="unsat", limits=PROOF)
            if {one.module for one in both.answers if one.status == "unsat"} != {"z3", "cvc5"}:
                return Proof(False, because=f"the solvers do not both prove {what}: {both.because}")
            queries += 1
            for n, _ in few:
                kind, _, rest = n.partition(".")
                if kind in ("left", "right"):
                    used[int(rest)] = kept[int(rest)]
                relation = rest.partition(".")[0]
                if kind == "related" and relation not in needed:
                    needed[relation] = dict(related)[relation]
                    wanted += [(a, b, relation, self._at(a, b, needed[relation])) for a, b in self._places()]
        rests = induction.prove_all(list(used.values()), kept)
        if not rests.proved:
            return rests
        invariants = (*dict.fromkeys((*proof.invariants, *rests.invariants)), *(show(one) for one in needed.values()))
        return Proof(True, invariants, queries + rests.queries)

    def _parts(self, i: int, j: int, kept: Sequence[fol.Formula], related: Parts) -> list[tuple[str, fol.Formula]]:
        """What is known of the states from which two ends are a step, and of an end beside the state before another."""
        left, right = self.left[i], self.right[j]
        found: list[tuple[str, fol.Formula]] = []
        if not left.start:
            found += [(f"left.{n}", one) for n, one in enumerate(kept)]
        if not right.start:
            found += [(f"right.{n}", after(one, self.renamed)) for n, one in enumerate(kept)]
        for name, relation in related:
            if not left.start and not right.start:
                found.append((f"related.{name}.before", relation))
            if not right.start:
                found.append((f"related.{name}.left", after(relation, left.means)))
            if not left.start:
                found.append((f"related.{name}.right", after(relation, right.means)))
        return found

    def _at(self, i: int, j: int, relation: fol.Formula) -> fol.Formula:
        """A relation of the states at two ends."""
        return after(relation, {**self.left[i].means, **self.right[j].means})

    def _query(self, i: int, j: int, parts: Parts, goal: fol.Formula) -> Query:
        left, right = self.left[i], self.right[j]
        variables = (*left.variables, *right.variables)
        constants: dict[fol.Var, fol.Term] = {
            one: fol.Function(f"at.{place}", (), one.sort)() for place, one in enumerate(variables)
        }
        claims = [
            *((name, formula) for name, formula in parts if formula != fol.TRUE),
            ("case.left", left.known),
            ("case.right", right.known),
            ("goal", fol.Not(goal)),
        ]
        theory = self.theory
        made = [fol.Function(f"at.{place}", (), one.sort) for place, one in enumerate(variables)]
        return Query(
            theory.sorts,
            (*theory.functions, *made),
            theory.relations,
            (*((a.name, a.formula) for a in theory.axioms), *((n, replaced(f, constants)) for n, f in claims)),
        )

    def related(self, induction: Induction, kept: Sequence[fol.Formula], samples: Sequence[Structure]) -> Parts:
        """Return relations that are inductive together: of those that samples allow, what every pair of ends keeps."""
        alive = dict(self._guesses(samples))
        changed = True
        while changed and alive:
            changed = False
            for i, j in self._places():
                parts = self._parts(i, j, kept, list(alive.items()))
                goals = {n: fol.Relation(f"broken.{n}", ()) for n in alive}
                broken = [
                    (f"when.{n}", fol.Implies(goals[n](), negation(self._at(i, j, one)))) for n, one in alive.items()
                ]
                query = self._query(i, j, [*parts, *broken], fol.FALSE)
                query = replace(query, relations=(*query.relations, *goals.values()))
                answers = induction.quick.each(query, list(goals.values()), limits=SEARCH)
                for n, (status, _) in zip(list(alive), answers, strict=True):
                    if status != "unsat":
                        del alive[n]
                        changed = True
        return list(alive.items())

    def _guesses(self, samples: Sequence[Structure]) -> Iterator[tuple[str, fol.Formula]]:
        """Relations that hold of all samples: where up to two fields are equal, another is."""
        reader, number = Reader(), itertools.count()
        for sort in (None, *self.family.vocabulary.sorts):
            x = () if sort is None else (FRESH(sort),)
            fields = self._fields(x)
            found: list[tuple[frozenset[str], str]] = []
            said: set[frozenset[str]] = {
                frozenset(
                    name for name, one in fields.items() if reader.holds(one, sample, dict(zip(x, row, strict=True)))
                )
                for sample in samples
                for row in itertools.product(*(sample.universe[one.sort.name] for one in x))
            }
            for size in (0, 1, 2):
                for given in itertools.combinations(fields, size):
                    for name, one in fields.items():
                        if name in given or any(part <= {*given} and of == name for part, of in found):
                            continue
                        if all(name in equal for equal in said if set(given) <= equal):
                            found.append((frozenset(given), name))
                            body = implication(all_of(fields[part] for part in given), one)
                            yield f"{next(number)}", every(x, body)

    def _fields(self, at: tuple[fol.Var, ...]) -> dict[str, fol.Formula]:
        """That a field is equal in both states, for each; with a variable, that it is so in this agent's place."""
        found: dict[str, list[fol.Formula]] = {}
        symbols: list[fol.Function | fol.Relation] = [
            *self.family.vocabulary.relations,
            *self.family.vocabulary.functions,
        ]
        names = {one.name for one in symbols}
        for one in symbols:
            if at and one.domain[:1] != (at[0].sort,):
                continue
            rest = tuple(FRESH(sort) for sort in one.domain[len(at) :])
            places = (*at, *rest)
            other = f"{OTHER}{one.name.removeprefix(STATE)}"
            if isinstance(one, fol.Relation):
                same: fol.Formula = fol.Iff(one(*places), fol.Relation(other, one.domain)(*places))
            else:
                same = fol.Equal(one(*places), fol.Function(other, one.domain, one.codomain)(*places))
                if f"{one.name}.none" in names:
                    same = fol.Or((fol.Relation(f"{one.name}.none", one.domain)(*places), same))
            field = _field(one.name)
            found.setdefault(field, []).append(every(rest, same))
        return {name: all_of(parts) for name, parts in found.items()}


def _field(name: str) -> str:
    """The field whose symbol has this name: without what tells its values apart."""
    head, _, last = name.rpartition(".")
    return head if last == "none" or last.rstrip("0123456789") in ("is", "has") else name


def beside(one: Structure, other: Structure) -> Structure:
    """Return two states of one configuration as one structure, the second under names of its own."""

    def named(name: str) -> str:
        return f"{OTHER}{name.removeprefix(STATE)}" if name.startswith(f"{STATE}.") else name

    relations: Mapping[str, frozenset[tuple[str, ...]]] = {named(n): rows for n, rows in other.relations.items()}
    functions = {named(n): rows for n, rows in other.functions.items()}
    return Structure(one.universe, {**relations, **one.relations}, {**functions, **one.functions})
