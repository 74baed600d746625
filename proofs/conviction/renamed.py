"""Who an agent is decides no winner (2.1, 17), for any number of proposals under any renaming.

Two finalizations: the second is the first with every agent renamed.  A proposal and its image are one element, with
scores, ticks and a winner in either; only the order of names, which a mutant goes by, is not carried over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evenhand.core.system import Step
from evenhand.model.conviction.mutants import play
from evenhand.model.conviction.renaming import Renaming
from evenhand.model.conviction.vocabulary import Act, Config, Shown, State
from evenhand.proofs.conviction import winners
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.winners import ALONE, PROPOSAL, RANKING, age, never, p, q, r, score, tied_scene, ties
from evenhand.properties.conviction.winning import names_decide_nothing
from evenhand.smt.logic import FALSE, conjunction, differ, exists, forall, iff, same
from evenhand.smt.preludes import Twice, first_of_twins, mutation, ordered, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom

(named_before,) = relations("named_before", PROPOSAL, PROPOSAL)
"""The first's name comes before the second's."""

NAMED = replace(
    RANKING,
    name="conviction_named",
    functions=(score, age),
    relations=(never, named_before),
    axioms=(
        RANKING.axioms[0],
        Axiom("names_are_ordered", ordered(named_before, p, q, r), "of texts: what a mutant uses"),
    ),
)
TWICE = Twice(NAMED, ())
RENAMED = TWICE.extended(
    "conviction_renamed",
    Axiom(
        "the_same_renamed",
        forall(
            [p],
            conjunction(
                [
                    same(TWICE.function(score)(p), score(p)),
                    same(TWICE.function(age)(p), age(p)),
                    iff(TWICE.second("never", p), never(p)),
                ]
            ),
        ),
        "the second finalization is the first under new names",
    ),
)
_SHOWN, _NUMBERS = ("wins", "by_tick", "full_tie"), ("score", "age")


def view(case: tuple[Renaming, Step[Config, State, Act, Shown], Step[Config, State, Act, Shown] | None]) -> Any:
    """Return a finalization and its renaming; None where the two differ in something that the theory does not cover."""
    renaming, step, other = case
    one, two = winners.view(step), None if other is None else winners.view(other)
    if one is None or two is None:
        return None
    names = {f"proposal:{uid.uid}": f"proposal:{renaming(uid.uid)}" for uid in step.before.proposals}
    if set(names.values()) != set(two.universe["Proposal"]):
        return None
    told, renamed = told_of(one), told_of(two)
    back = {image: element for element, image in names.items()}
    moved = {name: frozenset(tuple(back[part] for part in row) for row in rows) for name, rows in renamed.items()}
    alike = all(told[name] == moved[name] for name in _SHOWN)
    if alike and not names_decide_nothing.agrees(renaming, step, other):
        return None
    functions: dict[str, Mapping[tuple[str, ...], str]] = {name: one.functions[name] for name in _NUMBERS}
    doubled: dict[str, Mapping[tuple[str, ...], str]] = {
        f"{name}2": {(back[row[0]],): n for row, n in two.functions[name].items()} for name in _NUMBERS
    }
    return Structure(
        one.universe, {**told, **{f"{name}2": rows for name, rows in moved.items()}}, {**functions, **doubled}
    )


def told_of(structure: Structure) -> dict[str, Rows]:
    """Return what a finalization shows, with the order of names."""
    told = {name: structure.relations[name] for name in ("never", *_SHOWN)}
    elements = structure.universe["Proposal"]
    return {**told, "named_before": frozenset((one, two) for one in elements for two in elements if one < two)}


_TOPS = ("top", "top2")
_SAME = "it goes by scores and ticks, and these are renamed with the proposals"
FIRST = forall([q], (NAMED.word("top", q) & differ(p, q)) >> named_before(p, q))
"""The earliest stake of tied proposals, as `first_name_wins_a_tie` has it."""

NAMES: Theorem = theorem(
    claim=names_decide_nothing,
    sentence="Rename the agents, and at finalization the same proposal wins, by the same rule, or none as before.",
    source="2.1, 17.2, 17.3",
    theory=RENAMED,
    view=view,
    realise=first_of_twins(tied_scene),
    samples=ties,
    scope="any number of proposals, at finalization",
    variables=(p,),
    goal=conjunction([TWICE.alike("wins", p), TWICE.alike("by_tick"), TWICE.alike("full_tie")]),
    needs=("the_same_renamed",),
    lemmas=(
        Lemma("top", forall([p], TWICE.alike("top", p))),
        Lemma("earliest", forall([p], TWICE.alike("earliest", p)), ("top",), _TOPS),
        Lemma(
            "wins", forall([p], TWICE.alike("wins", p)), ("top", "earliest"), ("top", "top2", "earliest", "earliest2")
        ),
    ),
    opaque=(*_TOPS, "wins", "wins2"),
    witness=exists([p, q], named_before(p, q) & TWICE.second("named_before", q, p)),
    mutants=TWICE.mutants(
        mutation(NAMED, play.first_name_wins_a_tie, {"earliest": FIRST, "by_tick": FALSE, "full_tie": FALSE}),
        mutation(NAMED, play.lowest_score_wins, {"top": winners.LOWEST}, _SAME),
        mutation(NAMED, play.ties_have_no_winner, {"earliest": ALONE}, _SAME),
    ),
)
"""The theorem about names."""
