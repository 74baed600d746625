"""What decides in `conviction`: the claims that answer."""

from __future__ import annotations

from evenhand.properties.profile import Asked, Aspect

__all__ = ["PROFILE"]

PROFILE = (
    Asked(Aspect.POSITION, "actions_of_two_agents_commute", note="inside one tick"),
    Asked(Aspect.NAME, "names_decide_nothing"),
    Asked(Aspect.TIME, "time_decides", note="among proposals of equal score"),
    Asked(Aspect.VALUE, "the_highest_score_wins", affirms=True, note="points staked, weighted by how long they stay"),
    Asked(Aspect.DEADLOCK, "an_issue_can_be_finalized"),
    Asked(Aspect.LIVELOCK, "no_phase_goes_on_for_ever"),
)
