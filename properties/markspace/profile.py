"""What decides in `markspace`: the claims that answer, in each system that stands for a policy."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion

__all__ = ["PROFILE"]

PROFILE = (
    ProfileQuestion(Aspect.POSITION, "order_decides_nothing", note="who asks first"),
    ProfileQuestion(Aspect.NAME, "names_decide_nothing"),
    ProfileQuestion(Aspect.CONFIDENCE, "confidence_decides_nothing"),
    ProfileQuestion(Aspect.DEADLOCK, "progress_p12"),
    ProfileQuestion(Aspect.LIVELOCK, "asking_is_answered"),
)
