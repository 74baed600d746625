"""Theorems: a formula of a theory, the claim that it states, and the maps between theory and model.

A theorem is proved in its theory; conformance extends it to the executable model.  `view` (abstraction) turns a case
of the claim (a step, or a pair of steps) into a finite structure; `realise` (concretisation) turns a structure into
evidence that the model can replay.  Both are checked in every run and belong to the trusted base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.core.bundle import Bundle
from evenhand.core.lookup import UnknownName
from evenhand.core.property import Property
from evenhand.core.system import Mutant, System
from evenhand.core.verdict import Evidence, Status
from evenhand.smt.ends import Ends
from evenhand.smt.logic import TRUE, And, Definition, Formula, Var, exists, forall
from evenhand.smt.ranking import Ranking
from evenhand.smt.structure import Structure
from evenhand.smt.theory import Theory

ANY = "any number of agents, keys, authorities, epochs"


def _nothing(_system: System[Any, Any, Any, Any, Any]) -> Iterable[Any]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A mutant of the theory, for an executable mutant.

    `expected`: `refuted` (by a countermodel that replays) or `proved` (the theorem does not see this fault; `because`
    explains why).
    """

    mutant: Mutant[Any]
    definitions: tuple[Definition, ...]
    expected: Literal["refuted", "proved"] = "refuted"
    because: str = ""


@dataclass(frozen=True)
class Lemma:
    """A step of a proof: a closed formula, the earlier lemmas it uses, and the definitions it keeps `opaque`."""

    name: str
    formula: Formula
    uses: tuple[str, ...] = ()
    opaque: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Stated:
    """The common part of theorems and invariants: a claim, and the conditions under which it HOLDS.

    `name`, `sentence` and `source` are the claim's, unless others are given.
    `needs` are axioms without which the proof should fail.  `witness` is a closed formula that some structure must
    satisfy together with the antecedent, so that the statement is not vacuous.  `readings` are the non-default readings
    of the system; the theory must encode these readings.
    """

    claim: Property
    name: str = ""
    sentence: str = ""
    source: str = ""
    protocol: str
    system: str
    needs: tuple[str, ...] = ()
    witness: Formula = TRUE
    expected: Status = Status.HOLDS
    mutants: tuple[Mutation, ...] = ()
    scope: str = ANY
    readings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        for text in ("name", "sentence", "source"):
            object.__setattr__(self, text, getattr(self, text) or getattr(self.claim, text))

    def place(self, bundle: Bundle) -> System[Any, Any, Any, Any, Any]:
        """Return the system that it is about, under its readings.

        Raises UnknownName for a system or reading that does not exist, and for a claim or mutant that is not the
        protocol's: it would be proved of nothing.
        """
        model = bundle.model
        if self.claim not in bundle.claims:
            raise UnknownName("claim", self.claim.name, [one.name for one in bundle.claims])
        for tried in self.mutants:
            if tried.mutant not in model.mutants:
                raise UnknownName("mutant", tried.mutant.name, [one.name for one in model.mutants])
        if self.system not in model.systems:
            raise UnknownName("system", self.system, model.systems)
        return model.systems[self.system].under(**self.readings)


@dataclass(frozen=True, kw_only=True)
class Theorem(Stated):
    """For all `variables`: `assumes` implies `goal`, in every structure of the theory.

    `view` maps a case of the claim (see `differential.cases`) to a structure, which may contain observed values of
    defined relations, or to None outside the theory; an axiom that is false of a reference step inside it is a fault.
    `samples(system)` makes steps of any variant of the system.
    `realise` turns a structure into evidence that the model can replay, or None; without it the samples must be `Ends`,
    and what replays is one of these.  `lemmas` split a large proof; the
    goal then follows from them with the `opaque` definitions unexpanded.  `quotient` names the quotient that the
    theorem licenses.  With a `ranking` the formula states the ranking's premise, which is compared with the model step
    by step, and the claim is about whole runs: `realise` returns a lasso or a deadlock.
    """

    theory: Theory
    variables: tuple[Var, ...] = ()
    assumes: Formula = TRUE
    goal: Formula
    view: Callable[[Any], Structure | None]
    realise: Callable[[Structure], Evidence | None] | None = None
    samples: Callable[[System[Any, Any, Any, Any, Any]], Iterable[Any]] = _nothing
    lemmas: tuple[Lemma, ...] = ()
    opaque: tuple[str, ...] = ()
    quotient: str = ""
    ranking: Ranking | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.realise is None and (self.ranking is not None or not isinstance(self.samples, Ends)):
            raise ValueError(f"theorem {self.name} lacks `realise`: its samples are no runs that refute its claim")

    def stepwise(self, system: System[Any, Any, Any, Any, Any]) -> Property:
        """Return the claim that the formula states about steps of `system`: that of the ranking, if there is one."""
        return self.claim if self.ranking is None else self.ranking.premise(self.claim, system)

    @property
    def formula(self) -> Formula:
        """The theorem as one closed formula."""
        return forall(self.variables, self.assumes >> self.goal)

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The theorem for each conjunct of its goal; countermodels are searched one conjunct at a time."""
        goals = self.goal.parts if isinstance(self.goal, And) and self.goal.parts else (self.goal,)
        return tuple(forall(self.variables, self.assumes >> goal) for goal in goals)

    @property
    def antecedent(self) -> Formula:
        """The formula that something satisfies the antecedent, and that the witness holds."""
        return exists(self.variables, self.assumes) & self.witness
