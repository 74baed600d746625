"""Refusals: every fault with its culprit, ranked; halt, gridlock, invalid run."""

from __future__ import annotations

from evenhand.core.property import each_step
from evenhand.model.apcm.vocabulary import ASB, BYPASS, Select, Submit
from evenhand.properties.apcm.predicates import (
    ARTIFICIAL,
    ApcmStep,
    apcm_faults,
    facts,
    faults_of,
    first_codes,
    is_invalid,
    proper,
    published,
    rule_faults,
    said,
    schema_faults,
    submits,
)

PAIRED = ("run", "universe", "agents", "conditions")
"""The systems under the text's own rules; the repaired system allows other shapes of collisions."""


def _judged(step: ApcmStep) -> bool:
    return proper(step) and step.config.condition != ASB


def _well_formed(step: ApcmStep) -> bool:
    return _judged(step) and not schema_faults(step.config, step.shown.artifact)


def _unbypassed(step: ApcmStep) -> bool:
    return _judged(step) and step.config.condition != BYPASS


@each_step(
    "An APCM with a missing entry, None, a wrong type or an unknown name ends the run before anything is compiled, and "
    "every fault is named.",
    source="2.2, 11.1",
    systems=("universe", "repaired"),
    when=lambda step: submits(step) and bool(apcm_faults(step.config, published(step))),
)
def improper_apcm_ends_the_run(step: ApcmStep) -> bool:
    """Whether the run ends with exactly the faults of the APCM, by code and culprit."""
    shown = step.shown
    quiet = shown.compile_ok is None and not (shown.permitted or shown.offered or shown.forbidden)
    faults = apcm_faults(step.config, published(step))
    return quiet and is_invalid(step.after) and faults_of(shown.invalid) == faults


@each_step("A proper APCM is never refused.", source="2.2", systems=ARTIFICIAL, when=proper)
def proper_apcm_is_accepted(step: ApcmStep) -> bool:
    """Whether no fault is reported and the run does not end as invalid."""
    return not step.shown.invalid and not is_invalid(step.after)


@each_step(
    "A malformed artefact is refused by its schema, every fault named, and no rule is consulted.",
    source="3, 5",
    systems=("universe", "conditions"),
    when=lambda step: _judged(step) and bool(schema_faults(step.config, step.shown.artifact)),
)
def malformed_artifact_is_refused(step: ApcmStep) -> bool:
    """Whether the schema faults are reported exactly, without inference or repair."""
    shown = step.shown
    faults = schema_faults(step.config, shown.artifact)
    return shown.compile_ok is False and shown.fields is None and faults_of(shown.errors) == faults


def _arrives(step: ApcmStep) -> bool:
    """Whether an artefact arrives from outside, in turn, where the environment is in order."""
    config, before = step.config, step.before
    in_turn = isinstance(step.action, Submit) and not before.over and not before.offered
    return in_turn and not config.generator and config.condition != ASB and not apcm_faults(config, published(step))


@each_step(
    "An artefact that arrives in turn is sent back exactly if it is malformed and validated on arrival.",
    source="3, 12.2",
    systems=("run", "universe"),
    when=_arrives,
)
def artifacts_are_sent_back_as_read(step: ApcmStep) -> bool:
    """By default nothing is sent back: the compile fails."""
    assert isinstance(step.action, Submit)
    due = step.config.readings.validated == "on_arrival" and bool(schema_faults(step.config, step.action.artifact))
    return (step.shown.kind == "rejected") == due


@each_step(
    "Under the repaired rules too a malformed artefact is refused by its schema, by which a collision has one member "
    "or more, none twice.",
    source="3, 5: with a repair of 6.2",
    systems=("repaired",),
    when=lambda step: _judged(step) and bool(schema_faults(step.config, step.shown.artifact, groups=True)),
)
def malformed_groups_are_refused(step: ApcmStep) -> bool:
    """Every fault named, and no rule consulted."""
    shown = step.shown
    faults = schema_faults(step.config, shown.artifact, groups=True)
    return shown.compile_ok is False and shown.fields is None and faults_of(shown.errors) == faults


@each_step(
    "A well-formed artefact fails exactly by the rules it breaks, all of them reported with their payload.",
    source="6, 3.2",
    systems=PAIRED,
    when=_well_formed,
)
def errors_are_exactly_the_broken_rules(step: ApcmStep) -> bool:
    """Neither fail-fast nor over-strict."""
    known = said(step)
    broken = rule_faults(known)
    return faults_of(step.shown.errors) == broken and step.shown.compile_ok == (not broken)


@each_step(
    "Errors are ranked: the link, Rule 1.5 step 1 before step 2, Rule 2, Rule 3; the first kind is the error code.",
    source="6, 9.1",
    systems=("run", "universe", "conditions"),
    when=lambda step: _well_formed(step) and len(step.shown.errors) > 1,
)
def errors_are_ranked(step: ApcmStep) -> bool:
    """Ordered by kind; the payload does not affect the order."""
    ranks = list(first_codes(error.code for error in step.shown.errors))
    return ranks == sorted(ranks) and step.shown.compile_error_code == step.shown.errors[0].code


@each_step(
    "The compiler reads the fields and the mode as they are written.",
    source="5, 9.1",
    systems=ARTIFICIAL,
    when=lambda step: submits(step) and step.shown.fields is not None,
)
def fields_are_as_written(step: ApcmStep) -> bool:
    """No inference, no repair."""
    known = facts(step)
    return known is not None and step.shown.fields == known.fields and step.shown.mode == known.mode


@each_step(
    "A failed compile is a halt: nothing is permitted, nothing is forbidden, nothing is selected next.",
    source="1, 7, 9.1",
    systems=("run", "universe", "repaired", "conditions"),
    when=lambda step: _unbypassed(step) and step.shown.compile_ok is False,
)
def failed_compile_halts(step: ApcmStep) -> bool:
    """Whether the step halts and nothing is permitted, offered or forbidden."""
    shown = step.shown
    return shown.halt and not (shown.permitted or shown.offered or shown.forbidden or step.after.offered)


@each_step(
    "A gridlock is a compile after which every feasible action is forbidden, and nothing else is.",
    source="1, 7, 9.1",
    systems=ARTIFICIAL,
    when=lambda step: _unbypassed(step) and bool(published(step).feasible),
)
def gridlock_iff_all_forbidden(step: ApcmStep) -> bool:
    """Both directions."""
    shown = step.shown
    stuck = shown.compile_ok is True and set(published(step).feasible) <= set(shown.forbidden)
    return shown.gridlock == stuck


@each_step(
    "Where nothing is feasible, the step is a gridlock or a halt as the reading says, never both.",
    source="1, 7",
    systems=("run", "universe", "agents"),
    when=lambda step: proper(step) and not published(step).feasible and not step.shown.errors,
)
def empty_step_is_as_read(step: ApcmStep) -> bool:
    """The one case that the text leaves open."""
    halt = step.config.readings.feasible_empty == "halt"
    return step.shown.halt == halt and step.shown.gridlock == (not halt)


@each_step("Halt and gridlock are distinct.", source="1", systems=ARTIFICIAL, when=submits)
def halt_and_gridlock_are_distinct(step: ApcmStep) -> bool:
    """Never both, and every halt has one of the two possible reasons."""
    shown = step.shown
    failed = shown.compile_ok is False and step.config.condition != BYPASS
    empty = not published(step).feasible and step.config.readings.feasible_empty == "halt"
    return not (shown.halt and shown.gridlock) and shown.halt == ((failed or empty) and not shown.invalid)


@each_step(
    "Only an action that was offered is executed, and it was permitted and feasible.",
    source="1, 7",
    systems=ARTIFICIAL,
    when=lambda step: isinstance(step.action, Select) and step.shown.kind == "select",
)
def only_permitted_actions_execute(step: ApcmStep) -> bool:
    """Mask before selection, selection before execution."""
    name = step.shown.selected
    return (
        isinstance(step.action, Select)
        and name == step.action.action
        and name in step.before.offered
        and name in step.before.permitted
        and name in published(step).feasible
    )


@each_step(
    "What is shown is a submission, a selection or a rejection of what was asked.", source="1", systems=ARTIFICIAL
)
def steps_show_their_kind(step: ApcmStep) -> bool:
    """Every other claim asks for the kind first."""
    return step.shown.kind in ("rejected", "submit" if isinstance(step.action, Submit) else "select")


@each_step(
    "Justify, compile, mask, select, execute: an artefact is taken up where none is pending, an action after one.",
    source="1",
    systems=ARTIFICIAL,
)
def strict_ordering(step: ApcmStep) -> bool:
    """Whether an action out of turn is rejected and changes nothing."""
    rejected = step.shown.kind == "rejected"
    if rejected and step.after != step.before:
        return False
    if step.before.over:
        return rejected
    match step.action:
        case Submit():
            back = rejected and step.config.readings.validated == "on_arrival"
            return back or rejected == bool(step.before.offered)
        case Select(name):
            return rejected == (name not in step.before.offered)
