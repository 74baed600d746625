"""What decides in `apcm`: the claims that answer."""

from __future__ import annotations

from evenhand.properties.profile import Asked, Aspect

__all__ = ["PROFILE"]

PROFILE = (
    Asked(Aspect.POSITION, "order_independence"),
    Asked(Aspect.NAME, "equivariance"),
    Asked(Aspect.CONTENT, "satisfies_decides_nothing", note="what actions satisfy; what they violate decides"),
    Asked(Aspect.DEADLOCK, "every_situation_can_be_justified"),
    Asked(Aspect.LIVELOCK, "revising_for_ever_brings_news"),
)
"""A previous artefact decides by equality alone, which is neither a yes nor a no to whether history decides."""
