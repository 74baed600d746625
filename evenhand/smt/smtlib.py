"""Print formulas as SMT-LIB 2: the same bytes for the same query, with the theory's names or numbered ones.

Symbols stand in the order in which the theory declares them.  People read the theory's names; solvers get numbered
names (`s0`, `f0`, `r0`, variables by depth, assertions `a0` …), because a solver's search, and so its model, depends on
names, and a proof should not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from evenhand.smt import logic as fol
from evenhand.smt.arithmetic import FLOOR, NUMBER, numeric, printed
from evenhand.smt.memo import Cache


@dataclass(frozen=True)
class Query:
    """The question whether some structure of these symbols makes all assertions true.

    `assertions` are (name, closed formula) without defined relations.
    """

    sorts: tuple[fol.Sort, ...]
    functions: tuple[fol.Function, ...]
    relations: tuple[fol.Relation, ...]
    assertions: tuple[tuple[str, fol.Formula], ...]

    @cached_property
    def numbers(self) -> Mapping[str, str]:
        """The numbered name of each sort, function and relation; one object for queries of equal symbols."""
        return _numbers(self.sorts, self.functions, self.relations)

    @cached_property
    def asked(self) -> str:
        """The query as solvers get it, with numbered names."""
        return text(self, numbered=True)


@lru_cache(maxsize=64)
def _numbers(
    sorts: tuple[fol.Sort, ...], functions: tuple[fol.Function, ...], relations: tuple[fol.Relation, ...]
) -> Mapping[str, str]:
    named = {sort.name: f"s{i}" for i, sort in enumerate(sorts)}
    named |= {function.name: f"f{i}" for i, function in enumerate(functions)}
    return {**named, **{relation.name: f"r{i}" for i, relation in enumerate(relations)}}


def text(query: Query, *, numbered: bool = False) -> str:
    """Return the query as SMT-LIB 2, ending in `(check-sat)`.

    Raises ValueError for a formula with free variables or quantified numbers, and for a symbol that takes numbers.
    """
    names = query.numbers if numbered else None
    called = names or {}
    formulas = [formula for _, formula in query.assertions]
    logic = f"UF{numeric(query.functions, formulas)}"
    if logic == "UF" and not any(_QUANTIFIED.get((one,), partial(_quantified, one)) for one in formulas):
        logic = "QF_UF"  # without quantifiers or numbers; cvc5 then takes a third of the time
    lines = ["(set-option :produce-models true)", "(set-option :produce-unsat-cores true)", f"(set-logic {logic})"]
    if "I" in logic:
        lines.append(f"(define-fun {FLOOR} ((x Real)) Real (to_real (to_int x)))")
    lines += [f"(declare-sort {called.get(sort.name, sort.name)} 0)" for sort in query.sorts]
    domains = {symbol.name: symbol.domain for symbol in query.functions}
    domains |= {symbol.name: symbol.domain for symbol in query.relations}
    for name, domain in domains.items():
        if NUMBER in domain:
            raise ValueError(f"{name} takes numbers: a symbol of a theory may have them as values only")
    for function in query.functions:
        head = called.get(function.name, function.name)
        codomain = _names((function.codomain,), called)
        lines.append(f"(declare-fun {head} ({_names(function.domain, called)}) {codomain})")
    for relation in query.relations:
        head = called.get(relation.name, relation.name)
        lines.append(f"(declare-fun {head} ({_names(relation.domain, called)}) Bool)")
    for number, (name, formula) in enumerate(query.assertions):
        shown, loose = _PRINTED.get((formula, names), partial(_shown, formula, names))
        if loose:
            raise ValueError(f"assertion {name} leaves {', '.join(loose)} free")
        lines.append(f"(assert (! {shown} :named {f'a{number}' if numbered else name}))")
    return "\n".join([*lines, "(check-sat)", ""])


_PRINTED: Cache[tuple[str, list[str]]] = Cache()
_QUANTIFIED: Cache[bool] = Cache()


def _quantified(formula: fol.Formula) -> bool:
    return any(isinstance(part, (fol.Forall, fol.Exists)) for part in fol.walk(formula))


def _shown(formula: fol.Formula, names: Mapping[str, str] | None) -> tuple[str, list[str]]:
    """A formula's text, and the names of its free variables."""
    return _Printer(names).formula(formula, {}), sorted(variable.name for variable in fol.free(formula))


def show(formula: fol.Formula) -> str:
    """Return a formula as SMT-LIB 2, with its own names."""
    return _Printer(None).formula(formula, {})


def _names(sorts: Iterable[fol.Sort], called: Mapping[str, str]) -> str:
    return " ".join("Real" if sort == NUMBER else called.get(sort.name, sort.name) for sort in sorts)


def _apply(head: str, parts: list[str]) -> str:
    return f"({head} {' '.join(parts)})" if parts else head


class _Printer:
    """Prints formulas; `names` replaces symbols, and numbers variables by binding depth."""

    def __init__(self, names: Mapping[str, str] | None) -> None:
        self._names = names

    def _called(self, name: str) -> str:
        return printed(name) or (name if self._names is None else self._names[name])

    def _term(self, term: fol.Term, bound: Mapping[fol.Var, str]) -> str:
        if isinstance(term, fol.Var):
            return bound.get(term, term.name)
        return _apply(self._called(term.function.name), [self._term(argument, bound) for argument in term.arguments])

    def formula(self, formula: fol.Formula, bound: Mapping[fol.Var, str]) -> str:
        """Return the formula's text; `bound` names the variables bound around it."""
        match formula:
            case fol.Holds(relation, arguments):
                return _apply(self._called(relation.name), [self._term(argument, bound) for argument in arguments])
            case fol.Equal(left, right):
                return f"(= {self._term(left, bound)} {self._term(right, bound)})"
            case fol.Not(body):
                return f"(not {self.formula(body, bound)})"
            case fol.And(parts):
                return _apply("and", [self.formula(part, bound) for part in parts]) if parts else "true"
            case fol.Or(parts):
                return _apply("or", [self.formula(part, bound) for part in parts]) if parts else "false"
            case fol.Implies(left, right):
                return f"(=> {self.formula(left, bound)} {self.formula(right, bound)})"
            case fol.Iff(left, right):
                return f"(= {self.formula(left, bound)} {self.formula(right, bound)})"
            case fol.Ite(test, then, other):
                shown = [self.formula(part, bound) for part in (test, then, other)]
                return f"(ite {' '.join(shown)})"
            case fol.Forall(variables, body):
                return self._quantified("forall", variables, body, bound)
            case fol.Exists(variables, body):
                return self._quantified("exists", variables, body, bound)

    def _quantified(
        self, word: str, variables: tuple[fol.Var, ...], body: fol.Formula, bound: Mapping[fol.Var, str]
    ) -> str:
        if any(variable.sort == NUMBER for variable in variables):
            raise ValueError("nothing quantifies over numbers")
        if self._names is None:
            inner = bound
        else:
            inner = {**bound, **{variable: f"x{len(bound) + i}" for i, variable in enumerate(variables)}}
        listed = " ".join(f"({inner.get(v, v.name)} {self._called(v.sort.name)})" for v in variables)
        return f"({word} ({listed}) {self.formula(body, inner)})"
