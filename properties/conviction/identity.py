"""Credentials, enrolment and assignment: who may act, and what the public record may contain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.core.property import each_step
from evenhand.model.conviction.vocabulary import ADMINISTRATOR, ENROLLED, SCHEDULER, Enrol, Event, Invite, Tick
from evenhand.properties.conviction.predicates import OPEN, RunStep, actor, seat_of


@each_step(
    "No action is accepted for an agent without that agent's credential.",
    source="1.2, 10.1",
    when=lambda step: not step.shown.rejected,
)
def actions_need_the_credential(step: RunStep) -> bool:
    """The administrator invites and the scheduler ticks with credentials of their own."""
    match step.action:
        case Tick(credential):
            return credential == SCHEDULER
        case Invite(_, credential):
            return credential == ADMINISTRATOR
        case _:
            agent = step.config.agent(step.action.agent)
            return agent is not None and step.action.credential == agent.credential


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:  # pyright: ignore
            yield from _texts(one)
    elif isinstance(value, Event):
        yield from (value.agent, value.proposal, value.reason, value.issue)
        yield from _texts(value.data)


@each_step("No public record contains a credential.", source="8.3, 18.4")
def no_record_holds_a_credential(step: RunStep) -> bool:
    """8.3 read literally publishes them: AuthorAgentID, the credential of the submitting agent."""
    secrets = {agent.credential for agent in step.config.agents}
    return secrets.isdisjoint(_texts(step.shown.events))


@each_step(
    "Only an agent that is enrolled and assigned to the open Issue takes part in it.",
    source="7.1, 7.2",
    when=lambda step: not step.shown.rejected and not isinstance(step.action, Tick | Invite | Enrol),
)
def only_the_assigned_take_part(step: RunStep) -> bool:
    """An Issue must be open, too."""
    issue = step.config.issues[step.before.issue]
    seat = seat_of(step.before, actor(step.action))
    return seat.standing == ENROLLED and seat.agent in issue.assigned and step.before.phase in OPEN
