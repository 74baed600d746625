"""A small many-sorted first-order logic.

One abstract syntax with three readers: it is evaluated on a finite structure (`structure`), printed as SMT-LIB 2
(`smtlib`), and interpreted by a solver's model (`portfolio`).  The readers share nothing but this syntax, so that a
fault in one shows against the others.

Formulas are built with `&`, `|`, `~`, `>>` (implies), `same`, `differ`, `iff`, `ite`, `forall`, `exists`, and by
applying a `Relation` to terms.  A formula has no truth value: `if`, `and` and `not` on formulas, and `==` of terms in
place of `same`, are silent mistakes in Python, so they raise here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, dataclass_transform

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*\Z")
_WORDS = """
    Bool Int Real String and as assert distinct div echo exists exit false forall is ite let match mod not or par
    pop push reset select store true xor
"""
_RESERVED = frozenset(_WORDS.split())


class IllSorted(TypeError):
    """A term or formula of the wrong sort; the message names the symbol and the sorts it takes."""


def _checked(name: str) -> None:
    if not _NAME.match(name) or name in _RESERVED:
        raise ValueError(f"{name!r} cannot name a symbol: letters, digits, '_' and '.', and no word of SMT-LIB")


@dataclass(frozen=True, slots=True)
class Sort:
    """A set of elements; never empty."""

    name: str

    def __post_init__(self) -> None:
        _checked(self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __call__(self, name: str) -> Var:
        """Return a variable of this sort."""
        return Var(name, self)


T = TypeVar("T")


class _Kept:
    __slots__ = ("_hash",)


@dataclass_transform(frozen_default=True)
def _node(cls: type[T]) -> type[T]:
    """A frozen dataclass that works out its hash once: it goes through all parts, and parts are shared."""
    made = dataclass(frozen=True, slots=True)(cls)
    whole = made.__hash__

    def kept(self: Any) -> int:
        try:
            found: int = self._hash
        except AttributeError:
            found = whole(self)
            object.__setattr__(self, "_hash", found)
        return found

    made.__hash__ = kept  # type: ignore[method-assign]
    return made


class _NoTruth(_Kept):
    __slots__ = ()

    def __bool__(self) -> bool:
        raise TypeError("a formula is neither true nor false by itself: use &, |, ~, >>, or evaluate it on a structure")


class _Connectives(_NoTruth):
    __slots__ = ()

    def __and__(self: Formula, other: Formula) -> Formula:  # type: ignore[misc]
        return conjunction((self, other))

    def __or__(self: Formula, other: Formula) -> Formula:  # type: ignore[misc]
        return disjunction((self, other))

    def __invert__(self: Formula) -> Formula:  # type: ignore[misc]
        return Not(_formula(self))

    def __rshift__(self: Formula, other: Formula) -> Formula:  # type: ignore[misc]
        return Implies(_formula(self), _formula(other))


@dataclass(frozen=True, slots=True)
class Var:
    """A variable; two are equal if name and sort agree."""

    name: str
    sort: Sort

    def __post_init__(self) -> None:
        _checked(self.name)

    def __hash__(self) -> int:  # looked up often, and variables of one name seldom differ in sort
        return hash(self.name)


@dataclass(frozen=True, slots=True)
class Function:
    """A total function symbol; without arguments it is a constant."""

    name: str
    domain: tuple[Sort, ...]
    codomain: Sort

    def __post_init__(self) -> None:
        _checked(self.name)

    def __call__(self, *arguments: Term) -> Apply:
        """Return the function applied to terms.  Raises IllSorted."""
        _fit(self.name, self.domain, arguments)
        return Apply(self, arguments)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation symbol; without arguments it is a proposition."""

    name: str
    domain: tuple[Sort, ...]

    def __post_init__(self) -> None:
        _checked(self.name)

    def __call__(self, *arguments: Term) -> Holds:
        """Return the relation applied to terms.  Raises IllSorted."""
        _fit(self.name, self.domain, arguments)
        return Holds(self, arguments)


@_node
class Apply(_Kept):
    """A function applied to terms."""

    function: Function
    arguments: tuple[Term, ...]

    @property
    def sort(self) -> Sort:
        """The sort of the value."""
        return self.function.codomain


@_node
class Holds(_Connectives):
    """A relation applied to terms."""

    relation: Relation
    arguments: tuple[Term, ...]


@_node
class Equal(_Connectives):
    """Equality of two terms of one sort."""

    left: Term
    right: Term


@_node
class Not(_Connectives):
    """Negation."""

    body: Formula


@_node
class And(_Connectives):
    """Conjunction; without parts it is true."""

    parts: tuple[Formula, ...]


@_node
class Or(_Connectives):
    """Disjunction; without parts it is false."""

    parts: tuple[Formula, ...]


@_node
class Implies(_Connectives):
    """Implication."""

    left: Formula
    right: Formula


@_node
class Iff(_Connectives):
    """Equivalence."""

    left: Formula
    right: Formula


@_node
class Ite(_Connectives):
    """If `test` then `then` else `other`, all formulas."""

    test: Formula
    then: Formula
    other: Formula


@_node
class Forall(_Connectives):
    """Universal quantification."""

    variables: tuple[Var, ...]
    body: Formula


@_node
class Exists(_Connectives):
    """Existential quantification."""

    variables: tuple[Var, ...]
    body: Formula


Term: TypeAlias = Var | Apply
Formula: TypeAlias = Holds | Equal | Not | And | Or | Implies | Iff | Ite | Forall | Exists

TRUE: Formula = And(())
FALSE: Formula = Or(())


@dataclass(frozen=True, slots=True)
class Definition:
    """`relation(variables)` means `body`, which may use earlier definitions, never itself."""

    relation: Relation
    variables: tuple[Var, ...]
    body: Formula
    source: str = ""

    def __post_init__(self) -> None:
        _fit(self.relation.name, self.relation.domain, self.variables)
        _formula(self.body)
        loose = free(self.body) - set(self.variables)
        if loose:
            names = ", ".join(sorted(v.name for v in loose))
            raise IllSorted(f"the definition of {self.relation.name} leaves {names} free")

    @property
    def name(self) -> str:
        """The name of the relation it defines."""
        return self.relation.name


def _fit(name: str, domain: tuple[Sort, ...], arguments: Sequence[Term]) -> None:
    for argument in arguments:
        if not isinstance(argument, Var | Apply):
            raise IllSorted(f"{name} takes terms, not {argument!r}")
    found = tuple(argument.sort for argument in arguments)
    if found != domain:
        wanted, given = ([s.name for s in sorts] for sorts in (domain, found))
        raise IllSorted(f"{name} takes ({', '.join(wanted)}), not ({', '.join(given)})")


def _formula(value: object) -> Formula:
    if not isinstance(value, Holds | Equal | Not | And | Or | Implies | Iff | Ite | Forall | Exists):
        raise IllSorted(f"a formula is wanted here, not {value!r}")
    return value


def variables(sort: Sort, names: str) -> tuple[Var, ...]:
    """Return variables of one sort; `names` are separated by blanks."""
    return tuple(Var(name, sort) for name in names.split())


def same(left: Term, right: Term) -> Formula:
    """Return the formula that two terms are equal.  Raises IllSorted for terms of two sorts."""
    if left.sort != right.sort:
        raise IllSorted(f"{left.sort.name} and {right.sort.name} can never be equal")
    return Equal(left, right)


def differ(left: Term, right: Term) -> Formula:
    """Return the formula that two terms are not equal.  Raises IllSorted for terms of two sorts."""
    return Not(same(left, right))


def conjunction(parts: Iterable[Formula]) -> Formula:
    """Return the conjunction of the parts; nested ones are flattened, a single part is returned as it is."""
    found: list[Formula] = []
    for part in parts:
        found.extend(part.parts if isinstance(part, And) else (_formula(part),))
    return found[0] if len(found) == 1 else And(tuple(found))


def disjunction(parts: Iterable[Formula]) -> Formula:
    """Return the disjunction of the parts; nested ones are flattened, a single part is returned as it is."""
    found: list[Formula] = []
    for part in parts:
        found.extend(part.parts if isinstance(part, Or) else (_formula(part),))
    return found[0] if len(found) == 1 else Or(tuple(found))


def iff(left: Formula, right: Formula) -> Formula:
    """Return the formula that both are true or both false."""
    return Iff(_formula(left), _formula(right))


def ite(test: Formula, then: Formula, other: Formula) -> Formula:
    """Return the formula `then` where `test` is true, else `other`."""
    return Ite(_formula(test), _formula(then), _formula(other))


def forall(bound: Iterable[Var], body: Formula) -> Formula:
    """Return the body for every value of `bound`; without variables the body itself."""
    names = tuple(bound)
    return Forall(names, _formula(body)) if names else _formula(body)


def exists(bound: Iterable[Var], body: Formula) -> Formula:
    """Return the body for some value of `bound`; without variables the body itself."""
    names = tuple(bound)
    return Exists(names, _formula(body)) if names else _formula(body)


def _parts(formula: Formula) -> tuple[Formula, ...]:
    match formula:
        case Holds() | Equal():
            return ()
        case Not(body) | Forall(_, body) | Exists(_, body):
            return (body,)
        case And(parts) | Or(parts):
            return parts
        case Implies(left, right) | Iff(left, right):
            return (left, right)
        case Ite(test, then, other):
            return (test, then, other)


def walk(formula: Formula) -> Iterator[Formula]:
    """Yield the formula and all its subformulas, outermost first."""
    waiting = [formula]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(_parts(part)))


def _loose(term: Term, bound: frozenset[Var], found: set[Var]) -> None:
    if isinstance(term, Apply):
        for argument in term.arguments:
            _loose(argument, bound, found)
    elif term not in bound:
        found.add(term)


def _collect(formula: Formula, bound: frozenset[Var], found: set[Var]) -> None:
    match formula:
        case Holds(_, arguments):
            for argument in arguments:
                _loose(argument, bound, found)
        case Equal(left, right):
            _loose(left, bound, found)
            _loose(right, bound, found)
        case Forall(names, body) | Exists(names, body):
            _collect(body, bound.union(names), found)
        case _:
            for part in _parts(formula):
                _collect(part, bound, found)


def free(formula: Formula) -> frozenset[Var]:
    """Return the free variables."""
    found = set[Var]()
    _collect(formula, frozenset(), found)
    return frozenset(found)
