"""How theorems about two epochs are made: a theory of an epoch and a second copy of what may differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from evenhand.model.cud.readings import Readings
from evenhand.proofs.cud.concretisation import left
from evenhand.proofs.cud.definitions import word
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.faults import mutations
from evenhand.proofs.cud.pairs import view_pair
from evenhand.proofs.cud.samples import FEWER
from evenhand.proofs.cud.vocabulary import (
    ACT,
    AGENT,
    KEY,
    VALUE,
)
from evenhand.smt.logic import (
    Formula,
    Function,
    Term,
    forall,
    iff,
    variables,
)
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom, Theory

__all__ = ["LOGGED_WORDS", "PASSES", "TOLD_WORDS", "Copies", "answers", "apart", "by_passes", "effects", "pair", "twin"]

r, s = variables(ACT, "r s")
k = KEY("k")
x = AGENT("x")
v = VALUE("v")

TOLD_WORDS = ("gets_done", "gets_failure", "gets_fault")
PASSES = ("formed", "stray", "covered", "vetoed", "overreaches")
"""What a request is judged by alone, in pass 1 and after execution."""
LOGGED_WORDS = ("struck", "passes", "collides", "executed")


class Copies:
    """The second copy's symbols and words, by the names of the first."""

    def __init__(self, theory: Theory) -> None:
        self._functions = {function.name: function for function in theory.functions}
        self._relations = {relation.name: relation for relation in theory.relations}
        self._relations |= {name: definition.relation for name, definition in theory.meanings.items()}

    def function(self, one: Function) -> Function:
        """The second copy of a function."""
        return self._functions[f"{one.name}2"]

    def holds(self, name: str, *arguments: Term) -> Formula:
        """The second copy of a relation or word, of these things; the shared one if there is no copy."""
        return self._relations.get(f"{name}2", self._relations[name])(*arguments)

    def alike(self, name: str) -> Formula:
        """A word of requests holds in both epochs or in neither."""
        return forall([r], iff(word(name, r), self.holds(name, r)))


def apart(name: str, moved: Iterable[str], *axioms: Axiom, keep: Sequence[str] = (), base: Theory = EPOCH) -> Theory:
    """An epoch and a second one that differs in the `moved` symbols; `keep` are axioms that the second obeys too."""
    apart = frozenset(moved)
    twice = base.twice("2", shared=[one for one in base.symbols if one not in apart])
    extra = tuple(axiom for axiom in twice.axioms if axiom.name in {f"{one}2" for one in keep})
    return replace(twice, name=name, axioms=(*base.axioms, *extra, *axioms))


def answers(two: Copies, names: Sequence[str] = (*TOLD_WORDS, *LOGGED_WORDS)) -> list[Formula]:
    """Every request gets the same token, and the log says the same; that nobody gets more is `bare_tokens`."""
    return [two.alike(name) for name in names]


def effects(two: Copies) -> Formula:
    """The same keys change to the same values."""
    return forall([k, v], iff(word("becomes", k, v), two.holds("becomes", k, v)))


def pair(*moved: str) -> Callable[[Any], Structure | None]:
    """The view of a case whose two steps differ in the `moved` symbols."""
    return lambda case: view_pair(case[-2], case[-1], moved=moved)


def twin(name: str, theory: Theory, *, base: Theory = EPOCH, **more: Any) -> Theorem:
    """A theorem about two epochs; `more` says what it is and may replace what is usual."""
    readings = more.get("readings", {})
    given: dict[str, Any] = {
        "claim": name,
        "protocol": "cud",
        "system": "universe",
        "theory": theory,
        "realise": left(Readings(**readings)),
        "samples": FEWER,
        "mutants": mutations(name, theory, base=base),
    }
    found = Theorem(name=name, **{**given, **more})
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
            *(Lemma(f"{name}_alike", two.alike(name)) for name in names),
            *more,
            Lemma("collides_alike", two.alike("collides"), tuple(f"{name}_alike" for name in seen), _twice(seen)),
        ),
        "opaque": _twice((*names, "collides")),
    }


def _twice(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{name}{copy}" for name in names for copy in ("", "2"))


def each_part(theorem: Theorem) -> tuple[Lemma, ...]:
    return tuple(Lemma(f"part_{number}", part) for number, part in enumerate(theorem.parts, start=1))
