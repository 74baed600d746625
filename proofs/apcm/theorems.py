"""The theorems about one compile, each for any number of actions, preferences and declared collisions.

Those that do not need pairs are also stated for the repaired rules, under GENERAL: a collision may then have any
number of members above none.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from evenhand.model.apcm.mutants import inputs_and_views as views
from evenhand.model.apcm.mutants import rules
from evenhand.proofs.apcm.compiling import (
    ACT,
    FAULTS,
    GENERAL,
    PAIR,
    PREF,
    TEXT,
    av,
    declared,
    feasible,
    first,
    linked,
    maintain,
    member,
    old_av,
    old_declared,
    old_rp,
    rp,
    second,
    violates,
    word,
)
from evenhand.proofs.apcm.encoding import scene, view_general, view_text
from evenhand.proofs.apcm.samples import WORLDS, samples_in_groups
from evenhand.properties.apcm import compiling, conduct, deadlock, refusing
from evenhand.smt.logic import Formula, conjunction, differ, exists, forall, iff, variables
from evenhand.smt.theorem import Lemma, Theorem

usual, unseen = FAULTS.refuted, FAULTS.unseen
SCOPE = "any number of actions, preferences and collisions"
a, b, c = variables(ACT, "a b c")
p, q = variables(PREF, "p q")
g = PAIR("g")


_of_text = partial(
    Theorem, protocol="apcm", system="universe", theory=TEXT, view=view_text, realise=scene, samples=WORLDS, scope=SCOPE
)


def _repaired(theorem: Theorem) -> Theorem:
    """Return the theorem for the repaired rules."""
    return replace(
        theorem,
        name=f"{theorem.name}_repaired",
        system="repaired",
        theory=GENERAL,
        view=view_general,
        samples=samples_in_groups,
        mutants=(),
    )


MASK = _of_text(
    claim=compiling.mask_forbids_exactly_rule_1,
    variables=(a,),
    assumes=word("compiles"),
    goal=iff(word("forbidden", a), word("wrong", a)),
    witness=exists([a], word("forbidden", a)) & exists([b], word("permitted", b)),
    mutants=(
        *usual(rules.rule_1_dropped, rules.rule_1_inverted, rules.preservations_forbid_nothing),
        *usual(rules.violations_need_no_authority, rules.one_authority_covers_all),
        unseen(rules.necessity_dropped, "what compiles is masked by Rule 1 all the same"),
        unseen(rules.rule_2_dropped, "what compiles is masked by Rule 1 all the same"),
    ),
)

EXACTLY = _of_text(
    claim=compiling.permitted_violate_exactly_av,
    variables=(a, p),
    assumes=word("compiles") & word("permitted", a),
    goal=feasible(a) & iff(violates(a, p), av(p)),
    mutants=(
        *usual(rules.rule_1_dropped, rules.preservations_forbid_nothing, rules.violations_need_no_authority),
        *usual(rules.necessity_dropped, rules.necessity_for_some_action),
        unseen(rules.necessity_of_the_claimed_action, "the permitted actions are those it asks"),
        unseen(rules.rule_2_dropped, "a false collision changes no mask"),
        unseen(rules.collision_not_needed, "a missing collision changes no mask"),
    ),
)

KEPT = _of_text(
    claim=compiling.permitted_keeps_what_is_required,
    sentence="Where something is permitted, nothing is both authorised and required.",
    variables=(a, p),
    assumes=word("compiles") & word("permitted", a),
    goal=~(av(p) & rp(p)),
    mutants=(
        *usual(rules.rule_1_dropped, rules.preservations_forbid_nothing, rules.necessity_dropped),
        unseen(rules.rule_2_dropped, "a false collision changes no mask"),
    ),
)

MINIMAL = _of_text(
    claim=compiling.authorised_is_minimal,
    variables=(a, b),
    assumes=word("compiles") & word("permitted", a) & feasible(b),
    goal=~(forall([p], violates(b, p) >> av(p)) & exists([q], av(q) & ~violates(b, q))),
    mutants=(
        *usual(rules.necessity_dropped, rules.necessity_for_some_action, rules.preservations_forbid_nothing),
        unseen(rules.necessity_of_the_claimed_action, "whoever violates less is among those the mask leaves"),
        unseen(rules.violations_need_no_authority, "whoever violates less keeps RP and would make AV gratuitous"),
    ),
)

UNAVOIDABLE = _of_text(
    claim=compiling.authorised_violations_unavoidable,
    variables=(a, p),
    assumes=word("compiles") & av(p) & word("keeping", a),
    goal=violates(a, p),
    mutants=(
        *usual(rules.necessity_dropped, rules.necessity_of_the_claimed_action, rules.necessity_for_some_action),
        *usual(rules.necessity_inverted),
        unseen(rules.rule_1_dropped, "the mask has no part in necessity"),
    ),
)

COLLISION = _of_text(
    claim=compiling.authorised_only_in_collision,
    variables=(p,),
    assumes=word("compiles") & av(p),
    goal=exists([g], declared(g)),
    mutants=(*usual(rules.collision_not_needed), unseen(rules.rule_2_dropped, "it may then be a false one")),
)

COVER = _of_text(
    claim=compiling.declared_pairs_cover_every_feasible_action,
    variables=(a, g),
    assumes=word("compiles") & declared(g) & feasible(a),
    goal=exists([p], member(g, p) & violates(a, p)),
    mutants=(
        *usual(rules.rule_2_dropped, rules.rule_2_for_some_action),
        *usual(rules.rule_2_inverted, rules.rule_2_of_the_claimed_action),
        unseen(rules.rule_2_asks_for_both, "it asks for more"),
        unseen(rules.collision_not_needed, "nothing need be declared, but what is must be true"),
    ),
)

CLEAN = _of_text(
    claim=compiling.nothing_authorised_beside_a_clean_action,
    variables=(a, p, g),
    assumes=word("compiles") & word("clean", a),
    goal=~av(p) & ~declared(g),
    mutants=(
        *usual(rules.rule_2_dropped, rules.rule_2_for_some_action),
        unseen(rules.necessity_dropped, "Rule 2 refuses every collision there, and step 1 asks for one"),
        unseen(rules.collision_not_needed, "necessity refuses every violation there"),
    ),
)

VACUOUS = _of_text(
    claim=compiling.vacuous_necessity_gridlocks,
    assumes=word("compiles") & exists([b], feasible(b)) & forall([a], ~word("keeping", a)),
    goal=word("gridlock") & forall([a], ~word("permitted", a)),
    witness=exists([p], av(p)),
    mutants=(
        *usual(rules.rule_1_dropped, rules.preservations_forbid_nothing, views.gridlock_is_halt),
        unseen(rules.violations_need_no_authority, "required preservations forbid them all"),
    ),
)

GRIDLOCK = _of_text(
    claim=refusing.gridlock_iff_all_forbidden,
    assumes=exists([b], feasible(b)),
    goal=iff(word("gridlock"), word("compiles") & forall([a], feasible(a) >> word("forbidden", a))),
    mutants=(
        *usual(views.gridlock_is_halt, views.halt_not_logged),
        unseen(rules.rule_1_dropped, "nothing forbidden is no gridlock"),
    ),
)

GATED = _of_text(
    claim=conduct.conflicts_are_gated,
    sentence="Of two feasible actions that violate different sets at most one is permitted, and nothing infeasible is.",
    variables=(a, b, p),
    assumes=feasible(a) & feasible(b) & violates(a, p) & ~violates(b, p),
    goal=~(word("permitted", a) & word("permitted", b)) & forall([c], word("permitted", c) >> feasible(c)),
    mutants=(
        *usual(
            rules.rule_1_dropped, views.best_effort_bypass, rules.violations_need_no_authority, rules.necessity_dropped
        ),
        *usual(views.mask_of_the_inventory),
        unseen(rules.rule_2_dropped, "a false collision changes no mask"),
    ),
)

EMPTY_MASK = _of_text(
    claim=conduct.mask_is_empty_only_without_a_choice,
    sentence="The mask forbids nothing exactly where every feasible action violates just AV, and AV keeps RP.",
    assumes=word("compiles"),
    goal=iff(
        forall([a], ~word("forbidden", a)),
        forall([a], feasible(a) >> (word("exactly", a) & forall([p], violates(a, p) >> ~rp(p)))),
    ),
    mutants=(
        *usual(rules.rule_1_dropped, rules.necessity_dropped, rules.preservations_forbid_nothing),
        unseen(rules.rule_2_dropped, "a false collision changes no mask"),
    ),
)

NEEDS_COVER = _of_text(
    claim=deadlock.permitted_needs_a_covering_collision,
    variables=(a,),
    assumes=word("compiles") & word("permitted", a) & forall([b], ~word("clean", b)),
    goal=exists([g], declared(g) & word("covers", g)),
    mutants=(
        *usual(rules.rule_2_dropped, rules.rule_2_for_some_action, rules.collision_not_needed),
        unseen(rules.necessity_of_the_claimed_action, "a collision is declared and true all the same"),
    ),
)
_some_clean = exists([b], word("clean", b))
_some_cover = exists([g], declared(g) & word("covers", g))
_met = violates(b, first(g)) | violates(b, second(g))
BLOCKED = _of_text(
    claim=deadlock.blocked_situations_permit_nothing,
    variables=(a,),
    assumes=~_some_clean & forall([p, q], differ(p, q) >> exists([b], feasible(b) & ~violates(b, p) & ~violates(b, q))),
    goal=~word("permitted", a),
    needs=("collisions_are_pairs",),
    witness=exists([b], feasible(b)) & word("compiles"),
    lemmas=(
        Lemma("a_collision_covers", forall([a], word("permitted", a) >> (_some_clean | _some_cover))),
        Lemma("two_are_met", forall([g, b], (word("covers", g) & feasible(b)) >> _met)),
    ),
    opaque=("permitted", "clean", "covers"),
    mutants=(
        *usual(rules.rule_2_dropped, rules.rule_2_for_some_action, rules.collision_not_needed),
        unseen(rules.necessity_dropped, "a collision is declared and true all the same"),
    ),
)


def _complete(declaring: Formula) -> Formula:
    """Return that the artefact is complete: AV the violations of a minimal action, RP the rest, `declaring` holds."""
    return conjunction(
        [
            word("minimal", a),
            linked(),
            ~maintain(),
            forall([p], iff(av(p), violates(a, p)) & iff(rp(p), ~violates(a, p))),
            declaring,
        ]
    )


_permits_its_likes = word("compiles") & forall([b], iff(word("permitted", b), feasible(b) & word("exactly", b)))

COMPLETE = _of_text(
    claim=deadlock.complete_artifact_permits,
    variables=(a,),
    assumes=_complete(forall([g], declared(g) >> word("covers", g)) & (exists([q], av(q)) >> exists([g], declared(g)))),
    goal=_permits_its_likes,
    witness=exists([q], av(q)),
    mutants=(
        *usual(rules.rule_2_asks_for_both, rules.necessity_ignores_preservations, rules.rule_1_inverted),
        *usual(rules.collision_always_needed),
        unseen(rules.rule_2_dropped, "what is declared is true"),
        unseen(rules.necessity_dropped, "what is authorised is necessary"),
    ),
)

WHOLE = _of_text(
    claim=deadlock.whole_registry_always_permits,
    system="repaired",
    theory=GENERAL,
    variables=(a,),
    assumes=_complete(exists([q], av(q)) & exists([g], declared(g)) & forall([g, p], declared(g) >> member(g, p))),
    goal=_permits_its_likes & word("permitted", a),
    view=view_general,
    samples=samples_in_groups,
    mutants=(
        *usual(rules.rule_2_asks_for_both, rules.necessity_ignores_preservations, rules.rule_1_inverted),
        unseen(rules.rule_2_dropped, "what is declared is true"),
    ),
)

MAINTAINED = _of_text(
    claim=compiling.maintain_changes_no_field,
    system="run",
    assumes=word("compiles") & maintain(),
    goal=conjunction(
        [forall([p], iff(av(p), old_av(p)) & iff(rp(p), old_rp(p))), forall([g], iff(declared(g), old_declared(g)))]
    ),
    witness=exists([p], av(p)),
    mutants=(
        *usual(rules.maintain_exempt, rules.maintain_binds_av_only, rules.maintain_frees_the_pairs),
        unseen(rules.digest_ignored, "the fields are compared, not the digest"),
        unseen(rules.rule_2_dropped, "another rule"),
    ),
)

REPAIRED = tuple(
    _repaired(theorem)
    for theorem in (MASK, EXACTLY, KEPT, MINIMAL, UNAVOIDABLE, COLLISION, COVER, CLEAN, VACUOUS, GRIDLOCK, NEEDS_COVER)
)
"""Those that need no pairs, for the repaired rules."""
