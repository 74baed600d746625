"""Guarantees of a compile: Rule 1's mask, true declarations, necessary authorisations."""

from __future__ import annotations

from evenhand.core.property import each_step
from evenhand.model.apcm.vocabulary import MAINTAIN, REVISE
from evenhand.properties.apcm.predicates import (
    ARTIFICIAL,
    ApcmStep,
    clean,
    compiles,
    facts,
    masks,
    published,
    said,
    submits,
)


def _some_permitted(step: ApcmStep) -> bool:
    return masks(step) and bool(step.shown.permitted)


def _some_authorised(step: ApcmStep) -> bool:
    return compiles(step) and bool(said(step).av)


@each_step(
    "The mask forbids exactly the feasible actions that violate a required preservation or something not authorised.",
    source="6.1",
    systems=ARTIFICIAL,
    when=masks,
)
def mask_forbids_exactly_rule_1(step: ApcmStep) -> bool:
    """Rule 1, literally."""
    known = said(step)
    wrong = {a for a, bad in known.violates.items() if bad & known.rp or bad - known.av}
    return set(step.shown.forbidden) == wrong


@each_step(
    "The permitted actions are the feasible ones that the mask does not forbid.",
    source="7",
    systems=ARTIFICIAL,
    when=masks,
)
def permitted_is_feasible_minus_forbidden(step: ApcmStep) -> bool:
    """Default allow, explicit forbid."""
    feasible = published(step).feasible
    return step.shown.permitted == tuple(sorted(set(feasible) - set(step.shown.forbidden)))


@each_step(
    "After a successful compile, every permitted action violates exactly the set that was authorised.",
    source="6.1, 6.4",
    systems=ARTIFICIAL,
    when=_some_permitted,
)
def permitted_violate_exactly_av(step: ApcmStep) -> bool:
    """All of AV, and nothing else."""
    known = said(step)
    return all([known.violates.get(a) == known.av for a in step.shown.permitted])


@each_step(
    "Where something is permitted, AV and RP have nothing in common, under either reading of their overlap.",
    source="3.1, 6.4",
    systems=ARTIFICIAL,
    when=_some_permitted,
)
def permitted_keeps_what_is_required(step: ApcmStep) -> bool:
    """An overlap compiles only into a gridlock."""
    known = said(step)
    return not known.av & known.rp


@each_step(
    "Where something is permitted, no feasible action violates less than what was authorised.",
    source="6.4",
    systems=ARTIFICIAL,
    when=_some_permitted,
)
def authorised_is_minimal(step: ApcmStep) -> bool:
    """Violations as the last resort."""
    known = said(step)
    return not any([bad < known.av for bad in known.violates.values()])


@each_step(
    "Each authorised violation is unavoidable: every feasible action that keeps the required preservations commits it.",
    source="6.4",
    systems=ARTIFICIAL,
    when=_some_authorised,
)
def authorised_violations_unavoidable(step: ApcmStep) -> bool:
    """Rule 1.5, step 2."""
    known = said(step)
    return all([known.av <= known.violates[a] for a in known.keepers])


@each_step(
    "Nothing is authorised unless a collision is declared.",
    source="6.4",
    systems=ARTIFICIAL,
    when=_some_authorised,
)
def authorised_only_in_collision(step: ApcmStep) -> bool:
    """Rule 1.5, step 1."""
    known = facts(step)
    return known is not None and bool(known.pairs)


@each_step(
    "Every feasible action violates a member of each declared collision.",
    source="6.2",
    systems=ARTIFICIAL,
    when=lambda step: compiles(step) and bool(said(step).pairs),
)
def declared_pairs_cover_every_feasible_action(step: ApcmStep) -> bool:
    """Rule 2: the definition of a collision."""
    known = said(step)
    return all([bool(bad.intersection(pair)) for pair in known.pairs for bad in known.violates.values()])


@each_step(
    "Beside a feasible action that violates nothing, what compiles authorises nothing and declares nothing.",
    source="6.2, 6.4, 10",
    systems=ARTIFICIAL,
    when=lambda step: compiles(step) and clean(said(step).violates),
)
def nothing_authorised_beside_a_clean_action(step: ApcmStep) -> bool:
    """Exactly what Rule 1.5 blocks in states without a conflict."""
    known = facts(step)
    return known is not None and not known.av and not known.pairs


@each_step(
    "Where no feasible action keeps the required preservations, whatever compiles is a gridlock.",
    source="6.4, 7",
    systems=ARTIFICIAL,
    when=lambda step: masks(step) and bool(said(step).violates) and not said(step).keepers,
)
def vacuous_necessity_gridlocks(step: ApcmStep) -> bool:
    """Any AV is then "necessary", and no action can use it."""
    return step.shown.gridlock and not step.shown.permitted


@each_step(
    "Under MAINTAIN, an artefact that compiles changes no field of the previous one.",
    source="6.3, 11.4",
    systems=("run", "conditions"),
    when=lambda step: compiles(step) and step.shown.mode == MAINTAIN,
)
def maintain_changes_no_field(step: ApcmStep) -> bool:
    """Rule 3; on the first step the previous artefact, if MAINTAIN may be used at all, is the empty one."""
    known = said(step)
    empty = not (known.av or known.rp or known.pairs)
    return empty if known.previous is None else known.equal is True


@each_step(
    "A revision is logged exactly where a well-formed artefact says REVISE.",
    source="6.3, 11.4",
    systems=ARTIFICIAL,
    when=submits,
)
def revisions_are_logged(step: ApcmStep) -> bool:
    """Whether the revision flag is set for REVISE alone, changed or not, compiled or not."""
    known = facts(step)
    expected = known is not None and known.mode == REVISE and step.shown.fields is not None
    return step.shown.revision == expected
