"""A mutant of the executor proved equivalent in the theory of a use, and its encoding there.

The mutant's kernel forgets which old warrants were spent.  That is hidden state, so the two states are related, not
equal: the mutant's spent warrants are the reference's that are not old.  The proof: both decide a use alike, and a use
preserves the relation.  That the start of a cycle preserves it is searched, not proved.
"""

from __future__ import annotations

from evenhand.model.sovereign.mutants import executor_and_log as faulty
from evenhand.proofs.sovereign.executing import SPENT, USE, WARRANT, held, old, spent, used
from evenhand.smt.equality import Equality
from evenhand.smt.logic import Relation, forall, iff, same

w = WARRANT("w")
_THEIRS = Relation("spends_m", (WARRANT,))

EQUALITIES = (
    Equality(
        mutant=faulty.spent_of_old_cycles_forgotten,
        theorem=SPENT,
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
"""The equality theorems about mutants registered as equivalent."""
