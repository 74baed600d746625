"""A theory some of whose symbols change, and the queries about its runs.

A *state* symbol has one meaning before a step and another after it, an *input* symbol is chosen anew by every step,
other symbols are fixed.  A run of n steps is one query: the symbols of moment i are called `name.i`, fixed ones keep
their names.  A solver's model is read back moment by moment, in the theory's symbols, so that the evaluator judges it
by the original formulas, not their unrolled copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar, cast

from evenhand.core.lookup import UnknownName
from evenhand.smt.logic import (
    TRUE,
    Apply,
    Definition,
    Formula,
    Function,
    Holds,
    Relation,
    Sort,
    Var,
    conjunction,
    forall,
    iff,
    ite,
    same,
)
from evenhand.smt.portfolio import Answered
from evenhand.smt.rewriting import expand, symbols, translate, used
from evenhand.smt.smtlib import Query
from evenhand.smt.structure import Structure
from evenhand.smt.theory import Axiom, Theory

Ask: TypeAlias = Callable[[str, Query, Literal["sat", "unsat"]], Answered]
"""A function that asks a query, given its name, itself and the expected answer."""

At: TypeAlias = tuple[str, Formula]
"""A name, and a formula about a whole run: made with `Machine.at`."""

_AFTER = ".after"


S = TypeVar("S", Relation, Function)


def after(symbol: S) -> S:
    """Return the symbol after the step of a symbol of the state."""
    return replace(symbol, name=symbol.name + _AFTER)


Changes: TypeAlias = Mapping[Relation | Function, Any]
"""What state symbols are after a step, of the variables with which the state names them: a formula for a relation, a
term for a function, or what gives a formula of the value after; with a condition, where they change."""


@dataclass(frozen=True)
class Turn:
    """A kind of step: `when` it is taken, what it changes, and what it `demands`, without which there is no step."""

    when: Formula
    changes: Changes
    demands: Formula = TRUE


def stepping(state: Sequence[Holds | Apply], turns: Sequence[Turn], usual: Changes | None = None) -> Formula:
    """Return that the first turn whose time it is is taken, and else none.

    `state` has each state symbol with the variables in which turns tell its meaning after the step.  What a turn does
    not change becomes what `usual` says, or stays as it is.  Raises ValueError for a change of what is no state, and
    for a state symbol of anything but variables, each once.
    """
    for atom in state:
        if not all(isinstance(one, Var) for one in atom.arguments) or len({*atom.arguments}) < len(atom.arguments):
            raise ValueError(f"state symbol {_symbol(atom).name} is of variables, each once: a turn tells all of it")
    told = {one for changes in (usual or {}, *(turn.changes for turn in turns)) for one in changes}
    stray = sorted(one.name for one in told - {*map(_symbol, state)})
    if stray:
        raise ValueError(f"a turn changes {', '.join(stray)}, which is no symbol of the state")

    def ended(turn: Turn) -> Formula:
        changes = {**(usual or {}), **turn.changes}
        return conjunction([turn.demands, *(_ended(atom, changes) for atom in state)])

    step = ended(Turn(TRUE, {}))
    for turn in reversed(turns):
        step = ite(turn.when, ended(turn), step)
    return step


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A transition system: `theory`, names of its `state` and `inputs` symbols, `init` of a state, and `step`.

    `step` is about a state, inputs and the state after, whose symbols are `after(symbol)`.  Formulas may use
    definitions; `next` turns a formula about a state into one about the state after.  An axiom with state or input
    symbols is assumed of every step's state before and inputs.
    Raises UnknownName for a name the theory lacks, ValueError for a name with a '.' and an `init` that is about a step.
    """

    theory: Theory
    state: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    init: Formula
    step: Formula

    def __post_init__(self) -> None:
        for name in (*self.state, *self.inputs):
            if name not in self._base:
                raise UnknownName(f"symbol of theory {self.theory.name}:", name, self._base)
            if "." in name:
                raise ValueError(f"a symbol that changes may have no '.' in its name, as {name!r} has")
        if self.span(self.init):
            raise ValueError("init speaks of inputs, or of a state after")

    @classmethod
    def of(
        cls,
        name: str,
        state: Sequence[Holds | Apply],
        *turns: Turn,
        init: Formula,
        usual: Changes | None = None,
        fixed: Sequence[Function | Relation] = (),
        more: Sequence[Function | Relation] = (),
        axioms: Iterable[Axiom] = (),
        definitions: Iterable[Definition] = (),
    ) -> Machine:
        """Return the machine that takes the first turn whose time it is, and else none.

        `state` and `usual` are those of `stepping`.  The theory's symbols are those that are used, and `more`; all but
        the state and what is `fixed` are inputs.
        """
        step = stepping(state, turns, usual)
        found = dict.fromkeys(one for formula in (init, step) for one in used(formula) if not one.name.endswith(_AFTER))
        theory = Theory.of(name, *found, *fixed, *more, axioms=axioms, definitions=definitions)
        held = tuple(_symbol(atom).name for atom in state)
        kept = {*held, *(one.name for one in fixed)}
        return cls(
            theory=theory,
            state=held,
            inputs=tuple(one for one in theory.symbols if one not in kept),
            init=init,
            step=step,
        )

    def redefined(self, definitions: Iterable[Definition]) -> Machine:
        """Return this machine with some definitions of its theory replaced.  Raises UnknownName."""
        return replace(self, theory=self.theory.redefined(definitions))

    @cached_property
    def _moving(self) -> frozenset[str]:
        return frozenset(self.state) | frozenset(self.inputs)

    @cached_property
    def _base(self) -> frozenset[str]:
        return frozenset(symbol.name for symbol in self.signature)

    @property
    def signature(self) -> tuple[Function | Relation, ...]:
        """The functions and relations of the theory, without defined ones."""
        return (*self.theory.functions, *self.theory.relations)

    @cached_property
    def _expanded(self) -> dict[int, tuple[Formula, Formula]]:
        return {}

    def expanded(self, formula: Formula) -> Formula:
        """Return the formula without defined relations; cached by identity."""
        found = self._expanded.get(id(formula))
        if found is None:
            found = self._expanded[id(formula)] = (formula, expand(formula, self.theory.meanings))
        return found[1]

    def span(self, formula: Formula) -> int:
        """Return how many steps a formula is about: 0 for a state, 1 for a step."""
        named = symbols(self.expanded(formula))
        return int(any(name.endswith(_AFTER) or name in self.inputs for name in named))

    def next(self, formula: Formula) -> Formula:
        """Return a formula about a state as one about the state after.  Raises ValueError for one about a step."""
        if self.span(formula):
            raise ValueError("only a formula about a state has a form for the state after")
        return self._renamed(self.expanded(formula), lambda name: name + _AFTER if name in self.state else name)

    def at(self, formula: Formula, moment: int) -> Formula:
        """Return a formula about a state or step as one about a moment of a run."""

        def named(name: str) -> str:
            if name.endswith(_AFTER) and name.removesuffix(_AFTER) in self.state:
                return f"{name.removesuffix(_AFTER)}.{moment + 1}"
            return f"{name}.{moment}" if name in self._moving else name

        return self._renamed(self.expanded(formula), named)

    def _renamed(self, formula: Formula, named: Callable[[str], str]) -> Formula:
        theory = self.theory
        primed_functions = [after(f) for f in theory.functions if f.name in self.state]
        primed_relations = [after(r) for r in theory.relations if r.name in self.state]
        return translate(
            formula,
            sorts={},
            functions={
                f: Function(named(f.name), f.domain, f.codomain) for f in (*theory.functions, *primed_functions)
            },
            relations={r: Relation(named(r.name), r.domain) for r in (*theory.relations, *primed_relations)},
        )

    def same(self, one: int, other: int) -> Formula:
        """Return the formula that two moments of a run have the same state."""
        parts: list[Formula] = []
        for function in self.theory.functions:
            if function.name in self.state:
                bound = _bound(function.domain)
                left, right = (
                    Function(f"{function.name}.{i}", function.domain, function.codomain) for i in (one, other)
                )
                parts.append(forall(bound, same(left(*bound), right(*bound))))
        for relation in self.theory.relations:
            if relation.name in self.state:
                bound = _bound(relation.domain)
                first, second = (Relation(f"{relation.name}.{i}", relation.domain) for i in (one, other))
                parts.append(forall(bound, iff(first(*bound), second(*bound))))
        return conjunction(parts)

    def query(self, steps: int, *claims: At, initial: bool) -> Query:
        """Return the query for a run of `steps` steps with true claims, from an initial state or from any."""
        theory = self.theory
        named = [*self._axioms(steps), *([("init", self.at(self.init, 0))] if initial else [])]
        named += [(f"step.{i}", self.at(self.step, i)) for i in range(steps)]
        return Query(
            theory.sorts,
            tuple(
                Function(name, f.domain, f.codomain) for f in theory.functions for name in self._moments(f.name, steps)
            ),
            tuple(Relation(name, r.domain) for r in theory.relations for name in self._moments(r.name, steps)),
            (*named, *claims),
        )

    def _axioms(self, steps: int) -> Iterator[At]:
        """Fixed axioms once; the others for every step, or for a single state those that name no inputs."""
        for axiom in self.theory.axioms:
            named = symbols(self.expanded(axiom.formula))
            if named.isdisjoint(self._moving):
                yield axiom.name, self.expanded(axiom.formula)
            elif steps or named.isdisjoint(self.inputs):
                yield from ((f"{axiom.name}.{i}", self.at(axiom.formula, i)) for i in range(max(1, steps)))

    def _moments(self, name: str, steps: int) -> Sequence[str]:
        """The names of a symbol in a run of `steps` steps; inputs are declared for a single state as well."""
        if name in self.state:
            return [f"{name}.{i}" for i in range(steps + 1)]
        return [f"{name}.{i}" for i in range(max(1, steps))] if name in self.inputs else [name]

    def moments(self, model: Structure, steps: int) -> tuple[Structure, ...]:
        """Return a model of `query` as the states of the run, each with the inputs and state after of its step."""
        return tuple(self._moment(model, i, last=i == steps) for i in range(steps + 1))

    def _moment(self, model: Structure, moment: int, *, last: bool) -> Structure:
        def taken(tables: Mapping[str, object]) -> Iterator[tuple[str, str]]:
            for name in sorted(self._base):
                if name not in self._moving and name in tables:
                    yield name, name
                elif name in self.state and f"{name}.{moment}" in tables:
                    yield name, f"{name}.{moment}"
                    if not last:
                        yield name + _AFTER, f"{name}.{moment + 1}"
                elif not last and f"{name}.{moment}" in tables:
                    yield name, f"{name}.{moment}"

        relations = {name: model.relations[told] for name, told in taken(model.relations)}
        functions = {name: model.functions[told] for name, told in taken(model.functions)}
        return Structure(model.universe, relations, functions)

    def false_in(self, run: Sequence[Structure], *, initial: bool, true: Iterable[tuple[Formula, int]] = ()) -> str:
        """Return the false part of a run: an axiom, init, a step, one of `true`; empty if the evaluator finds none."""
        reader = self.theory.reader  # shared, because it compiles a formula once for hundreds of runs
        axioms = [(axiom, self._speaks(axiom)) for axiom in self.theory.axioms]
        for number, moment in enumerate(run):
            last = number == len(run) - 1
            for axiom, (of_state, of_inputs) in axioms:
                asked = not (of_state or of_inputs) or not last or (len(run) == 1 and not of_inputs)
                if asked and not reader.holds(axiom.formula, moment):
                    return f"axiom {axiom.name} is false in state {number}"
            if not last and not reader.holds(self.step, moment):
                return f"the step from state {number} is none"
        if initial and not reader.holds(self.init, run[0]):
            return "state 0 is not initial"
        wrong = next((number for formula, number in true if not reader.holds(formula, run[number])), None)
        return "" if wrong is None else f"a formula that should be true in state {wrong} is false"

    def _speaks(self, axiom: Axiom) -> tuple[bool, bool]:
        named = symbols(self.expanded(axiom.formula))
        return not named.isdisjoint(self.state), not named.isdisjoint(self.inputs)


def _symbol(atom: Holds | Apply) -> Relation | Function:
    return atom.relation if isinstance(atom, Holds) else atom.function


def _ended(atom: Holds | Apply, changes: Changes) -> Formula:
    """What a state symbol is after a step with these changes."""
    bound = [one for one in atom.arguments if isinstance(one, Var)]
    then: Any = changes.get(_symbol(atom), atom)
    condition, new = cast("tuple[Formula | None, Any]", then if isinstance(then, tuple) else (None, then))
    if isinstance(atom, Holds):
        end = after(atom.relation)(*bound)
        is_new, is_old = iff(end, new), iff(end, atom)
    else:
        value = after(atom.function)(*bound)
        is_new, is_old = cast("Formula", new(value)) if callable(new) else same(value, new), same(value, atom)
    return forall(bound, is_new if condition is None else ite(condition, is_new, is_old))


def _bound(domain: Sequence[Sort]) -> tuple[Var, ...]:
    return tuple(sort(f"v{i}") for i, sort in enumerate(domain))
