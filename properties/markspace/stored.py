"""What the space stores, and whom it finds contending: the positive half of writing, resolving, deciding and asking."""

from __future__ import annotations

from typing import TypeAlias

from evenhand.core.property import each_step
from evenhand.core.records import replace
from evenhand.model.markspace.exact import Amount, plain
from evenhand.model.markspace.marks import (
    MIN_STRENGTH,
    PRINCIPAL,
    Ask,
    Decide,
    Kind,
    Mark,
    Resolve,
    SpaceConfig,
    SpaceStep,
    Write,
)
from evenhand.properties.markspace.space_predicates import (
    ONLY,
    AskStep,
    DecideStep,
    ResolveStep,
    hidden_from,
    is_asked,
    strength,
    undone,
    writes,
)

Asking: TypeAlias = "AskStep | DecideStep"


def _due(step: SpaceStep, stored: int) -> Mark | None:
    """The mark that this operation stores under an id; None where the text lets it store none."""
    act = step.action
    match act:
        case Write():
            return Mark(stored, act.agent, act.draft)
        case Resolve():
            need = step.before.find(act.need)
            if need is None:
                return None
            return Mark(stored, PRINCIPAL, replace(need.draft, supersedes=need.id), resolved_by=act.action)
        case _:
            return None


@each_step(
    "The space grows by one mark exactly where the answer names an id: a write's own, as its author submitted it, now; "
    "or the copy of a need that the principal resolved, which names the action.",
    source="8.1, 8.3",
    systems=ONLY,
)
def space_holds_what_was_submitted(step: SpaceStep) -> bool:
    """Nothing else stores a mark."""
    added, stored = step.after.marks[len(step.before.marks) :], step.shown.stored
    return added == (() if stored is None else (_due(step, stored),))


@each_step(
    "A need that stands is resolved by an action mark (whose and where, the reading `resolver` says); what is no need, "
    "is resolved, or has no such action is refused with a reason.",
    source="8.3, 2.6",
    systems=ONLY,
    when=lambda step: isinstance(step.action, Resolve),
)
def needs_are_resolved_but_for_cause(step: ResolveStep) -> bool:
    """The text does not say whether an id that was resolved before may be resolved again: both are permitted."""
    before, act = step.before, step.action
    need, action = before.find(act.need), before.find(act.action)
    refused = step.shown.stored is None
    if refused != bool(step.shown.refused):
        return False
    if need is None or need.draft.kind is not Kind.NEED or need.resolved_by is not None:
        return refused
    if action is None or action.draft.kind is not Kind.ACTION:
        return refused
    theirs = action.agent == PRINCIPAL and action.draft.scope == need.draft.scope
    if step.config.readings.resolver == "action_of_the_principal" and not theirs:
        return refused
    return not refused or undone(step.config, before, need)


def _active(config: SpaceConfig, worth: Amount) -> bool:
    if config.readings.active_threshold == "min_strength":
        return plain(MIN_STRENGTH) <= worth
    return worth.sign > 0


def _on_the_resource(step: Asking, kind: Kind) -> list[Mark]:
    here = (step.action.scope, step.action.subject)
    marks = step.before.marks
    return [one for one in marks if one.draft.kind is kind and (one.draft.scope, one.draft.subject) == here]


def _claimants(step: Asking, asker: str) -> set[str]:
    """The other agents whose action claims the resource."""
    config = step.config
    return {
        one.agent
        for one in _on_the_resource(step, Kind.ACTION)
        if one.agent != asker
        and (not one.draft.failed or config.readings.failed_action == "claims")
        and strength(config, step.before, one).sign > 0
    }


@each_step(
    "Whoever decides looks at exactly the active intents on the resource that it may see; the guard looks at all of "
    "them, unless another agent's action claims the resource, whom it then names.",
    source="6.1 step 1, 7.4, 9.2 steps 2 and 4",
    systems=ONLY,
    when=is_asked,
)
def contenders_are_the_active_intents(step: Asking) -> bool:
    """An agent that may write no intent there is not answered."""
    config, shown, act = step.config, step.shown, step.action
    reader = act.reader if isinstance(act, Decide) else None
    none_named = shown.claimed_by is None
    if isinstance(act, Ask):
        if shown.refused or not writes(config, act.agent, act.scope, Kind.INTENT):
            return bool(shown.refused) and not writes(config, act.agent, act.scope, Kind.INTENT)
        claimants = _claimants(step, act.agent)
        if claimants:
            return shown.claimed_by in claimants and not shown.candidates and shown.winner is None
    due = [
        one
        for one in _on_the_resource(step, Kind.INTENT)
        if not hidden_from(config, reader, act.scope) and _active(config, strength(config, step.before, one))
    ]
    found = sorted(one.id for one in shown.candidates) == sorted(one.id for one in due)
    return none_named and not shown.refused and found and set(shown.candidates) == set(due)
