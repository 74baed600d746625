"""The decision profile of `apcm`: for each aspect, the claim that answers whether it decides."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.properties.apcm.blindness import equivariance, order_independence, satisfies_decides_nothing
from evenhand.properties.apcm.deadlock import every_situation_can_be_justified, revising_for_ever_brings_news

PROFILE = (
    ProfileQuestion(Aspect.POSITION, order_independence.name),
    ProfileQuestion(Aspect.NAME, equivariance.name),
    ProfileQuestion(
        Aspect.CONTENT, satisfies_decides_nothing.name, note="what actions satisfy; what they violate decides"
    ),
    ProfileQuestion(Aspect.DEADLOCK, every_situation_can_be_justified.name),
    ProfileQuestion(Aspect.LIVELOCK, revising_for_ever_brings_news.name),
)
"""No question on history: a previous artefact decides by equality alone, which is neither a yes nor a no."""
