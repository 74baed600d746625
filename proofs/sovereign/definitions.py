"""The faults of mutant kernels as definitions that replace the kernel's.

Most are read from the mutant's own functions.  Totals of tokens and the selector are not readable: for these each
states the sentence that describes the fault; conformance of the two is checked on steps of the mutant and on the
countermodels.
"""

from __future__ import annotations

from evenhand.model.sovereign.mutants import deciding
from evenhand.proofs.sovereign.deciding import DECISION, word
from evenhand.proofs.sovereign.rules import CAND, KEY, OBS, before, budget, count, key, le, less, limit, read, readable
from evenhand.smt.logic import Definition, Formula, differ, exists, forall, same, variables
from evenhand.source.rules import Faults

o, p = variables(OBS, "o p")
c, d = variables(CAND, "c d")
k = KEY("k")


def _winner(beaten: Formula, source: str) -> tuple[Definition, ...]:
    """Return that an admitted candidate of this hash wins; `beaten` says that admitted d goes before admitted c."""
    body = exists([c], word("admitted", c) & same(key(c), k) & forall([d], word("admitted", d) >> ~beaten))
    return (DECISION.means("wins", word("acts") & body, source),)


def _spends(body: Formula, source: str) -> tuple[Definition, ...]:
    return (DECISION.means("overspent", body, source),)


FAULTS = Faults(DECISION, read)
"""The mutants that the theory can express."""

_BY_HAND = {
    deciding.split_budget_passes: _spends(
        exists([o], budget(o) & (~readable(o) | ~le(count(o), limit()))), "each for itself"
    ),
    deciding.budget_inverted: _spends(
        exists([o], budget(o) & (~readable(o) | ~le(limit(), count(o))))
        | exists([o, p], budget(o) & budget(p) & differ(o, p)),
        "too little is too much",
    ),
    deciding.first_candidate_wins: _winner(before(d, c), "the first admitted one"),
    deciding.last_candidate_wins: _winner(before(c, d), "the last admitted one"),
    deciding.greatest_hash_wins: _winner(less(key(c), key(d)), "the greatest hash"),
}
FAULTS.update(_BY_HAND)
