"""Can the agent say anything that lets it act?  Deadlock, livelock, oscillation.

The closed form (`predicates.blocked`) is claimed from both sides: a blocked situation permits nothing whatever the
artefact, and from every other one some artefact leads to an action.  That no situation is blocked is claimed in order
to be refuted under the text's rules, and holds under the repaired ones.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.property import (
    AnyStep,
    DeadlockFree,
    Monitor,
    Property,
    deadlock_free,
    each_step,
    livelock_free,
)
from evenhand.model.apcm.vocabulary import MVRA, REVISE, Config, Fields, State
from evenhand.properties.apcm.predicates import (
    FREE,
    Facts,
    apcm_faults,
    awaiting,
    blocked,
    clean,
    compiles,
    facts,
    minimal_sets,
    published,
    submits,
)

__all__ = ["DEADLOCK"]

TEXT = ("run", "universe")


def _permits(step: AnyStep) -> bool:
    return submits(step) and bool(step.shown.permitted)


@deadlock_free(
    "In every situation with a feasible action, some artefact compiles and permits one.  (Stated to be refuted for the "
    "text's rules: deadlock question 1.)",
    source="0, 7",
    systems=FREE,
    wants=awaiting,
)
def every_situation_can_be_justified(step: AnyStep) -> bool:
    """A submission after which something may be selected."""
    return _permits(step)


def _open(config: Config, state: State) -> bool:
    return awaiting(config, state) and not blocked(config, config.published(state))


some_artifact_permits_unless_blocked = DeadlockFree(
    name="some_artifact_permits_unless_blocked",
    sentence="Unless the closed form says that the situation is blocked, some artefact compiles and permits an action.",
    source="6",
    systems=TEXT,
    wants=_open,
    completes=_permits,
)


def _is_blocked(step: AnyStep) -> bool:
    situation = published(step)
    return (
        submits(step)
        and bool(step.config.condition == MVRA)
        and not apcm_faults(step.config, situation)
        and blocked(step.config, situation)
    )


def _permits_a_violation(step: AnyStep) -> bool:
    known = facts(step)
    return compiles(step) and bool(step.shown.permitted) and known is not None and not clean(known.violates)


@each_step(
    "In a blocked situation, no artefact permits anything.",
    source="6",
    systems=("universe", "agents"),
    when=_is_blocked,
)
def blocked_situations_permit_nothing(step: AnyStep) -> bool:
    """Whatever the agent says."""
    return not step.shown.permitted


@each_step(
    "Where every feasible action violates something, something is permitted only if a declared collision meets every "
    "feasible action's violations.",
    source="6.2, 6.4",
    systems=("run", "universe", "repaired", "agents"),
    when=_permits_a_violation,
    proved=True,
)
def permitted_needs_a_covering_collision(step: AnyStep) -> bool:
    """One half of the closed form."""
    known = facts(step)
    assert known is not None
    return any([all(bad.intersection(pair) for bad in known.violates.values()) for pair in known.pairs])


def _whole(known: Facts) -> bool:
    """AV is a minimal violation set and RP everything else."""
    return known.av in minimal_sets(known.violates) and known.rp == frozenset(known.config.preferences) - known.av


def _declares(known: Facts) -> bool:
    """What is authorised is declared as some truthful collision, and nothing false is declared."""
    truthful = all(bad.intersection(pair) for pair in known.pairs for bad in known.violates.values())
    named = frozenset(p for pair in known.pairs for p in pair)
    wide = known.config.readings.av_in_collision == "not_required" or known.av <= named
    return truthful and (not known.av or (bool(known.pairs) and wide))


def _complete(step: AnyStep) -> bool:
    known = facts(step)
    if known is None or not submits(step) or step.config.condition != MVRA or not known.links:
        return False
    lawful = step.shown.fields is not None and known.mode == REVISE
    return lawful and _whole(known) and _declares(known)


@each_step(
    "An artefact that authorises a minimal violation set, requires everything else and declares a truthful collision "
    "compiles, and permits every action with exactly that violation set.",
    source="6",
    systems=FREE,
    when=_complete,
    proved=True,
)
def complete_artifact_permits(step: AnyStep) -> bool:
    """The other half of the closed form: what such an agent should say."""
    known = facts(step)
    assert known is not None
    wanted = tuple(sorted(a for a, bad in known.violates.items() if bad == known.av))
    return step.shown.compile_ok is True and bool(step.shown.permitted == wanted)


def _of_everything(step: AnyStep) -> bool:
    known = facts(step)
    if known is None or not submits(step) or not known.links or known.mode != REVISE:
        return False
    registry = frozenset(step.config.preferences)
    return bool(known.av) and _whole(known) and {frozenset(pair) for pair in known.pairs} == {registry}


@each_step(
    "Under the repaired rules: authorise any minimal violation set, require everything else, declare the whole "
    "registry in collision, and it compiles and permits.",
    source="6, repaired",
    systems=("repaired",),
    when=_of_everything,
    proved=True,
)
def whole_registry_always_permits(step: AnyStep) -> bool:
    """No condition on the situation is left, but that something is feasible."""
    known = facts(step)
    assert known is not None
    wanted = tuple(sorted(a for a, bad in known.violates.items() if bad == known.av))
    return step.shown.compile_ok is True and bool(wanted) and bool(step.shown.permitted == wanted)


def _revises(step: AnyStep) -> bool:
    return compiles(step) and step.shown.mode == REVISE


@livelock_free(
    "Revising for ever brings new fields again and again.  (Stated to be refuted: Rule 3 lets REVISE repeat itself.)",
    source="6.3, 9.2",
    systems=("run",),
    attempts=_revises,
)
def revising_for_ever_brings_news(step: AnyStep) -> bool:
    """A compile whose fields are not the previous ones."""
    known = facts(step)
    return compiles(step) and known is not None and not known.equal


Lately = tuple[Fields | None, Fields | None, bool]
"""The fields before the last ones, the last ones, and whether a compile went back to the former."""


def _lately(value: Lately, step: AnyStep) -> Lately:
    known = facts(step)
    if not compiles(step) or known is None or known.fields == value[1]:
        return value
    return (value[1], known.fields, value[2] or (value[0] is not None and known.fields == value[0]))


def _no_history(_config: Any) -> Lately:
    return (None, None, False)


precedents_never_oscillate = Monitor(
    name="precedents_never_oscillate",
    sentence="Fields that were given up do not come back after other ones.  (Stated to be refuted: Rule 3 stops "
    "oscillation under MAINTAIN only.)",
    source="6.3, 9.2",
    systems=("run",),
    start=_no_history,
    update=_lately,
    ok=lambda _config, value: not value[2],
)

DEADLOCK: tuple[Property, ...] = (
    every_situation_can_be_justified,
    some_artifact_permits_unless_blocked,
    blocked_situations_permit_nothing,
    permitted_needs_a_covering_collision,
    complete_artifact_permits,
    whole_registry_always_permits,
    revising_for_ever_brings_news,
    precedents_never_oscillate,
)
"""The claims of this module."""
