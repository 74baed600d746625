"""The decision profile of `conviction`: the claim that answers each question."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.properties.conviction import reach, staking, ticking, winning

PROFILE = (
    ProfileQuestion(Aspect.POSITION, staking.actions_of_two_agents_commute.name, note="inside one tick"),
    ProfileQuestion(Aspect.NAME, winning.names_decide_nothing.name),
    ProfileQuestion(Aspect.TIME, reach.time_decides.name, note="among proposals of equal score"),
    ProfileQuestion(
        Aspect.VALUE,
        winning.the_highest_score_wins.name,
        affirms=True,
        note="points staked, weighted by how long they stay",
    ),
    ProfileQuestion(Aspect.DEADLOCK, ticking.an_issue_can_be_finalized.name),
    ProfileQuestion(Aspect.LIVELOCK, ticking.no_phase_goes_on_for_ever.name),
)
