"""The theory of one decision, for any number of observations, candidates and citations.

Sorts: observations, candidates, citations, keys (bundle hashes), amounts (token counts).  The faults of a candidate
are primitive, gate by gate; the gates, the reported one, the admitted candidates, what is decided and what is warranted
are read from the functions of `model/sovereign` and of its mutants; which candidate wins is written here.  The
predicates of the claims (`deserves`, `first_…`) are definitions that no mutant may replace.
"""

from __future__ import annotations

from evenhand.model.sovereign.mutants import deciding as mutants
from evenhand.model.sovereign.step import REFERENCE
from evenhand.proofs.sovereign.rules import (
    AMOUNT,
    CAND,
    CITE,
    KEY,
    OBS,
    SAID,
    before,
    budget,
    cites,
    count,
    failure,
    key,
    lacks,
    le,
    less,
    limit,
    log_append,
    outside,
    present,
    proper,
    read,
    readable,
    resolving,
    timestamp,
    undeclared,
    unscoped,
)
from evenhand.smt.logic import (
    Definition,
    Formula,
    Relation,
    Var,
    conjunction,
    differ,
    exists,
    forall,
    iff,
    same,
    variables,
)
from evenhand.smt.preludes import ordered
from evenhand.smt.theory import Axiom
from evenhand.source.rules import Faults

o, p = variables(OBS, "o p")
c, d = variables(CAND, "c d")
x = CITE("x")
k, k1, k2 = variables(KEY, "k k1 k2")
s, t, u = variables(AMOUNT, "s t u")

KERNEL = read(REFERENCE)
"""The words that `model/sovereign` itself defines."""


def _read(name: str, source: str, *bound: Var) -> Relation:
    return SAID.word(name, bound, KERNEL[name], source)


def _first(number: int, gates: tuple[Relation, ...], bound: Var) -> Formula:
    return conjunction([*(~gate(bound) for gate in gates[:number]), gates[number](bound)])


timely = _read("timely", "X.E1: exactly one TIMESTAMP")
exits = _read("exits", "3.2: integrity, after time")
overspent = _read("overspent", "7 A49: too much, unreadable, or told twice")
untimely = _read("untimely", "X.E1: REFUSE, MISSING_REQUIRED_OBSERVATION")
exhausted = _read("exhausted", "7 A49: REFUSE, BUDGET_EXHAUSTED")
judging = SAID.word("judging", (), timely() & ~exits() & ~overspent(), "3.2: the gates are asked")
for _number, _name in enumerate(("incomplete", "uncited", "misclaims", "unknown", "escapes"), start=1):
    _read(_name, f"6: gate {_number}", c)
for _number in range(1, 6):
    _read(f"at_{_number}", "6: the first gate that fails", c)
admitted = _read("admitted", "6: no gate fails", c)
acts = _read("acts", "3.2: ACTION")
refuses = SAID.word("refuses", (), ~exits() & ~acts(), "3.2: REFUSE")
warranted = _read("warranted", "3.2: ACTION carries a warrant, nothing else does")
wins = SAID.word(
    "wins",
    (k,),
    acts() & warranted() & exists([c], admitted(c) & same(key(c), k)) & forall([d], admitted(d) >> ~less(key(d), k)),
    "7 A4: the least bundle hash",
)

wrong_1 = SAID.word("wrong_1", (c,), lacks(c) | log_append(c) | forall([x], ~cites(c, x)), "gate 1, for the claims")
wrong_2 = SAID.word("wrong_2", (c,), exists([x], cites(c, x) & ~resolving(x)), "gate 2, for the claims")
_wrong = (wrong_1, wrong_2, unscoped, undeclared, outside)
deserves = SAID.word(
    "deserves", (c,), present(c) & conjunction([~fault(c) for fault in _wrong]), "passes all five, for the claims"
)
fair_time = SAID.word(
    "fair_time",
    (),
    exists([o], proper(o) & forall([p], timestamp(p) >> same(o, p))),
    "exactly one time, for the claims",
)
too_much = SAID.word(
    "too_much",
    (),
    exists([o], budget(o) & (~readable(o) | ~le(count(o), limit())))
    | exists([o, p], budget(o) & budget(p) & differ(o, p)),
    "overspent, for the claims",
)
_FIRST = tuple(
    SAID.word(f"first_{number + 1}", (c,), present(c) & _first(number, _wrong, c), "its first fault, for the claims")
    for number in range(5)
)

OBSERVED = (
    "exits",
    "untimely",
    "exhausted",
    *(f"at_{number}" for number in range(1, 6)),
    "admitted",
    "acts",
    "refuses",
    "wins",
    "warranted",
)
"""The defined predicates whose values a step of the executable model shows."""


_alike = conjunction(
    [
        iff(log_append(c), log_append(d)),
        iff(unscoped(c), unscoped(d)),
        iff(undeclared(c), undeclared(d)),
        iff(outside(c), outside(d)),
        forall([x], iff(cites(c, x), cites(d, x))),
    ]
)
e = CAND("e")

DECISION = SAID.theory(
    "sovereign_decision",
    *(OBS, CAND, CITE, KEY, AMOUNT),
    axioms=(
        Axiom("hashes_are_ordered", ordered(less, k, k1, k2), "7 A4: raw bytes"),
        Axiom("equal_hashes_equal_contents", forall([c, d], same(key(c), key(d)) >> _alike), "7 A5: SHA-256"),
        Axiom(
            "amounts_are_ordered",
            conjunction(
                [
                    forall([s], le(s, s)),
                    forall([s, t], (le(s, t) & le(t, s)) >> same(s, t)),
                    forall([s, t, u], (le(s, t) & le(t, u)) >> le(s, u)),
                    forall([s, t], le(s, t) | le(t, s)),
                ]
            ),
            "7 A49",
        ),
        Axiom(
            "kinds_exclude_each_other",
            forall(
                [o],
                conjunction(
                    [
                        proper(o) >> timestamp(o),
                        readable(o) >> budget(o),
                        timestamp(o) >> (~failure(o) & ~budget(o)),
                        failure(o) >> ~budget(o),
                    ]
                ),
            ),
            "7 A10",
        ),
        Axiom(
            "what_is_undeclared_has_no_path_and_no_owner",
            forall([c], undeclared(c) >> (~outside(c) & ~log_append(c))),
            "6",
        ),
    ),
)
"""One decision under the default readings and the reference constitution's flags."""
word = DECISION.word

PLACED = Axiom("candidates_have_places", ordered(before, c, d, e), "a list, for what a mutant may break ties by")

# The faults of mutant kernels.  Most are read from the mutant's own functions; totals of tokens and the selector are
# not readable, so for these each says the sentence that describes the fault.


def _winner(beaten: Formula, source: str) -> tuple[Definition, ...]:
    """Return that an admitted candidate of this hash wins; `beaten` says that admitted d goes before admitted c."""
    body = exists([c], word("admitted", c) & same(key(c), k) & forall([d], word("admitted", d) >> ~beaten))
    return (DECISION.means("wins", word("acts") & body, source),)


def _spends(body: Formula, source: str) -> tuple[Definition, ...]:
    return (DECISION.means("overspent", body, source),)


FAULTS = Faults(DECISION, read)
"""The mutants that the theory can express."""

_BY_HAND = {
    mutants.split_budget_passes: _spends(
        exists([o], budget(o) & (~readable(o) | ~le(count(o), limit()))), "each for itself"
    ),
    mutants.budget_inverted: _spends(
        exists([o], budget(o) & (~readable(o) | ~le(limit(), count(o))))
        | exists([o, p], budget(o) & budget(p) & differ(o, p)),
        "too little is too much",
    ),
    mutants.first_candidate_wins: _winner(before(d, c), "the first admitted one"),
    mutants.last_candidate_wins: _winner(before(c, d), "the last admitted one"),
    mutants.greatest_hash_wins: _winner(less(key(c), key(d)), "the greatest hash"),
}
FAULTS.update(_BY_HAND)
