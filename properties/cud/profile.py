"""The decision profile of `cud`: for each aspect, the claim that answers whether it decides."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.properties.cud import arbitration, liveness

PROFILE = (
    ProfileQuestion(Aspect.POSITION, arbitration.order_independence.name),
    ProfileQuestion(Aspect.NAME, arbitration.equivariance.name),
    ProfileQuestion(Aspect.TIME, arbitration.epoch_independence.name),
    ProfileQuestion(Aspect.VALUE, arbitration.value_independence.name),
    ProfileQuestion(Aspect.HISTORY, arbitration.history_independence.name),
    ProfileQuestion(Aspect.DEADLOCK, liveness.deadlock_free.name),
    ProfileQuestion(Aspect.LIVELOCK, liveness.livelock_free.name),
)
"""No question on confidence, which this kernel does not know; declared content decides by the text."""
