"""Faults of the four rules: dropped, inverted, weakened to the action that is about to be taken."""

from __future__ import annotations

from evenhand.model.apcm.compiler import REFERENCE
from evenhand.model.apcm.mutants.declare import CHAIN, HOSTILE, PAIRED, PLAIN, STEPS, declare, fault
from evenhand.model.apcm.vocabulary import (
    MAINTAIN,
    REVISE,
    Artifact,
    Compiled,
    Config,
    Error,
    Fields,
    Pairs,
    Situation,
    digest_of,
    parts_of,
)


def _authorisation_only(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """Required preservations forbid nothing."""
    return tuple(sorted(a for a in situation.feasible if not situation.violates(a).issubset(fields.av)))


@fault("forbidden", "6.1", "universe", PLAIN)
def rule_1_dropped(_situation: Situation, _fields: Fields) -> tuple[str, ...]:
    """Rule 1 forbids nothing."""
    return ()


@fault("forbidden", "6.1", "universe", PLAIN)
def rule_1_inverted(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """What Rule 1 forbids is permitted."""
    honest = REFERENCE.forbidden(situation, fields)
    return tuple(sorted(a for a in situation.feasible if a not in honest))


preservations_forbid_nothing = declare(
    "preservations_forbid_nothing",
    "Violating a required preservation is no reason to forbid.",
    "6.1",
    "universe",
    PLAIN,
    forbidden=_authorisation_only,
)

preservations_redundant_without_overlap = declare(
    "preservations_redundant_without_overlap",
    "Violating a required preservation is no reason to forbid; AV and RP may not overlap.",
    "6.1",
    "universe",
    PLAIN,
    readings=(("av_rp_overlap", "error"),),
    expected="equivalent",
    reason="within AV, which is disjoint from RP, nothing is left that the dropped clause would forbid",
    forbidden=_authorisation_only,
)


@fault("forbidden", "6.1", "universe", PLAIN)
def violations_need_no_authority(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """A violation need not be authorised."""
    return tuple(sorted(a for a in situation.feasible if not situation.violates(a).isdisjoint(fields.rp)))


@fault("forbidden", "6.1", "universe", PLAIN)
def one_authority_covers_all(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """One authorised violation licenses the action's other ones."""
    return tuple(
        sorted(
            a
            for a in REFERENCE.forbidden(situation, fields)
            if situation.violates(a).isdisjoint(fields.av) or not situation.violates(a).isdisjoint(fields.rp)
        )
    )


@fault("forbidden", "2.1, 6.1", "universe", PLAIN)
def satisfying_excuses_violating(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """An action that satisfies a required preservation may violate what is not authorised."""
    pleasing = [
        a
        for a, made in situation.apcm
        if isinstance(made.satisfies, frozenset) and not made.satisfies.isdisjoint(fields.rp)
    ]
    return tuple(a for a in REFERENCE.forbidden(situation, fields) if a not in pleasing)


@fault(
    "forbidden",
    "6.1, 6.4",
    "universe",
    PLAIN,
    expected="equivalent",
    reason="permitted actions violate exactly AV after any successful compile (a theorem)",
)
def rule_1_as_equality(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """An action is permitted if it violates exactly AV and AV keeps RP."""
    return tuple(
        sorted(
            a
            for a in situation.feasible
            if situation.violates(a) != frozenset(fields.av) or not frozenset(fields.av).isdisjoint(fields.rp)
        )
    )


@fault("false_pairs", "6.2", "universe", PLAIN)
def rule_2_dropped(_situation: Situation, _fields: Fields) -> Pairs:
    """Any collision may be declared."""
    return ()


@fault("false_pairs", "6.2", "universe", PLAIN)
def rule_2_inverted(situation: Situation, fields: Fields) -> Pairs:
    """Truthful collisions are refused."""
    honest = REFERENCE.false_pairs(situation, fields)
    return tuple(pair for pair in fields.pairs if pair not in honest)


@fault("false_pairs", "6.2", "universe", PLAIN, readings=(("pair_arity", "may_repeat"),))
def rule_2_of_the_claimed_action(situation: Situation, fields: Fields) -> Pairs:
    """A collision need only hold for the actions that the mask leaves."""
    gone = REFERENCE.forbidden(situation, fields)
    return tuple(
        pair
        for pair in fields.pairs
        if any(situation.violates(a).isdisjoint(pair) for a in situation.feasible if a not in gone)
    )


@fault("false_pairs", "6.2", "universe", PLAIN)
def rule_2_for_some_action(situation: Situation, fields: Fields) -> Pairs:
    """A collision holds as soon as one action violates a member."""
    return tuple(
        pair
        for pair in fields.pairs
        if all(situation.violates(a).isdisjoint(pair) for a in situation.feasible) and situation.feasible
    )


@fault("false_pairs", "6.2", "universe", PLAIN)
def rule_2_asks_for_both(situation: Situation, fields: Fields) -> Pairs:
    """A collision holds only if every action violates both members."""
    return tuple(
        pair for pair in fields.pairs if any(not situation.violates(a).issuperset(pair) for a in situation.feasible)
    )


@fault("gratuitous", "6.4", "universe", PLAIN)
def necessity_dropped(_situation: Situation, _fields: Fields, _keeping: tuple[str, ...]) -> tuple[str, ...]:
    """No violation is gratuitous."""
    return ()


@fault("gratuitous", "6.4", "universe", PLAIN)
def necessity_inverted(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    """Necessary violations are refused, others pass."""
    honest = REFERENCE.gratuitous(situation, fields, keeping)
    return tuple(p for p in fields.av if p not in honest)


@fault("gratuitous", "6.4", "universe", PLAIN)
def necessity_of_the_claimed_action(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    """A violation is necessary if the actions that the mask leaves commit it."""
    gone = REFERENCE.forbidden(situation, fields)
    return REFERENCE.gratuitous(situation, fields, tuple(a for a in keeping if a not in gone))


@fault("gratuitous", "6.4", "universe", PLAIN)
def necessity_of_the_first_name(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    """Only the authorised preference whose name comes first must be necessary."""
    return tuple(p for p in REFERENCE.gratuitous(situation, fields, keeping) if p == fields.av[0])


@fault("gratuitous", "6.4", "universe", PLAIN)
def necessity_for_some_action(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    """A violation is necessary as soon as one action that keeps RP commits it."""
    return tuple(p for p in fields.av if keeping and not any(p in situation.violates(a) for a in keeping))


@fault("keepers", "6.4", "universe", PLAIN)
def necessity_ignores_preservations(situation: Situation, _fields: Fields) -> tuple[str, ...]:
    """A violation is necessary only if every feasible action commits it."""
    return tuple(sorted(situation.feasible))


@fault("gratuitous", "6.4", "universe", PLAIN)
def vacuous_necessity_fails(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    """Where no action keeps RP, every violation is gratuitous."""
    return REFERENCE.gratuitous(situation, fields, keeping) if keeping else fields.av


@fault("uncollided", "6.4", "universe", PLAIN)
def collision_not_needed(_fields: Fields) -> bool:
    """A violation may be authorised without declaring a collision."""
    return False


@fault("uncollided", "6.4", "universe", PLAIN)
def collision_always_needed(fields: Fields) -> bool:
    """A collision must be declared even where nothing is authorised."""
    return not fields.pairs


@fault("unprecedented", "6.3", "run", CHAIN)
def maintain_exempt(_config: Config, _previous: Fields | None, _fields: Fields, _mode: str) -> bool:
    """MAINTAIN binds nothing."""
    return False


@fault("unprecedented", "6.3", "run", CHAIN)
def maintain_binds_av_only(config: Config, previous: Fields | None, fields: Fields, mode: str) -> bool:
    """MAINTAIN binds AV alone."""
    if previous is None or mode != MAINTAIN:
        return REFERENCE.unprecedented(config, previous, fields, mode)
    return fields.av != previous.av


@fault("unprecedented", "6.3", "run", PAIRED)
def maintain_frees_the_pairs(config: Config, previous: Fields | None, fields: Fields, mode: str) -> bool:
    """MAINTAIN binds AV and RP, not the declared pairs."""
    if previous is None or mode != MAINTAIN:
        return REFERENCE.unprecedented(config, previous, fields, mode)
    return (fields.av, fields.rp) != (previous.av, previous.rp)


@fault("unprecedented", "6.3", "run", CHAIN)
def revise_is_bound(config: Config, previous: Fields | None, fields: Fields, mode: str) -> bool:
    """REVISE may change nothing."""
    if mode == REVISE:
        return previous is not None and fields != previous
    return REFERENCE.unprecedented(config, previous, fields, mode)


@fault("linked", "3.2", "universe", HOSTILE)
def digest_ignored(_config: Config, _previous: Fields | None, _artifact: Artifact) -> bool:
    """Any digest is accepted."""
    return True


@fault("linked", "3.2", "universe", HOSTILE)
def digest_counts_under_maintain(config: Config, previous: Fields | None, artifact: Artifact) -> bool:
    """The digest is looked at under MAINTAIN only."""
    return artifact.mode != MAINTAIN or REFERENCE.linked(config, previous, artifact)


@fault("linked", "3.2", "run", CHAIN.updated({"hostile": 1}))
def any_digest_links(_config: Config, previous: Fields | None, artifact: Artifact) -> bool:
    """Any digest will do where there is a previous artefact."""
    return (artifact.previous_artifact_digest is None) == (previous is None)


@fault("linked", "3.2", "universe", PLAIN)
def first_step_needs_a_link(_config: Config, previous: Fields | None, artifact: Artifact) -> bool:
    """The first artefact must name the digest of an empty one."""
    return artifact.previous_artifact_digest == digest_of(previous or Fields((), (), ()))


@fault("ranked", "6", "universe", PLAIN)
def fail_fast(errors: tuple[Error, ...]) -> tuple[Error, ...]:
    """Only the first error is reported."""
    return REFERENCE.ranked(errors)[:1]


@fault("ranked", "6", "universe", HOSTILE)
def errors_by_name(errors: tuple[Error, ...]) -> tuple[Error, ...]:
    """Errors are reported in alphabetical order."""
    return tuple(sorted(errors))


@fault("ranked", "6", "universe", PLAIN)
def errors_by_section(errors: tuple[Error, ...]) -> tuple[Error, ...]:
    """Rules 2 and 3 are reported before Rule 1.5."""
    # In the order of the sections.
    late = ("E_AV_WITHOUT_COLLISION", "E_GRATUITOUS_VIOLATION")
    honest = REFERENCE.ranked(errors)
    return tuple(
        [error for error in honest if error.code not in late] + [error for error in honest if error.code in late]
    )


@fault("keep", "3.1", "conditions", STEPS, readings=(("digest", "of_the_whole"),))
def links_do_not_chain(config: Config, previous: Fields | None, result: Compiled) -> Fields | None:
    """The digest covers AV, RP and pairs, and not the artefact's own link."""
    return parts_of(REFERENCE.keep(config, previous, result))
