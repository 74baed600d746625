"""The theorems about one decision, for any number of observations, candidates and citations."""

from __future__ import annotations

from functools import partial

from evenhand.model.sovereign.mutants import deciding as faulty
from evenhand.model.sovereign.mutants import gates
from evenhand.proofs.sovereign.deciding import DECISION, FAULTS, word
from evenhand.proofs.sovereign.encoding import structure_of
from evenhand.proofs.sovereign.rules import (
    CAND,
    CITE,
    KEY,
    OBS,
    cites,
    failure,
    key,
    less,
    log_append,
    present,
    resolving,
)
from evenhand.proofs.sovereign.samples import samples
from evenhand.properties.sovereign import deciding
from evenhand.smt.logic import conjunction, exists, forall, iff, same, variables
from evenhand.smt.theorem import Theorem

SCOPE = "any number of observations, candidates and citations"
c, d = variables(CAND, "c d")
k = KEY("k")
x = CITE("x")
o = OBS("o")


usual, unseen = FAULTS.refuted, FAULTS.unseen
_of_decisions = partial(
    Theorem,
    protocol="sovereign",
    system="lists",
    theory=DECISION,
    view=structure_of,
    samples=samples,
    scope=SCOPE,
)

ONE = _of_decisions(
    claim=deciding.one_decision_per_cycle,
    sentence="Each cycle has exactly one of ACTION, REFUSE and EXIT, and a warrant exactly with ACTION.",
    source="7 A9",
    goal=conjunction(
        [
            word("acts") | word("refuses") | word("exits"),
            ~(word("acts") & word("refuses")),
            ~(word("acts") & word("exits")),
            ~(word("refuses") & word("exits")),
            iff(word("warranted"), word("acts")),
        ]
    ),
    mutants=(
        *usual(faulty.action_without_warrant, faulty.exit_with_a_warrant),
        unseen(faulty.integrity_ignored, "there is a decision all the same"),
        unseen(gates.completeness_dropped, "gates choose among decisions, and there is one"),
    ),
)

EXITS = _of_decisions(
    claim=deciding.exit_is_terminal_without_a_warrant,
    sentence="EXIT carries no warrant, whatever was proposed.",
    source="6, 7 A29",
    assumes=word("exits"),
    goal=~word("warranted") & forall([k], ~word("wins", k)),
    witness=exists([c], word("deserves", c)),
    mutants=(*usual(faulty.exit_with_a_warrant), unseen(gates.completeness_dropped, "no gate is asked on the way out")),
)

GATES = _of_decisions(
    claim=deciding.reported_gate_is_the_first_that_fails,
    variables=(c,),
    assumes=word("fair_time") & ~word("too_much") & ~word("exits") & present(c),
    goal=conjunction(
        [
            *(iff(word(f"at_{n}", c), word(f"first_{n}", c)) for n in range(1, 6)),
            iff(word("admitted", c), word("deserves", c)),
        ]
    ),
    witness=exists([c, d], word("at_5", c) & word("admitted", d)),
    mutants=(
        *usual(*gates.DROPPED),
        *usual(gates.gates_reversed, gates.citation_gate_last, gates.io_gate_first),
        *usual(
            gates.empty_citations_pass,
            gates.one_citation_covers_all,
            gates.log_append_by_author_field,
        ),
        unseen(faulty.first_candidate_wins, "selection comes after the gates"),
    ),
)

ACTS = _of_decisions(
    claim=deciding.acts_iff_something_is_admissible,
    sentence="Where the gates are asked there is an ACTION exactly if some candidate passes all five.",
    assumes=word("fair_time") & ~word("too_much") & ~word("exits"),
    goal=iff(word("acts"), exists([c], word("deserves", c))),
    mutants=(
        *usual(*gates.DROPPED),
        *usual(gates.empty_citations_pass, gates.one_citation_covers_all, gates.log_append_by_author_field),
        unseen(gates.gates_reversed, "the order of gates changes what is reported, not what passes"),
        unseen(faulty.greatest_hash_wins, "somebody wins all the same"),
    ),
)

LEAST = _of_decisions(
    claim=deciding.the_least_admitted_hash_wins,
    variables=(k,),
    assumes=word("wins", k),
    goal=exists([c], word("deserves", c) & same(key(c), k)) & forall([d], word("deserves", d) >> ~less(key(d), k)),
    witness=exists([c, d], word("deserves", c) & word("deserves", d) & less(key(c), key(d))),
    mutants=(
        *usual(faulty.first_candidate_wins, faulty.last_candidate_wins, faulty.greatest_hash_wins),
        *usual(gates.completeness_dropped, gates.io_dropped),
        unseen(gates.gates_reversed, "the same candidates pass"),
    ),
)

CITED = _of_decisions(
    claim=deciding.warranted_requests_cite_what_resolves,
    variables=(c,),
    assumes=word("wins", key(c)) & present(c),
    goal=exists([x], cites(c, x)) & forall([x], cites(c, x) >> resolving(x)),
    needs=("equal_hashes_equal_contents",),
    mutants=(
        *usual(gates.authority_dropped, gates.empty_citations_pass, gates.one_citation_covers_all),
        unseen(faulty.first_candidate_wins, "whoever wins was admitted"),
        unseen(gates.io_dropped, "another gate"),
    ),
)

LOG_APPEND = _of_decisions(
    claim=deciding.log_append_never_comes_from_a_candidate,
    source="4 INV-3",
    variables=(c,),
    assumes=word("wins", key(c)) & present(c),
    goal=~log_append(c),
    mutants=(
        *usual(gates.log_append_by_author_field, gates.completeness_dropped),
        unseen(gates.authority_dropped, "another gate"),
    ),
)

# When the gates are asked at all: these three and ACTS say exactly when a cycle acts.

EXITING = _of_decisions(
    claim=deciding.exits_on_integrity_failure_alone,
    sentence="A cycle is an EXIT exactly if it has one time and an integrity failure.",
    goal=iff(word("exits"), word("fair_time") & exists([o], failure(o))),
    mutants=(
        *usual(faulty.integrity_ignored, faulty.time_by_default),
        unseen(faulty.budget_ignored, "an integrity failure goes before the budget"),
    ),
)

UNTIMELY = _of_decisions(
    claim=deciding.untimely_cycles_are_refused,
    sentence="Without exactly one time a cycle is refused for want of it, and no gate is asked.",
    variables=(c,),
    assumes=~word("fair_time") & ~word("exits"),
    goal=conjunction([word("refuses"), word("untimely"), *(~word(f"at_{n}", c) for n in range(1, 6))]),
    mutants=(
        *usual(faulty.time_by_default),
        unseen(faulty.integrity_ignored, "without a time nothing else is looked at"),
        unseen(faulty.budget_ignored, "likewise"),
    ),
)

OVERSPENT = _of_decisions(
    claim=deciding.overspent_cycles_are_refused,
    sentence="A timely cycle is refused for its budget exactly if the reported tokens are too many, unreadable or told "
    "twice.",
    assumes=word("fair_time") & ~word("exits"),
    goal=iff(word("exhausted"), word("too_much")),
    mutants=(
        *usual(
            faulty.budget_ignored,
            faulty.split_budget_passes,
            faulty.budget_inverted,
        ),
        unseen(faulty.time_by_default, "it has a time"),
    ),
)
