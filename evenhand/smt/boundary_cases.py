"""Boundary cases: structures that a solver makes so that each definition of a theory is true somewhere, and false.

They cover cases that drawn samples miss.  For each definition the solver is asked for a structure in which it holds
somewhere, and for one in which it fails somewhere; for each axiom, for one that breaks this axiom alone.  The structure
is realised as a run of the model, and theory and model are compared on the run's last step.  A step of the model that
breaks an axiom shows that the axiom is too strong.

One solver is enough where it finds a structure, because the structure is replayed.  One that cannot be realised is
minimised first.  Where the solver finds none, all solvers are asked, and the boundary case is impossible only if one
proves so and none contradicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import Pair, Scenario, replay
from evenhand.smt.countermodel import all_of, confirmed, minimise
from evenhand.smt.logic import TRUE, Equal, Formula, Holds, Not, Var, exists, walk
from evenhand.smt.portfolio import shared
from evenhand.smt.samples import Samples
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import Z3, SolverLimits
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Theory

AGAINST = "against "
"""The prefix of the name of a boundary case that denies an axiom."""


@dataclass(frozen=True)
class BoundaryCase:
    """A formula, and the step of the model made from a structure that satisfies it, if any.

    `axiom`: the formula is the negation of an axiom, which no step of the model should satisfy.  `impossible`: it is
    proved that no structure of the theory (of its other axioms) satisfies the formula.
    """

    name: str
    formula: Formula
    axiom: bool
    steps: tuple[AnyStep, ...] = ()
    impossible: bool = False


_MADE: dict[tuple[int, int, int, str], tuple[Theorem, tuple[BoundaryCase, ...]]] = {}


def boundary_cases(theorem: Theorem, system: AnySystem) -> tuple[BoundaryCase, ...]:
    """Return the boundary cases of a theorem's theory, each with the step of `system` made from it.

    Of a theory of two copies only the axioms that tie the copies together are asked about: its definitions have
    boundary cases in the theory that was copied.
    """
    whole = theorem.samples.whole if isinstance(theorem.samples, Samples) else None
    shares = whole is not None and whole.definitions is theorem.theory.definitions
    theory = whole if shares and whole is not None else theorem.theory
    place = (id(theory), id(theorem.view), id(system.step), repr(system.readings))
    if place not in _MADE:
        _MADE[place] = (theorem, tuple(_make(theorem, theory, system)))
    return _MADE[place][1]


@dataclass(frozen=True)
class _Wanted:
    """A boundary case to be made: its name and formula, and the theory that it is to be a structure of."""

    name: str
    formula: Formula
    axiom: bool
    theory: Theory

    @cached_property
    def query(self) -> Query:
        return self.theory.query(("corner", self.formula))


def _make(theorem: Theorem, theory: Theory, system: AnySystem) -> Iterator[BoundaryCase]:
    wanted = tuple(_wanted(theorem, theory))
    shared().only(Z3).foresee((one.query for one in wanted), limits=_LIMITS)
    for one in wanted:
        yield from _boundary_case(theorem, system, one)


def _wanted(theorem: Theorem, theory: Theory) -> Iterator[_Wanted]:
    names = {*theory.symbols, *theory.meanings}
    copied = {name for name in names if name.endswith("2") and name[:-1] in names}
    for definition in () if copied else theory.definitions:
        word = definition.relation(*definition.variables)
        for name, body in ((definition.name, word), (f"not {definition.name}", Not(word))):
            shown = exists(definition.variables, _visible(theorem, definition.variables) & body)
            yield _Wanted(name, shown, False, theory)
    for axiom in theory.axioms:
        if copied and not _mentions(axiom.formula, copied):
            continue
        lax = replace(theory, axioms=tuple(one for one in theory.axioms if one is not axiom))
        yield _Wanted(f"{AGAINST}{axiom.name}", Not(axiom.formula), True, lax)


def _visible(theorem: Theorem, bound: tuple[Var, ...]) -> Formula:
    return theorem.samples.visible(bound) if isinstance(theorem.samples, Samples) else TRUE


def _mentions(formula: Formula, names: set[str]) -> bool:
    """Whether a formula names one of these, as a relation or in an equation."""
    return any(
        (isinstance(part, Holds) and part.relation.name in names)
        or (isinstance(part, Equal) and any(name in repr(part) for name in names))
        for part in walk(formula)
    )


def _boundary_case(theorem: Theorem, system: AnySystem, wanted: _Wanted) -> Iterator[BoundaryCase]:
    name, formula, axiom, theory, query = wanted.name, wanted.formula, wanted.axiom, wanted.theory, wanted.query
    answered = shared().only(Z3).ask(query, expected="sat", limits=_LIMITS)
    if answered.status == "unsat" and shared().ask(query, expected="unsat", limits=_LIMITS).status == "unsat":
        yield BoundaryCase(name, formula, axiom, impossible=True)
    if answered.status != "sat" or answered.model is None or theorem.realise is None:
        return
    try:
        evidence = theorem.realise(answered.model)
        if evidence is None and not confirmed(theory, answered.model, formula):
            evidence = theorem.realise(minimise(answered.model, all_of(theory, formula)))
    except (KeyError, IndexError, ValueError):
        # A structure that breaks an axiom may be unfit for `realise`.
        if not axiom:
            raise
        evidence = None
    first = evidence.left if isinstance(evidence, Pair) else evidence
    steps = replay(system, first).steps if isinstance(first, Scenario) else ()
    yield BoundaryCase(name, formula, axiom, tuple(steps[-1:]))


_LIMITS = SolverLimits(rlimit=2_000_000, timeout_ms=60_000)
