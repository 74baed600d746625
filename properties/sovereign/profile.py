"""The decision profile of `sovereign`: for each aspect, the claim that answers whether it decides."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.core.property import names
from evenhand.properties.sovereign.deciding import acts_iff_something_is_admissible, decisions_depend_on_inputs_alone
from evenhand.properties.sovereign.executing import an_effect_spends_an_issued_warrant
from evenhand.properties.sovereign.selecting import (
    author_and_time_decide_nothing,
    justifications_decide_nothing,
    more_candidates_never_stop_an_action,
    order_of_candidates_decides_nothing,
    order_of_observations_decides_nothing,
)
from evenhand.properties.sovereign.stopping import (
    conditions_abort_after_so_many_refusals,
    every_action_space_admits_something,
    refusals_end_by_themselves,
)

PROFILE = (
    ProfileQuestion(Aspect.POSITION, order_of_candidates_decides_nothing.name),
    ProfileQuestion(Aspect.POSITION, order_of_observations_decides_nothing.name),
    ProfileQuestion(Aspect.NAME, author_and_time_decide_nothing.name),
    ProfileQuestion(Aspect.TIME, author_and_time_decide_nothing.name),
    ProfileQuestion(
        Aspect.CONTENT, justifications_decide_nothing.name, note="the least hash of a bundle wins, texts and all"
    ),
    ProfileQuestion(Aspect.HISTORY, decisions_depend_on_inputs_alone.name),
    ProfileQuestion(Aspect.VALUE, note="a candidate carries no amount; tokens spent stop all candidates alike"),
    ProfileQuestion(Aspect.CONFIDENCE, note="no candidate states a confidence"),
    ProfileQuestion(
        Aspect.DEADLOCK,
        every_action_space_admits_something.name,
        steps=names(acts_iff_something_is_admissible, more_candidates_never_stop_an_action),
    ),
    ProfileQuestion(
        Aspect.LIVELOCK, refusals_end_by_themselves.name, steps=names(conditions_abort_after_so_many_refusals)
    ),
    ProfileQuestion(Aspect.EXCLUSION, an_effect_spends_an_issued_warrant.name, note="one effect for one warrant"),
)
