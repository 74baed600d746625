"""What a step records, and what it leaves for the next: nothing beside what the step did."""

from __future__ import annotations

from evenhand.core.property import each_step
from evenhand.core.records import replace
from evenhand.model.apcm.vocabulary import ASB, INVALID_RUN, Shown, Submit
from evenhand.properties.apcm.predicates import (
    ARTIFICIAL,
    FREE,
    ONE_STEP,
    ApcmStep,
    apcm_faults,
    proper,
    published,
    schema_faults,
    submits,
)


def _uncompiled(step: ApcmStep) -> bool:
    """Whether a submission meets no compiler: under ASB, and where the APCM is improper."""
    return submits(step) and (step.config.condition == ASB or bool(apcm_faults(step.config, published(step))))


@each_step(
    "The compiler gets the artefact that was submitted, where artefacts come from outside.",
    source="5",
    systems=FREE,
    when=proper,
)
def submissions_arrive_unchanged(step: ApcmStep) -> bool:
    """Every other claim judges the compile of what is recorded as compiled."""
    assert isinstance(step.action, Submit)
    return step.shown.artifact == step.action.artifact


@each_step(
    "Only a malformed artefact is recorded without its fields, and then without a mode.",
    source="3, 5, 9.1",
    systems=ARTIFICIAL,
    when=lambda step: proper(step) and step.config.condition != ASB,
)
def only_malformed_artifacts_go_unread(step: ApcmStep) -> bool:
    """The other direction of reading fields as they are written."""
    shown = step.shown
    return shown.fields is not None or (not shown.mode and bool(schema_faults(step.config, shown.artifact)))


@each_step(
    "Where no compiler runs, under ASB or after an improper APCM, no result of one is recorded.",
    source="2.2, 10",
    systems=("universe", "repaired", "conditions"),
    when=_uncompiled,
)
def nothing_is_compiled_without_a_compiler(step: ApcmStep) -> bool:
    """What remains is what ASB permits, or the faults of the APCM."""
    shown = step.shown
    rest = Shown("submit", permitted=shown.permitted, offered=shown.offered, halt=shown.halt, gridlock=shown.gridlock)
    return shown == replace(rest, invalid=shown.invalid)


@each_step("A submission executes nothing, and records no execution.", source="1, 7", systems=ARTIFICIAL, when=submits)
def submissions_execute_nothing(step: ApcmStep) -> bool:
    """The mask comes before selection, and selection before execution."""
    return not step.shown.selected and not step.shown.selected_violates


@each_step(
    "An action out of turn is rejected with a reason, and records nothing else; nothing else has such a reason.",
    source="1",
    systems=ARTIFICIAL,
)
def rejections_say_why_and_nothing_else(step: ApcmStep) -> bool:
    """What the reason says is free."""
    shown = step.shown
    if shown.kind != "rejected":
        return not shown.rejected
    return bool(shown.rejected) and shown == Shown("rejected", rejected=shown.rejected)


@each_step(
    "Where something is on offer, the run waits in its step for a selection from exactly that.",
    source="1, 7",
    systems=ARTIFICIAL,
    when=lambda step: submits(step) and bool(step.shown.offered),
)
def masks_wait_for_a_selection(step: ApcmStep) -> bool:
    """The mask that was compiled is the mask in force."""
    shown, after = step.shown, step.after
    left = (after.place, after.permitted, after.offered, after.over)
    return left == (step.before.place, shown.permitted, shown.offered, "")


@each_step(
    "An improper APCM ends the run where it stands.",
    source="2.2",
    systems=ONE_STEP,
    when=lambda step: submits(step) and bool(step.shown.invalid),
)
def invalid_runs_end_where_they_stand(step: ApcmStep) -> bool:
    """Place and previous artefact stay."""
    return step.after == replace(step.before, over=INVALID_RUN)
