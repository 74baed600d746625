"""What decides in `markspace`: the claims that answer, in each system that stands for a policy."""

from __future__ import annotations

from evenhand.properties.profile import Asked, Aspect

__all__ = ["PROFILE"]

PROFILE = (
    Asked(Aspect.POSITION, "order_decides_nothing", note="who asks first"),
    Asked(Aspect.NAME, "names_decide_nothing"),
    Asked(Aspect.CONFIDENCE, "confidence_decides_nothing"),
    Asked(Aspect.DEADLOCK, "progress_p12"),
    Asked(Aspect.LIVELOCK, "asking_is_answered"),
)
