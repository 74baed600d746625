"""The predicates of the claims about the space: authorised, visible, superseded, strength.

They share only vocabulary and the arithmetic of amounts with the model, and call none of its rules.  A claim about one
kind of step takes that step's type (`ReadStep`, …), because its antecedent excludes all others.
"""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

from evenhand.core.system import Step
from evenhand.model.markspace.exact import ZERO, Amount, decayed, plain, total
from evenhand.model.markspace.marks import (
    MIN_STRENGTH,
    PRINCIPAL,
    Agent,
    Ask,
    Decide,
    Kind,
    Mark,
    Needs,
    Read,
    Reply,
    Resolve,
    ScopeDef,
    Seen,
    Source,
    Space,
    SpaceConfig,
    SpaceStep,
    Visibility,
    Write,
)
from evenhand.properties.markspace.predicates import there

ONLY = ("space",)

AskStep: TypeAlias = Step[SpaceConfig, Space, Ask, Reply]
DecideStep: TypeAlias = Step[SpaceConfig, Space, Decide, Reply]
NeedsStep: TypeAlias = Step[SpaceConfig, Space, Needs, Reply]
ReadStep: TypeAlias = Step[SpaceConfig, Space, Read, Reply]
ResolveStep: TypeAlias = Step[SpaceConfig, Space, Resolve, Reply]
WriteStep: TypeAlias = Step[SpaceConfig, Space, Write, Reply]


def levels(name: str) -> tuple[str, ...]:
    """The scope and all scopes above it, nearest first."""
    parts = name.split("/")
    return tuple("/".join(parts[:count]) for count in range(len(parts), 0, -1))


def below(parent: str, name: str) -> bool:
    """Whether the scope is the parent or lies below it."""
    return parent in levels(name)


def agent_of(config: SpaceConfig, name: str | None) -> Agent | None:
    """The agent of this name; None if there is none."""
    found = [agent for agent in config.agents if agent.name == name]
    return found[0] if found else None


def writes(config: SpaceConfig, name: str, scope: str, kind: Kind) -> bool:
    """Whether an agent may write a mark of this kind in the scope (§7.3, P23)."""
    agent = agent_of(config, name)
    return agent is not None and any((level, kind) in agent.writes for level in levels(scope))


def reads_content(config: SpaceConfig, name: str | None, scope: str) -> bool:
    """Whether a reader may see content in the scope; None is infrastructure."""
    agent = agent_of(config, name)
    return name is None or (agent is not None and bool(agent.reads & set(levels(scope))))


def governing(config: SpaceConfig, name: str) -> ScopeDef | None:
    """The nearest definition at or above a scope (P26); None if there is none."""
    known = {scope.name: scope for scope in config.scopes}
    if config.readings.scope_grammar == "segments_nonempty" and "" in name.split("/"):
        return None
    return next((known[level] for level in levels(name) if level in known), None)


def visibility_of(config: SpaceConfig, name: str) -> Visibility:
    """The visibility of a scope; without a definition it is open, and as read no more open than above it."""
    scope = governing(config, name)
    if scope is None:
        return Visibility.OPEN
    above = {one.visibility for one in config.scopes if one.name in levels(name)}
    if config.readings.child_visibility == "no_more_open":
        for view in (Visibility.CLASSIFIED, Visibility.PROTECTED):
            if view in above:
                return view
    return scope.visibility


def hidden_from(config: SpaceConfig, reader: str | None, scope: str) -> bool:
    """Whether the scope is classified and the reader is not cleared for it."""
    return visibility_of(config, scope) is Visibility.CLASSIFIED and not reads_content(config, reader, scope)


def effect(config: SpaceConfig, mark: Mark, target: Mark) -> bool:
    """Whether the mark may refer to the target, under the reading."""
    immune = config.readings.action_immunity == "immune_to_warnings"
    if immune and target.draft.kind is Kind.ACTION and mark.draft.invalidates == target.id:
        return False
    own = mark.agent in (target.agent, PRINCIPAL)
    match config.readings.reference_authority:
        case "anyone":
            return True
        case "same_scope_writer":
            return own or writes(config, mark.agent, target.draft.scope, target.draft.kind)
        case _:
            return own


def undone(config: SpaceConfig, space: Space, mark: Mark) -> bool:
    """Whether a later mark supersedes this one."""
    place = [one.id for one in space.marks].index(mark.id)
    return any(one.draft.supersedes == mark.id and effect(config, one, mark) for one in space.marks[place + 1 :])


def alone(config: SpaceConfig, space: Space, mark: Mark) -> Amount:
    """The strength without warnings (§3, §4.2, §10)."""
    scope, draft = governing(config, mark.draft.scope), mark.draft
    if scope is None or undone(config, space, mark):
        return ZERO
    weight = config.weights[list(Source).index(draft.source)]
    match draft.kind:
        case Kind.INTENT:
            return plain(draft.strength) if mark.age <= scope.intent_ttl else ZERO
        case Kind.ACTION:
            return plain(draft.strength)
        case Kind.NEED:
            return plain(draft.strength) if mark.resolved_by is None else ZERO
        case Kind.OBSERVATION:
            return decayed(draft.strength * weight, mark.age, scope.observation_half_life)
        case Kind.WARNING:
            capped = config.readings.warning_trust == "source_capped"
            return decayed(draft.strength * (weight if capped else 1), mark.age, scope.warning_half_life)


def strength(config: SpaceConfig, space: Space, mark: Mark) -> Amount:
    """The effective strength with warnings (§4.2, §9.5, §10)."""
    if undone(config, space, mark):
        return ZERO
    against = [alone(config, space, one) for one in warnings_against(config, space, mark)]
    left = alone(config, space, mark) - total(against)
    return left if left.sign > 0 else ZERO


def warnings_against(config: SpaceConfig, space: Space, mark: Mark) -> list[Mark]:
    """The later warnings against a mark that may refer to it, live or not."""
    place = [one.id for one in space.marks].index(mark.id)
    return [
        one
        for one in space.marks[place + 1 :]
        if one.draft.kind is Kind.WARNING and one.draft.invalidates == mark.id and effect(config, one, mark)
    ]


def live_seen(config: SpaceConfig, space: Space, scope: str) -> tuple[tuple[Mark, Amount], ...]:
    """The marks that a read of the scope covers, with their strength, in the order of writing (§8.2)."""
    there_ = ((mark, strength(config, space, mark)) for mark in covered(config, space, scope))
    return tuple((mark, worth) for mark, worth in there_ if plain(MIN_STRENGTH) <= worth)


def covered(config: SpaceConfig, space: Space, scope: str) -> tuple[Mark, ...]:
    """The marks in the scopes that a read of the scope covers, live or not (§8.2)."""
    subtree = config.readings.hierarchy_reads == "subtree"
    return tuple(m for m in space.marks if m.draft.scope == scope or (subtree and below(scope, m.draft.scope)))


def is_write(step: SpaceStep) -> TypeGuard[WriteStep]:
    """Whether the step is a write, stored or refused."""
    return isinstance(step.action, Write)


def is_asked(step: SpaceStep) -> TypeGuard[AskStep | DecideStep]:
    """Whether an agent decides, or the guard is asked, in a scope that there is."""
    return isinstance(step.action, Ask | Decide) and governing(step.config, step.action.scope) is not None


def is_read(step: SpaceStep) -> TypeGuard[ReadStep]:
    """Whether the step is a read that was answered."""
    return isinstance(step.action, Read) and step.shown.seen is not None


def answer(step: ReadStep) -> tuple[Seen, ...]:
    """The marks that an answered read shows."""
    return there(step.shown.seen)


def view_of(step: ReadStep) -> Visibility:
    """The visibility of the scope asked for."""
    return visibility_of(step.config, step.action.scope)


def is_cleared(step: ReadStep) -> bool:
    """Whether the reader may see content in the scope asked for."""
    return reads_content(step.config, step.action.reader, step.action.scope)


def marks_shown(step: ReadStep) -> frozenset[int]:
    """The ids of the marks in the answer."""
    return frozenset(seen.mark.id for seen in answer(step))


def marks_there(step: ReadStep) -> frozenset[int]:
    """The ids of the marks that the read covers."""
    return frozenset(mark.id for mark, _ in live_seen(step.config, step.before, step.action.scope))


def alike_below(step: ReadStep) -> bool:
    """Whether every scope that the read reaches has the visibility and the clearance of the scope asked for."""
    scopes = {mark.draft.scope for mark in step.before.marks if below(step.action.scope, mark.draft.scope)}
    return all(
        visibility_of(step.config, scope) is view_of(step)
        and reads_content(step.config, step.action.reader, scope) == is_cleared(step)
        for scope in scopes
    )
