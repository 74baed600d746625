"""Agents, precedents and the four run conditions: who sees what, and what the ablations collapse to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.core.property import AnyStep, Property, TwoRun, determined_by, each_step
from evenhand.model.apcm.vocabulary import ASB, BYPASS, MVRA, SCRAMBLE, Artifact, Config, Fields, State
from evenhand.properties.apcm.predicates import (
    ARTIFICIAL,
    apcm_faults,
    blocked,
    compiles,
    facts,
    published,
    submits,
    violations,
)

__all__ = ["CONDUCT"]

GENERATED = ("agents", "conditions")


def _proper(step: AnyStep) -> bool:
    return submits(step) and not apcm_faults(step.config, published(step))


def _moves_on(step: AnyStep) -> bool:
    return bool(step.shown.kind != "rejected") and not step.after.offered and not step.shown.invalid


def _generator_input(step: AnyStep) -> Any:
    config: Config = step.config
    return (config.generator, config.preferences, config.readings, published(step), step.before.previous)


def _generates(step: AnyStep) -> bool:
    return submits(step) and step.config.condition in (MVRA, BYPASS)


def _open(step: AnyStep, generator: str) -> bool:
    config: Config = step.config
    situation = published(step)
    mine = _proper(step) and config.condition == MVRA and config.generator == generator
    return mine and bool(situation.feasible) and not blocked(config, situation)


def _complete_is_open(step: AnyStep) -> bool:
    return _open(step, "complete")


def _single_pair_is_open(step: AnyStep) -> bool:
    return _open(step, "single_pair")


def _unmasked(step: AnyStep) -> bool:
    return _proper(step) and step.config.condition in (ASB, BYPASS)


def _masks(step: AnyStep) -> bool:
    return compiles(step) and bool(step.config.condition != BYPASS)


def _conflicting(step: AnyStep) -> bool:
    masked = _proper(step) and step.config.condition in (MVRA, SCRAMBLE)
    return masked and len(set(violations(published(step)).values())) > 1


@each_step(
    "The previous artefact is the last that compiled, or was well formed, as the reading says.",
    source="4, 6.3",
    systems=("run", "conditions"),
    when=_proper,
)
def precedent_is_kept_as_read(step: AnyStep) -> bool:
    """Nothing else changes it."""
    shown, config = step.shown, step.config
    counts = shown.compile_ok if config.readings.previous == "last_compiled" else True
    kept: Fields | None = shown.fields if shown.fields is not None and counts else step.before.previous
    return bool(step.after.previous == kept)


@each_step(
    "A selection, a halt or a gridlock moves the environment on by one and changes nothing else.",
    source="1",
    systems=ARTIFICIAL,
    when=_moves_on,
)
def every_step_moves_on_by_one(step: AnyStep) -> bool:
    """A run of frozen length ends after its last step."""
    config: Config = step.config
    place = step.before.place + 1
    after: State = step.after
    if config.steps is None:
        return after.place == place % len(config.situations) and not after.over and not after.permitted
    return after.place == place and bool(after.over) == (place >= config.steps) and not after.permitted


@determined_by(
    "What a generator submits is a function of registry, feasible actions, APCM and previous artefact.",
    source="4",
    systems=("conditions",),
    key=_generator_input,
    when=_generates,
)
def generator_sees_only_its_inputs(step: AnyStep) -> Any:
    """No step number, no selection, no reward."""
    return step.shown.artifact


@each_step(
    "The generators of the agents' system never fail to compile.",
    source="12.1",
    systems=("agents",),
    when=_proper,
)
def generated_artifacts_compile(step: AnyStep) -> bool:
    """Neither generator guesses."""
    return step.shown.compile_ok is True


@each_step(
    "The complete generator permits an action whenever some artefact would.",
    source="12.1",
    systems=GENERATED,
    when=_complete_is_open,
)
def complete_permits_whenever_possible(step: AnyStep) -> bool:
    """Deadlock question 2, one half."""
    return bool(step.shown.permitted)


@each_step(
    "The single-pair generator permits an action whenever some artefact would.  (Stated to be refuted.)",
    source="12.1",
    systems=GENERATED,
    when=_single_pair_is_open,
)
def single_pair_permits_whenever_possible(step: AnyStep) -> bool:
    """Deadlock question 2, the other half."""
    return bool(step.shown.permitted)


@each_step(
    "ASB and BYPASS mask nothing: whatever is feasible is permitted, and no compile halts them.",
    source="10",
    systems=("conditions",),
    when=_unmasked,
)
def unmasked_conditions_permit_everything(step: AnyStep) -> bool:
    """All-allow."""
    permits_all = bool(step.shown.permitted == tuple(sorted(published(step).feasible)))
    return permits_all and not step.shown.halt and not step.shown.forbidden


def _unjustified(_w: str, config: Config, state: State) -> State:
    return replace(state, previous=None)


def _behaves_alike(_w: str, step: AnyStep, other: AnyStep | None) -> bool:
    if other is None:
        return False
    one, two = step.shown, other.shown
    same = (one.kind, one.permitted, one.offered, one.selected, one.selected_violates, one.halt, one.gridlock) == (
        (two.kind, two.permitted, two.offered, two.selected, two.selected_violates, two.halt, two.gridlock)
    )
    return same and replace(step.after, previous=None) == other.after


bypass_equals_asb = TwoRun(
    name="bypass_equals_asb",
    sentence="Bypassing the compiler gives, step by step, what the baseline without a compiler gives.",
    source="10",
    systems=("conditions",),
    applies=lambda config: config.condition == BYPASS,
    twins=lambda _config, _state, _action: ("ASB",),
    config=lambda _w, config: replace(config, condition=ASB),
    state=_unjustified,
    other=lambda _w, action: (action,),
    agree=_behaves_alike,
)


@each_step(
    "After a successful compile the mask forbids nothing exactly if every feasible action violates just what is "
    "authorised, and that keeps what is required: else MVRA differs from ASB.",
    source="10",
    systems=ARTIFICIAL,
    when=_masks,
    proved=True,
)
def mask_is_empty_only_without_a_choice(step: AnyStep) -> bool:
    """Run 0, exactly."""
    known = facts(step)
    assert known is not None
    alike = all([bad == known.av and not bad & known.rp for bad in known.violates.values()])
    return (not step.shown.forbidden) == alike


@each_step(
    "Of feasible actions that violate different sets, MVRA permits at most those of one set, whatever the artefact: "
    "less than ASB.",
    source="10",
    systems=("run", "universe", "agents", "conditions"),
    when=_conflicting,
    proved=True,
)
def conflicts_are_gated(step: AnyStep) -> bool:
    """Compiled or not, the action distribution shifts."""
    violates = violations(published(step))
    permitted = set(step.shown.permitted)
    return permitted <= set(violates) and len({violates[a] for a in permitted}) <= 1


def _expected_scramble(config: Config, plain: Artifact) -> Artifact:
    """What each kind of scrambling is said to make of an artefact."""
    av, rp, names = plain.authorized_violations, plain.required_preservations, config.preferences
    match config.scramble:
        case "swap":
            return replace(plain, authorized_violations=rp, required_preservations=av)
        case "turn":
            moved = frozenset(
                names[(place + 1) % len(names)]
                for place, p in enumerate(names)
                if isinstance(av, frozenset) and p in av
            )
            return replace(plain, authorized_violations=moved)
        case "silence":
            return replace(plain, conflict_attribution=frozenset())
        case _:
            return plain


def _scrambled(_w: str, step: AnyStep, other: AnyStep | None) -> bool:
    if other is None or not _proper(step):
        return other is not None
    seen, plain = step.shown.artifact, other.shown.artifact
    if seen is None or plain is None:
        return False
    match step.config.scramble:
        case "unlink":
            return bool(seen.previous_artifact_digest != plain.previous_artifact_digest)
        case "garble":
            return not isinstance(seen.authorized_violations, frozenset | tuple)
        case _:
            return bool(seen == _expected_scramble(step.config, plain))


scramble_is_as_named = TwoRun(
    name="scramble_is_as_named",
    sentence="What reaches the compiler under SCRAMBLE is what the generator would have submitted, scrambled as the "
    "configuration says.",
    source="10",
    systems=("conditions",),
    applies=lambda config: config.condition == SCRAMBLE,
    twins=lambda _config, _state, _action: ("MVRA",),
    config=lambda _w, config: replace(config, condition=MVRA),
    state=lambda _w, _config, state: state,
    other=lambda _w, action: (action,),
    agree=_scrambled,
)

CONDUCT: tuple[Property, ...] = (
    precedent_is_kept_as_read,
    every_step_moves_on_by_one,
    generator_sees_only_its_inputs,
    generated_artifacts_compile,
    complete_permits_whenever_possible,
    single_pair_permits_whenever_possible,
    unmasked_conditions_permit_everything,
    bypass_equals_asb,
    mask_is_empty_only_without_a_choice,
    conflicts_are_gated,
    scramble_is_as_named,
)
"""The claims of this module."""
