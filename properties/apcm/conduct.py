"""Agents, precedents and the four run conditions: the inputs of each, and what the ablations amount to."""

from __future__ import annotations

from collections.abc import Hashable

from evenhand.core.plan import holds, refuted
from evenhand.core.property import TwoRun, determined_by, each_step
from evenhand.core.records import replace
from evenhand.model.apcm.vocabulary import (
    ASB,
    BYPASS,
    DONE,
    HALTED,
    MVRA,
    SCRAMBLE,
    Artifact,
    Config,
    Select,
    Shown,
    Whole,
    digest_of,
    parts_of,
)
from evenhand.properties.apcm.predicates import (
    ARTIFICIAL,
    ApcmStep,
    blocked,
    clean,
    covering,
    masks,
    minimal_sets,
    proper,
    published,
    said,
    submits,
    violations,
)

GENERATED = ("agents", "conditions")


def _generator_input(step: ApcmStep) -> Hashable:
    config = step.config
    return (config.generator, config.preferences, config.readings, published(step), step.before.previous)


def _generates(step: ApcmStep) -> bool:
    return submits(step) and step.config.condition in (MVRA, BYPASS)


def _ends(step: ApcmStep) -> bool:
    """Whether the step of the environment is over: an action was selected, or there is none to select."""
    shown = step.shown
    return shown.kind == "select" or (shown.kind == "submit" and not shown.offered and not shown.invalid)


def _open(step: ApcmStep, generator: str) -> bool:
    config, situation = step.config, published(step)
    mine = proper(step) and config.condition == MVRA and config.generator == generator
    return mine and bool(situation.feasible) and not blocked(config, situation)


def _becomes_precedent(step: ApcmStep) -> bool:
    """Whether what is submitted is the previous artefact of the next step: if it compiled, or as the reading says."""
    shown = step.shown
    return shown.fields is not None and (shown.compile_ok is True or step.config.readings.previous == "last_submitted")


@each_step(
    "The previous artefact is the last that compiled, or was well formed, as the reading says.",
    source="3.1, 4, 6.3",
    systems=ARTIFICIAL,
    when=lambda step: proper(step) or step.shown.kind == "select",
)
def precedent_is_kept_as_read(step: ApcmStep) -> bool:
    """Nothing else changes the previous artefact."""
    shown, config = step.shown, step.config
    if not _becomes_precedent(step):
        return step.after.previous == step.before.previous
    fields, sent = shown.fields, shown.artifact
    if config.readings.digest == "of_the_parts" or fields is None or sent is None:
        return step.after.previous == fields
    link = sent.previous_artifact_digest
    rest = (shown.mode, link, sent.precedent_reference)
    kept = step.after.previous
    return isinstance(kept, Whole) and (kept.mode, kept.link, kept.reference) == rest and parts_of(kept) == fields


@each_step(
    "The link of an artefact that becomes the previous one does not name that artefact itself: links chain.  (Stated "
    "to be refuted where a digest covers AV, RP and pairs alone.)",
    source="3.1, 3.2",
    systems=("run", "conditions"),
    when=lambda step: proper(step) and _becomes_precedent(step),
    expected=(
        refuted("3.1: the digest of AV, RP and pairs stays the same while an agent repeats them"),
        holds("a digest that covers the link as well moves on with every artefact", digest="of_the_whole"),
    ),
)
def links_chain(step: ApcmStep) -> bool:
    """An old link, sent again, is then no longer taken."""
    sent, kept = step.shown.artifact, step.after.previous
    return sent is not None and kept is not None and sent.previous_artifact_digest != digest_of(kept)


@each_step(
    "A selection, a halt or a gridlock moves the environment on by one and changes nothing else.",
    source="1",
    systems=ARTIFICIAL,
    when=_ends,
)
def every_step_moves_on_by_one(step: ApcmStep) -> bool:
    """A run of fixed length ends after its last step, and by the reading `after_halt` any run with a halt."""
    config, after = step.config, step.after
    place = step.before.place + 1
    over = DONE if config.steps is not None and place >= config.steps else ""
    if step.shown.halt and config.readings.after_halt == "ends":
        over = HALTED
    due = place % len(config.situations) if config.steps is None else place
    return (after.place, after.over) == (due, over) and not after.offered and not after.permitted


@each_step(
    "A selection shows the action, what the APCM says that it violates, and nothing that a compile shows.",
    source="9.1",
    systems=ARTIFICIAL,
    when=lambda step: isinstance(step.action, Select) and step.shown.kind == "select",
)
def executions_record_what_they_violate(step: ApcmStep) -> bool:
    """The record of the run is made of it; the selector never sees it."""
    assert isinstance(step.action, Select)
    name = step.action.action
    violates = tuple(sorted(violations(published(step))[name]))
    return step.shown == Shown("select", selected=name, selected_violates=violates)


@determined_by(
    "What a generator submits is a function of registry, feasible actions, APCM and previous artefact.",
    source="4",
    systems=("conditions",),
    key=_generator_input,
    when=_generates,
)
def generator_sees_only_its_inputs(step: ApcmStep) -> Hashable:
    """The submitted artefact: no step number, selection or reward may change it."""
    return step.shown.artifact


@each_step(
    "The generators of the agents' system never fail to compile.",
    source="12.1",
    systems=("agents",),
    when=proper,
)
def generated_artifacts_compile(step: ApcmStep) -> bool:
    """Neither generator guesses."""
    return step.shown.compile_ok is True


@each_step(
    "The complete generator permits an action whenever some artefact would.",
    source="12.1",
    systems=GENERATED,
    when=lambda step: _open(step, "complete"),
)
def complete_permits_whenever_possible(step: ApcmStep) -> bool:
    """Deadlock question 2, one half."""
    return bool(step.shown.permitted)


@each_step(
    "The single-pair generator permits an action whenever some artefact would.  (Stated to be refuted.)",
    source="12.1",
    systems=GENERATED,
    when=lambda step: _open(step, "single_pair"),
    expected=(
        refuted("12.1: it authorises one preference, and every action may violate two", system="agents"),
        refuted(
            "as among the agents, met by drawing; the environment that is searched has no such situation",
            system="conditions",
            engine="fuzz",
        ),
    ),
)
def single_pair_permits_whenever_possible(step: ApcmStep) -> bool:
    """Deadlock question 2, the other half."""
    return bool(step.shown.permitted)


@each_step(
    "The complete generator authorises a least violation set, requires everything else, and declares no more than that "
    "takes: nothing if nothing is authorised, else one collision, or one for each authorised preference.",
    source="12.1",
    systems=GENERATED,
    when=lambda step: _open(step, "complete"),
)
def complete_authorises_the_least(step: ApcmStep) -> bool:
    """One for each where the reading wants each in a collision."""
    known = said(step)
    most = len(known.av) if step.config.readings.av_in_collision == "required" else min(1, len(known.av))
    rest = frozenset(step.config.preferences) - known.av
    return known.av in minimal_sets(known.violates) and known.rp == rest and len(known.pairs) <= most


def _one_is_enough(step: ApcmStep) -> bool:
    """Whether some action violates nothing, or one preference alone that a truthful pair names."""
    if not _open(step, "single_pair"):
        return False
    violates = violations(published(step))
    pairs = covering(step.config, violates)
    alone = {p for bad in violates.values() if len(bad) == 1 for p in bad}
    return clean(violates) or any(p in pair for p in alone for pair in pairs if len(pair) > 1)


@each_step(
    "The single-pair generator permits an action wherever one that violates nothing, or a single preference in a "
    "truthful collision, is feasible.",
    source="12.1",
    systems=GENERATED,
    when=_one_is_enough,
)
def single_pair_permits_where_one_is_enough(step: ApcmStep) -> bool:
    """What it is good for."""
    return bool(step.shown.permitted)


@each_step(
    "What a generator submits names the previous artefact, in link and reference.",
    source="3.1, 3.2",
    systems=GENERATED,
    when=lambda step: _generates(step) and proper(step),
)
def generated_artifacts_name_their_precedent(step: ApcmStep) -> bool:
    """Neither where there is none."""
    artifact, previous = step.shown.artifact, step.before.previous
    if artifact is None:
        return False
    link = None if previous is None else digest_of(previous)
    return artifact.previous_artifact_digest == link and artifact.precedent_reference == (link or "")


@each_step(
    "The selector `any` leaves everything that is permitted, `first` and `last` the one at that end; nothing of "
    "nothing.",
    source="1",
    systems=ARTIFICIAL,
    when=submits,
)
def selectors_choose_as_named(step: ApcmStep) -> bool:
    """It narrows the permitted set and never empties it."""
    permitted = step.shown.permitted
    left = {"any": permitted, "first": permitted[:1], "last": permitted[-1:]}
    return step.shown.offered == left[step.config.selector] == step.after.offered


@each_step(
    "ASB and BYPASS mask nothing: whatever is feasible is permitted, and no compile halts them.",
    source="10",
    systems=("conditions",),
    when=lambda step: proper(step) and step.config.condition in (ASB, BYPASS),
)
def unmasked_conditions_permit_everything(step: ApcmStep) -> bool:
    """Whether every feasible action is permitted, without halt or mask."""
    permits_all = step.shown.permitted == tuple(sorted(published(step).feasible))
    return permits_all and not step.shown.halt and not step.shown.forbidden


def _behaves_alike(_w: str, step: ApcmStep, other: ApcmStep | None) -> bool:
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
    state=lambda _w, _config, state: replace(state, previous=None),
    other=lambda _w, action: (action,),
    agree=_behaves_alike,
)


@each_step(
    "After a successful compile the mask forbids nothing exactly if every feasible action violates just what is "
    "authorised, and that keeps what is required: else MVRA differs from ASB.",
    source="10",
    systems=ARTIFICIAL,
    when=masks,
)
def mask_is_empty_only_without_a_choice(step: ApcmStep) -> bool:
    """The exact condition of run 0."""
    known = said(step)
    alike = all([bad == known.av and not bad & known.rp for bad in known.violates.values()])
    return (not step.shown.forbidden) == alike


@each_step(
    "Of feasible actions that violate different sets, MVRA permits at most those of one set, whatever the artefact: "
    "less than ASB.",
    source="10",
    systems=("run", "universe", "agents", "conditions"),
    when=lambda step: (
        proper(step)
        and step.config.condition in (MVRA, SCRAMBLE)
        and len(set(violations(published(step)).values())) > 1
    ),
)
def conflicts_are_gated(step: ApcmStep) -> bool:
    """Whether the compile succeeded or failed, the action distribution shifts."""
    violates = violations(published(step))
    permitted = set(step.shown.permitted)
    return permitted <= set(violates) and len({violates[a] for a in permitted}) <= 1


def _expected_scramble(config: Config, plain: Artifact) -> Artifact:
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


def _scrambled(_w: str, step: ApcmStep, other: ApcmStep | None) -> bool:
    if other is None or not proper(step):
        return other is not None
    seen, plain = step.shown.artifact, other.shown.artifact
    if seen is None or plain is None:
        return False
    match step.config.scramble:
        case "unlink":
            return seen.previous_artifact_digest != plain.previous_artifact_digest
        case "garble":
            return not isinstance(seen.authorized_violations, frozenset | tuple)
        case _:
            return seen == _expected_scramble(step.config, plain)


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
