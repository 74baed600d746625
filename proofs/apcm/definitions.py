"""The faults of mutant compilers as definitions that replace the compiler's.

Each states the sentence that describes the fault, not the mutant's code; conformance of the two is checked on steps of
the mutant and on the countermodels.
"""

from __future__ import annotations

from evenhand.model.apcm.mutants import inputs_and_views as views
from evenhand.model.apcm.mutants import rules
from evenhand.proofs.apcm.compiling import (
    ACT,
    GENERAL,
    PAIR,
    PREF,
    av,
    before_act,
    before_pref,
    declared,
    feasible,
    has_precedent,
    maintain,
    member,
    old_av,
    old_rp,
    rp,
    violates,
    word,
)
from evenhand.smt.logic import FALSE, exists, forall, iff, variables
from evenhand.smt.preludes import Faults

a, b = variables(ACT, "a b")
p, q = variables(PREF, "p q")
g = PAIR("g")
_means = GENERAL.means


_honest = feasible(a) & exists([p], violates(a, p) & (rp(p) | ~av(p)))
_av_kept = forall([p], iff(av(p), old_av(p)))
_fields_kept = forall([p], iff(av(p), old_av(p)) & iff(rp(p), old_rp(p)))

FAULTS = Faults(
    (rules.rule_1_dropped, _means("rule_1", FALSE, "nothing is forbidden")),
    (
        rules.rule_1_inverted,
        _means(
            "rule_1", feasible(a) & forall([p], violates(a, p) >> (av(p) & ~rp(p))), "what Rule 1 permits is forbidden"
        ),
    ),
    (
        rules.preservations_forbid_nothing,
        _means(
            "rule_1", feasible(a) & exists([p], violates(a, p) & ~av(p)), "only what is not authorised is forbidden"
        ),
    ),
    (
        rules.violations_need_no_authority,
        _means(
            "rule_1", feasible(a) & exists([p], violates(a, p) & rp(p)), "only violated preservations are forbidden"
        ),
    ),
    (
        rules.one_authority_covers_all,
        _means(
            "rule_1",
            _honest & (forall([p], violates(a, p) >> ~av(p)) | exists([p], violates(a, p) & rp(p))),
            "one authorised violation licenses the others",
        ),
    ),
    (rules.rule_2_dropped, _means("false_pair", FALSE, "no collision is false")),
    (
        rules.rule_2_for_some_action,
        _means(
            "false_pair",
            declared(g) & exists([a], feasible(a)) & forall([a, p], (feasible(a) & member(g, p)) >> ~violates(a, p)),
            "a collision is false only if nobody violates a member",
        ),
    ),
    (
        rules.rule_2_asks_for_both,
        _means(
            "false_pair",
            declared(g) & exists([a, p], feasible(a) & member(g, p) & ~violates(a, p)),
            "a collision is false unless everybody violates every member",
        ),
    ),
    (rules.necessity_dropped, _means("gratuitous", FALSE, "no violation is gratuitous")),
    (
        rules.necessity_of_the_claimed_action,
        _means(
            "gratuitous",
            av(p) & exists([a], word("keeps", a) & ~word("rule_1", a) & ~violates(a, p)),
            "necessity is asked of what the mask leaves",
        ),
    ),
    (
        rules.necessity_for_some_action,
        _means(
            "gratuitous",
            av(p) & exists([a], word("keeps", a)) & forall([b], word("keeps", b) >> ~violates(b, p)),
            "one action of A_ok makes a violation necessary",
        ),
    ),
    (
        rules.necessity_of_the_first_name,
        _means(
            "gratuitous",
            av(p) & forall([q], (av(q) & before_pref(q, p)) >> FALSE) & exists([a], word("keeps", a) & ~violates(a, p)),
            "only the first name must be necessary",
        ),
    ),
    (rules.necessity_ignores_preservations, _means("keeps", feasible(a), "A_ok is everything feasible")),
    (rules.collision_not_needed, _means("uncollided", FALSE, "no collision need be declared")),
    (rules.maintain_exempt, _means("unprecedented", FALSE, "MAINTAIN binds nothing")),
    (
        rules.maintain_binds_av_only,
        _means("unprecedented", maintain() & (~has_precedent() | ~_av_kept), "MAINTAIN binds AV alone"),
    ),
    (
        rules.maintain_frees_the_pairs,
        _means("unprecedented", maintain() & (~has_precedent() | ~_fields_kept), "MAINTAIN frees the collisions"),
    ),
    (rules.digest_ignored, _means("unlinked", FALSE, "any digest links")),
    (
        views.best_effort_bypass,
        _means("permitted", feasible(a) & ~word("forbidden", a), "without a compile everything is permitted"),
    ),
    (
        views.first_permitted_wins,
        _means(
            "permitted",
            word("compiles")
            & feasible(a)
            & ~word("forbidden", a)
            & forall([b], (feasible(b) & ~word("forbidden", b)) >> ~before_act(b, a)),
            "of several permitted actions the first by name",
        ),
    ),
    (
        views.selector_peeks_at_av,
        _means(
            "offered",
            word("permitted", a) & (exists([p], av(p)) | forall([b], word("permitted", b) >> ~before_act(b, a))),
            "everything if something is authorised, else the first",
        ),
    ),
    (
        views.selector_ignores_the_mask,
        _means("offered", feasible(a) & exists([b], word("permitted", b)), "whatever is feasible"),
    ),
    (views.gridlock_is_halt, _means("gridlock", FALSE, "there is no gridlock, only halts")),
)
"""The mutants that the theory can express, by the name of the executable one."""
