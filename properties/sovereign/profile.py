"""What decides in `sovereign`: the claims that answer."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion

__all__ = ["PROFILE"]

PROFILE = (
    ProfileQuestion(Aspect.POSITION, "order_of_candidates_decides_nothing"),
    ProfileQuestion(Aspect.POSITION, "order_of_observations_decides_nothing"),
    ProfileQuestion(Aspect.NAME, "author_and_time_decide_nothing"),
    ProfileQuestion(Aspect.TIME, "author_and_time_decide_nothing"),
    ProfileQuestion(
        Aspect.CONTENT, "justifications_decide_nothing", note="the least hash of a bundle wins, texts and all"
    ),
    ProfileQuestion(Aspect.HISTORY, "decisions_depend_on_inputs_alone"),
    ProfileQuestion(Aspect.DEADLOCK, "every_action_space_admits_something"),
    ProfileQuestion(Aspect.LIVELOCK, "refusals_end_by_themselves"),
)
