"""The theory of one decision, for any number of observations, candidates and citations.

Sorts: observations, candidates, citations, keys (bundle hashes), amounts (token counts).  The faults of a candidate
are primitive, gate by gate; the reported gate, the admitted, the winning and the warranted candidates are definitions,
which mutants replace.  The predicates of the claims (`deserves`, `first_…`) are definitions that no mutant may
replace.
"""

from __future__ import annotations

from evenhand.smt.logic import Formula, Relation, Sort, Var, conjunction, differ, exists, forall, iff, same, variables
from evenhand.smt.preludes import Declarations, ordered
from evenhand.smt.theory import Axiom

OBS, CAND, CITE, KEY, AMOUNT = Sort("Obs"), Sort("Cand"), Sort("Cite"), Sort("Key"), Sort("Amount")
SAID = Declarations()

timestamp = SAID.relation("timestamp", OBS)
proper = SAID.relation("proper", OBS)
failure = SAID.relation("failure", OBS)
budget = SAID.relation("budget", OBS)
readable = SAID.relation("readable", OBS)
le = SAID.relation("le", AMOUNT, AMOUNT)
present = SAID.relation("present", CAND)
"""The candidate is proposed in this cycle: two cycles may share candidates."""

lacks = SAID.relation("lacks", CAND)
kernel_only = SAID.relation("kernel_only", CAND)
log_append = SAID.relation("log_append", CAND)
cites = SAID.relation("cites", CAND, CITE)
resolving = SAID.relation("resolving", CITE)
unscoped = SAID.relation("unscoped", CAND)
undeclared = SAID.relation("undeclared", CAND)
outside = SAID.relation("outside", CAND)
before = SAID.relation("before", CAND, CAND)
"""The first candidate stands before the second: the honest kernel ignores it."""

less = SAID.relation("less", KEY, KEY)
key = SAID.function("key", CAND, KEY)
count = SAID.function("count", OBS, AMOUNT)
limit = SAID.function("limit", AMOUNT)

o, p = variables(OBS, "o p")
c, d = variables(CAND, "c d")
x = CITE("x")
k, k1, k2 = variables(KEY, "k k1 k2")
s, t, u = variables(AMOUNT, "s t u")

timely = SAID.word(
    "timely", (), exists([o], proper(o) & forall([p], timestamp(p) >> same(o, p))), "X.E1: exactly one TIMESTAMP"
)
exits = SAID.word("exits", (), timely() & exists([o], failure(o)), "3.2: integrity, after time")
overspent = SAID.word(
    "overspent",
    (),
    exists([o], budget(o) & (~readable(o) | ~le(count(o), limit())))
    | exists([o, p], budget(o) & budget(p) & differ(o, p)),
    "7 A49: too much, unreadable, or told twice",
)
untimely = SAID.word("untimely", (), ~timely() & ~exits(), "X.E1: REFUSE, MISSING_REQUIRED_OBSERVATION")
exhausted = SAID.word("exhausted", (), timely() & ~exits() & overspent(), "7 A49: REFUSE, BUDGET_EXHAUSTED")
judging = SAID.word("judging", (), timely() & ~exits() & ~overspent(), "3.2: the gates are asked")
incomplete = SAID.word(
    "incomplete", (c,), lacks(c) | kernel_only(c) | forall([x], ~cites(c, x)), "6: gate 1, kernel-only sub-check"
)
uncited = SAID.word("uncited", (c,), exists([x], cites(c, x) & ~resolving(x)), "6: gate 2")
misclaims = SAID.word("misclaims", (c,), unscoped(c), "6: gate 3")
unknown = SAID.word("unknown", (c,), undeclared(c), "6: gate 4")
escapes = SAID.word("escapes", (c,), outside(c), "6: gate 5")
_asked = (incomplete, uncited, misclaims, unknown, escapes)


def _first(number: int, gates: tuple[Relation, ...], bound: Var) -> Formula:
    return conjunction([*(~gate(bound) for gate in gates[:number]), gates[number](bound)])


_AT = tuple(
    SAID.word(
        f"at_{number + 1}", (c,), judging() & present(c) & _first(number, _asked, c), "6: the first gate that fails"
    )
    for number in range(5)
)
admitted = SAID.word(
    "admitted", (c,), judging() & present(c) & conjunction([~gate(c) for gate in _asked]), "6: no gate fails"
)
acts = SAID.word("acts", (), judging() & exists([c], admitted(c)), "3.2: ACTION")
refuses = SAID.word("refuses", (), ~exits() & ~acts(), "3.2: REFUSE")
wins = SAID.word(
    "wins",
    (k,),
    acts() & exists([c], admitted(c) & same(key(c), k)) & forall([d], admitted(d) >> ~less(key(d), k)),
    "7 A4: the least bundle hash",
)
warranted = SAID.word("warranted", (), acts(), "3.2: ACTION carries a warrant, nothing else does")

wrong_1 = SAID.word("wrong_1", (c,), lacks(c) | kernel_only(c) | forall([x], ~cites(c, x)), "gate 1, for the claims")
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
        iff(kernel_only(c), kernel_only(d)),
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
        Axiom("log_append_is_kernel_only", forall([c], log_append(c) >> kernel_only(c)), "6: the constitution says so"),
        Axiom("only_log_append_is", forall([c], kernel_only(c) >> log_append(c)), "6: and of nothing else"),
        Axiom(
            "what_is_undeclared_has_no_path_and_no_owner",
            forall([c], undeclared(c) >> (~outside(c) & ~kernel_only(c))),
            "6",
        ),
    ),
)
"""One decision under the default readings and the reference constitution's flags."""
word = DECISION.word

PLACED = Axiom("candidates_have_places", ordered(before, c, d, e), "a list, for what a mutant may break ties by")
