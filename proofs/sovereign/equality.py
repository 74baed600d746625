"""A mutant of the executor that the theory of a use shows to be equal, and how it is said there.

The mutant's kernel does not remember which old warrants were spent.  That is hidden state, so the two are related and
not the same: the mutant's spent warrants are the reference's that are not old.  A use is decided alike, and keeps that
so; that the start of a cycle keeps it so as well is what "forgets" says, and is searched, not proved.
"""

from __future__ import annotations

from evenhand.proofs.sovereign.executing import USE, USES, WARRANT, held, old, spent, used
from evenhand.smt.equality import Equality
from evenhand.smt.logic import Relation, forall, iff, same

w = WARRANT("w")
(_SPENDS,) = [theorem for theorem in USES if theorem.name == "an_effect_spends_an_issued_warrant"]
_THEIRS = Relation("spends_m", (WARRANT,))

EQUALITIES = (
    Equality(
        mutant="spent_of_old_cycles_forgotten",
        theorem=_SPENDS,
        definitions=(
            USE.means("fresh", ~(spent(held()) & ~old(held())), "what is old is forgotten"),
            USE.means(
                "spends",
                (spent(w) & ~old(w)) | (used() & same(w, held())),
                "4 INV-1: a use spends the warrant; what is old is forgotten",
            ),
        ),
        instead=(("spends", forall([w], iff(_THEIRS(w), USE.word("spends", w) & ~old(w)))),),
    ),
)
"""What is asked about mutants that are registered as equivalent."""
