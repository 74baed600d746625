"""What decides in `sovereign`: the claims that answer."""

from __future__ import annotations

from evenhand.properties.profile import Asked, Aspect

__all__ = ["PROFILE"]

PROFILE = (
    Asked(Aspect.POSITION, "order_of_candidates_decides_nothing"),
    Asked(Aspect.POSITION, "order_of_observations_decides_nothing"),
    Asked(Aspect.NAME, "author_and_time_decide_nothing"),
    Asked(Aspect.TIME, "author_and_time_decide_nothing"),
    Asked(Aspect.CONTENT, "justifications_decide_nothing", note="the least hash of a bundle wins, texts and all"),
    Asked(Aspect.HISTORY, "decisions_depend_on_inputs_alone"),
    Asked(Aspect.DEADLOCK, "every_action_space_admits_something"),
    Asked(Aspect.LIVELOCK, "refusals_end_by_themselves"),
)
