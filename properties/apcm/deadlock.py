"""Whether the agent can submit an artefact that lets it act: deadlock, livelock, oscillation.

The closed form (`predicates.blocked`) is claimed from both sides: a blocked situation permits nothing whatever the
artefact, and from every other one some artefact leads to an action.  That no situation is blocked is stated to be
refuted under the text's rules, and holds under the repaired ones.
"""

from __future__ import annotations

from typing import TypeAlias

from evenhand.core.plan import refuted
from evenhand.core.property import DeadlockFree, deadlock_free, each_step, livelock_free, monitor
from evenhand.model.apcm.vocabulary import MVRA, REVISE, Config, Fields
from evenhand.properties.apcm.predicates import (
    FREE,
    ApcmStep,
    Facts,
    awaiting,
    blocked,
    clean,
    compiles,
    facts,
    minimal_sets,
    permits,
    proper,
    published,
    said,
    submits,
)

TEXT = ("run", "universe")


@deadlock_free(
    "In every situation with a feasible action, some artefact compiles and permits one.  (Stated to be refuted for the "
    "text's rules: deadlock question 1.)",
    source="0, 7",
    systems=FREE,
    wants=awaiting,
    expected=(
        refuted(
            "6.2, 6.4: three laws, each of three actions breaks another one; no pair covers all three, so whatever "
            "authorises fails and whatever does not gridlocks",
            system="universe",
        ),
        refuted(
            "as in the universe, met by drawing; the situations that are searched here have two preferences, which "
            "cover",
            system="run",
            engine="fuzz",
        ),
    ),
)
def every_situation_can_be_justified(step: ApcmStep) -> bool:
    """A submission after which an action may be selected."""
    return permits(step)


some_artifact_permits_unless_blocked = DeadlockFree(
    name="some_artifact_permits_unless_blocked",
    sentence="Unless the closed form says that the situation is blocked, some artefact compiles and permits an action.",
    source="6",
    systems=TEXT,
    wants=lambda config, state: awaiting(config, state) and not blocked(config, config.published(state)),
    completes=permits,
)


@each_step(
    "In a blocked situation, no artefact permits anything.",
    source="6",
    systems=("universe", "agents"),
    when=lambda step: proper(step) and step.config.condition == MVRA and blocked(step.config, published(step)),
)
def blocked_situations_permit_nothing(step: ApcmStep) -> bool:
    """Whatever the artefact."""
    return not step.shown.permitted


@each_step(
    "Where every feasible action violates something, something is permitted only if a declared collision meets every "
    "feasible action's violations.",
    source="6.2, 6.4",
    systems=("run", "universe", "repaired", "agents"),
    when=lambda step: compiles(step) and bool(step.shown.permitted) and not clean(said(step).violates),
)
def permitted_needs_a_covering_collision(step: ApcmStep) -> bool:
    """One half of the closed form."""
    known = said(step)
    return any([all(bad.intersection(pair) for bad in known.violates.values()) for pair in known.pairs])


def _whole(known: Facts) -> bool:
    """Whether AV is a minimal violation set and RP everything else."""
    return known.av in minimal_sets(known.violates) and known.rp == frozenset(known.config.preferences) - known.av


def _declares(known: Facts) -> bool:
    """Whether AV is declared in truthful collisions as the reading requires, and no false collision is declared."""
    truthful = all(bad.intersection(pair) for pair in known.pairs for bad in known.violates.values())
    named = frozenset(p for pair in known.pairs for p in pair)
    wide = known.config.readings.av_in_collision == "not_required" or known.av <= named
    return truthful and (not known.av or (bool(known.pairs) and wide))


def _complete(step: ApcmStep) -> bool:
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
)
def complete_artifact_permits(step: ApcmStep) -> bool:
    """The other half of the closed form: the artefact that such an agent should submit."""
    known = said(step)
    wanted = tuple(sorted(a for a, bad in known.violates.items() if bad == known.av))
    return step.shown.compile_ok is True and step.shown.permitted == wanted


def _of_everything(step: ApcmStep) -> bool:
    known = facts(step)
    if known is None or not submits(step) or not known.links or known.mode != REVISE:
        return False
    registry = frozenset(step.config.preferences)
    return bool(known.av) and _whole(known) and {frozenset(pair) for pair in known.pairs} == {registry}


@each_step(
    "Under the repaired rules: authorise any minimal violation set, require everything else, declare the whole "
    "registry in collision, and it compiles and permits.",
    source="6: with a repair of 6.2",
    systems=("repaired",),
    when=_of_everything,
)
def whole_registry_always_permits(step: ApcmStep) -> bool:
    """The only remaining condition on the situation: some action is feasible."""
    known = said(step)
    wanted = tuple(sorted(a for a, bad in known.violates.items() if bad == known.av))
    return step.shown.compile_ok is True and bool(wanted) and step.shown.permitted == wanted


@livelock_free(
    "Revising for ever brings new fields again and again.  (Stated to be refuted: Rule 3 lets REVISE repeat itself.)",
    source="6.3, 9.2",
    systems=("run",),
    attempts=lambda step: compiles(step) and step.shown.mode == REVISE,
    expected=(refuted("6.3: REVISE may repeat the previous fields for ever, logged each time"),),
)
def revising_for_ever_brings_news(step: ApcmStep) -> bool:
    """A compile whose fields differ from the previous ones."""
    known = facts(step)
    return compiles(step) and known is not None and not known.equal


Lately: TypeAlias = tuple[Fields | None, Fields | None, bool]
"""The fields before the last ones, the last ones, and whether a compile went back to the former."""


def _lately(value: Lately, step: ApcmStep) -> Lately:
    known = facts(step)
    if not compiles(step) or known is None or known.fields == value[1]:
        return value
    return (value[1], known.fields, value[2] or (value[0] is not None and known.fields == value[0]))


@monitor(
    "Fields that were given up do not come back after other ones.  (Stated to be refuted: Rule 3 stops oscillation "
    "under MAINTAIN only.)",
    source="6.3, 9.2",
    systems=("run",),
    start=lambda _config: (None, None, False),
    update=_lately,
    expected=(refuted("6.3: REVISE may go back and forth; only telemetry calls it incoherent"),),
)
def precedents_never_oscillate(_config: Config, value: Lately) -> bool:
    """Whether no compile went back to earlier fields."""
    return not value[2]
