"""Finite structures, and the evaluator of formulas on them.

The evaluator is independent of the solvers: a countermodel counts only if the evaluator, too, finds the axioms true
and the goal false.  Definitions are evaluated as relations of their own, not by expansion, so that a fault of the
expander shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from evenhand.core.canonical import Json
from evenhand.smt import logic as fol
from evenhand.smt.arithmetic import NUMBER, calculated, compared, is_element

V = TypeVar("V")
Element: TypeAlias = str
Tuple: TypeAlias = tuple[Element, ...]
Values: TypeAlias = dict[str, Element]
Test: TypeAlias = Callable[[Values], bool]
Pick: TypeAlias = Callable[[Values], Element]
Condition: TypeAlias = tuple[fol.Formula, bool]


class BadStructure(ValueError):
    """Not a structure of the signature: an empty sort, a partial function, an unknown element."""


@dataclass(frozen=True)
class Structure:
    """Finitely many elements per sort, and the meaning of each symbol on them.

    `universe`: sort → its elements, in a fixed order; `relations`: name → the tuples of which it holds;
    `functions`: name → arguments → value.  A defined relation may be given too: it holds *observed* values, which a
    reader takes in place of the definition.  Numbers are no part of the universe; as values they are written as by
    `arithmetic.element`.
    """

    universe: Mapping[str, tuple[Element, ...]]
    relations: Mapping[str, frozenset[Tuple]] = field(default_factory=dict[str, frozenset[Tuple]])
    functions: Mapping[str, Mapping[Tuple, Element]] = field(default_factory=dict[str, Mapping[Tuple, Element]])

    def checked(
        self, sorts: Iterable[fol.Sort], functions: Iterable[fol.Function], relations: Iterable[fol.Relation]
    ) -> Structure:
        """Return this structure if it interprets all the symbols, else raise BadStructure with the reason."""
        for sort in sorts:
            if not self.universe.get(sort.name):
                raise BadStructure(f"sort {sort.name} is empty or missing")
        for function in functions:
            table = self.functions.get(function.name)
            if table is None:
                raise BadStructure(f"function {function.name} is missing")
            for arguments in itertools.product(*(self.universe[s.name] for s in function.domain)):
                found = table.get(arguments)
                numbers = function.codomain == NUMBER
                if not (is_element(found) if numbers else found in self.universe[function.codomain.name]):
                    raise BadStructure(f"{function.name}{arguments} is no element of {function.codomain.name}")
        for relation in relations:
            held = self.relations.get(relation.name)
            if held is None:
                raise BadStructure(f"relation {relation.name} is missing")
            domains = [frozenset(self.universe[s.name]) for s in relation.domain]
            for entry in sorted(held):
                if len(entry) != len(domains) or any(e not in d for e, d in zip(entry, domains, strict=True)):
                    raise BadStructure(f"{relation.name}{entry} is not about elements of its sorts")
        return self

    @property
    def size(self) -> int:
        """The number of elements of the largest sort."""
        return max((len(elements) for elements in self.universe.values()), default=0)

    def without(self, names: Iterable[str]) -> Structure:
        """Return this structure without some relations, such as the observed values of defined ones."""
        dropped = frozenset(names)
        kept = {name: table for name, table in self.relations.items() if name not in dropped}
        return Structure(self.universe, kept, self.functions)

    @property
    def turned(self) -> Structure:
        """This structure with the two copies of each doubled symbol or sort (`name`, `name2`) exchanged."""

        def exchanged(tables: Mapping[str, V]) -> dict[str, V]:
            return {name: tables.get(f"{name}2", tables.get(name.removesuffix("2"), tables[name])) for name in tables}

        return Structure(exchanged(self.universe), exchanged(self.relations), exchanged(self.functions))

    @property
    def key(self) -> Hashable:
        """A hashable key, equal for equal structures."""
        return (
            tuple(self.universe.items()),
            tuple(self.relations.items()),
            tuple((name, frozenset(table.items())) for name, table in self.functions.items()),
        )

    def to_json(self) -> Json:
        """Return JSON in an order that depends on the content alone."""
        return {
            "universe": {sort: list(elements) for sort, elements in self.universe.items()},
            "relations": {name: [list(entry) for entry in sorted(table)] for name, table in self.relations.items()},
            "functions": {
                name: [[*arguments, value] for arguments, value in sorted(table.items())]
                for name, table in self.functions.items()
            },
        }


class Reader:
    """Evaluates formulas under fixed definitions; each formula is compiled to closures once.

    >>> from evenhand.smt.logic import Relation, Sort, forall
    >>> thing = Sort("Thing")
    >>> red, x = Relation("red", (thing,)), thing("x")
    >>> Reader().holds(forall([x], red(x)), Structure({"Thing": ("a", "b")}, {"red": frozenset({("a",)})}))
    False
    """

    def __init__(self, definitions: Mapping[str, fol.Definition] | None = None) -> None:
        self._definitions = dict(definitions or {})
        # By identity, because hashing a formula walks all of it; the formula is kept, so that its id is not reused.
        self._compiled: dict[int, tuple[fol.Formula, Test]] = {}
        self._bodies: dict[str, Test] = {}
        self._structure = Structure({})
        self._relations = self._structure.relations
        self._extensions: dict[str, dict[Tuple, bool]] = {}

    def holds(
        self, formula: fol.Formula, structure: Structure, values: Mapping[fol.Var, Element] | None = None
    ) -> bool:
        """Return whether the formula is true in the structure, with `values` for its free variables."""
        self._turn_to(structure)
        return self._test(formula)({_slot(variable): value for variable, value in (values or {}).items()})

    def extension(self, relation: fol.Relation, structure: Structure) -> frozenset[Tuple]:
        """Return all tuples of which a relation (defined or not) holds in the structure."""
        self._turn_to(structure)
        ask = self._asked(relation)
        return frozenset(
            entry for entry in itertools.product(*(structure.universe[s.name] for s in relation.domain)) if ask(entry)
        )

    def _turn_to(self, structure: Structure) -> None:
        if structure is not self._structure:
            self._structure, self._relations, self._extensions = structure, structure.relations, {}

    def _test(self, formula: fol.Formula) -> Test:
        found = self._compiled.get(id(formula))
        if found is None:
            found = self._compiled[id(formula)] = (formula, self._compile(formula))
        return found[1]

    def _compile(self, formula: fol.Formula) -> Test:
        match formula:
            case fol.Holds(relation, arguments):
                return self._atom(relation, arguments)
            case fol.Equal(left, right):
                one, other = self._pick(left), self._pick(right)
                return lambda values: one(values) == other(values)
            case fol.Not(body):
                inner = self._test(body)
                return lambda values: not inner(values)
            case fol.And(parts):
                return _every(tuple(self._test(part) for part in parts))
            case fol.Or(parts):
                return _some(tuple(self._test(part) for part in parts))
            case fol.Implies(left, right):
                first, then = self._test(left), self._test(right)
                return lambda values: not first(values) or then(values)
            case fol.Iff(left, right):
                first, then = self._test(left), self._test(right)
                return lambda values: first(values) == then(values)
            case fol.Ite(test, then_part, other_part):
                asked, yes, no = self._test(test), self._test(then_part), self._test(other_part)
                return lambda values: yes(values) if asked(values) else no(values)
            case fol.Forall(bound, body):
                counterexample = self._search(bound, [(body, False)])
                return lambda values: not counterexample(values)
            case fol.Exists(bound, body):
                return self._search(bound, [(body, True)])

    def _search(self, bound: tuple[fol.Var, ...], wanted: Sequence[Condition]) -> Test:
        """Whether some values of the variables meet all conditions; the variables get their previous values back.

        Where one condition is met by any of several, each of these is searched by itself, over its own variables.
        """
        conditions = [one for formula, value in wanted for one in _conditions(formula, wanted=value)]
        choices = [one for one in conditions if isinstance(one[0], fol.Or if one[1] else fol.And)]
        if len(choices) != 1:
            return self._nested(bound, conditions)
        ((formula, value),) = choices
        others = [one for one in conditions if one is not choices[0]]
        assert isinstance(formula, fol.And | fol.Or)
        return _some(tuple(self._search(bound, [*others, (part, value)]) for part in formula.parts))

    def _nested(self, bound: tuple[fol.Var, ...], conditions: Sequence[Condition]) -> Test:
        """Loops over the variables, outermost first; a condition is tested as soon as its variables have values.

        Those without quantifiers are tested first.  So most values of the later variables are never tried.
        """
        groups: list[tuple[list[Test], list[Test]]] = [([], []) for _ in range(len(bound) + 1)]
        needed = set[fol.Var]()
        for condition, value in sorted(conditions, key=_quantifies):
            loose = fol.free(condition)
            needed |= loose
            place = max((place for place, variable in enumerate(bound, start=1) if variable in loose), default=0)
            groups[place][0 if value else 1].append(self._test(condition))
        found: Test = _every(())
        for variable, (true, false) in zip(reversed(bound), reversed(groups), strict=False):
            tests = (tuple(true), tuple(false), found)
            found = self._single(variable, *tests, most=None if variable in needed else 1)
        true, false = groups[0]
        return _every((*true, *map(_not, false), found)) if true or false else found

    def _single(
        self, variable: fol.Var, true: tuple[Test, ...], false: tuple[Test, ...], rest: Test, *, most: int | None
    ) -> Test:
        """Whether one of the first `most` values, or of all, makes these tests true, those false, and the rest true."""
        slot, sort = _slot(variable), variable.sort.name

        def test(values: Values) -> bool:
            before = values.get(slot)
            for picked in self._structure.universe[sort][:most]:
                values[slot] = picked
                for one in true:
                    if not one(values):
                        break
                else:
                    for one in false:
                        if one(values):
                            break
                    else:
                        if rest(values):
                            found = True
                            break
            else:
                found = False
            if before is not None:
                values[slot] = before
            return found

        return test

    def _pick(self, term: fol.Term) -> Pick:
        if isinstance(term, fol.Var):
            slot = _slot(term)
            return lambda values: values[slot]
        name = term.function.name
        inner = tuple(self._pick(argument) for argument in term.arguments)
        act = calculated(name)
        if act is not None:
            return lambda values: act([pick(values) for pick in inner])
        return lambda values: self._structure.functions[name][tuple([pick(values) for pick in inner])]

    def _atom(self, relation: fol.Relation, arguments: tuple[fol.Term, ...]) -> Test:
        compare = compared(relation.name)
        if compare is not None:
            one, other = (self._pick(argument) for argument in arguments)
            return lambda values: compare(one(values), other(values))
        ask = self._asked(relation)
        if all(isinstance(argument, fol.Var) for argument in arguments):
            slots = tuple(_slot(argument) for argument in arguments if isinstance(argument, fol.Var))
            if len(slots) == 1:
                (one_slot,) = slots
                return lambda values: ask((values[one_slot],))
            if len(slots) == 2:
                first, second = slots
                return lambda values: ask((values[first], values[second]))
            return lambda values: ask(tuple([values[slot] for slot in slots]))
        picks = tuple(self._pick(argument) for argument in arguments)
        return lambda values: ask(tuple([pick(values) for pick in picks]))

    def _asked(self, relation: fol.Relation) -> Callable[[Tuple], bool]:
        """A test of tuples: by the structure's table, else by definition, computed once for each tuple."""
        name = relation.name
        definition = self._definitions.get(name)
        slots = tuple(_slot(variable) for variable in definition.variables) if definition is not None else ()

        turned: Structure | None = None
        table: frozenset[Tuple] | None = None
        known: dict[Tuple, bool] = {}

        def ask(entry: Tuple) -> bool:
            nonlocal turned, table, known
            if turned is not self._structure:  # looked up once for each structure, not at each of millions of calls
                turned, table = self._structure, self._relations.get(name)
                if table is None:
                    if definition is None:
                        turned = None
                        raise BadStructure(f"relation {name} is missing")
                    known = self._extensions.setdefault(name, {})
            if table is not None:
                return entry in table
            found = known.get(entry)
            if found is None:
                assert definition is not None
                test = self._bodies.get(name)
                if test is None:
                    test = self._bodies[name] = self._test(definition.body)
                found = known[entry] = test(dict(zip(slots, entry, strict=True)))
            return found

        return ask


def _slot(variable: fol.Var) -> str:
    """The key of a variable's value: variables of one name and two sorts are distinct."""
    return f"{variable.name}:{variable.sort.name}"


def _conditions(formula: fol.Formula, *, wanted: bool) -> Iterator[Condition]:
    """The formulas, each with the value that it must have, which together say that the formula has the wanted one."""
    match formula:
        case fol.Not(body):
            yield from _conditions(body, wanted=not wanted)
        case fol.And(parts) if wanted:
            for part in parts:
                yield from _conditions(part, wanted=True)
        case fol.Or(parts) if not wanted:
            for part in parts:
                yield from _conditions(part, wanted=False)
        case fol.Implies(left, right) if not wanted:
            yield from _conditions(left, wanted=True)
            yield from _conditions(right, wanted=False)
        case _:
            yield formula, wanted


def _quantifies(condition: Condition) -> bool:
    return any(isinstance(part, fol.Forall | fol.Exists) for part in fol.walk(condition[0]))


def _not(test: Test) -> Test:
    return lambda values: not test(values)


def _every(tests: tuple[Test, ...]) -> Test:
    def test(values: Values) -> bool:
        for one in tests:  # noqa: SIM110 - asked millions of times, and a generator costs
            if not one(values):
                return False
        return True

    return test


def _some(tests: tuple[Test, ...]) -> Test:
    def test(values: Values) -> bool:
        for one in tests:  # noqa: SIM110 - as above
            if one(values):
                return True
        return False

    return test
