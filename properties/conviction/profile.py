"""What decides in `conviction`: the claims that answer."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion

__all__ = ["PROFILE"]

PROFILE = (
    ProfileQuestion(Aspect.POSITION, "actions_of_two_agents_commute", note="inside one tick"),
    ProfileQuestion(Aspect.NAME, "names_decide_nothing"),
    ProfileQuestion(Aspect.TIME, "time_decides", note="among proposals of equal score"),
    ProfileQuestion(
        Aspect.VALUE, "the_highest_score_wins", affirms=True, note="points staked, weighted by how long they stay"
    ),
    ProfileQuestion(Aspect.DEADLOCK, "an_issue_can_be_finalized"),
    ProfileQuestion(Aspect.LIVELOCK, "no_phase_goes_on_for_ever"),
)
