"""Candidates for invariants: short clauses over the state's relations that are true in every state that runs reach.

A clause says "not all of these at once" of two agents of each sort (three where they form a ring).  Those that a
reached state of a small size contradicts are dropped, those that every state satisfies say nothing, and those with a
shorter one inside are not needed.  What is left is a guess, of which `induction` keeps what is inductive.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from evenhand.core.grouping import grouped
from evenhand.smt import logic as fol
from evenhand.smt.arithmetic import NUMBER, below, is_numeral, number, value_of
from evenhand.smt.structure import Reader, Structure
from evenhand.source.counts import PREFIX, counts
from evenhand.source.family import Family
from evenhand.source.probes import fresh_bound
from evenhand.source.shapes import order
from evenhand.source.simplify import any_of, nameless, negation, replaced
from evenhand.source.values import FRESH

STAGES = (2, 3, 4)
"""Literals of the longest clauses of each stage; a later one is begun only if the claims are still open."""

WIDEST = 4_000_000
"""Clauses that are tried; beyond it only shorter ones are."""

MANY = 400
"""Candidates of one stage; beyond it only the first, the shortest, are tried."""

MOST_ROWS = 400_000
"""Rows (structures, and values of the variables in them) that are looked at; of more structures only some are."""

FEW = 6
"""Numbers that one may be, of which a guess says that it is no other."""

Literal = tuple[int, bool]


@dataclass(frozen=True)
class Candidate:
    """A closed formula, with the number of its literals (0 for a claim or a hint)."""

    formula: fol.Formula
    length: int


def pool(family: Family) -> dict[fol.Sort, tuple[fol.Var, ...]]:
    """The variables of clauses: two of each sort, three of one that is looked at as a ring or in order."""
    ordered = {sort for what, sort in family.world.looked_at if what in ("order", "next", "previous")}
    names = {sort: "xyz" if sort in ordered else "xy" for sort in family.vocabulary.sorts}
    return {sort: tuple(fol.Var(f"{name}.{sort.name}", sort) for name in names[sort]) for sort in names}


def atoms(family: Family) -> list[fol.Formula]:
    """Return the atoms over the pool of variables: the state's symbols, equality, order, and parts of the guards."""
    variables = pool(family)
    theory = family.theory
    functions = [one for one in theory.functions if not one.name.startswith(("chosen.", PREFIX))]
    relations = [one for one in theory.relations if not one.name.endswith(".before")]
    optional = {one.name.removesuffix(".none") for one in relations if one.name.endswith(".none")}
    constants = {sort: [one() for one in functions if one.codomain == sort and not one.domain] for sort in variables}
    numbers = [one(*row) for one in functions if one.codomain == NUMBER for row in _rows(one.domain, variables)]
    found: list[fol.Formula] = [one(*row) for one in relations for row in _rows(one.domain, variables)]
    for sort, listed in variables.items():
        found += [fol.Equal(one, other) for one, other in itertools.combinations(listed, 2)]
        if ("order", sort) in family.world.looked_at:
            found += [order(sort)(one, other) for one, other in itertools.permutations(listed, 2)]
        sure = [one for one in constants[sort] if one.function.name not in optional]
        found += [fol.Equal(one, term) for term in sure for one in listed]
        found += [fol.Equal(one, other) for one, other in itertools.combinations(sure, 2)]
    for function in functions:
        if function.codomain != NUMBER and (function.domain or function.name in optional):
            found += _values(function, variables, optional)
    found += [below(one, other) for one, other in itertools.permutations(numbers, 2)]
    found += [fol.Equal(one, other) for one, other in itertools.combinations(numbers, 2)]
    found += [below(number(0), one) for one in numbers]
    found += [part for c in _numerals(family) for one in numbers for part in (fol.Equal(one, c), below(one, c))]
    found += [part for one in relations if len(one.domain) > 1 for part in _few(one)]
    found += [*_parts_of_guards(family), *_counts(family, variables)]
    return list(dict.fromkeys(found))


def _rows(
    domain: tuple[fol.Sort, ...], variables: Mapping[fol.Sort, tuple[fol.Var, ...]]
) -> Iterator[tuple[fol.Var, ...]]:
    return itertools.product(*(variables[sort] for sort in domain))


def _few(relation: fol.Relation) -> Iterator[fol.Formula]:
    """That a relation of several places is empty, and that it has at most one row."""
    one, other = ([FRESH(sort) for sort in relation.domain] for _ in range(2))
    equal = fol.And(tuple(fol.Equal(a, b) for a, b in zip(one, other, strict=True)))
    yield fol.Not(fol.Exists(tuple(one), relation(*one)))
    yield fol.Forall((*one, *other), fol.Or((fol.Not(relation(*one)), fol.Not(relation(*other)), equal)))


def _values(
    function: fol.Function, variables: Mapping[fol.Sort, tuple[fol.Var, ...]], optional: set[str]
) -> Iterator[fol.Formula]:
    """`f(x) = y`, and, where `f(x)` may be None, that it is not."""
    for row in itertools.product(*(variables[sort] for sort in function.domain)):
        for one in variables[function.codomain]:
            value = fol.Equal(function(*row), one)
            if function.name in optional:
                none = fol.Holds(_none(function), row)
                yield fol.And((fol.Not(none), value))
            else:
                yield value


def _none(function: fol.Function) -> fol.Relation:
    return fol.Relation(f"{function.name}.none", function.domain)


def _asked(family: Family) -> list[fol.Formula]:
    """The guards and claims."""
    sources = [move.guard for move in family.moves]
    sources += [stated.of_state(family.state)[0] for stated in family.claims.values() if stated.of_state is not None]
    return [*sources, *(stated.here for stated in family.claims.values() if stated.here is not None)]


def _numerals(family: Family) -> tuple[fol.Term, ...]:
    """The numbers above 0 that guards and claims name."""
    found: dict[fol.Term, None] = {}
    for part in (part for formula in _asked(family) for part in fol.walk(formula)):
        sides: tuple[fol.Term, ...] = part.arguments if isinstance(part, fol.Holds) else ()
        sides = (part.left, part.right) if isinstance(part, fol.Equal) else sides
        found |= {one: None for one in sides if is_numeral(one) and one != number(0)}
    return tuple(found)


def _parts_of_guards(family: Family) -> Iterator[fol.Formula]:
    """Closed quantified parts of the guards and claims: 'nobody is inside', 'all are prepared'."""
    seen: set[str] = set()
    for formula in _asked(family):
        for part in _quantified(formula):
            key = nameless(part)[0]
            if not fol.free(part) and key not in seen:
                seen.add(key)
                yield part


def _counts(family: Family, variables: Mapping[fol.Sort, tuple[fol.Var, ...]]) -> Iterator[fol.Formula]:
    """What guards and claims say of counts, of the first variables of the pool."""
    for part in (part for formula in _asked(family) for part in fol.walk(formula)):
        sides: tuple[fol.Term, ...] = part.arguments if isinstance(part, fol.Holds) else ()
        sides = (part.left, part.right) if isinstance(part, fol.Equal) else sides
        loose = sorted(fol.free(part), key=lambda v: v.name) if any(map(counts, sides)) else []
        left = {sort: list(listed) for sort, listed in variables.items()}
        if loose and all(sum(v.sort == sort for v in loose) <= len(listed) for sort, listed in left.items()):
            yield replaced(part, {v: left[v.sort].pop(0) for v in loose})


def _quantified(formula: fol.Formula) -> Iterator[fol.Formula]:
    match formula:
        case fol.Forall(_, body) | fol.Exists(_, body):
            yield formula
            yield from _quantified(body)
        case fol.Not(body):
            yield from _quantified(body)
        case fol.And(parts) | fol.Or(parts):
            for part in parts:
                yield from _quantified(part)
        case fol.Implies(left, right) | fol.Iff(left, right):
            yield from _quantified(left)
            yield from _quantified(right)
        case fol.Ite(test, then, other):
            for part in (test, then, other):
                yield from _quantified(part)
        case _:
            return


def _ranges(family: Family, structures: Sequence[Structure]) -> Iterator[fol.Formula]:
    """That a number is one of the few that it is in reached states."""
    for one in family.vocabulary.functions:
        seen = {value for structure in structures for value in structure.functions[one.name].values()}
        if one.codomain == NUMBER and 1 < len(seen) <= FEW:
            row = tuple(FRESH(sort) for sort in one.domain)
            values = [fol.Equal(one(*row), number(value_of(value))) for value in sorted(seen)]
            yield fresh_bound(fol.forall(row, any_of(values)))


def _determined(family: Family, structures: Sequence[Structure]) -> Iterator[fol.Formula]:
    """That one place of a relation has at most one value beside each of the others."""
    for relation in family.vocabulary.relations:
        for place in range(len(relation.domain)) if len(relation.domain) > 1 else ():
            rows = (structure.relations[relation.name] for structure in structures)
            if any(len({(*row[:place], *row[place + 1 :]) for row in table}) < len(table) for table in rows):
                continue
            one, two = ([FRESH(sort) for sort in relation.domain] for _ in range(2))
            two = [*one[:place], two[place], *one[place + 1 :]]
            apart = (negation(relation(*one)), negation(relation(*two)), fol.Equal(one[place], two[place]))
            yield fresh_bound(fol.forall([*one, two[place]], any_of(apart)))


class Guesses:
    """Finds the clauses that hold in every given structure, and not in every one that is possible."""

    def __init__(self, family: Family, structures: Sequence[Structure], possible: Sequence[Structure]) -> None:
        self.listed = atoms(family)
        self.reader = Reader()
        self.variables = [one for listed in pool(family).values() for one in listed]
        used = [sorted((v for v in fol.free(atom)), key=lambda v: v.name) for atom in self.listed]
        self.used = [frozenset(one) for one in used]
        self.masks, self.full = self._masks(structures)
        self.ranges = [*_ranges(family, structures), *_determined(family, structures)]
        self.loose, self.all_loose = self._masks(possible)

    def _masks(self, structures: Sequence[Structure]) -> tuple[list[int], int]:
        """For each atom the rows (structure and values of the variables) in which it is true, as bits."""
        columns: list[list[str]] = [[] for _ in self.listed]
        count = 0
        total = sum(prod(len(one.universe[v.sort.name]) for v in self.variables) for one in structures)
        for structure in structures[:: total // MOST_ROWS + 1]:
            rows = list(itertools.product(*(structure.universe[v.sort.name] for v in self.variables)))
            count += len(rows)
            for place, atom in enumerate(self.listed):
                known: dict[tuple[str, ...], str] = {}
                needed = [i for i, v in enumerate(self.variables) if v in self.used[place]]
                column: list[str] = []
                for row in rows:
                    key = tuple(row[i] for i in needed)
                    bit = known.get(key)
                    if bit is None:
                        values = {self.variables[i]: row[i] for i in needed}
                        bit = known[key] = "1" if self.reader.holds(atom, structure, values) else "0"
                    column.append(bit)
                columns[place].append("".join(column))
        return [int("".join(column) or "0", 2) for column in columns], (1 << count) - 1

    def stages(self) -> Iterator[list[fol.Formula]]:
        """Yield the candidates of each stage: the shortest clauses first, each only once."""
        found = self._clauses(STAGES[-1])
        waiting: Candidate | None = None
        for longest in STAGES:
            here = [waiting.formula] if waiting is not None and waiting.length <= longest else []
            waiting = waiting if not here else None
            here += self.ranges if longest == STAGES[0] else []
            for one in found if waiting is None else ():
                if one.length > longest:
                    waiting = one
                    break
                if len(here) < MANY:
                    here.append(one.formula)
            yield here
            if longest == STAGES[0]:
                yield self.alike()

    def alike(self) -> list[fol.Formula]:
        """Return clauses about two different agents of which the same is said: x = y, l(x), l(y), and one literal."""
        found: list[fol.Formula] = []
        where = {atom: place for place, atom in enumerate(self.listed)}
        for sort in {one.sort: None for one in self.variables}:
            x, y = [one for one in self.variables if one.sort == sort][:2]
            apart = where[fol.Equal(x, y)]
            for place, atom in enumerate(self.listed):
                other = where.get(replaced(atom, {x: y})) if self.used[place] == frozenset({x}) else None
                if other is None:
                    continue
                for yes in (True, False):
                    same: tuple[Literal, ...] = ((apart, True), (place, yes), (other, yes))
                    for last, sign in itertools.product(range(len(self.listed)), (True, False)):
                        clause = (*same, (last, sign))
                        if last not in (apart, place, other) and self._shortest(clause):
                            found.append(self._formula(clause))
        return found[:MANY]

    def _shortest(self, clause: tuple[Literal, ...]) -> bool:
        """Whether a clause is true in every reached state, and no part of it is."""
        parts = (clause[:place] + clause[place + 1 :] for place in range(len(clause)))
        return self._holds(clause) and not any(self._holds(part) for part in parts)

    def _holds(self, clause: Sequence[Literal]) -> bool:
        """Whether a clause is true in every reached state."""
        return self._mask(clause, self.masks, self.full) == self.full

    @staticmethod
    def _mask(clause: Sequence[Literal], masks: Sequence[int], full: int) -> int:
        """The rows in which a clause is true."""
        mask = 0
        for place, yes in clause:
            mask |= masks[place] if yes else full & ~masks[place]
        return mask

    def _clauses(self, longest: int) -> Iterator[Candidate]:
        """Yield the shortest clauses that are true in every reached state."""
        literals: list[tuple[Literal, int, int]] = []
        for place in range(len(self.listed)):
            yes, loose = self.masks[place], self.loose[place]
            literals.append(((place, True), yes, loose))
            literals.append(((place, False), self.full & ~yes, self.all_loose & ~loose))
        alive: list[tuple[Literal, ...]] = [()]  # their masks are made again: a million of them fill a memory
        kept: set[frozenset[Literal]] = set()
        tried = 0
        seen: set[tuple[tuple[str, ...], ...]] = set()
        for length in range(1, longest + 1):
            grown: list[tuple[Literal, ...]] = []
            if tried + len(alive) * len(literals) // length > WIDEST:
                return
            for clause in alive:
                mask = self._mask(clause, self.masks, self.full)
                loose = self._mask(clause, self.loose, self.all_loose)
                start = clause[-1][0] + 1 if clause else 0
                for literal, yes, can in literals[2 * start :]:
                    tried += 1
                    both, possible = mask | yes, loose | can
                    if both == mask or (yes | mask == yes and length > 1):
                        continue
                    made = (*clause, literal)
                    if both == self.full:
                        if possible == self.all_loose or _inside(made, kept):
                            continue
                        kept.add(frozenset(made))
                        key = self._named(made)
                        if key in seen:
                            continue
                        seen.add(key)
                        yield Candidate(self._formula(made), length)
                    elif length < longest:
                        grown.append(made)
            alive = grown

    def _formula(self, clause: tuple[Literal, ...]) -> fol.Formula:
        parts = [self.listed[place] if yes else negation(self.listed[place]) for place, yes in clause]
        body = any_of(parts)
        bound = [one for one in self.variables if one in fol.free(body)]
        fresh = fresh_bound(fol.forall(bound, body))
        return fresh

    def _named(self, clause: tuple[Literal, ...]) -> tuple[tuple[str, ...], ...]:
        """The clause under the names of variables that come first in order: equal for clauses that are renamings."""
        groups = grouped((one.sort.name, one) for one in self.variables)
        best: tuple[tuple[str, ...], ...] | None = None
        for chosen in itertools.product(*(itertools.permutations(listed) for listed in groups.values())):
            renamed = {
                old: new for listed, order_ in zip(groups.values(), chosen, strict=True)
                for old, new in zip(listed, order_, strict=True)
            }  # fmt: skip
            text = tuple(sorted((_literal(self.listed[place], renamed), str(yes)) for place, yes in clause))
            best = text if best is None else min(best, text)
        assert best is not None
        return best


def _literal(atom: fol.Formula, renamed: Mapping[fol.Var, fol.Var]) -> str:
    def name(term: fol.Term) -> str:
        if isinstance(term, fol.Var):
            return renamed[term].name if term in renamed else "bound"
        return f"{term.function.name}({','.join(map(name, term.arguments))})"

    match atom:
        case fol.Holds(relation, arguments):
            return f"{relation.name}({','.join(map(name, arguments))})"
        case fol.Equal(left, right):
            return "=".join(sorted((name(left), name(right))))
        case fol.And(parts):
            return "&".join(_literal(part, renamed) for part in parts)
        case fol.Not(body):
            return f"!{_literal(body, renamed)}"
        case _:
            return nameless(atom)[0]


def _inside(clause: tuple[Literal, ...], kept: set[frozenset[Literal]]) -> bool:
    """Whether a part of a clause was kept, so that the clause says less."""
    sizes = range(1, len(clause))
    return any(frozenset(part) in kept for size in sizes for part in itertools.combinations(clause, size))
