"""What decides in `apcm`: the claims that answer."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion

__all__ = ["PROFILE"]

PROFILE = (
    ProfileQuestion(Aspect.POSITION, "order_independence"),
    ProfileQuestion(Aspect.NAME, "equivariance"),
    ProfileQuestion(
        Aspect.CONTENT, "satisfies_decides_nothing", note="what actions satisfy; what they violate decides"
    ),
    ProfileQuestion(Aspect.DEADLOCK, "every_situation_can_be_justified"),
    ProfileQuestion(Aspect.LIVELOCK, "revising_for_ever_brings_news"),
)
"""A previous artefact decides by equality alone, which is neither a yes nor a no to whether history decides."""
