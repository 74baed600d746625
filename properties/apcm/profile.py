"""The decision profile of `apcm`: for each aspect, the claim that answers whether it decides."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.core.property import names
from evenhand.properties.apcm import compiling, deadlock, reach
from evenhand.properties.apcm.blindness import equivariance, order_independence, satisfies_decides_nothing

PROFILE = (
    ProfileQuestion(Aspect.POSITION, order_independence.name),
    ProfileQuestion(Aspect.NAME, equivariance.name),
    ProfileQuestion(
        Aspect.CONTENT, satisfies_decides_nothing.name, note="what actions satisfy; what they violate decides"
    ),
    ProfileQuestion(Aspect.TIME, note="artefacts, violation sets and compiler know no instant"),
    ProfileQuestion(Aspect.VALUE, note="a preference is a name without a number, so none outweighs another"),
    ProfileQuestion(Aspect.CONFIDENCE, note="no artefact states a confidence"),
    ProfileQuestion(
        Aspect.HISTORY,
        next(one.name for one in reach.CODES if "precedent" in one.name),
        note="under MAINTAIN, by equality with the previous artefact alone",
    ),
    ProfileQuestion(
        Aspect.DEADLOCK,
        deadlock.every_situation_can_be_justified.name,
        steps=names(
            deadlock.blocked_situations_permit_nothing,
            deadlock.permitted_needs_a_covering_collision,
            deadlock.complete_artifact_permits,
            deadlock.whole_registry_always_permits,
            deadlock.some_artifact_permits_unless_blocked,
        ),
    ),
    ProfileQuestion(
        Aspect.LIVELOCK,
        deadlock.revising_for_ever_brings_news.name,
        steps=names(compiling.maintain_changes_no_field),
    ),
    ProfileQuestion(Aspect.EXCLUSION, note="one agent acts, and holds nothing that another could hold"),
)
