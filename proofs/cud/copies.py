"""How theorems about two epochs are made: a theory of an epoch and a second copy of what may differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from evenhand.model.cud.readings import Readings
from evenhand.proofs.cud.concretisation import left
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.faults import mutations
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
"""What a request is judged by alone, in pass 1 and after execution."""
LOGGED_WORDS = ("struck", "passes", "collides", "executed")


def alike(two: Copies, name: str) -> Formula:
    """A word of requests holds in both epochs or in neither."""
    return forall([r], two.alike(name, r))


def apart(name: str, moved: Iterable[str], *, keep: Sequence[str] = (), base: Theory = EPOCH) -> Copies:
    """An epoch and a second one that differs in the `moved` symbols; `keep` are axioms that the second obeys too."""
    apart = frozenset(moved)
    twice = base.twice("2", shared=[one for one in base.symbols if one not in apart])
    extra = tuple(axiom for axiom in twice.axioms if axiom.name in {f"{one}2" for one in keep})
    return Copies(replace(twice, name=name, axioms=(*base.axioms, *extra)))


def answers(two: Copies, names: Sequence[str] = (*TOLD_WORDS, *LOGGED_WORDS)) -> list[Formula]:
    """Every request gets the same token, and the log says the same; that nobody gets more is `bare_tokens`."""
    return [alike(two, name) for name in names]


def effects(two: Copies) -> Formula:
    """The same keys change to the same values."""
    return forall([k, v], two.alike("becomes", k, v))


def pair(*moved: str) -> Callable[[Any], Structure | None]:
    """The view of a case whose two steps differ in the `moved` symbols."""
    return lambda case: view_pair(case[-2], case[-1], moved=moved)


def twin(claim: str, theory: Theory, *, base: Theory = EPOCH, **more: Any) -> Theorem:
    """A theorem about two epochs, called like its claim; `more` says what it is and may replace what is usual."""
    given: dict[str, Any] = {
        "name": claim,
        "protocol": "cud",
        "system": "universe",
        "realise": left(Readings(**more.get("readings", {}))),
        "samples": FEWER,
        "mutants": mutations(claim, theory, base=base),
    }
    found = Theorem(claim=claim, theory=theory, **{**given, **more})
    # A conjunct at a time: of a long conjunction a countermodel is hard to find.
    # That all conjuncts together are the goal is seen without a look into any word.
    return found if found.lemmas else replace(found, lemmas=each_part(found), opaque=tuple(theory.meanings))


def by_passes(two: Copies, names: Sequence[str] = PASSES, *, more: Sequence[Lemma] = ()) -> dict[str, Any]:
    """What each pass looks at is alike in both epochs, then pass 2 is; the goal follows without a look into any of it.

    `more` are lemmas about what pass 2 looks at besides, each called after its word and `_alike`.
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
