"""Isolation, and the three visibilities, in a hierarchy of scopes of any size (P19 to P22, P25).

The theories are those of `scopes`: a write is stored where a grant covers it, and one definition governs each read.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from evenhand.model.markspace.marks import SpaceStep
from evenhand.model.markspace.mutants import marks
from evenhand.proofs.markspace import scopes
from evenhand.proofs.markspace.scopes import READING, WRITING, above, asked, granted
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace import seeing, space
from evenhand.smt import logic as fol
from evenhand.smt.preludes import define, mutation
from evenhand.smt.structure import Structure
from evenhand.smt.tables import prop

(p,) = fol.variables(scopes.PLACE, "p")
STORING = replace(
    WRITING,
    name="markspace_isolation",
    definitions=(
        *WRITING.definitions,
        define("stored", (), WRITING.word("accepted"), "8.1: a write is stored or refused"),
    ),
)


def view_storing(step: SpaceStep) -> Structure | None:
    """Return a draft as `scopes.view_writing` does, with whether the space changed."""
    found = scopes.view_writing(step)
    if found is None:
        return None
    return replace(found, relations={**found.relations, "stored": prop(step.after != step.before)})


_covered = fol.exists([p], granted(p) & above(p, asked()))

ISOLATED = theorem(
    claim=space.scope_isolation_p19,
    system="space",
    scope="any number of scopes and grants",
    theory=STORING,
    view=view_storing,
    samples=scopes.samples_of_writing,
    assumes=~_covered,
    goal=~STORING.word("accepted") & ~STORING.word("stored"),
    witness=fol.exists([p], granted(p)),
    mutants=(
        mutation(STORING, marks.scopes_compared_as_text, scopes.BY_NAME),
        mutation(STORING, marks.everybody_writes, {"accepted": fol.TRUE}),
        mutation(STORING, marks.any_kind_will_do, scopes.ANY_KIND),
        mutation(STORING, marks.no_inheritance, scopes.EXACTLY, "it refuses more than it should"),
    ),
)
"""P19."""

_open, _classified = scopes.SHOWN, scopes.HIDDEN
_protected = ~_open & ~_classified
_cleared = scopes.clear(asked())
_all, _none, _projections = (READING.word(name) for name in ("sees_all", "sees_none", "sees_projections"))
_read = partial(
    theorem,
    system="space",
    scope="any number of scopes, clearances and definitions",
    theory=READING,
    view=scopes.view_reading,
    samples=scopes.samples_of_reading,
)

SHOWN = _read(
    claim=seeing.structural_visibility_p20,
    sentence="Where an open definition governs, every agent sees the marks in full; where a protected one does, every "
    "agent sees every mark.",
    goal=(_open >> _all) & (_protected >> ~_none),
    witness=_protected & ~_cleared,
    mutants=(
        mutation(READING, marks.open_is_protected, scopes.OVERPROTECTED),
        mutation(READING, marks.root_governs, scopes.ROOTED),
        mutation(READING, marks.protected_is_open, scopes.UNPROTECTED, "it shows more than it should"),
    ),
)
"""P20, for agents; infrastructure has no clearance to be asked for."""

REDACTING = replace(
    READING,
    name="markspace_projections",
    definitions=(*READING.definitions, define("redacted", (), _projections, "7.4: a projection has no content")),
)


def view_redacting(step: SpaceStep) -> Structure | None:
    """Return a read as `scopes.view_reading` does, with whether marks are shown and none with content."""
    found, seen = scopes.view_reading(step), step.shown.seen
    if found is None:
        return None
    redacted = bool(seen) and not any(one.mark.draft.content for one in seen or ())
    return replace(found, relations={**found.relations, "redacted": prop(redacted)})


CONTENT = _read(
    theory=REDACTING,
    view=view_redacting,
    claim=seeing.content_access_p21,
    sentence="Where a protected definition governs, no cleared agent gets projections, and others see none but those, "
    "without content.",
    assumes=_protected,
    goal=(_cleared >> ~_projections) & (~_cleared >> (~_all & (_projections >> REDACTING.word("redacted")))),
    witness=_cleared,
    mutants=(
        mutation(REDACTING, marks.nothing_redacted, {"redacted": fol.FALSE}),
        mutation(REDACTING, marks.protected_is_open, scopes.UNPROTECTED),
        mutation(REDACTING, marks.clearance_not_inherited, scopes.NOT_INHERITED),
        mutation(REDACTING, marks.undefined_scopes_are_open, scopes.UNDEFINED_OPEN),
        mutation(REDACTING, marks.classified_falls_back, scopes.FALLS_BACK, "nothing here is classified"),
    ),
)
"""P21."""

OPAQUE = _read(
    claim=seeing.classified_opacity_p22,
    assumes=_classified & ~_cleared,
    goal=_none,
    needs=("of_one_visibility", "above_is_no_circle"),
    mutants=(
        mutation(READING, marks.classified_falls_back, scopes.FALLS_BACK),
        mutation(READING, marks.undefined_scopes_are_open, scopes.UNDEFINED_OPEN),
        mutation(READING, marks.root_governs, scopes.ROOTED),
        mutation(READING, marks.protected_is_open, scopes.UNPROTECTED, "nothing here is protected"),
    ),
)
"""P22."""

UNPROJECTED = _read(
    claim=seeing.classified_no_fallback_p25,
    assumes=_classified,
    goal=~_projections,
    witness=_cleared,
    mutants=(
        mutation(READING, marks.classified_falls_back, scopes.FALLS_BACK),
        mutation(READING, marks.root_governs, scopes.ROOTED),
        mutation(READING, marks.undefined_scopes_are_open, scopes.UNDEFINED_OPEN, "what is open is no projection"),
    ),
)
"""P25."""
