"""Parts that theories and theorems of several protocols share, each written once; this module knows no protocol.

Symbols and words are declared by `relations`, `numbers`, `define` and `Declarations`; `ordered` and `ranked` are
orders; `Twice` is a theory beside a second copy of itself; `Faults` makes mutants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand.core.system import Mutant
from evenhand.core.trace import Pair, Scenario
from evenhand.core.verdict import Evidence
from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.logic import Definition, Formula, Function, Relation, Sort, Term, Var, conjunction, forall, iff, same
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Mutation
from evenhand.smt.theory import Axiom, Theory


def relations(names: str, *domain: Sort) -> tuple[Relation, ...]:
    """Return relations of one domain; `names` are separated by blanks."""
    return tuple(Relation(name, domain) for name in names.split())


def numbers(names: str, *domain: Sort) -> tuple[Function, ...]:
    """Return functions to numbers from one domain; `names` are separated by blanks."""
    return tuple(Function(name, domain, NUMBER) for name in names.split())


def define(name: str, bound: Sequence[Var], body: Formula, source: str) -> Definition:
    """Return the word `name` of these variables, by its meaning and the paragraph it comes from."""
    return Definition(Relation(name, tuple(v.sort for v in bound)), tuple(bound), body, source)


class Declarations:
    """The symbols and words of a theory, in the order in which they are declared."""

    def __init__(self) -> None:
        self.functions: list[Function] = []
        self.relations: list[Relation] = []
        self.words: list[Definition] = []

    def function(self, name: str, *signature: Sort) -> Function:
        """Declare a function; the last sort is that of its values."""
        self.functions.append(Function(name, signature[:-1], signature[-1]))
        return self.functions[-1]

    def relation(self, name: str, *domain: Sort) -> Relation:
        """Declare a relation."""
        self.relations.append(Relation(name, domain))
        return self.relations[-1]

    def word(self, name: str, bound: Sequence[Var], body: Formula, source: str) -> Relation:
        """Declare a word by its meaning, in symbols and words declared before."""
        self.words.append(define(name, bound, body, source))
        return self.words[-1].relation

    def theory(self, name: str, *sorts: Sort, axioms: Iterable[Axiom] = ()) -> Theory:
        """Return the theory of all that was declared."""
        symbols = tuple(self.functions), tuple(self.relations)
        return Theory(name, sorts, *symbols, axioms=tuple(axioms), definitions=tuple(self.words))


def ranked(before: Relation, one: Var, two: Var, three: Var) -> Formula:
    """Return the formula that `before` is a strict order, perhaps a partial one."""
    return conjunction(
        [
            forall([one, two], before(one, two) >> ~before(two, one)),
            forall([one, two, three], (before(one, two) & before(two, three)) >> before(one, three)),
        ]
    )


def ordered(before: Relation, one: Var, two: Var, three: Var) -> Formula:
    """Return the formula that `before` is a strict total order."""
    total = forall([one, two], same(one, two) | before(one, two) | before(two, one))
    return ranked(before, one, two, three) & total


def mutation(theory: Theory, mutant: Mutant[Any], bodies: Mapping[str, Formula], because: str = "") -> Mutation:
    """Return the mutant with these meanings of words; `because` says why a theorem does not see it."""
    definitions = tuple(theory.means(name, body, mutant.name) for name, body in bodies.items())
    return Mutation(
        mutant=mutant, definitions=definitions, expected="proved" if because else "refuted", because=because
    )


class Faults(dict[Mutant[Any], tuple[Definition, ...]]):
    """The meanings that mutants give to words: each mutant is `said` with its definitions."""

    def __init__(self, *said: tuple[Any, ...]) -> None:
        super().__init__((mutant, tuple(definitions)) for mutant, *definitions in said)

    @classmethod
    def of(cls, theory: Theory, bodies: Mapping[Mutant[Any], Mapping[str, Formula]]) -> Faults:
        """Return these meanings of a theory's words by mutants."""
        return cls(*((one, *mutation(theory, one, told).definitions) for one, told in bodies.items()))

    def refuted(self, *mutants: Mutant[Any]) -> tuple[Mutation, ...]:
        """Return mutants that a theorem must refute."""
        return tuple(Mutation(mutant=mutant, definitions=self[mutant]) for mutant in mutants)

    def unseen(self, mutant: Mutant[Any], because: str) -> Mutation:
        """Return a mutant that a theorem cannot see, with the reason why."""
        return Mutation(mutant=mutant, definitions=self[mutant], expected="proved", because=because)


class Copies:
    """The symbols and words of a theory that has a second copy of some; the copy of `name` is called `name2`."""

    def __init__(self, theory: Theory) -> None:
        self.theory = theory
        self._functions = {function.name: function for function in theory.functions}
        self._relations = {relation.name: relation for relation in theory.relations}
        self._relations |= {name: definition.relation for name, definition in theory.meanings.items()}

    def function(self, one: Function) -> Function:
        """Return the second copy of a function."""
        return self._functions[f"{one.name}2"]

    def first(self, name: str, *arguments: Term) -> Formula:
        """Return a relation or word of the first copy, of these things."""
        return self._relations[name](*arguments)

    def second(self, name: str, *arguments: Term) -> Formula:
        """Return the second copy of a relation or word, of these things; the shared one if there is no copy."""
        return self._relations.get(f"{name}2", self._relations[name])(*arguments)

    def alike(self, name: str, *arguments: Term) -> Formula:
        """Return the formula that a relation or word holds of these things in both copies or in neither."""
        return iff(self.first(name, *arguments), self.second(name, *arguments))

    def extended(
        self, name: str, *axioms: Axiom, functions: Iterable[Function] = (), relations: Iterable[Relation] = ()
    ) -> Theory:
        """Return both copies as a theory of this name, with more symbols and axioms."""
        both = self.theory
        return replace(
            both,
            name=name,
            functions=(*both.functions, *functions),
            relations=(*both.relations, *relations),
            axioms=(*both.axioms, *axioms),
        )


class Twice(Copies):
    """A theory beside a second copy of what is not `shared`; the copy has `sorts` of its own."""

    def __init__(self, base: Theory, shared: Iterable[str], sorts: Mapping[Sort, Sort] | None = None) -> None:
        self.base, self.shared, self.sorts = base, tuple(shared), sorts
        super().__init__(base.twice("2", shared=self.shared, sorts=sorts))

    @classmethod
    def apart(cls, base: Theory, *moved: str, sorts: Mapping[Sort, Sort] | None = None) -> Twice:
        """Return a theory beside a copy that shares everything but the `moved` symbols, and words made of them."""
        return cls(base, (name for name in base.symbols if name not in moved), sorts)

    def said(self, definitions: Iterable[Definition]) -> tuple[Definition, ...]:
        """Return these meanings of words in both copies, where the second has the word at all."""
        changed = tuple(definitions)
        doubled = self.base.redefined(changed).twice("2", shared=self.shared, sorts=self.sorts)
        wanted = {name for one in changed for name in (one.name, f"{one.name}2")} & set(self.theory.meanings)
        return tuple(one for one in doubled.definitions if one.name in wanted)

    def mutants(self, *mutations: Mutation) -> tuple[Mutation, ...]:
        """Return mutants of the theory as mutants of both copies."""
        return tuple(replace(one, definitions=self.said(one.definitions)) for one in mutations)


def first_of_twins(
    scene: Callable[[Structure], Scenario[Any, Any, Any] | None],
) -> Callable[[Structure], Evidence | None]:
    """Return the realisation of two runs of which the judge makes the second: `scene` makes the first."""

    def realised(structure: Structure) -> Evidence | None:
        first = scene(structure)
        return None if first is None else Pair(first, first, "twin")

    return realised


def both_runs(
    scene: Callable[[Structure], Scenario[Any, Any, Any] | None], label: str
) -> Callable[[Structure], Evidence | None]:
    """Return the realisation of two runs that `scene` makes one by one, of either copy."""

    def realised(structure: Structure) -> Evidence | None:
        first, second = scene(structure), scene(structure.turned)
        return None if first is None or second is None else Pair(first, second, label)

    return realised
