"""The decision profile of `markspace`: the claims that answer, in each system that stands for a policy."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.core.property import names
from evenhand.properties.markspace.contesting import (
    asking_is_answered,
    exclusion_within_the_lease,
    mutual_exclusion,
    one_winner_per_boundary,
    progress_p12,
)
from evenhand.properties.markspace.deciding import (
    confidence_decides_nothing,
    names_decide_nothing,
    order_decides_nothing,
)
from evenhand.properties.markspace.guarding import (
    action_precedence_p39,
    policy_decides_as_written,
    refusals_name_their_cause,
    uncontested_is_allowed,
)

PROFILE = (
    ProfileQuestion(Aspect.POSITION, order_decides_nothing.name, note="who asks first"),
    ProfileQuestion(Aspect.NAME, names_decide_nothing.name),
    ProfileQuestion(Aspect.CONFIDENCE, confidence_decides_nothing.name),
    ProfileQuestion(
        Aspect.TIME, policy_decides_as_written.name, affirms=True, note="the earliest intent wins, or wins the ties"
    ),
    ProfileQuestion(Aspect.VALUE, note="an intent carries no amount but its confidence"),
    ProfileQuestion(Aspect.CONTENT, note="the guard reads of an intent who, on what, when and how sure, not for what"),
    ProfileQuestion(
        Aspect.HISTORY, action_precedence_p39.name, affirms=True, note="an action claims its resource for good"
    ),
    ProfileQuestion(Aspect.DEADLOCK, progress_p12.name, steps=names(uncontested_is_allowed)),
    ProfileQuestion(Aspect.LIVELOCK, asking_is_answered.name, steps=names(refusals_name_their_cause)),
    ProfileQuestion(Aspect.EXCLUSION, mutual_exclusion.name, note="of tool calls"),
    ProfileQuestion(
        Aspect.EXCLUSION,
        exclusion_within_the_lease.name,
        note="of tool calls within their leases",
        steps=names(one_winner_per_boundary),
    ),
)
