"""The space as a system: a small organisation of three agents and a principal, with permissions to write and read.

`alice` works in scope `a` and below; `bob` works in `c` alone; `carol` may write in `a/b` and reads open scopes only.
Configurations differ in the visibility of `a` and in whether `a/b` has a definition of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from evenhand.core.records import replace
from evenhand.core.system import Scope, System
from evenhand.model.markspace.guard_vocabulary import Policy
from evenhand.model.markspace.marks import (
    HALF,
    PRINCIPAL,
    TYPES,
    Act,
    Agent,
    Ask,
    Decide,
    Draft,
    Kind,
    Mark,
    Needs,
    Read,
    Reply,
    Resolve,
    ScopeDef,
    Source,
    Space,
    SpaceConfig,
    Tick,
    Visibility,
    Write,
)
from evenhand.model.markspace.readings import Readings
from evenhand.model.markspace.space import REFERENCE, Rules, step

_KINDS = tuple(Kind)
AGENTS = (
    Agent("alice", frozenset(("a", kind) for kind in _KINDS), frozenset({"a"})),
    Agent("bob", frozenset(("c", kind) for kind in _KINDS), frozenset({"c"})),
    Agent("carol", frozenset(("a/b", kind) for kind in _KINDS), frozenset()),
    Agent(PRINCIPAL, frozenset((scope, kind) for scope in ("a", "c") for kind in _KINDS), frozenset({"a", "c"})),
)
"""The agents; permissions for `a` hold for `a/b` too (§7.5)."""

HOOKS = {
    Visibility.OPEN: (),
    Visibility.PROTECTED: ("count", "later"),
    Visibility.CLASSIFIED: ("count", "failing", "later"),
}
"""The hooks by the visibility of `a`: what fails with one at each write must not hide what is wrong without."""

SCOPES = ("a", "a/b", "c")


def organisation(
    visibility: Visibility, readings: Readings, *, child: Visibility | None = None, policy: Policy, scope: Scope
) -> SpaceConfig:
    """Return a configuration: `a` with the given visibility, `a/b` with its own if `child` is given, `c` open."""
    scopes = [ScopeDef("a", visibility, policy=policy), ScopeDef("c", topics=("x", "y"))]
    if child is not None:
        scopes.append(ScopeDef("a/b", child, policy=policy))
    return SpaceConfig(
        AGENTS,
        tuple(scopes),
        readings,
        hooks=HOOKS[visibility],
        capacity=scope["marks"],
        horizon=scope["horizon"],
    )


def _configs(scope: Scope, readings: Readings) -> Iterator[SpaceConfig]:
    for number, config in enumerate(_organisations(scope, readings), start=1):
        if scope["only"] in (0, number):
            yield config


def _organisations(scope: Scope, readings: Readings) -> Iterator[SpaceConfig]:
    for number, visibility in enumerate(Visibility):
        policy = tuple(Policy)[number]
        yield organisation(visibility, readings, policy=policy, scope=scope)
    yield organisation(
        Visibility.CLASSIFIED, readings, child=Visibility.PROTECTED, policy=Policy.HIGHEST_CONFIDENCE, scope=scope
    )
    last = organisation(Visibility.OPEN, readings, child=Visibility.CLASSIFIED, policy=Policy.FIRST_WRITER, scope=scope)
    yield replace(last, scopes=(*last.scopes, ScopeDef("ab")))  # its name begins with the name of another scope


def drafts(space: Space) -> Iterator[tuple[str, Draft]]:
    """Yield the drafts of honest agents, simplest first, with references to every mark."""
    yield "alice", Draft(Kind.INTENT, "a", verb="book")
    yield "alice", Draft(Kind.INTENT, "a/b", verb="book")
    yield "carol", Draft(Kind.INTENT, "a/b", verb="book", confidence=HALF)
    yield "alice", Draft(Kind.ACTION, "a/b", verb="booked")
    yield "alice", Draft(Kind.ACTION, "a", verb="booked", failed=True)
    yield "alice", Draft(Kind.OBSERVATION, "a")
    yield "alice", Draft(Kind.OBSERVATION, "a", source=Source.UNVERIFIED)
    yield "alice", Draft(Kind.NEED, "a", "why", blocking=True)
    yield "bob", Draft(Kind.OBSERVATION, "c")
    yield "bob", Draft(Kind.NEED, "c", "why", confidence=HALF)
    for mark in space.marks:
        yield "alice", Draft(Kind.OBSERVATION, "a", "y", supersedes=mark.id)
        yield "alice", Draft(Kind.WARNING, "a", "y", invalidates=mark.id)
        yield "bob", Draft(Kind.OBSERVATION, "c", "y", supersedes=mark.id)
        yield "bob", Draft(Kind.WARNING, "c", "y", invalidates=mark.id, source=Source.UNVERIFIED)


def hostile_drafts() -> Iterator[tuple[str, Draft]]:
    """Yield drafts that §7 and §8.1 refuse (one only under `segments_nonempty`, one only under `excluded`)."""
    yield "bob", Draft(Kind.OBSERVATION, "a")
    yield "carol", Draft(Kind.OBSERVATION, "a")
    yield "carol", Draft(Kind.OBSERVATION, "ab")
    yield "alice", Draft(Kind.OBSERVATION, "ab")
    yield "nobody", Draft(Kind.OBSERVATION, "c")
    yield "alice", Draft(Kind.OBSERVATION, "a//b")
    yield "alice", Draft(Kind.OBSERVATION, "unheard/of")
    yield "alice", Draft(Kind.OBSERVATION, "a", strength=Fraction(-1))
    yield "alice", Draft(Kind.OBSERVATION, "a", strength=Fraction(0))
    yield "alice", Draft(Kind.INTENT, "a", verb="book", confidence=Fraction(2))
    yield "alice", Draft(Kind.NEED, "a", confidence=Fraction(-1, 2))
    yield "alice", Draft(Kind.INTENT, "a", verb="sell")
    yield "alice", Draft(Kind.ACTION, "a", verb="sold")
    yield "bob", Draft(Kind.OBSERVATION, "c", "unheard of")


def _ids(config: SpaceConfig, space: Space) -> tuple[int, ...]:
    taken = {mark.id for mark in space.marks}
    if config.readings.id_order == "sequence":
        return (max(taken, default=0) + 1,)
    return tuple(sorted(set(range(1, config.capacity + 1)) - taken))


def _actions(config: SpaceConfig, scope: Scope, space: Space) -> Iterator[Act]:
    if len(space.marks) < config.capacity:
        written = (*drafts(space), *(hostile_drafts() if scope["hostile"] else ()))
        for new in _ids(config, space):
            yield from (Write(agent, draft, new) for agent, draft in written)
            if config.readings.resolver == "action_of_the_principal":
                yield Write(PRINCIPAL, Draft(Kind.ACTION, "a", verb="booked"), new)
            yield from (
                Resolve(need.id, action.id, new)
                for need in space.marks
                if need.draft.kind is Kind.NEED and _stands(space, need)
                for action in space.marks
                if action.draft.kind is Kind.ACTION
            )
        if scope["hostile"]:
            yield from (Resolve(mark.id, mark.id, new) for mark in space.marks for new in _ids(config, space))
    for place in SCOPES:
        yield from (Read(reader, place) for reader in (None, "alice", "bob", "carol"))
    for reader in (None, "alice", "bob", "carol"):
        yield Decide(reader, "a/b")
    for agent in ("alice", "bob", "carol"):
        yield Ask(agent, "a/b")
    yield Ask("alice", "a")
    yield Needs("bob")
    if space.marks and max(mark.age for mark in space.marks) < config.horizon:
        yield Tick(1)


def _stands(space: Space, mark: Mark) -> bool:
    return all(other.draft.supersedes != mark.id for other in space.marks)


def _allows(config: SpaceConfig, space: Space, act: Act) -> bool:
    """Return whether an act has a fresh id and refers to marks that there are; agents may do anything else."""
    known = {mark.id for mark in space.marks}
    match act:
        case Write():
            referred = {act.draft.supersedes, act.draft.invalidates} - {None}
        case Resolve():
            referred = {act.need, act.action}
        case _:
            return True
    in_order = config.readings.id_order == "sequence"
    fresh = act.id == max(known, default=0) + 1 if in_order else act.id not in known
    return fresh and referred <= known


def _one_of_several(config: SpaceConfig, space: Space, act: Ask | Decide) -> bool:
    """Whether the answer names one of several marks between which no policy decides."""
    _, reply = step(REFERENCE, config, space, act)
    if reply.claimed_by is not None:
        kept = (mark for mark in space.marks if (mark.agent, mark.draft.kind) != (reply.claimed_by, Kind.ACTION))
        return step(REFERENCE, config, replace(space, marks=tuple(kept)), act)[1].claimed_by is not None
    scope = REFERENCE.defined(config.scopes, act.scope)
    yields = scope is not None and scope.policy is Policy.YIELD_ALL
    return yields and reply.winner is not None and len(reply.candidates) > 1


def _unsaid(config: SpaceConfig, space: Space, act: Act) -> bool:
    """No section speaks of other ids, or says whether a need that is superseded, or was resolved, can be resolved.

    Nor is a kernel asked to bear a confidence beyond its bounds in a mark that has none (§2.3, §2.5), which of one
    agent's intents wins under YIELD_ALL, or which of two other agents claims what both acted on (§6.3, §10).
    """
    if not _allows(config, space, act):
        return True
    if isinstance(act, Ask | Decide):
        return _one_of_several(config, space, act)
    if isinstance(act, Write):
        return act.draft.kind in (Kind.ACTION, Kind.WARNING) and not 0 <= act.draft.confidence <= 1
    need, by = (space.find(act.need), space.find(act.action)) if isinstance(act, Resolve) else (None, None)
    if need is None or by is None or (need.draft.kind, by.draft.kind) != (Kind.NEED, Kind.ACTION):
        return False
    return not _stands(space, need)


def _smaller(config: SpaceConfig, start: Space) -> Iterator[tuple[SpaceConfig, Space]]:
    if len(config.scopes) > 2:
        yield replace(config, scopes=config.scopes[:2]), start


SPACE: System[SpaceConfig, Space, Act, Reply, Rules] = System(
    name="space",
    rules=REFERENCE,
    configs=_configs,
    initial=lambda _config: (Space(),),
    step=step,
    actions=_actions,
    scope=Scope(marks=2, horizon=2, hostile=1, only=0),
    readings=Readings(),
    allows=_allows,
    unsaid=_unsaid,
    smaller=_smaller,
    types=TYPES,
)
"""All runs of a few writes, reads and seconds."""
