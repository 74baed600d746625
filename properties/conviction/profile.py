"""The decision profile of `conviction`: the claim that answers each question."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.core.property import names
from evenhand.properties.conviction import points, reach, staking, ticking, winning

_RANKED = names(ticking.every_tick_comes_closer)

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
    ProfileQuestion(Aspect.CONFIDENCE, note="agents state none; what they stake, and for how long, is the value"),
    ProfileQuestion(
        Aspect.CONTENT, note="proposals are ranked by their stakes; a text sets only the price of its revision (14.1)"
    ),
    ProfileQuestion(
        Aspect.HISTORY,
        points.balances_persist.name,
        affirms=True,
        note="an agent stakes what earlier Issues left it",
    ),
    ProfileQuestion(Aspect.DEADLOCK, ticking.an_issue_can_be_finalized.name, steps=_RANKED),
    ProfileQuestion(Aspect.LIVELOCK, ticking.no_phase_goes_on_for_ever.name, steps=_RANKED),
    ProfileQuestion(Aspect.EXCLUSION, note="stakes of several agents add up; nobody holds what another is refused"),
)
