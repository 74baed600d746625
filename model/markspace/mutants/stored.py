"""Faulty spaces in what they store and whom they find contending: §6.1, §8.1, §8.3, §9.2."""

from __future__ import annotations

from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.markspace.exact import Amount
from evenhand.model.markspace.marks import ONE, Mark, ScopeDef, SpaceConfig, Write
from evenhand.model.markspace.mutants.marks import LATER, SPACE, THREE, TWO
from evenhand.model.markspace.space import REFERENCE

EXPIRED = Scope(marks=1, horizon=2, hostile=0)
"""An intent can outlive its TTL."""


@SPACE.fault("stored", "8.1")
def the_first_agent_signs(act: Write, new: int) -> Mark:
    """Every mark is stored as written by one agent."""
    return Mark(new, "alice", act.draft)


@SPACE.fault("stored", "8.1", LATER)
def marks_are_born_old(act: Write, new: int) -> Mark:
    """A mark is stored as if it was written a second ago."""
    return Mark(new, act.agent, act.draft, age=1)


@SPACE.fault("stored", "2.1, 8.1", TWO)
def references_are_not_stored(act: Write, new: int) -> Mark:
    """A mark is stored without the mark that it supersedes."""
    return Mark(new, act.agent, replace(act.draft, supersedes=None))


@SPACE.fault("resolved", "8.3", THREE)
def resolution_forgets_the_priority(need: Mark, action: int, new: int) -> Mark:
    """The copy of a need that is resolved is no copy."""
    usual = REFERENCE.resolved(need, action, new)
    return replace(usual, draft=replace(usual.draft, confidence=ONE - usual.draft.confidence))


@SPACE.fault("claims", "9.2 step 2, P39")
def actions_claim_nothing_here(_config: SpaceConfig, _mark: Mark) -> bool:
    """The guard that reads the space sees no claim."""
    return False


@SPACE.fault("active", "6.1 step 1", EXPIRED)
def expired_intents_contend(_config: SpaceConfig, _strength: Amount) -> bool:
    """Intents of no strength are among the candidates."""
    return True


@SPACE.fault("resolve", "6.1, 9.2")
def lone_intents_lose(scope: ScopeDef, intents: tuple[Mark, ...]) -> Mark | None:
    """An intent without a rival does not win."""
    return REFERENCE.resolve(scope, intents) if len(intents) > 1 else None
