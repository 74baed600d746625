"""Theorems: a formula of a theory, the claim it states, and the link between the two.

A theorem is proved of its theory; what makes it speak of the executable model is the link.  `view` turns a
case of the claim (a step, or a pair of steps) into a finite structure, `realise` turns a structure back into
something that the model can replay.  Both are checked at every run, and are part of the trusted base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.core.system import System
from evenhand.core.verdict import Evidence, Status
from evenhand.smt.logic import TRUE, And, Definition, Formula, Var, exists, forall
from evenhand.smt.structure import Structure
from evenhand.smt.theory import Theory

__all__ = ["ANY", "Lemma", "Mutation", "Stated", "Theorem"]

ANY = "any number of agents, keys, authorities, epochs"


def _nothing(_system: System[Any, Any, Any, Any, Any]) -> Iterable[Any]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A mutant of the theory beside the executable mutant of the same name.

    `expected`: `refuted` (a countermodel that replays) or `proved` (this fault is invisible to this theorem, which
    `because` explains).
    """

    mutant: str
    definitions: tuple[Definition, ...]
    expected: Literal["refuted", "proved"] = "refuted"
    because: str = ""


@dataclass(frozen=True)
class Lemma:
    """A step of a proof: a closed formula, the lemmas before it that it uses, and the words it need not look into."""

    name: str
    formula: Formula
    uses: tuple[str, ...] = ()
    opaque: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Stated:
    """What theorems and invariants have in common: a claim, and what a green verdict on it needs.

    `needs` are axioms without which it should not go through.  `witness` is a closed formula that some structure
    must satisfy besides the antecedent, so that what is stated is about something that can happen.
    `readings` are those of the system that are not its default; the theory must be that of these readings.
    """

    name: str
    sentence: str
    source: str
    protocol: str
    system: str
    claim: str
    needs: tuple[str, ...] = ()
    witness: Formula = TRUE
    expected: Status = Status.HOLDS
    mutants: tuple[Mutation, ...] = ()
    scope: str = ANY
    readings: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True)
class Theorem(Stated):
    """For all `variables`: `assumes` implies `goal`, in every structure of the theory.

    `view` takes a case of the claim (see `agreement.cases`), None where the case lies outside the theory; it may
    give defined relations too, as they were observed.  `realise` turns a structure into what the model can replay,
    or None.  `samples(system)` makes steps of any variant of the system.  `lemmas` split a proof that is too much
    at once; the goal then follows from all of them without a look into the `opaque` words.  `quotient` names the
    quotient that the theorem licenses for its system.
    """

    theory: Theory
    variables: tuple[Var, ...] = ()
    assumes: Formula = TRUE
    goal: Formula
    view: Callable[[Any], Structure | None]
    realise: Callable[[Structure], Evidence | None]
    samples: Callable[[System[Any, Any, Any, Any, Any]], Iterable[Any]] = _nothing
    lemmas: tuple[Lemma, ...] = ()
    opaque: tuple[str, ...] = ()
    quotient: str = ""

    @property
    def formula(self) -> Formula:
        """The theorem as one closed formula."""
        return forall(self.variables, self.assumes >> self.goal)

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The theorem conjunct by conjunct: what a countermodel is looked for, one at a time."""
        goals = self.goal.parts if isinstance(self.goal, And) and self.goal.parts else (self.goal,)
        return tuple(forall(self.variables, self.assumes >> goal) for goal in goals)

    @property
    def antecedent(self) -> Formula:
        """That the theorem speaks of something."""
        return exists(self.variables, self.assumes) & self.witness
