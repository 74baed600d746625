"""The kill matrix: every theorem of a protocol against every mutant that its theory can express.

A cell uses the same theory and the same replay as `prove`: first a countermodel of few elements, then, for each
conjunct of the theorem, a proof from those of its lemmas that stay true, and at last the solvers in turns.  Where
neither a conjunct nor an axiom depends on a definition that the mutant changes, the query is the reference's and no
solver is asked; `prove` decides the reference.  A cell whose outcome is not as registered is `wrong`.

By default each mutant of any theorem is tried on every theorem whose theory has the changed definitions with the same
meaning.  A protocol may have a module `matrix` with its own `attempts()`, and with mutants that its theories cannot
express in OUTSIDE.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from types import ModuleType
from typing import Any, Literal, cast

from evenhand.core.bundle import Bundle
from evenhand.core.system import Mutant
from evenhand.smt.countermodel import Refutation, follow
from evenhand.smt.logic import Definition, Formula, Holds, Not, conjunction, walk
from evenhand.smt.portfolio import Portfolio, shared
from evenhand.smt.registry import theorems
from evenhand.smt.rewriting import symbols
from evenhand.smt.small_models import small_model
from evenhand.smt.solvers import Expected, SolverLimits
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Mutation, Theorem
from evenhand.smt.theory import Theory

Outcome = Literal["killed", "survives", "not touched", "not replayed", "unknown"]
Registered = Literal["killed", "survives", ""]

LIMITS = SolverLimits(rlimit=5_000_000, timeout_ms=30_000)
"""Limits of a cell, lower than those of a theorem: cells are many, and may be `unknown`."""

QUICK = SolverLimits(rlimit=1_000_000, timeout_ms=10_000)
"""Limits of proofs from lemmas."""

GLANCE = SolverLimits(rlimit=200_000, timeout_ms=5_000)
"""Limits of the search for another countermodel after one that does not replay."""

SIGNS: Mapping[Outcome, str] = {
    "killed": "X",
    "survives": "o",
    "not touched": ".",
    "not replayed": "?",
    "unknown": "-",
}


@dataclass(frozen=True)
class Attempt:
    """A theorem to try on a mutant, expressed in the theorem's own theory; `registered` is the required outcome."""

    theorem: Theorem
    mutant: Mutant[Any]
    definitions: tuple[Definition, ...]
    registered: Registered = ""


@dataclass(frozen=True)
class Cell:
    """A theorem's outcome on a mutant, such as `killed` by a countermodel that replays, or `survives` by a proof."""

    theorem: str
    mutant: str
    outcome: Outcome
    registered: Registered = ""

    @property
    def wrong(self) -> bool:
        """Whether the outcome is not as registered; an untouched mutant survives."""
        if self.registered == "survives":
            return self.outcome not in ("survives", "not touched")
        return self.registered == "killed" and self.outcome != "killed"


def attempts(protocol: str) -> tuple[Attempt, ...]:
    """Return all attempts of a protocol, theorem by theorem.  Raises ProtocolBroken if theorems do not import."""
    known = theorems(protocol)
    own = _own(protocol) if known else None
    if own is None:
        return tuple(_pooled(known))
    return tuple(cast("Callable[[], Iterable[Attempt]]", own.attempts)())


def outside(protocol: str) -> Mapping[Mutant[Any], str]:
    """Return the mutants that the protocol's theories cannot express, with reasons, as its module `matrix` lists."""
    return cast("Mapping[Mutant[Any], str]", getattr(_own(protocol), "OUTSIDE", {}))


def _own(protocol: str) -> ModuleType | None:
    """The protocol's module `matrix`, if it has one."""
    folder = importlib.util.find_spec(f"evenhand.proofs.{protocol}")
    name = f"evenhand.proofs.{protocol}.matrix"
    if folder is None or folder.submodule_search_locations is None or importlib.util.find_spec(name) is None:
        return None
    return importlib.import_module(name)


def _pooled(known: Iterable[Theorem]) -> Iterator[Attempt]:
    every = tuple(known)
    said: dict[Mutant[Any], list[tuple[Theory, tuple[Definition, ...]]]] = {}
    for theorem in every:
        for mutation in theorem.mutants:
            said.setdefault(mutation.mutant, []).append((theorem.theory, mutation.definitions))
    for theorem in every:
        own = {mutation.mutant: mutation for mutation in theorem.mutants}
        for mutant, ways in said.items():
            if mutant in own:
                expected: Registered = "killed" if own[mutant].expected == "refuted" else "survives"
                yield Attempt(theorem, mutant, own[mutant].definitions, expected)
                continue
            for theory, definitions in ways:
                if _sayable(theory, theorem.theory, definitions):
                    yield Attempt(theorem, mutant, definitions)
                    break


def _sayable(theory: Theory, other: Theory, definitions: Iterable[Definition]) -> bool:
    """Whether a mutant of one theory is one of another with the same definitions where it changes them.

    A theory of two copies has other definitions than that of one, and a mutant of it must change both copies.
    """
    known = {*other.symbols, *other.meanings}
    return theory.meanings.keys() == other.meanings.keys() and all(
        other.meanings[one.name] == theory.meanings[one.name] and symbols(one.body) <= known for one in definitions
    )


def cells(tried: Iterable[Attempt], bundle: Bundle, *, portfolio: Portfolio | None = None) -> Iterator[Cell]:
    """Yield the cell of each attempt.  Raises NoSolver."""
    asked = portfolio or shared()
    for attempt in tried:
        yield Cell(attempt.theorem.name, attempt.mutant.name, _outcome(attempt, bundle, asked), attempt.registered)


def touched(attempt: Attempt) -> tuple[Formula, ...]:
    """Return the parts of the theorem that depend on a definition which the mutant changes.

    These are all parts where the theory's axioms depend on one.  Any other part is the same query as for the reference,
    and is not asked.
    """
    theorem = attempt.theorem
    assumed = [name for axiom in theorem.theory.axioms for name in axiom.relations]
    if touches(theorem.theory, assumed, attempt.definitions):
        return theorem.parts
    return tuple(part for part in theorem.parts if touches(theorem.theory, _spoken(part), attempt.definitions))


def _spoken(formula: Formula) -> list[str]:
    return [part.relation.name for part in walk(formula) if isinstance(part, Holds)]


def _outcome(attempt: Attempt, bundle: Bundle, portfolio: Portfolio) -> Outcome:
    parts = touched(attempt)
    if not parts:
        return "not touched"
    theorem = replace(attempt.theorem, mutants=(Mutation(mutant=attempt.mutant, definitions=attempt.definitions),))
    theory = theorem.theory.redefined(attempt.definitions)
    honest = bundle.model.systems[theorem.system].under(**theorem.readings)
    usual = next(iter(bundle.model.systems.values())).rules
    mutated = replace(honest, rules=grafted(honest.rules, usual, attempt.mutant.rules), variant=attempt.mutant.name)

    def kills(model: Structure | None) -> bool:
        return model is not None and isinstance(follow(theorem, theory, model, mutated), Refutation)

    # Most faults show in a small structure.  All parts at once, because without quantifiers that is not harder.
    whole, _ = small_model(theory, Not(conjunction(parts)), portfolio)
    if kills(whole):
        return "killed"
    lemmas = _Lemmas(theorem, theory, portfolio)
    found: list[Outcome] = ["survives"]
    for part in parts:
        wrong = None if whole is None else small_model(theory, Not(part), portfolio)[0]
        if kills(wrong):
            return "killed"
        if wrong is None and lemmas.prove(part):
            continue
        expected: Expected = "sat" if wrong is not None or attempt.registered == "killed" else "either"
        limits = LIMITS if wrong is None else GLANCE
        answered = portfolio.ask(theory.query(("goal", Not(part))), expected=expected, limits=limits)
        # One model that replays is enough, of any part and any solver.
        if any(kills(answer.model) for answer in answered.answers):
            return "killed"
        if wrong is not None or answered.status == "sat":
            found.append("not replayed")
        elif answered.status != "unsat":
            found.append("unknown")
    return max(found, key=_WEIGHTS.index)


class _Lemmas:
    """The theorem's lemmas that are true of the mutant too, proved on first use.

    A lemma that the mutant does not touch gives the reference's query, whose answer is cached.
    """

    def __init__(self, theorem: Theorem, theory: Theory, portfolio: Portfolio) -> None:
        self._theorem, self._theory, self._portfolio = theorem, theory, portfolio
        self._known: dict[str, Formula] | None = None

    def prove(self, part: Formula) -> bool:
        """Return whether the part follows from them with the theorem's `opaque` definitions unexpanded."""
        known = self._proved()
        return bool(known) and self._follows(part, known, tuple(known), self._theorem.opaque)

    def _proved(self) -> Mapping[str, Formula]:
        if self._known is None:
            self._known = {}
            for lemma in self._theorem.lemmas:
                if lemma.formula in self._theorem.parts or not set(lemma.uses) <= self._known.keys():
                    continue  # parts are tried on their own
                if self._follows(lemma.formula, self._known, lemma.uses, lemma.opaque):
                    self._known[lemma.name] = lemma.formula
        return self._known

    def _follows(self, goal: Formula, known: Mapping[str, Formula], uses: Sequence[str], opaque: Sequence[str]) -> bool:
        claims = [(f"lemma.{name}", known[name]) for name in uses]
        query = self._theory.query(*claims, ("goal", Not(goal)), opaque=opaque)
        return self._portfolio.ask(query, expected="either", limits=QUICK).status == "unsat"


def grafted(own: Any, usual: Any, faulty: Any) -> Any:
    """Return a system's `own` rules with the fields in which `faulty` differs from the protocol's `usual` rules.

    A mutant is a variant of the main system's rules; a system with other rules (a repair, say) keeps its own elsewhere.
    Where the rules are not dataclasses of one type, `faulty` is returned.
    """
    if own is usual or not is_dataclass(own) or type(own) is not type(faulty) or type(usual) is not type(faulty):
        return faulty
    names = [entry.name for entry in fields(own)]
    changed = {name: getattr(faulty, name) for name in names if getattr(faulty, name) is not getattr(usual, name)}
    return replace(cast("Any", own), **changed)


_WEIGHTS: tuple[Outcome, ...] = ("survives", "unknown", "not replayed")
"""Outcomes in ascending weight: a cell without a kill has the heaviest outcome of its parts."""


def touches(theory: Theory, claim: Iterable[str], definitions: Iterable[Definition]) -> bool:
    """Return whether the relations in `claim` depend, directly or through definitions, on one of `definitions`."""
    reached, waiting = set[str](), list(claim)
    while waiting:
        word = waiting.pop()
        if word in reached:
            continue
        reached.add(word)
        meaning = theory.meanings.get(word)
        if meaning is not None:
            waiting += [part.relation.name for part in walk(meaning.body) if isinstance(part, Holds)]
    return any(definition.name in reached for definition in definitions)


def counted(found: Iterable[Cell]) -> str:
    """Return the number of cells of each outcome, in words."""
    every = list(found)
    said = [f"{sum(cell.outcome == outcome for cell in every):,} {outcome}" for outcome in SIGNS]
    wrong = sum(cell.wrong for cell in every)
    judged = sum(bool(cell.registered) for cell in every)
    return f"{len(every):,} cells: {', '.join(said)}; {judged} registered, {wrong or 'none'} of them otherwise"


def table(found: Iterable[Cell]) -> str:
    """Return the matrix as text: one row per mutant, one column per theorem, `!` behind a `wrong` cell."""
    every = list(found)
    names = list(dict.fromkeys(cell.theorem for cell in every))
    signs = {(c.theorem, c.mutant): SIGNS[c.outcome] + ("!" if c.wrong else " ") for c in every}
    wide = max([0, *(len(cell.mutant) for cell in every)]) + 1
    lines = [f"{number:2} {name}" for number, name in enumerate(names, start=1)]
    lines.append(" " * wide + "".join(f"{number:3} " for number in range(1, len(names) + 1)).rstrip())
    for mutant in dict.fromkeys(cell.mutant for cell in every):
        lines.append(f"{mutant:{wide}}" + "".join(f"{signs.get((name, mutant), '  '):>4}" for name in names).rstrip())
    lines.append("X killed by a countermodel that replays, o survives, by proof, . not about the changed words,")
    lines.append("? a countermodel that does not replay, - no solver decides, ! not as registered")
    return "\n".join(lines)
