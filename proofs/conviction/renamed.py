"""Who an agent is decides no winner (2.1, 17), for any number of proposals under any renaming.

Two finalizations: the second is the first with every agent renamed.  A proposal and its image are one element, with
scores, ticks and a winner in either; only the order of names, which a mutant goes by, is not carried over.
"""

from __future__ import annotations

from dataclasses import replace

from evenhand.core.system import Step
from evenhand.model.conviction.mutants import play
from evenhand.model.conviction.vocabulary import Act, Config, Shown, State
from evenhand.proofs.conviction import winners
from evenhand.proofs.conviction.renamed_ticks import names_of, renamed
from evenhand.proofs.conviction.rules import age, named_before, never, p, score
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.winners import RANKING, q, r, ties
from evenhand.properties.conviction.winning import names_decide_nothing
from evenhand.smt.logic import conjunction, exists, forall, iff, same
from evenhand.smt.preludes import Twice, ordered
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom

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
_SHOWN = ("wins", "by_tick", "full_tie")


def view_named(step: Step[Config, State, Act, Shown]) -> Structure | None:
    """Return a finalization with the order of names."""
    found = winners.view(step)
    if found is None:
        return None
    names = names_of(found.universe["Proposal"])
    functions = {one.name: found.functions[one.name] for one in NAMED.functions}
    return Structure(found.universe, {**found.relations, "named_before": names}, functions)


view = renamed(view_named, (), _SHOWN)
_SAME = "it goes by scores and ticks, and these are renamed with the proposals"

NAMES: Theorem = theorem(
    claim=names_decide_nothing,
    sentence="Rename the agents, and at finalization the same proposal wins, by the same rule, or none as before.",
    source="2.1, 17.2, 17.3",
    theory=RENAMED,
    view=view,
    samples=ties,
    scope="any number of proposals, at finalization",
    variables=(p,),
    goal=conjunction([TWICE.alike("wins", p), TWICE.alike("by_tick"), TWICE.alike("full_tie")]),
    needs=("the_same_renamed",),
    lemmas=(
        Lemma("top", forall([p], TWICE.alike("top", p))),
        Lemma("first", forall([p], TWICE.alike("first", p)), ("top",), ("top", "top2")),
    ),
    opaque=("top", "top2", "first", "first2"),
    witness=exists([p, q], named_before(p, q) & TWICE.second("named_before", q, p)),
    mutants=TWICE.mutants(
        *winners.FAULTS.refuted(play.first_name_wins_a_tie),
        winners.FAULTS.unseen(play.lowest_score_wins, _SAME),
        winners.FAULTS.unseen(play.ties_have_no_winner, _SAME),
    ),
)
"""The theorem about names."""
