"""The visibility of marks: open, protected and classified scopes, projections, hierarchy (P20 to P25, §7.4)."""

from __future__ import annotations

from dataclasses import fields
from typing import TypeGuard

from evenhand.core.property import each_step
from evenhand.core.records import replace
from evenhand.model.markspace.marks import Draft, Kind, SpaceStep, Visibility
from evenhand.properties.markspace.space_predicates import (
    ONLY,
    ReadStep,
    alike_below,
    answer,
    below,
    hidden_from,
    is_cleared,
    is_read,
    marks_shown,
    marks_there,
    strength,
    view_of,
)


def _reads(step: SpaceStep, *views: Visibility) -> TypeGuard[ReadStep]:
    """A read whose scopes all share one of these visibilities and one clearance."""
    return is_read(step) and alike_below(step) and view_of(step) in views


def _reads_structure(step: SpaceStep) -> bool:
    return _reads(step, *Visibility) and (step.action.reader is None or view_of(step) is not Visibility.CLASSIFIED)


@each_step(
    "In an open scope every reader sees full marks, in a protected one every mark; infrastructure sees full marks "
    "everywhere.",
    source="P20",
    systems=ONLY,
    when=_reads_structure,
)
def structural_visibility_p20(step: ReadStep) -> bool:
    """All live marks are shown, and in full where nothing is protected."""
    full = step.action.reader is None or view_of(step) is Visibility.OPEN
    return marks_shown(step) == marks_there(step) and not (full and any(seen.projected for seen in answer(step)))


@each_step(
    "In a protected scope content is seen by authorised readers alone; others get projections.",
    source="P21",
    systems=ONLY,
    when=lambda step: _reads(step, Visibility.PROTECTED),
)
def content_access_p21(step: ReadStep) -> bool:
    """Both directions are checked.  The question of a need is content (§7.4)."""
    if is_cleared(step):
        return not any(seen.projected for seen in answer(step))
    return all(
        seen.projected
        and not seen.mark.draft.content
        and not (seen.mark.draft.kind is Kind.NEED and seen.mark.draft.subject)
        for seen in answer(step)
    )


@each_step(
    "In a classified scope an unauthorised reader gets an empty result.",
    source="P22",
    systems=ONLY,
    when=lambda step: _reads(step, Visibility.CLASSIFIED) and not is_cleared(step),
)
def classified_opacity_p22(step: ReadStep) -> bool:
    """The answer is empty."""
    return answer(step) == ()


def _uncleared_below(step: SpaceStep) -> bool:
    """Whether a scope at or below the one asked for is classified and the reader not cleared for it."""
    if not is_read(step):
        return False
    reached = {mark.draft.scope for mark in step.before.marks if below(step.action.scope, mark.draft.scope)}
    return any(hidden_from(step.config, step.action.reader, scope) for scope in reached)


@each_step(
    "No read shows an uncleared reader a mark of a classified scope, whichever scope it asks for.",
    source="P22, P26, 7.4, 7.5",
    systems=ONLY,
    when=_uncleared_below,
)
def classified_marks_stay_hidden(step: ReadStep) -> bool:
    """P22 where a read of an open scope reaches a classified one below it."""
    return not any(hidden_from(step.config, step.action.reader, seen.mark.draft.scope) for seen in answer(step))


@each_step(
    "A read shows the live marks that it covers and that are not hidden from the reader, as they are stored, with the "
    "strength that is left of them; a projection lacks the content.",
    source="8.2, 7.4, P24",
    systems=ONLY,
    when=is_read,
)
def reads_show_what_is_stored(step: ReadStep) -> bool:
    """Whoever reads, and whichever scopes the read reaches; what else a projection keeps is claimed below."""
    there = [step.before.find(number) for number in marks_there(step)]
    scopes = {one.id: one.draft.scope for one in there if one is not None}
    hidden = {one for one, scope in scopes.items() if hidden_from(step.config, step.action.reader, scope)}
    if marks_shown(step) != marks_there(step) - hidden:
        return False
    for seen in answer(step):
        stored = step.before.find(seen.mark.id)
        if stored is None or seen.strength != strength(step.config, step.before, stored):
            return False
        if seen.mark.draft.content if seen.projected else seen.mark != stored:
            return False
    return True


STRUCTURE = tuple(field.name for field in fields(Draft) if field.name != "content")


@each_step(
    "A projection keeps every structural and coordination field and says that it is one.",
    source="P24",
    systems=ONLY,
    when=lambda step: is_read(step) and any(seen.projected for seen in answer(step)),
)
def projection_preservation_p24(step: ReadStep) -> bool:
    """Only the content is redacted."""
    for seen in answer(step):
        stored = step.before.find(seen.mark.id)
        if stored is None or replace(stored, draft=seen.mark.draft) != seen.mark:
            return False
        kept = [
            name for name in STRUCTURE if not (name == "subject" and stored.draft.kind is Kind.NEED and seen.projected)
        ]
        if any(getattr(stored.draft, name) != getattr(seen.mark.draft, name) for name in kept):
            return False
    return True


@each_step(
    "A classified scope never falls back to projections.",
    source="P25",
    systems=ONLY,
    when=lambda step: _reads(step, Visibility.CLASSIFIED),
)
def classified_no_fallback_p25(step: ReadStep) -> bool:
    """No reader gets a projection, cleared or not."""
    return not any(seen.projected for seen in answer(step))
