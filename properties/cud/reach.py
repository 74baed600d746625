"""Reachability: a kernel that does nothing keeps every safety claim, so each event must be seen to occur."""

from __future__ import annotations

from evenhand.core.property import reachable
from evenhand.model.cud.vocabulary import DONE, FAILURE, WRITE
from evenhand.properties.cud.liveness import is_deadlocked
from evenhand.properties.cud.predicates import (
    INVALID_CAPABILITY_CLAIM,
    MALFORMED_REQUEST,
    PASS_ONE,
    PASS_TWO,
    SCOPE_VIOLATION,
    RunStep,
    active_agents,
    facts,
    orphans,
)

ANY = ("run", "universe")


def _fault(step: RunStep, code: str) -> bool:
    return any([entry.fault == code for entry in step.shown.log])


@reachable("Something can be executed.", source="FQ29", systems=ANY)
def execution_happens(step: RunStep) -> bool:
    """The world changes and an agent is executed."""
    return bool(step.shown.effects) and any(token == DONE for _, token in step.shown.tokens)


@reachable("Two agents can both be executed in one epoch.", source="FQ29", systems=ANY)
def two_executions_happen(step: RunStep) -> bool:
    """Condition A."""
    return [token for _, token in step.shown.tokens].count(DONE) >= 2


@reachable("A request can be refused in pass 1.", source="FQ36", systems=ANY)
def pass_one_refusal_happens(step: RunStep) -> bool:
    """Condition D."""
    return any([entry.verdict == PASS_ONE for entry in step.shown.log])


@reachable("A request that has its capability can be refused by a veto alone.", source="FQ27", systems=("universe",))
def veto_happens(step: RunStep) -> bool:
    """The request is covered and vetoed, the log has a refusal in pass 1, and the agent gets the failure token."""
    if not any(entry.verdict == PASS_ONE for entry in step.shown.log):
        return False
    known = facts(step)
    return any(
        ask.standing.covered and ask.standing.vetoed and known.tokens.get(ask.agent) == FAILURE for ask in known.asks
    )


@reachable("Two agents can both be refused in pass 2.", source="FQ35", systems=ANY)
def mutual_refusal_happens(step: RunStep) -> bool:
    """Condition B."""
    return [entry.verdict for entry in step.shown.log].count(PASS_TWO) >= 2


@reachable("A reader and a writer can collide.", source="FQ10", systems=ANY)
def reader_and_writer_collide(step: RunStep) -> bool:
    """Both are refused in pass 2, and one of them reads."""
    types = [entry.request.action_type for entry in step.shown.log if entry.verdict == PASS_TWO]
    return WRITE in types and len(set(types)) == 2


@reachable("A request can be a MALFORMED_REQUEST fault.", source="C8", systems=ANY)
def malformed_happens(step: RunStep) -> bool:
    """Structural validation refuses a request."""
    return _fault(step, MALFORMED_REQUEST)


@reachable("A request can be an INVALID_CAPABILITY_CLAIM fault.", source="FQ33", systems=("universe",))
def foreign_citation_happens(step: RunStep) -> bool:
    """An agent cites an authority that it does not hold."""
    return _fault(step, INVALID_CAPABILITY_CLAIM)


@reachable("A request can be a SCOPE_VIOLATION fault.", source="C10", systems=ANY)
def scope_violation_happens(step: RunStep) -> bool:
    """An agent writes a key that it did not declare."""
    return _fault(step, SCOPE_VIOLATION)


@reachable("An agent can exit.", source="FQ24", systems=ANY)
def exit_happens(step: RunStep) -> bool:
    """One agent exits while others stay."""
    return bool(step.shown.exits) and len(active_agents(step.config, step.after)) > 0


@reachable("Everybody can exit.", source="F18", systems=ANY)
def collapse_happens(step: RunStep) -> bool:
    """Condition H."""
    return bool(step.shown.exits) and len(active_agents(step.config, step.after)) == 0


@reachable("A key can be orphaned.", source="FQ28", systems=ANY)
def orphaning_happens(step: RunStep) -> bool:
    """Some agents are left in the run."""
    return bool(step.shown.exits and active_agents(step.config, step.after) and orphans(step.config, step.after))


@reachable("A message can be delivered.", source="FQ21", systems=("run",))
def delivery_happens(step: RunStep) -> bool:
    """An agent receives a message."""
    return any(seen.messages for _, seen in step.shown.seen)


@reachable("An epoch can be a deadlock.", source="FQ32", systems=ANY)
def deadlock_happens(step: RunStep) -> bool:
    """Condition F."""
    return not any(token == DONE for _, token in step.shown.tokens) and is_deadlocked(step)
