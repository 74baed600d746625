"""Counts and totals of any number of things, as numbers of which the formulas know what is true of finite sets.

A count is a function of its parameters (the candidate whose votes are counted), and its meaning is kept beside it.
What is said of it is true for any finite number of things: it is 0 where nothing passes the test, at most the number of
all, two counts of tests that nothing passes together are at most that number, and a step that changes what is counted
at places that can be named changes the count by what changes there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from evenhand.smt.arithmetic import NUMBER, at_least, at_most, is_numeral, minus, number, plus, value_of
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    And,
    Equal,
    Forall,
    Formula,
    Function,
    Relation,
    Term,
    Var,
    exists,
    forall,
    free,
    walk,
)
from evenhand.smt.structure import Structure
from evenhand.smt.theory import Axiom
from evenhand.source.described import Fresh
from evenhand.source.simplify import all_of, any_of, equal, implication, nameless, negation, placed, replaced

PREFIX = "count."
"""How the functions are named; no field of a state is, because its symbols begin with the state's name."""

PLACES = 3
"""Places that a step may change; where it changes more, nothing is said of the count after it."""

FEW = 3
"""Terms beside the number that a balance has."""

BALANCES = 4
"""Balances that are guessed of one number."""

ROWS = 400
"""Different rows of numbers in which a guessed balance must be true."""

_FRESH = Fresh("n")

Parts = tuple[tuple[Formula, Term], ...]


@dataclass(frozen=True)
class Total:
    """The sum of the part that is true, or of 0, over all values of the variables; at most one part is true."""

    function: Function
    parameters: tuple[Var, ...]
    variables: tuple[Var, ...]
    parts: Parts

    @property
    def term(self) -> Term:
        """The sum for its parameters."""
        return self.function(*self.parameters)

    @property
    def test(self) -> Formula | None:
        """What is counted; None if values are added up."""
        return self.parts[0][0] if len(self.parts) == 1 and self.parts[0][1] == number(1) else None

    @property
    def fixed(self) -> bool:
        """Whether it depends on no state."""
        return fixed(self.parts)

    @property
    def options(self) -> Parts:
        """The parts, and 0 where none of them is true."""
        return (*self.parts, (negation(any_of(guard for guard, _ in self.parts)), number(0)))

    def renamed(self) -> Total:
        """This total with other variables and parameters."""
        new = {one: _FRESH(one.sort) for one in (*self.parameters, *self.variables)}
        names: dict[Var, Term] = dict(new)
        parts = tuple((replaced(guard, names), placed(term, names)) for guard, term in self.parts)
        return Total(
            self.function, tuple(new[one] for one in self.parameters), tuple(new[one] for one in self.variables), parts
        )


def fixed(parts: Parts) -> bool:
    """Return whether a sum is one of known numbers, whatever the state is."""
    return all(guard == TRUE and is_numeral(term) for guard, term in parts)


class Totals(list[Total]):
    """The totals that a system's rules ask for, each once, however its variables are called."""

    def __init__(self) -> None:
        super().__init__()
        self._named: dict[str, Total] = {}

    def of(self, variables: Sequence[Var], parts: Parts) -> Term:
        """Return the total as a term.

        It is kept under variables of its own: where a claim counts what a step gives, its parameters are the step's
        variables, which have another value in the step after it.
        """
        key, parameters = _key(variables, parts)
        if key not in self._named:
            self._named[key] = _total(f"{PREFIX}{len(self)}", parameters, variables, parts).renamed()
            self.append(self._named[key])
        return self._named[key].function(*parameters)

    def whole(self, of: Total) -> Total | None:
        """Return the count of all things that a total goes through, if anything asks for it."""
        sorts = [v.sort for v in of.variables]
        return next((one for one in self if one.test == TRUE and [v.sort for v in one.variables] == sorts), None)

    def after(self, name: str, total: Total, parts: Parts) -> Total:
        """Return the total after a step, in the symbols before it: one that is known, or a new one of this name."""
        key, parameters = _key(total.variables, parts)
        known = self._named.get(key)
        found = name if known is None else known.function.name
        return _total(found, parameters, total.variables, parts)

    def axioms(self) -> Iterator[Axiom]:
        """Yield what is true of every count."""
        counts = [one for one in self if one.test is not None]
        for one in counts:
            yield from (Axiom(f"{one.function.name}.{name}", formula) for name, formula in _counted(one))
            if len(one.variables) == 1 and one.test != TRUE and (whole := self.whole(one)):
                yield from (Axiom(f"{one.function.name}.{name}", formula) for name, formula in _of_all(one, whole))
        for one, two in itertools.combinations_with_replacement(counts, 2):
            whole = self.whole(one)
            if whole is None or TRUE in (one.test, two.test) or (one is two and not one.parameters):
                continue
            if [v.sort for v in one.variables] == [v.sort for v in two.variables] and len(one.variables) == 1:
                name = f"{one.function.name}.beside.{two.function.name.removeprefix(PREFIX)}"
                yield Axiom(name, _beside(one, two.renamed(), whole))


def _key(variables: Sequence[Var], parts: Parts) -> tuple[str, tuple[Var, ...]]:
    """A total without the names of its variables, and its parameters in their order."""
    said = Forall(tuple(variables), And(tuple(part for guard, term in parts for part in (guard, Equal(term, term)))))
    key, order = nameless(said)
    loose = free(said)
    return key, tuple(one for one in order if one in loose)


def _total(name: str, parameters: tuple[Var, ...], variables: Sequence[Var], parts: Parts) -> Total:
    return Total(Function(name, tuple(one.sort for one in parameters), NUMBER), parameters, tuple(variables), parts)


def _differ(one: Sequence[Term], other: Sequence[Term]) -> Formula:
    return negation(all_of(equal(a, b) for a, b in zip(one, other, strict=True)))


def _counted(one: Total) -> Iterator[tuple[str, Formula]]:
    """That a count is 0, 1, or at least 2, as nothing, one thing or several pass the test."""
    test, count, x = one.test, one.term, one.variables
    assert test is not None
    y = tuple(_FRESH(v.sort) for v in x)
    other = replaced(test, dict(zip(x, y, strict=True)))
    two = all_of((test, other, _differ(x, y)))
    given = one.parameters
    yield (
        "none",
        forall(given, any_of((equal(count, number(0)), all_of((at_least(count, number(1)), exists(x, test)))))),
    )
    yield "one", forall((*given, *x), implication(test, at_least(count, number(1))))
    yield "two", forall((*given, *x, *y), implication(two, at_least(count, number(2))))
    most = any_of((at_most(count, number(1)), all_of((at_least(count, number(2)), exists((*x, *y), two)))))
    yield "several", forall(given, most)


def _of_all(one: Total, whole: Total) -> Iterator[tuple[str, Formula]]:
    """That a count is the number of all only where all pass the test."""
    assert one.test is not None
    fewer = at_most(plus(one.term, number(1)), whole.term)
    left_out = exists(one.variables, negation(one.test))
    yield "all", forall(one.parameters, any_of((equal(one.term, whole.term), all_of((fewer, left_out)))))
    yield "not_all", forall((*one.parameters, *one.variables), any_of((one.test, fewer)))


def _beside(one: Total, two: Total, whole: Total) -> Formula:
    """That two counts are together at most the number of all, or some thing passes both tests."""
    assert one.test is not None and two.test is not None
    test = replaced(two.test, dict(zip(two.variables, one.variables, strict=True)))
    both = exists(one.variables, all_of((one.test, test)))
    return forall((*one.parameters, *two.parameters), any_of((at_most(plus(one.term, two.term), whole.term), both)))


def change(value: Term, options: Parts, after: Total) -> Formula:
    """Return how a total comes from one of this value and these parts; true where nothing is said.

    It is changed by what changes at each place that the step names, once where two names are of one place, if nothing
    changes elsewhere.  Parameters are free.
    """
    x, places = after.variables, _places(after)
    if value == after.term or len(places) > PLACES:
        return TRUE
    named = any_of(negation(_differ(x, place)) for place in places)
    pairs = itertools.product(options, after.options)
    alike = all_of(implication(all_of((g, h)), _same(one, other)) for (g, one), (h, other) in pairs)
    choices: list[list[tuple[Formula, Term]]] = []
    for place, terms in enumerate(places):
        first = all_of(_differ(terms, other) for other in places[:place])
        deltas = _deltas(options, after, dict(zip(x, terms, strict=True)))
        choices.append([*((all_of((first, guard)), delta) for guard, delta in deltas), (negation(first), number(0))])
    sums: list[Formula] = []
    for chosen in itertools.product(*choices):
        total = plus(value, *(delta for _, delta in chosen if delta != number(0)))
        sums.append(implication(all_of(guard for guard, _ in chosen), equal(after.term, total)))
    return implication(forall(x, any_of((named, alike))), all_of(sums))


def begun(after: Total, whole: Total | None) -> list[Formula]:
    """Return what is known of a total at the start: how it comes from nothing, and from a count of all."""
    found = [change(number(0), ((TRUE, number(0)),), after)]
    return found if whole is None else [*found, change(whole.term, whole.options, after)]


def _same(one: Term, other: Term) -> Formula:
    return FALSE if is_numeral(one) and is_numeral(other) and one != other else equal(one, other)


def _deltas(options: Parts, after: Total, here: dict[Var, Term]) -> Iterator[tuple[Formula, Term]]:
    """By how much the total changes at a place, under which condition."""
    found: dict[Term, list[Formula]] = {}
    for (g, one), (h, other) in itertools.product(options, after.options):
        delta = number(0) if one == other else minus(placed(other, here), placed(one, here))
        found.setdefault(delta, []).append(all_of((replaced(g, here), replaced(h, here))))
    yield from ((any_of(guards), delta) for delta, guards in found.items())


def _places(after: Total) -> list[tuple[Term, ...]]:
    """The terms to which the counted things are compared after the step."""
    x, known = after.variables, set(after.parameters)
    found: list[dict[Term, None]] = [{} for _ in x]
    for guard, _ in after.parts:
        for part in walk(guard):
            if not isinstance(part, Equal):
                continue
            for one, other in ((part.left, part.right), (part.right, part.left)):
                if isinstance(one, Var) and one in x and _variables(other) <= known:
                    found[x.index(one)].setdefault(other)
    return list(itertools.product(*found))


def _variables(term: Term) -> set[Var]:
    return {term} if isinstance(term, Var) else set[Var]().union(*map(_variables, term.arguments))


def counts(term: Term) -> bool:
    """Return whether a term speaks of a count."""
    return not isinstance(term, Var) and (term.function.name.startswith(PREFIX) or any(map(counts, term.arguments)))


def balances(
    totals: Totals, functions: Sequence[Function], relations: Sequence[Relation], structures: Sequence[Structure]
) -> list[Formula]:
    """Guess that a number is a sum and difference of counts and other numbers, as it is in all given structures."""
    numbers = [one for one in functions if one.codomain == NUMBER and not one.domain]
    scalars: list[Term] = [one() for one in numbers]
    tests = [one for one in relations if len(one.domain) == 1] if scalars else []
    sorts = list(dict.fromkeys(one.domain[0] for one in tests))
    rows = {
        (
            *(value_of(structure.functions[one.name][()]) for one in numbers),
            *(Fraction(len(structure.universe[sort.name])) for sort in sorts),
            *(Fraction(len(structure.relations[one.name])) for one in tests),
        ): None
        for structure in structures
    }

    def term(at: int) -> Term:
        x = [_FRESH(sort) for sort in (*sorts, *(one.domain[0] for one in tests))]
        said = [*(TRUE for _ in sorts), *(one(v) for one, v in zip(tests, x[len(sorts) :], strict=True))]
        at -= len(scalars)
        return scalars[at] if at < 0 else totals.of(x[at : at + 1], ((said[at], number(1)),))

    table = list(zip(*list(rows)[:ROWS], strict=True))
    found: list[Formula] = []
    for place, scalar in enumerate(scalars):
        others = [at for at in range(place + 1, len(table)) if len(set(table[at])) > 1]
        for chosen, signs, rest in _sums(table, place, others, len(scalars)):
            terms = [(term(at), sign) for at, sign in zip(chosen, signs, strict=True)]
            total = plus(number(rest), *(one for one, sign in terms if sign > 0))
            found.append(equal(scalar, minus(total, *(one for one, sign in terms if sign < 0))))
    return found


def _sums(
    table: Sequence[Sequence[Fraction]], place: int, others: Sequence[int], counts: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], Fraction]]:
    """The fewest columns, of which one is a count at least, to which a column is the sum, with signs and a number."""
    known: list[set[int]] = []
    for size in range(1, FEW + 1):
        for chosen in itertools.combinations(others, size):
            if chosen[-1] < counts or any(one <= set(chosen) for one in known):
                continue
            for signs in itertools.product((1, -1), repeat=size):
                rest = table[place][0] - sum(map(mul, signs, (table[at][0] for at in chosen)))
                rows = zip(table[place], *(table[at] for at in chosen), strict=True)
                if all(row[0] - sum(map(mul, signs, row[1:])) == rest for row in rows):
                    known.append(set(chosen))
                    yield chosen, signs, rest
                    break
            if len(known) >= BALANCES:
                return
