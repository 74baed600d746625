"""A mutant of the executor that the theory of a use shows to be equal, and how it is said there.

The mutant's kernel does not remember which old warrants were spent.  That is hidden state, so the two are related and
not the same: the mutant's spent warrants are the reference's that are not old.  A use is decided alike, and keeps that
so; that the start of a cycle keeps it so as well is what "forgets" says, and is searched, not proved.
"""

from __future__ import annotations

from evenhand.proofs.sovereign.executing import USE, USES, WARRANT
from evenhand.smt.equality import Equality
from evenhand.smt.logic import Definition, Relation, forall, iff, same

__all__ = ["EQUALITIES"]

w = WARRANT("w")
(_SPENDS,) = [theorem for theorem in USES if theorem.name == "an_effect_spends_an_issued_warrant"]
_RELATIONS = {relation.name: relation for relation in USE.relations}
_HELD = next(function for function in USE.functions if function.name == "held")()
_OLD, _SPENT = _RELATIONS["old"], _RELATIONS["spent"]
_USED, _SPENDS_W = USE.meanings["used"].relation, USE.meanings["spends"].relation
_THEIRS = Relation("spends_m", (WARRANT,))

EQUALITIES = (
    Equality(
        mutant="spent_of_old_cycles_forgotten",
        theorem=_SPENDS,
        definitions=(
            Definition(USE.meanings["fresh"].relation, (), ~(_SPENT(_HELD) & ~_OLD(_HELD)), "what is old is forgotten"),
            Definition(
                _SPENDS_W,
                (w,),
                (_SPENT(w) & ~_OLD(w)) | (_USED() & same(w, _HELD)),
                "4 INV-1: a use spends the warrant; what is old is forgotten",
            ),
        ),
        instead=(("spends", forall([w], iff(_THEIRS(w), _SPENDS_W(w) & ~_OLD(w)))),),
    ),
)
"""What is asked about mutants that are registered as equivalent."""
