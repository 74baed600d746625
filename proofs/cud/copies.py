"""Construction of theorems about two epochs: a theory of an epoch and a second copy of the symbols that may differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from evenhand.core.property import Property
from evenhand.model.cud.readings import Readings
from evenhand.proofs.cud.concretisation import left
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.faults import lean, mutations
from evenhand.proofs.cud.pairs import view_pair
from evenhand.proofs.cud.samples import FEWER
from evenhand.proofs.cud.vocabulary import ACT, AGENT, KEY, VALUE
from evenhand.smt.logic import Formula, forall, variables
from evenhand.smt.preludes import Copies
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Theory

r, s = variables(ACT, "r s")
k = KEY("k")
x = AGENT("x")
v = VALUE("v")

TOLD_WORDS = ("gets_done", "gets_failure", "gets_fault")
PASSES = ("formed", "stray", "covered", "vetoed", "overreaches")
"""Predicates that judge a request by itself, in pass 1 and after execution."""
LOGGED_WORDS = ("struck", "passes", "collides", "executed")


def alike(two: Copies, name: str) -> Formula:
    """Return that a predicate of requests has the same value in both epochs."""
    return forall([r], two.alike(name, r))


def apart(name: str, moved: Iterable[str], *, keep: Sequence[str] = (), base: Theory = EPOCH) -> Copies:
    """Return an epoch and a second one that differs in the `moved` symbols and obeys the `keep` axioms too."""
    apart = frozenset(moved)
    twice = base.twice("2", shared=[one for one in base.symbols if one not in apart])
    extra = tuple(axiom for axiom in twice.axioms if axiom.name in {f"{one}2" for one in keep})
    return Copies(replace(twice, name=name, axioms=(*base.axioms, *extra)))


def answers(two: Copies, names: Sequence[str] = (*TOLD_WORDS, *LOGGED_WORDS)) -> list[Formula]:
    """Return that every request gets the same token and log entry; `bare_tokens` says that answers hold no more."""
    return [alike(two, name) for name in names]


def effects(two: Copies) -> Formula:
    """Return that the same keys change to the same values."""
    return forall([k, v], two.alike("becomes", k, v))


def pair(*moved: str) -> Callable[[Any], Structure | None]:
    """Return the view of a case whose two steps differ in the `moved` symbols."""
    return lambda case: view_pair(case[-2], case[-1], moved=moved)


def twin(claim: Property, theory: Theory, *, base: Theory = EPOCH, **more: Any) -> Theorem:
    """Return a theorem about two epochs, named after its claim; `more` describes it and may replace the defaults."""
    given: dict[str, Any] = {
        "protocol": "cud",
        "system": "universe",
        "realise": left(Readings(**more.get("readings", {}))),
        "samples": FEWER,
        "mutants": mutations(claim, theory, base=base),
    }
    found = Theorem(claim=claim, theory=theory, **{**given, **more})
    # One conjunct at a time, because a countermodel of a long conjunction is hard to find.
    # The step from all conjuncts to the goal needs no definition.
    return lean(found if found.lemmas else replace(found, lemmas=each_part(found), opaque=tuple(theory.meanings)))


def by_passes(two: Copies, names: Sequence[str] = PASSES, *, more: Sequence[Lemma] = ()) -> dict[str, Any]:
    """Return the lemmas that each pass agrees in both epochs, then pass 2; the goal follows with them opaque.

    `more` are lemmas about other predicates that pass 2 reads, each named after its predicate with `_alike`.
    """
    judged = [name for name in names if name != "overreaches"]
    seen = (*judged, *(lemma.name.removesuffix("_alike") for lemma in more))
    return {
        "lemmas": (
            *(Lemma(f"{name}_alike", alike(two, name)) for name in names),
            *more,
            Lemma("collides_alike", alike(two, "collides"), tuple(f"{name}_alike" for name in seen), _twice(seen)),
        ),
        "opaque": _twice((*names, "collides")),
    }


def _twice(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{name}{copy}" for name in names for copy in ("", "2"))


def each_part(theorem: Theorem) -> tuple[Lemma, ...]:
    return tuple(Lemma(f"part_{number}", part) for number, part in enumerate(theorem.parts, start=1))
