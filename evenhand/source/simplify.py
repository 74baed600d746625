"""Build formulas, simplified where a part is known to be true or false.

A translated function asks many questions of which the answer is known (an action's verb, say), and what is left must
stay small enough for a person to read and for a solver to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from evenhand.smt import logic as fol


def all_of(parts: Iterable[fol.Formula]) -> fol.Formula:
    """Return the conjunction; false if a part is the negation of another."""
    kept = _together(fol.And, parts)
    if kept is None:
        return fol.FALSE
    return next(iter(kept)) if len(kept) == 1 else fol.And(tuple(kept))


def any_of(parts: Iterable[fol.Formula]) -> fol.Formula:
    """Return the disjunction; true if a part is the negation of another."""
    kept = _together(fol.Or, parts)
    if kept is None:
        return fol.TRUE
    return next(iter(kept)) if len(kept) == 1 else fol.Or(tuple(kept))


def _together(of: type[fol.And | fol.Or], parts: Iterable[fol.Formula]) -> dict[fol.Formula, None] | None:
    """The different parts, those of the same connective taken apart; None if one is the negation of another."""
    other = fol.Or if of is fol.And else fol.And  # without parts it is what decides the whole
    kept: dict[fol.Formula, None] = {}
    denied: set[fol.Formula] = set()
    for part in parts:
        for one in part.parts if isinstance(part, of) else (part,):
            if one in kept:
                continue
            body = one.body if isinstance(one, fol.Not) else None
            if one in denied or body in kept or (isinstance(one, other) and not one.parts):
                return None
            kept[one] = None
            if body is not None:
                denied.add(body)
    return kept


def negation(formula: fol.Formula) -> fol.Formula:
    """Return the negation, without a double one."""
    if formula == fol.TRUE:
        return fol.FALSE
    if formula == fol.FALSE:
        return fol.TRUE
    return formula.body if isinstance(formula, fol.Not) else fol.Not(formula)


def implication(left: fol.Formula, right: fol.Formula) -> fol.Formula:
    """Return the implication."""
    return right if left == fol.TRUE else any_of((negation(left), right))


def equivalence(left: fol.Formula, right: fol.Formula) -> fol.Formula:
    """Return the equivalence."""
    if left == right:
        return fol.TRUE
    for one, other in ((left, right), (right, left)):
        if one == fol.TRUE:
            return other
        if one == fol.FALSE:
            return negation(other)
    return fol.Iff(left, right)


def choice(test: fol.Formula, then: fol.Formula, other: fol.Formula) -> fol.Formula:
    """Return `then` where `test` is true, else `other`."""
    if test == fol.TRUE or then == other:
        return then
    if test == fol.FALSE:
        return other
    if then == fol.TRUE:
        return any_of((test, other))
    if then == fol.FALSE:
        return all_of((negation(test), other))
    if other == fol.TRUE:
        return any_of((negation(test), then))
    if other == fol.FALSE:
        return all_of((test, then))
    return fol.Ite(test, then, other)


def equal(left: fol.Term, right: fol.Term) -> fol.Formula:
    """Return the equality of two terms of one sort."""
    return fol.TRUE if left == right else fol.Equal(left, right)


def some(variables: Sequence[fol.Var], body: fol.Formula) -> fol.Formula:
    """Return that some values make the body true; a value that the body names is put in its place."""
    kept = list(variables)
    parts = list(body.parts) if isinstance(body, fol.And) else [body]
    changed = True
    while changed:
        changed = False
        for part in parts:
            named = _names_value(part, kept)
            if named is not None:
                variable, term = named
                kept.remove(variable)
                put = all_of(replaced(one, {variable: term}) for one in parts if one is not part)
                parts = list(put.parts) if isinstance(put, fol.And) else [put]
                changed = True
                break
    left = all_of(parts)
    if left in (fol.TRUE, fol.FALSE):  # a sort is never empty
        return left
    used = fol.free(left)
    return fol.exists([one for one in kept if one in used], left)


def every(variables: Sequence[fol.Var], body: fol.Formula) -> fol.Formula:
    """Return that all values make the body true."""
    if body in (fol.TRUE, fol.FALSE):
        return body
    used = fol.free(body)
    return fol.forall([one for one in variables if one in used], body)


def _names_value(part: fol.Formula, variables: Sequence[fol.Var]) -> tuple[fol.Var, fol.Term] | None:
    """The variable that an equality gives a value, with the value, which does not mention it."""
    if isinstance(part, fol.Equal):
        for one, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(one, fol.Var) and one in variables and not _mentions(other, one):
                return one, other
    return None


def _mentions(term: fol.Term, variable: fol.Var) -> bool:
    if isinstance(term, fol.Var):
        return term == variable
    return any(_mentions(argument, variable) for argument in term.arguments)


def placed(term: fol.Term, values: dict[fol.Var, fol.Term]) -> fol.Term:
    """Return the term with values in place of variables."""
    if isinstance(term, fol.Var):
        return values.get(term, term)
    return fol.Apply(term.function, tuple(placed(argument, values) for argument in term.arguments))


def replaced(formula: fol.Formula, values: dict[fol.Var, fol.Term]) -> fol.Formula:
    """Return the formula with values in place of free variables.

    Every bound variable of a translation has a name of its own, so nothing is captured.
    """
    match formula:
        case fol.Holds(relation, arguments):
            return fol.Holds(relation, tuple(placed(argument, values) for argument in arguments))
        case fol.Equal(left, right):
            return equal(placed(left, values), placed(right, values))
        case fol.Forall(variables, body):
            return fol.Forall(variables, replaced(body, values))
        case fol.Exists(variables, body):
            return fol.Exists(variables, replaced(body, values))
        case _:
            return simply_rebuilt(formula, lambda part: replaced(part, values))


def simply_rebuilt(formula: fol.Formula, change: Callable[[fol.Formula], fol.Formula]) -> fol.Formula:
    """Return a connective with each part changed, simplified.  Quantifiers and atoms raise AssertionError."""
    match formula:
        case fol.Not(body):
            return negation(change(body))
        case fol.And(parts):
            return all_of(map(change, parts))
        case fol.Or(parts):
            return any_of(map(change, parts))
        case fol.Implies(left, right):
            return implication(change(left), change(right))
        case fol.Iff(left, right):
            return equivalence(change(left), change(right))
        case fol.Ite(test, then, other):
            return choice(change(test), change(then), change(other))
        case _:
            raise AssertionError(f"no connective: {formula!r}")


def sorted_out(formula: fol.Formula) -> fol.Formula:
    """Return the formula asking each of its atoms at most once, in their order; quantified parts are atoms too."""
    for one in _atoms(formula):
        return choice(one, sorted_out(assumed(formula, one)), sorted_out(assumed(formula, one, fol.FALSE)))
    return formula


def _atoms(formula: fol.Formula) -> Iterator[fol.Formula]:
    match formula:
        case fol.Not(body):
            yield from _atoms(body)
        case fol.And(parts) | fol.Or(parts):
            for one in parts:
                yield from _atoms(one)
        case fol.Implies(left, right) | fol.Iff(left, right):
            yield from (*_atoms(left), *_atoms(right))
        case fol.Ite(test, then, other):
            yield from (*_atoms(test), *_atoms(then), *_atoms(other))
        case _:
            yield formula


def assumed(formula: fol.Formula, atom: fol.Formula, value: fol.Formula = fol.TRUE) -> fol.Formula:
    """Return what a formula says where an atom of it, perhaps a quantified one, is known to be true, or false."""
    if formula == atom:
        return value
    if isinstance(formula, fol.Holds | fol.Equal | fol.Forall | fol.Exists):
        return formula
    return simply_rebuilt(formula, lambda part: assumed(part, atom, value))


def numbered(formula: fol.Formula) -> fol.Formula:
    """Return the formula, simplified, with bound variables named by sort and depth: the same in every process."""

    def renamed(part: fol.Formula, names: dict[fol.Var, fol.Term], depth: int) -> fol.Formula:
        match part:
            case fol.Forall(variables, body) | fol.Exists(variables, body):
                made = tuple(
                    fol.Var(f"{one.sort.name.lower()}{depth + place}", one.sort)
                    for place, one in enumerate(variables, start=1)
                )
                inner = renamed(body, {**names, **dict(zip(variables, made, strict=True))}, depth + len(made))
                return fol.Forall(made, inner) if isinstance(part, fol.Forall) else fol.Exists(made, inner)
            case fol.Holds() | fol.Equal():
                return replaced(part, names)
            case _:
                found = simply_rebuilt(part, lambda one: renamed(one, names, depth))
                return all_of(_beside(found.parts)) if isinstance(found, fol.And) else found

    return renamed(formula, {}, 0)


def _beside(parts: Sequence[fol.Formula]) -> list[fol.Formula]:
    """Conjuncts without what the others say already: beside A, not (A and B) is not B."""
    said = {part for part in parts if not (isinstance(part, fol.Not) and isinstance(part.body, fol.And))}

    def left(part: fol.Formula) -> fol.Formula:
        if part in said:
            return part
        assert isinstance(part, fol.Not) and isinstance(part.body, fol.And)
        return negation(
            all_of(fol.FALSE if negation(one) in said else one for one in part.body.parts if one not in said)
        )

    return [left(part) for part in parts]


def nameless(formula: fol.Formula) -> tuple[str, tuple[fol.Var, ...]]:
    """Return the formula without the names of its variables, and these in their order.

    Formulas with one text differ in the names of their variables alone.
    """
    names: dict[fol.Var, str] = {}

    def term(one: fol.Term) -> str:
        if isinstance(one, fol.Var):
            return names.setdefault(one, f"{len(names)}:{one.sort.name}")
        return f"{one.function.name}({','.join(map(term, one.arguments))})"

    def text(part: fol.Formula) -> str:
        match part:
            case fol.Holds(relation, arguments):
                return f"{relation.name}({','.join(map(term, arguments))})"
            case fol.Equal(left, right):
                return f"{term(left)}={term(right)}"
            case fol.Forall(variables, body) | fol.Exists(variables, body):
                bound = ",".join(map(term, variables))
                return f"{type(part).__name__}[{bound}]{text(body)}"
            case fol.Not(body):
                return f"!{text(body)}"
            case fol.And(parts) | fol.Or(parts):
                return f"{type(part).__name__}({';'.join(map(text, parts))})"
            case fol.Implies(left, right) | fol.Iff(left, right):
                return f"{type(part).__name__}({text(left)};{text(right)})"
            case fol.Ite(test, then, other):
                return f"Ite({text(test)};{text(then)};{text(other)})"

    return text(formula), tuple(names)
