"""The decision profile of `cud`: for each aspect, the claim that answers whether it decides."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.core.property import names
from evenhand.properties.cud import arbitration, liveness, safety

PROFILE = (
    ProfileQuestion(Aspect.POSITION, arbitration.order_independence.name),
    ProfileQuestion(Aspect.NAME, arbitration.equivariance.name),
    ProfileQuestion(Aspect.TIME, arbitration.epoch_independence.name),
    ProfileQuestion(Aspect.VALUE, arbitration.value_independence.name),
    ProfileQuestion(Aspect.HISTORY, arbitration.history_independence.name),
    ProfileQuestion(Aspect.CONFIDENCE, note="no request states a confidence"),
    ProfileQuestion(
        Aspect.CONTENT,
        note="the text decides by keys, operation and citations; the values are the question on value",
    ),
    ProfileQuestion(
        Aspect.DEADLOCK,
        liveness.deadlock_free.name,
        steps=names(liveness.deadlock_is_stable, liveness.whoever_may_act_completes_alone, arbitration.no_over_refusal),
    ),
    ProfileQuestion(
        Aspect.LIVELOCK,
        liveness.livelock_free.name,
        steps=names(liveness.collisions_need_rivals, liveness.rivals_collide_for_ever, arbitration.no_winner),
    ),
    ProfileQuestion(Aspect.EXCLUSION, safety.executed_never_interfere.name, note="of interfering requests"),
)
