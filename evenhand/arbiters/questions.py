"""All questions, in the order in which they are asked."""

from __future__ import annotations

from evenhand.arbiters.identity import Identity
from evenhand.arbiters.question import Question
from evenhand.arbiters.single import Answered, Exclusion, History, Progress, Turns
from evenhand.arbiters.threads import ThreadTiming
from evenhand.arbiters.variants import AgentNames, Delivery, Exchange, Labels, Number, Repetition, Seats
from evenhand.arbiters.welfare import Monotonicity, Participation, Veto


def questions() -> tuple[Question, ...]:
    """Return every question, new for one examination, because some remember the plays that they saw."""
    return (
        Answered(),
        Repetition(),
        Identity(),
        Delivery(),
        Seats(),
        AgentNames(),
        Labels(),
        History(),
        Exclusion(),
        Participation(),
        Monotonicity(),
        Veto(),
        Progress(),
        Turns(),
        ThreadTiming(),
        Number(),
        Exchange(),
    )
