"""All questions, in the order in which they are asked."""

from __future__ import annotations

from evenhand.arbiters.identity import Identity
from evenhand.arbiters.question import Question
from evenhand.arbiters.single import Answered, Exclusion, History, OwnRule, Progress, Restored, Turns
from evenhand.arbiters.threads import ThreadTiming
from evenhand.arbiters.variants import AgentNames, Asking, Delivery, Exchange, Labels, Number, Repetition, Seats
from evenhand.arbiters.welfare import Monotonicity, Participation, Veto


def questions() -> tuple[Question, ...]:
    """Return every question, new for one examination, because some remember the plays that they saw."""
    return (
        Answered(),
        Repetition(),
        Identity(),
        Delivery(),
        Asking(),
        Seats(),
        AgentNames(),
        Labels(),
        History(),
        OwnRule(),
        Exclusion(),
        Participation(),
        Monotonicity(),
        Veto(),
        Progress(),
        Turns(),
        ThreadTiming(),
        Number(),
        Exchange(),
        Restored(),
    )
