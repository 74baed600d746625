"""The decision profile of `markspace`: the claims that answer, in each system that stands for a policy."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.properties.markspace.contesting import asking_is_answered, progress_p12
from evenhand.properties.markspace.deciding import (
    confidence_decides_nothing,
    names_decide_nothing,
    order_decides_nothing,
)

PROFILE = (
    ProfileQuestion(Aspect.POSITION, order_decides_nothing.name, note="who asks first"),
    ProfileQuestion(Aspect.NAME, names_decide_nothing.name),
    ProfileQuestion(Aspect.CONFIDENCE, confidence_decides_nothing.name),
    ProfileQuestion(Aspect.DEADLOCK, progress_p12.name),
    ProfileQuestion(Aspect.LIVELOCK, asking_is_answered.name),
)
