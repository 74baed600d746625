"""The faults of mutant kernels as definitions that replace the kernel's.

Each states the sentence that describes the fault, not the mutant's code; conformance of the two is checked on steps of
the mutant and on the countermodels.
"""

from __future__ import annotations

from evenhand.model.sovereign.mutants import deciding, gates
from evenhand.proofs.sovereign.deciding import (
    CAND,
    CITE,
    DECISION,
    KEY,
    OBS,
    before,
    budget,
    cites,
    count,
    kernel_only,
    key,
    lacks,
    le,
    less,
    limit,
    outside,
    present,
    readable,
    resolving,
    undeclared,
    unscoped,
    word,
)
from evenhand.smt.logic import FALSE, TRUE, Definition, Formula, conjunction, differ, exists, forall, same, variables
from evenhand.smt.preludes import Faults

o, p = variables(OBS, "o p")
c, d = variables(CAND, "c d")
x = CITE("x")
k = KEY("k")
_means = DECISION.means


def _winner(beaten: Formula, source: str) -> tuple[Definition, ...]:
    """Return that an admitted candidate of this hash wins; `beaten` says that admitted d goes before admitted c."""
    body = exists([c], word("admitted", c) & same(key(c), k) & forall([d], word("admitted", d) >> ~beaten))
    return (_means("wins", word("acts") & body, source),)


def _reversed() -> tuple[Definition, ...]:
    faults = (word("incomplete", c), word("uncited", c), unscoped(c), undeclared(c), outside(c))
    return tuple(
        _means(
            f"at_{place + 1}",
            conjunction([word("judging"), present(c), faults[place], *(~later for later in faults[place + 1 :])]),
            "the last gate that fails",
        )
        for place in range(5)
    )


_alone = forall([d], present(d) >> same(c, d))


def _lonely() -> tuple[Definition, ...]:
    """Return definitions where the verdict of a gate holds only of a candidate that stands alone."""
    words = [*(f"at_{number}" for number in range(1, 6)), "admitted"]
    return tuple(_means(name, DECISION.meanings[name].body & _alone, "several are none") for name in words)


FAULTS = Faults(
    (gates.completeness_dropped, _means("incomplete", FALSE, "gate 1 passes everything")),
    (gates.authority_dropped, _means("uncited", FALSE, "gate 2 passes everything")),
    (gates.scope_dropped, _means("misclaims", FALSE, "gate 3 passes everything")),
    (gates.compliance_dropped, _means("unknown", FALSE, "gate 4 passes everything")),
    (gates.io_dropped, _means("escapes", FALSE, "gate 5 passes everything")),
    (gates.gates_reversed, *_reversed()),
    (gates.empty_citations_pass, _means("incomplete", lacks(c) | kernel_only(c), "no citation is as good as one")),
    (
        gates.log_append_by_author_field,
        _means("incomplete", lacks(c) | forall([x], ~cites(c, x)), "who says `kernel` is the kernel"),
    ),
    (
        gates.one_citation_covers_all,
        _means(
            "uncited",
            exists([x], cites(c, x)) & forall([x], cites(c, x) >> ~resolving(x)),
            "one resolving citation covers the others",
        ),
    ),
    (deciding.time_by_default, _means("timely", TRUE, "there is always a time")),
    (deciding.integrity_ignored, _means("exits", FALSE, "nothing ends the agent")),
    (deciding.budget_ignored, _means("overspent", FALSE, "nothing is too much")),
    (
        deciding.split_budget_passes,
        _means("overspent", exists([o], budget(o) & (~readable(o) | ~le(count(o), limit()))), "each for itself"),
    ),
    (
        deciding.budget_inverted,
        _means(
            "overspent",
            exists([o], budget(o) & (~readable(o) | ~le(limit(), count(o))))
            | exists([o, p], budget(o) & budget(p) & differ(o, p)),
            "too little is too much",
        ),
    ),
    (deciding.several_candidates_are_none, *_lonely()),
    (deciding.first_candidate_wins, *_winner(before(d, c), "the first admitted one")),
    (deciding.last_candidate_wins, *_winner(before(c, d), "the last admitted one")),
    (deciding.greatest_hash_wins, *_winner(less(key(c), key(d)), "the greatest hash")),
    (
        deciding.action_without_warrant,
        _means("warranted", FALSE, "nothing is warranted"),
        _means("wins", FALSE, "so nothing is seen to win"),
    ),
    (deciding.exit_with_a_warrant, _means("warranted", word("acts") | word("exits"), "EXIT carries one too")),
)
"""The mutants that the theory can express, by the name of the executable one."""
