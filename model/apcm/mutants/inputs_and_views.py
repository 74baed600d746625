"""Faults around the rules: of input checks, of the mask's domain, of what each part can see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.core.system import Mutant, Scope
from evenhand.model.apcm.compiler import REFERENCE, Rules
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.mutants.declare import CHAIN, HOSTILE, PLAIN, STEPS, declare
from evenhand.model.apcm.vocabulary import (
    ASB,
    BYPASS,
    EMPTY,
    MODES,
    REVISE,
    Artifact,
    Compiled,
    Config,
    Error,
    Fields,
    Situation,
    State,
)

__all__ = ["INPUT_AND_VIEW_MUTANTS"]


def _forgiving(*codes: str) -> Any:
    """Return validation of the APCM that lets these faults pass."""

    def validate(config: Config, situation: Situation) -> tuple[Error, ...]:
        return tuple(error for error in REFERENCE.validate(config, situation) if error.code not in codes)

    return validate


def _total_only(config: Config, situation: Situation) -> tuple[Error, ...]:
    """An APCM with entries for infeasible actions is refused as well."""
    more = sorted({name for name, _ in situation.apcm} - set(situation.feasible))
    return (*REFERENCE.validate(config, situation), *(Error("E_APCM_MISSING", (name,)) for name in more))


def _repeats_fit(_config: Config, pair: tuple[str, ...]) -> bool:
    """A preference may collide with itself under either reading."""
    return len(pair) == 2


def _anything_fits(_config: Config, _pair: tuple[str, ...]) -> bool:
    return True


def _loose_mode(rules: Rules, config: Config, artifact: Artifact | None) -> tuple[Fields | None, tuple[Error, ...]]:
    """Any mode but MAINTAIN counts as REVISE."""
    if artifact is not None and isinstance(artifact.mode, str) and artifact.mode not in MODES:
        artifact = replace(artifact, mode=REVISE)
    return REFERENCE.read(rules, config, artifact)


def _repaired_names(rules: Rules, config: Config, artifact: Artifact | None) -> tuple[Fields | None, tuple[Error, ...]]:
    """Unknown preferences are silently dropped from AV and RP."""

    def known(value: Any) -> Any:
        if not isinstance(value, frozenset) or not all(isinstance(one, str) for one in value):  # pyright: ignore
            return value  # pyright: ignore
        return frozenset(one for one in value if one in config.preferences)  # pyright: ignore

    if artifact is not None:
        artifact = replace(
            artifact,
            authorized_violations=known(artifact.authorized_violations),
            required_preservations=known(artifact.required_preservations),
        )
    return REFERENCE.read(rules, config, artifact)


def _none_is_empty(rules: Rules, config: Config, artifact: Artifact | None) -> tuple[Fields | None, tuple[Error, ...]]:
    return REFERENCE.read(rules, config, artifact if artifact is not None else artifact_of(EMPTY, None))


def _of_the_inventory(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    """The mask is subtracted from the inventory, not from the feasible actions."""
    if config.condition == BYPASS or not result.ok:
        return REFERENCE.permit(config, situation, result)
    return tuple(sorted(a for a in config.actions if a not in result.forbidden))


def _best_effort(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    return REFERENCE.permit(config, situation, result) if result.ok else tuple(sorted(situation.feasible))


def _first_of_the_permitted(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    return REFERENCE.permit(config, situation, result)[:1]


def _first_listed(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    """The compiler arbitrates: of several permitted actions the one that the environment lists first."""
    honest = REFERENCE.permit(config, situation, result)
    return tuple(a for a in situation.feasible if a in honest)[:1]


def _bypass_keeps_the_mask(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    return REFERENCE.permit(replace(config, condition=ASB), situation, result)


def _never(_config: Config, _situation: Situation, _result: Compiled) -> bool:
    return False


def _gridlock_is_halt(config: Config, situation: Situation, result: Compiled) -> bool:
    """A mask that forbids everything is called a halt."""
    stuck = result.ok and all(a in result.forbidden for a in situation.feasible)
    return REFERENCE.halts(config, situation, result) or stuck


def _bypass_halts(config: Config, situation: Situation, result: Compiled) -> bool:
    return REFERENCE.halts(replace(config, condition=ASB), situation, result)


def _peeks_at_av(config: Config, state: State, fields: Fields | None, permitted: tuple[str, ...]) -> tuple[str, ...]:
    """The selector leaves everything if something is authorised, else one action."""
    honest = REFERENCE.offer(config, state, fields, permitted)
    return honest if fields is not None and fields.av else honest[:1]


def _peeks_at_apcm(config: Config, state: State, _fields: Fields | None, permitted: tuple[str, ...]) -> tuple[str, ...]:
    """The selector prefers the actions with the fewest violations."""
    situation = config.published(state)
    least = min(len(situation.violates(a)) for a in permitted)
    return tuple(a for a in permitted if len(situation.violates(a)) == least and (least or a == permitted[0]))


def _widens(config: Config, state: State, fields: Fields | None, permitted: tuple[str, ...]) -> tuple[str, ...]:
    """The selector offers every feasible action, whatever the mask."""
    return REFERENCE.offer(config, state, fields, tuple(sorted(config.published(state).feasible)))


def _generator_counts(config: Config, state: State) -> Artifact | None:
    return artifact_of(EMPTY, state.previous) if state.place == 1 else REFERENCE.generate(config, state)


def _generator_blind(config: Config, state: State) -> Artifact | None:
    return REFERENCE.generate(replace(config, situations=config.situations[:1]), state)


def _generator_hopeful(config: Config, state: State) -> Artifact | None:
    """The complete generator never declares a collision."""
    made = REFERENCE.generate(config, state)
    return made if made is None else replace(made, conflict_attribution=frozenset())


def _unscrambled(_config: Config, artifact: Artifact) -> Artifact:
    return artifact


def _keeps_failures(_config: Config, previous: Fields | None, result: Compiled) -> Fields | None:
    """A well-formed artefact becomes the precedent even if it failed."""
    return previous if result.fields is None else result.fields


def _keeps_the_first(config: Config, previous: Fields | None, result: Compiled) -> Fields | None:
    """The first artefact that compiled stays the precedent for ever."""
    return REFERENCE.keep(config, previous, result) if previous is None else previous


def _forgets(_config: Config, previous: Fields | None, result: Compiled) -> Fields | None:
    return result.fields if result.ok else None if result.fields is None else previous


def _no_reading(_config: Config, _fields: Fields) -> tuple[str, ...]:
    return ()


INPUT_AND_VIEW_MUTANTS: tuple[Mutant[Rules], ...] = (
    declare(
        "partial_apcm_tolerated",
        "A feasible action without APCM counts as harmless.",
        "2.1, 11.1",
        "universe",
        HOSTILE,
        validate=_forgiving("E_APCM_MISSING"),
    ),
    declare(
        "null_apcm_tolerated",
        "None in the APCM counts as the empty set.",
        "2.1, 11.1",
        "universe",
        HOSTILE,
        validate=_forgiving("E_APCM_NULL"),
    ),
    declare(
        "apcm_types_tolerated",
        "What is no set in the APCM counts as the empty set.",
        "2.2",
        "universe",
        HOSTILE,
        validate=_forgiving("E_APCM_TYPE"),
    ),
    declare(
        "unknown_preference_in_apcm_tolerated",
        "A preference outside the registry may be violated.",
        "2.2, 11.1",
        "universe",
        HOSTILE,
        validate=_forgiving("E_APCM_UNKNOWN_PREFERENCE"),
    ),
    declare(
        "ambiguous_apcm_tolerated",
        "Of two entries for one action the first counts.",
        "2.1",
        "universe",
        HOSTILE,
        validate=_forgiving("E_APCM_REPEATED"),
    ),
    declare(
        "unknown_action_tolerated",
        "An action outside the inventory may be feasible.",
        "5",
        "universe",
        HOSTILE,
        validate=_forgiving("E_FEASIBLE_UNKNOWN"),
    ),
    declare(
        "wide_apcm_refused",
        "An APCM that speaks of infeasible actions as well is refused.",
        "2.1",
        "universe",
        HOSTILE,
        validate=_total_only,
    ),
    declare(
        "satisfies_not_compared",
        "Violating and satisfying one preference at once is let pass.",
        "2.1",
        "universe",
        HOSTILE,
        readings=(("satisfies", "disjoint_from_violates"),),
        validate=_forgiving("E_APCM_SATISFIES"),
    ),
    declare(
        "self_collision_accepted",
        "A preference may collide with itself.",
        "3.1",
        "universe",
        HOSTILE,
        pair_fits=_repeats_fit,
    ),
    declare(
        "any_arity_accepted",
        "A collision may be declared among any number of preferences, even none.",
        "3.1",
        "universe",
        HOSTILE,
        pair_fits=_anything_fits,
    ),
    declare(
        "unknown_mode_is_revise", "An unknown mode counts as REVISE.", "3.2", "universe", HOSTILE, read=_loose_mode
    ),
    declare(
        "unknown_preferences_dropped",
        "Unknown preferences are silently dropped: inference and repair.",
        "5",
        "universe",
        HOSTILE,
        read=_repaired_names,
    ),
    declare(
        "missing_artifact_is_empty",
        "A missing artefact counts as an empty one.",
        "5",
        "universe",
        HOSTILE,
        read=_none_is_empty,
    ),
    declare(
        "overlap_let_pass",
        "AV and RP may overlap.",
        "3.1",
        "universe",
        PLAIN,
        readings=(("av_rp_overlap", "error"),),
        overlap=_no_reading,
    ),
    declare(
        "authorised_outside_the_pairs",
        "What is authorised need not occur in a declared pair.",
        "6.4",
        "universe",
        PLAIN.updated({"preferences": 3, "actions": 1}),
        readings=(("av_in_collision", "required"),),
        unexplained=_no_reading,
    ),
    declare(
        "mask_of_the_inventory",
        "The mask is taken off the inventory instead of the feasible actions.",
        "7",
        "universe",
        HOSTILE,
        permit=_of_the_inventory,
    ),
    declare(
        "best_effort_bypass",
        "Where nothing compiles, everything is permitted.",
        "0, 5",
        "universe",
        PLAIN,
        permit=_best_effort,
    ),
    declare(
        "first_permitted_wins",
        "Of several permitted actions the compiler leaves the first by name.",
        "7",
        "universe",
        PLAIN,
        permit=_first_of_the_permitted,
    ),
    declare(
        "first_listed_wins",
        "Of several permitted actions the compiler leaves the one listed first.",
        "7",
        "universe",
        PLAIN,
        permit=_first_listed,
    ),
    declare("halt_not_logged", "A failed compile is no halt.", "1, 9.1", "universe", PLAIN, halts=_never),
    declare("gridlock_is_halt", "Gridlock is logged as a halt.", "1, 9.1", "universe", PLAIN, halts=_gridlock_is_halt),
    declare(
        "bypass_keeps_the_mask", "BYPASS applies the mask.", "10", "conditions", STEPS, permit=_bypass_keeps_the_mask
    ),
    declare("bypass_halts", "BYPASS halts on a failed compile.", "10", "conditions", STEPS, halts=_bypass_halts),
    declare("selector_peeks_at_av", "The selector sees AV.", "11.6", "universe", PLAIN, offer=_peeks_at_av),
    declare("selector_peeks_at_apcm", "The selector sees the APCM.", "11.6", "universe", PLAIN, offer=_peeks_at_apcm),
    declare(
        "selector_ignores_the_mask",
        "The selector offers whatever is feasible.",
        "11.6",
        "universe",
        PLAIN,
        offer=_widens,
    ),
    declare(
        "generator_counts_steps",
        "The generator sees the number of the step.",
        "4",
        "conditions",
        STEPS,
        generate=_generator_counts,
    ),
    declare(
        "generator_misses_the_apcm",
        "The generator does not see the APCM.",
        "4",
        "conditions",
        STEPS,
        generate=_generator_blind,
    ),
    declare(
        "generator_never_attributes",
        "The generator declares no collision.",
        "12.1",
        "agents",
        Scope(actions=2, preferences=2),
        generate=_generator_hopeful,
    ),
    declare(
        "scramble_does_nothing",
        "SCRAMBLE leaves the artefact as it is.",
        "10",
        "conditions",
        STEPS,
        scramble=_unscrambled,
    ),
    declare(
        "failures_become_precedent",
        "An artefact that failed becomes the previous one.",
        "4",
        "run",
        CHAIN,
        keep=_keeps_failures,
    ),
    declare(
        "first_precedent_for_ever",
        "The first artefact stays the previous one.",
        "4",
        "run",
        CHAIN,
        keep=_keeps_the_first,
    ),
    declare(
        "failure_clears_precedent",
        "A malformed artefact leaves no previous one.",
        "4",
        "run",
        CHAIN.updated({"hostile": 1}),
        keep=_forgets,
    ),
)
"""Faults around the rules."""
