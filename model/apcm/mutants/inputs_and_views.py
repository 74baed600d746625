"""Faults around the rules: of input checks, of the mask's domain, of what each part can see."""

from __future__ import annotations

from typing import Any

from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.apcm.compiler import REFERENCE, Rules
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.mutants.declare import CHAIN, HOSTILE, PLAIN, STEPS, declare, fault
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


def _forgiving(code: str) -> Any:
    """Return validation of the APCM that lets this fault pass."""

    def validate(config: Config, situation: Situation) -> tuple[Error, ...]:
        return tuple(error for error in REFERENCE.validate(config, situation) if error.code != code)

    return validate


TOLERANT = tuple(
    declare(f"{name}_tolerated", sentence, source, "universe", HOSTILE, validate=_forgiving(code))
    for name, code, source, sentence in (
        ("partial_apcm", "E_APCM_MISSING", "2.1, 11.1", "A feasible action without APCM counts as harmless."),
        ("null_apcm", "E_APCM_NULL", "2.1, 11.1", "None in the APCM counts as the empty set."),
        ("apcm_types", "E_APCM_TYPE", "2.2", "What is no set in the APCM counts as the empty set."),
        (
            "unknown_preference_in_apcm",
            "E_APCM_UNKNOWN_PREFERENCE",
            "2.2, 11.1",
            "A preference outside the registry may be violated.",
        ),
        ("ambiguous_apcm", "E_APCM_REPEATED", "2.1", "Of two entries for one action the first counts."),
        ("unknown_action", "E_FEASIBLE_UNKNOWN", "5", "An action outside the inventory may be feasible."),
    )
)


@fault("validate", "2.1", "universe", HOSTILE)
def wide_apcm_refused(config: Config, situation: Situation) -> tuple[Error, ...]:
    """An APCM that speaks of infeasible actions as well is refused."""
    more = sorted({name for name, _ in situation.apcm} - set(situation.feasible))
    return (*REFERENCE.validate(config, situation), *(Error("E_APCM_MISSING", (name,)) for name in more))


satisfies_not_compared = declare(
    "satisfies_not_compared",
    "Violating and satisfying one preference at once is let pass.",
    "2.1",
    "universe",
    HOSTILE,
    readings=(("satisfies", "disjoint_from_violates"),),
    validate=_forgiving("E_APCM_SATISFIES"),
)


@fault("pair_fits", "3.1", "universe", HOSTILE)
def self_collision_accepted(_config: Config, pair: tuple[str, ...]) -> bool:
    """A preference may collide with itself."""
    return len(pair) == 2


@fault("pair_fits", "3.1", "universe", HOSTILE)
def any_arity_accepted(_config: Config, _pair: tuple[str, ...]) -> bool:
    """A collision may be declared among any number of preferences, even none."""
    return True


@fault("read", "3.2", "universe", HOSTILE)
def unknown_mode_is_revise(
    rules: Rules, config: Config, artifact: Artifact | None
) -> tuple[Fields | None, tuple[Error, ...]]:
    """An unknown mode counts as REVISE."""
    if artifact is not None and isinstance(artifact.mode, str) and artifact.mode not in MODES:
        artifact = replace(artifact, mode=REVISE)
    return REFERENCE.read(rules, config, artifact)


@fault("read", "5", "universe", HOSTILE)
def unknown_preferences_dropped(
    rules: Rules, config: Config, artifact: Artifact | None
) -> tuple[Fields | None, tuple[Error, ...]]:
    """Unknown preferences are silently dropped: inference and repair."""

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


@fault("read", "5", "universe", HOSTILE)
def missing_artifact_is_empty(
    rules: Rules, config: Config, artifact: Artifact | None
) -> tuple[Fields | None, tuple[Error, ...]]:
    """A missing artefact counts as an empty one."""
    return REFERENCE.read(rules, config, artifact if artifact is not None else artifact_of(EMPTY, None))


@fault("overlap", "3.1", "universe", PLAIN, readings=(("av_rp_overlap", "error"),))
def overlap_let_pass(_config: Config, _fields: Fields) -> tuple[str, ...]:
    """AV and RP may overlap."""
    return ()


@fault(
    "unexplained",
    "6.4",
    "universe",
    PLAIN.updated({"preferences": 3, "actions": 1}),
    readings=(("av_in_collision", "required"),),
)
def authorised_outside_the_pairs(_config: Config, _fields: Fields) -> tuple[str, ...]:
    """What is authorised need not occur in a declared pair."""
    return ()


@fault("permit", "7", "universe", HOSTILE)
def mask_of_the_inventory(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    """The mask is taken off the inventory instead of the feasible actions."""
    if config.condition == BYPASS or not result.ok:
        return REFERENCE.permit(config, situation, result)
    return tuple(sorted(a for a in config.actions if a not in result.forbidden))


@fault("permit", "0, 5", "universe", PLAIN)
def best_effort_bypass(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    """Where nothing compiles, everything is permitted."""
    return REFERENCE.permit(config, situation, result) if result.ok else tuple(sorted(situation.feasible))


@fault("permit", "7", "universe", PLAIN)
def first_permitted_wins(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    """Of several permitted actions the compiler leaves the first by name."""
    return REFERENCE.permit(config, situation, result)[:1]


@fault("permit", "7", "universe", PLAIN)
def first_listed_wins(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    """Of several permitted actions the compiler leaves the one listed first."""
    honest = REFERENCE.permit(config, situation, result)
    return tuple(a for a in situation.feasible if a in honest)[:1]


@fault("halts", "1, 9.1", "universe", PLAIN)
def halt_not_logged(_config: Config, _situation: Situation, _result: Compiled) -> bool:
    """A failed compile is no halt."""
    return False


@fault("halts", "1, 9.1", "universe", PLAIN)
def gridlock_is_halt(config: Config, situation: Situation, result: Compiled) -> bool:
    """Gridlock is logged as a halt."""
    stuck = result.ok and all(a in result.forbidden for a in situation.feasible)
    return REFERENCE.halts(config, situation, result) or stuck


@fault("permit", "10", "conditions", STEPS)
def bypass_keeps_the_mask(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    """BYPASS applies the mask."""
    return REFERENCE.permit(replace(config, condition=ASB), situation, result)


@fault("halts", "10", "conditions", STEPS)
def bypass_halts(config: Config, situation: Situation, result: Compiled) -> bool:
    """BYPASS halts on a failed compile."""
    return REFERENCE.halts(replace(config, condition=ASB), situation, result)


@fault("offer", "11.6", "universe", PLAIN)
def selector_peeks_at_av(
    config: Config, state: State, fields: Fields | None, permitted: tuple[str, ...]
) -> tuple[str, ...]:
    """The selector sees AV."""
    # It leaves everything if something is authorised, else one action.
    honest = REFERENCE.offer(config, state, fields, permitted)
    return honest if fields is not None and fields.av else honest[:1]


@fault("offer", "11.6", "universe", PLAIN)
def selector_peeks_at_apcm(
    config: Config, state: State, _fields: Fields | None, permitted: tuple[str, ...]
) -> tuple[str, ...]:
    """The selector sees the APCM."""
    # It prefers the actions with the fewest violations.
    situation = config.published(state)
    least = min(len(situation.violates(a)) for a in permitted)
    return tuple(a for a in permitted if len(situation.violates(a)) == least and (least or a == permitted[0]))


@fault("offer", "11.6", "universe", PLAIN)
def selector_ignores_the_mask(
    config: Config, state: State, fields: Fields | None, permitted: tuple[str, ...]
) -> tuple[str, ...]:
    """The selector offers whatever is feasible."""
    return REFERENCE.offer(config, state, fields, tuple(sorted(config.published(state).feasible)))


@fault("generate", "4", "conditions", STEPS)
def generator_counts_steps(config: Config, state: State) -> Artifact | None:
    """The generator sees the number of the step."""
    return artifact_of(EMPTY, state.previous) if state.place == 1 else REFERENCE.generate(config, state)


@fault("generate", "4", "conditions", STEPS)
def generator_misses_the_apcm(config: Config, state: State) -> Artifact | None:
    """The generator does not see the APCM."""
    return REFERENCE.generate(replace(config, situations=config.situations[:1]), state)


@fault("generate", "12.1", "agents", Scope(actions=2, preferences=2))
def generator_never_attributes(config: Config, state: State) -> Artifact | None:
    """The generator declares no collision."""
    made = REFERENCE.generate(config, state)
    return made if made is None else replace(made, conflict_attribution=frozenset())


@fault("scramble", "10", "conditions", STEPS)
def scramble_does_nothing(_config: Config, artifact: Artifact) -> Artifact:
    """SCRAMBLE leaves the artefact as it is."""
    return artifact


@fault("keep", "4", "run", CHAIN)
def failures_become_precedent(_config: Config, previous: Fields | None, result: Compiled) -> Fields | None:
    """An artefact that failed becomes the previous one."""
    # If it was well formed.
    return previous if result.fields is None else result.fields


@fault("keep", "4", "run", CHAIN)
def first_precedent_for_ever(config: Config, previous: Fields | None, result: Compiled) -> Fields | None:
    """The first artefact stays the previous one."""
    # Of those that compiled.
    return REFERENCE.keep(config, previous, result) if previous is None else previous


@fault("keep", "4", "run", CHAIN.updated({"hostile": 1}))
def failure_clears_precedent(_config: Config, previous: Fields | None, result: Compiled) -> Fields | None:
    """A malformed artefact leaves no previous one."""
    return result.fields if result.ok else None if result.fields is None else previous
