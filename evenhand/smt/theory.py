"""Theories: named axioms with their source paragraphs, and definitions that readings and mutants replace.

A theory is independent of the executable model's code: a second statement of the protocol, which `differential`
compares with the first.  A mutant of the theory is the theory with some definitions replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

from evenhand.core.lookup import UnknownName
from evenhand.smt.arithmetic import NUMBER, printed
from evenhand.smt.logic import Definition, Formula, Function, Holds, Relation, Sort, Term, conjunction, free, walk
from evenhand.smt.memo import Cache
from evenhand.smt.rewriting import expand, translate, used
from evenhand.smt.smtlib import Query
from evenhand.smt.structure import Reader


@dataclass(frozen=True)
class Axiom:
    """An assumption of the theory: a name, a closed formula, its source paragraph."""

    name: str
    formula: Formula
    source: str = ""

    def __post_init__(self) -> None:
        if free(self.formula):
            names = ", ".join(sorted(v.name for v in free(self.formula)))
            raise ValueError(f"axiom {self.name} leaves {names} free")

    @cached_property
    def symbols(self) -> tuple[Function | Relation, ...]:
        """The functions and relations in it, but for those of arithmetic."""
        return tuple(one for one in used(self.formula) if printed(one.name) is None)

    @cached_property
    def relations(self) -> frozenset[str]:
        """The names of the relations in it; if none is defined, there is nothing to expand."""
        return _relations(self.formula)


_EXPANDED: Cache[Formula] = Cache()
_SPOKEN: Cache[frozenset[str]] = Cache()


def spoken(formula: Formula) -> frozenset[str]:
    """Return the names of the relations in a formula; cached by identity."""
    return _SPOKEN.get((formula,), partial(_relations, formula))


def _relations(formula: Formula) -> frozenset[str]:
    return frozenset(part.relation.name for part in walk(formula) if isinstance(part, Holds))


def _expanded(axiom: Axiom, meanings: Mapping[str, Definition]) -> Formula:
    """The axiom without defined relations; one object for equal definitions of the relations it depends on."""
    needed: dict[str, Definition] = {}
    waiting = list(axiom.relations)
    while waiting:
        name = waiting.pop()
        if name in meanings and name not in needed:
            definition = needed[name] = meanings[name]
            waiting.extend(spoken(definition.body))
    if not needed:
        return axiom.formula
    words = tuple(needed[name] for name in sorted(needed))
    return _EXPANDED.get((axiom, *words), lambda: expand(axiom.formula, needed))


@dataclass(frozen=True)
class Theory:
    """Sorts and symbols in a fixed order, axioms, and definitions (each may use those before it).

    Raises ValueError for two things of one name.
    """

    name: str
    sorts: tuple[Sort, ...]
    functions: tuple[Function, ...]
    relations: tuple[Relation, ...]
    axioms: tuple[Axiom, ...] = ()
    definitions: tuple[Definition, ...] = ()

    def __post_init__(self) -> None:
        names = [s.name for s in self.sorts]
        names += [s.name for group in (self.functions, self.relations, self.axioms, self.definitions) for s in group]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"theory {self.name} has two things called {twice!r}")

    @classmethod
    def of(
        cls, name: str, *more: Function | Relation, axioms: Iterable[Axiom] = (), definitions: Iterable[Definition] = ()
    ) -> Theory:
        """Return the theory of these axioms and definitions: its symbols and sorts are those that they use.

        `more` are symbols that only theorems and mutants use.
        """
        assumed, words = tuple(axioms), tuple(definitions)
        formulas = (*(axiom.formula for axiom in assumed), *(word.body for word in words))
        defined = {word.relation for word in words}
        found = dict.fromkeys(one for formula in formulas for one in used(formula)) | dict.fromkeys(more)
        symbols = [one for one in found if one not in defined and printed(one.name) is None]
        functions = tuple(one for one in symbols if isinstance(one, Function))
        relations = tuple(one for one in symbols if isinstance(one, Relation))
        domains = (one.domain for one in (*symbols, *(word.relation for word in words)))
        sorts = dict.fromkeys((*(sort for domain in domains for sort in domain), *(one.codomain for one in functions)))
        return cls(name, tuple(one for one in sorts if one != NUMBER), functions, relations, assumed, words)

    @cached_property
    def meanings(self) -> Mapping[str, Definition]:
        """The definitions by name."""
        return {definition.name: definition for definition in self.definitions}

    @cached_property
    def reader(self) -> Reader:
        """The evaluator of this theory's formulas; it compiles each once."""
        return Reader(self.meanings)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the undefined symbols: functions, then relations."""
        return (*(function.name for function in self.functions), *(relation.name for relation in self.relations))

    def word(self, name: str, *arguments: Term) -> Holds:
        """Return a defined word of the theory, of these things."""
        return self.meanings[name].relation(*arguments)

    def means(self, name: str, body: Formula, source: str) -> Definition:
        """Return another meaning of a defined word, over the same variables."""
        return replace(self.meanings[name], body=body, source=source)

    def redefined(self, definitions: Iterable[Definition]) -> Theory:
        """Return this theory with some definitions replaced.  Raises UnknownName for a definition it lacks."""
        changed = {definition.name: definition for definition in definitions}
        for name in changed:
            if name not in self.meanings:
                raise UnknownName("definition", name, self.meanings)
        return replace(self, definitions=tuple(changed.get(d.name, d) for d in self.definitions))

    def query(self, *claims: tuple[str, Formula], opaque: Iterable[str] = ()) -> Query:
        """Return the axioms and some named formulas, with every definition expanded except the `opaque` ones.

        An opaque relation may mean anything, so a proof holds for every meaning; a model of such a query is no
        structure of the theory.
        """
        kept = frozenset(opaque)
        meanings = {name: definition for name, definition in self.meanings.items() if name not in kept}
        words = tuple(d.relation for d in self.definitions if d.name in kept)
        axioms = [(a.name, _expanded(a, meanings)) for a in self.axioms]
        claimed = [(name, expand(formula, meanings)) for name, formula in claims]
        return Query(self.sorts, self.functions, (*self.relations, *words), (*axioms, *claimed))

    @property
    def assumed(self) -> Formula:
        """The conjunction of all axioms."""
        return conjunction(axiom.formula for axiom in self.axioms)

    def twice(self, suffix: str, *, shared: Iterable[str], sorts: Mapping[Sort, Sort] | None = None) -> Theory:
        """Return this theory with a second copy of itself, as 2-safety needs.

        The copy of a symbol has its name with `suffix`; symbols in `shared` have no copy.  `sorts` maps sorts to those
        of the copy.  Axioms that mention nothing copied are not doubled; definitions are.
        """
        moved = dict(sorts or {})
        kept = frozenset(shared)
        functions = {
            f: Function(f.name + suffix, tuple(moved.get(s, s) for s in f.domain), moved.get(f.codomain, f.codomain))
            for f in self.functions
            if f.name not in kept
        }
        every = (*self.relations, *(definition.relation for definition in self.definitions))
        relations = {
            r: Relation(r.name + suffix, tuple(moved.get(s, s) for s in r.domain)) for r in every if r.name not in kept
        }

        def copied(formula: Formula) -> Formula:
            return translate(formula, sorts=moved, functions=functions, relations=relations)

        def defined(definition: Definition) -> Definition:
            bound = tuple(moved.get(v.sort, v.sort)(v.name) for v in definition.variables)
            return Definition(relations[definition.relation], bound, copied(definition.body), definition.source)

        copies = [replace(a, name=a.name + suffix, formula=copied(a.formula)) for a in self.axioms]
        originals = {axiom.formula for axiom in self.axioms}
        return Theory(
            self.name + suffix,
            (*self.sorts, *(sort for sort in moved.values() if sort not in self.sorts)),
            (*self.functions, *functions.values()),
            (*self.relations, *(relations[r] for r in self.relations if r in relations)),
            (*self.axioms, *(axiom for axiom in copies if axiom.formula not in originals)),
            (*self.definitions, *(defined(d) for d in self.definitions if d.relation in relations)),
        )
