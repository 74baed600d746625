"""Faults of the four rules: dropped, inverted, weakened to the action that is about to be taken."""

from __future__ import annotations

from evenhand.core.system import Mutant
from evenhand.model.apcm.compiler import REFERENCE, Rules
from evenhand.model.apcm.mutants.declare import CHAIN, HOSTILE, PAIRED, PLAIN, declare
from evenhand.model.apcm.vocabulary import (
    MAINTAIN,
    REVISE,
    Artifact,
    Config,
    Error,
    Fields,
    Pairs,
    Situation,
    digest_of,
)

__all__ = ["RULES"]


def _nothing_forbidden(_situation: Situation, _fields: Fields) -> tuple[str, ...]:
    return ()


def _inverted(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """Rule 1's forbidden actions are permitted, and the other way round."""
    honest = REFERENCE.forbidden(situation, fields)
    return tuple(sorted(a for a in situation.feasible if a not in honest))


def _authorisation_only(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """Required preservations forbid nothing."""
    return tuple(sorted(a for a in situation.feasible if not situation.violates(a).issubset(fields.av)))


def _preservation_only(situation: Situation, fields: Fields) -> tuple[str, ...]:
    return tuple(sorted(a for a in situation.feasible if not situation.violates(a).isdisjoint(fields.rp)))


def _exactly_authorised(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """Forbidden unless the action violates exactly AV, and AV keeps RP: the same mask, by the theorem."""
    return tuple(
        sorted(
            a
            for a in situation.feasible
            if situation.violates(a) != frozenset(fields.av) or not frozenset(fields.av).isdisjoint(fields.rp)
        )
    )


def _any_authorised(situation: Situation, fields: Fields) -> tuple[str, ...]:
    return tuple(
        sorted(
            a
            for a in REFERENCE.forbidden(situation, fields)
            if situation.violates(a).isdisjoint(fields.av) or not situation.violates(a).isdisjoint(fields.rp)
        )
    )


def _satisfying_excuses(situation: Situation, fields: Fields) -> tuple[str, ...]:
    pleasing = [
        a
        for a, made in situation.apcm
        if isinstance(made.satisfies, frozenset) and not made.satisfies.isdisjoint(fields.rp)
    ]
    return tuple(a for a in REFERENCE.forbidden(situation, fields) if a not in pleasing)


def _no_pair_is_false(_situation: Situation, _fields: Fields) -> Pairs:
    return ()


def _true_pairs(situation: Situation, fields: Fields) -> Pairs:
    """Truthful pairs are called false."""
    honest = REFERENCE.false_pairs(situation, fields)
    return tuple(pair for pair in fields.pairs if pair not in honest)


def _never_violated(situation: Situation, fields: Fields) -> Pairs:
    """A pair is false only if no action at all violates a member."""
    return tuple(
        pair
        for pair in fields.pairs
        if all(situation.violates(a).isdisjoint(pair) for a in situation.feasible) and situation.feasible
    )


def _false_for_the_claimed(situation: Situation, fields: Fields) -> Pairs:
    """Rule 2 looks only at the actions that the mask would leave."""
    gone = REFERENCE.forbidden(situation, fields)
    return tuple(
        pair
        for pair in fields.pairs
        if any(situation.violates(a).isdisjoint(pair) for a in situation.feasible if a not in gone)
    )


def _both_members(situation: Situation, fields: Fields) -> Pairs:
    """Rule 2 requires every action to violate both members."""
    return tuple(
        pair for pair in fields.pairs if any(not situation.violates(a).issuperset(pair) for a in situation.feasible)
    )


def _nothing_gratuitous(_situation: Situation, _fields: Fields, _keeping: tuple[str, ...]) -> tuple[str, ...]:
    return ()


def _necessary_is_gratuitous(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    honest = REFERENCE.gratuitous(situation, fields, keeping)
    return tuple(p for p in fields.av if p not in honest)


def _needed_by_the_claimed(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    """Necessity covers the actions that the mask would leave, not all that keep RP."""
    gone = REFERENCE.forbidden(situation, fields)
    return REFERENCE.gratuitous(situation, fields, tuple(a for a in keeping if a not in gone))


def _first_only(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    """Only the authorised preference whose name comes first is looked at."""
    return tuple(p for p in REFERENCE.gratuitous(situation, fields, keeping) if p == fields.av[0])


def _needed_by_some(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    """A violation is necessary as soon as some action of A_ok commits it."""
    return tuple(p for p in fields.av if keeping and not any(p in situation.violates(a) for a in keeping))


def _everything_keeps(situation: Situation, _fields: Fields) -> tuple[str, ...]:
    """A_ok is every feasible action."""
    return tuple(sorted(situation.feasible))


def _vacuous_fails(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    """With no action in A_ok, nothing is necessary."""
    return REFERENCE.gratuitous(situation, fields, keeping) if keeping else fields.av


def _collision_not_needed(_fields: Fields) -> bool:
    return False


def _collision_always_needed(fields: Fields) -> bool:
    return not fields.pairs


def _maintain_exempt(_config: Config, _previous: Fields | None, _fields: Fields, _mode: str) -> bool:
    return False


def _maintain_av_only(config: Config, previous: Fields | None, fields: Fields, mode: str) -> bool:
    if previous is None or mode != MAINTAIN:
        return REFERENCE.unprecedented(config, previous, fields, mode)
    return fields.av != previous.av


def _maintain_but_pairs(config: Config, previous: Fields | None, fields: Fields, mode: str) -> bool:
    if previous is None or mode != MAINTAIN:
        return REFERENCE.unprecedented(config, previous, fields, mode)
    return (fields.av, fields.rp) != (previous.av, previous.rp)


def _revise_bound(config: Config, previous: Fields | None, fields: Fields, mode: str) -> bool:
    """REVISE may change nothing either, once there is a previous artefact."""
    if mode == REVISE:
        return previous is not None and fields != previous
    return REFERENCE.unprecedented(config, previous, fields, mode)


def _linked_to_anything(_config: Config, _previous: Fields | None, _artifact: Artifact) -> bool:
    return True


def _linked_under_maintain(config: Config, previous: Fields | None, artifact: Artifact) -> bool:
    return artifact.mode != MAINTAIN or REFERENCE.linked(config, previous, artifact)


def _some_link(_config: Config, previous: Fields | None, artifact: Artifact) -> bool:
    return (artifact.previous_artifact_digest is None) == (previous is None)


def _first_needs_a_link(_config: Config, previous: Fields | None, artifact: Artifact) -> bool:
    return artifact.previous_artifact_digest == digest_of(previous or Fields((), (), ()))


def _one_error(errors: tuple[Error, ...]) -> tuple[Error, ...]:
    return REFERENCE.ranked(errors)[:1]


def _by_code_name(errors: tuple[Error, ...]) -> tuple[Error, ...]:
    return tuple(sorted(errors))


def _by_rule_number(errors: tuple[Error, ...]) -> tuple[Error, ...]:
    """Rule 2 before Rule 3 before Rule 1.5, in the order of the sections."""
    late = ("E_AV_WITHOUT_COLLISION", "E_GRATUITOUS_VIOLATION")
    honest = REFERENCE.ranked(errors)
    return tuple(
        [error for error in honest if error.code not in late] + [error for error in honest if error.code in late]
    )


RULES: tuple[Mutant[Rules], ...] = (
    declare("rule_1_dropped", "Rule 1 forbids nothing.", "6.1", "universe", PLAIN, forbidden=_nothing_forbidden),
    declare("rule_1_inverted", "What Rule 1 forbids is permitted.", "6.1", "universe", PLAIN, forbidden=_inverted),
    declare(
        "preservations_forbid_nothing",
        "Violating a required preservation is no reason to forbid.",
        "6.1",
        "universe",
        PLAIN,
        forbidden=_authorisation_only,
    ),
    declare(
        "preservations_redundant_without_overlap",
        "Violating a required preservation is no reason to forbid; AV and RP may not overlap.",
        "6.1",
        "universe",
        PLAIN,
        readings=(("av_rp_overlap", "error"),),
        expected="equivalent",
        reason="within AV, which is disjoint from RP, nothing is left that the dropped clause would forbid",
        forbidden=_authorisation_only,
    ),
    declare(
        "violations_need_no_authority",
        "A violation need not be authorised.",
        "6.1",
        "universe",
        PLAIN,
        forbidden=_preservation_only,
    ),
    declare(
        "one_authority_covers_all",
        "One authorised violation licenses the action's other ones.",
        "6.1",
        "universe",
        PLAIN,
        forbidden=_any_authorised,
    ),
    declare(
        "satisfying_excuses_violating",
        "An action that satisfies a required preservation may violate what is not authorised.",
        "2.1, 6.1",
        "universe",
        PLAIN,
        forbidden=_satisfying_excuses,
    ),
    declare(
        "rule_1_as_equality",
        "An action is permitted if it violates exactly AV and AV keeps RP.",
        "6.1, 6.4",
        "universe",
        PLAIN,
        expected="equivalent",
        reason="permitted actions violate exactly AV after any successful compile (a theorem)",
        forbidden=_exactly_authorised,
    ),
    declare(
        "rule_2_dropped", "Any collision may be declared.", "6.2", "universe", PLAIN, false_pairs=_no_pair_is_false
    ),
    declare("rule_2_inverted", "Truthful collisions are refused.", "6.2", "universe", PLAIN, false_pairs=_true_pairs),
    declare(
        "rule_2_of_the_claimed_action",
        "A collision need only hold for the actions that the mask leaves.",
        "6.2",
        "universe",
        PLAIN,
        readings=(("pair_arity", "may_repeat"),),
        false_pairs=_false_for_the_claimed,
    ),
    declare(
        "rule_2_for_some_action",
        "A collision holds as soon as one action violates a member.",
        "6.2",
        "universe",
        PLAIN,
        false_pairs=_never_violated,
    ),
    declare(
        "rule_2_asks_for_both",
        "A collision holds only if every action violates both members.",
        "6.2",
        "universe",
        PLAIN,
        false_pairs=_both_members,
    ),
    declare(
        "necessity_dropped", "No violation is gratuitous.", "6.4", "universe", PLAIN, gratuitous=_nothing_gratuitous
    ),
    declare(
        "necessity_inverted",
        "Necessary violations are refused, others pass.",
        "6.4",
        "universe",
        PLAIN,
        gratuitous=_necessary_is_gratuitous,
    ),
    declare(
        "necessity_of_the_claimed_action",
        "A violation is necessary if the actions that the mask leaves commit it.",
        "6.4",
        "universe",
        PLAIN,
        gratuitous=_needed_by_the_claimed,
    ),
    declare(
        "necessity_of_the_first_name",
        "Only the authorised preference whose name comes first must be necessary.",
        "6.4",
        "universe",
        PLAIN,
        gratuitous=_first_only,
    ),
    declare(
        "necessity_for_some_action",
        "A violation is necessary as soon as one action that keeps RP commits it.",
        "6.4",
        "universe",
        PLAIN,
        gratuitous=_needed_by_some,
    ),
    declare(
        "necessity_ignores_preservations",
        "A violation is necessary only if every feasible action commits it.",
        "6.4",
        "universe",
        PLAIN,
        keepers=_everything_keeps,
    ),
    declare(
        "vacuous_necessity_fails",
        "Where no action keeps RP, every violation is gratuitous.",
        "6.4",
        "universe",
        PLAIN,
        gratuitous=_vacuous_fails,
    ),
    declare(
        "collision_not_needed",
        "A violation may be authorised without declaring a collision.",
        "6.4",
        "universe",
        PLAIN,
        uncollided=_collision_not_needed,
    ),
    declare(
        "collision_always_needed",
        "A collision must be declared even where nothing is authorised.",
        "6.4",
        "universe",
        PLAIN,
        uncollided=_collision_always_needed,
    ),
    declare("maintain_exempt", "MAINTAIN binds nothing.", "6.3", "run", CHAIN, unprecedented=_maintain_exempt),
    declare("maintain_binds_av_only", "MAINTAIN binds AV alone.", "6.3", "run", CHAIN, unprecedented=_maintain_av_only),
    declare(
        "maintain_frees_the_pairs",
        "MAINTAIN binds AV and RP, not the declared pairs.",
        "6.3",
        "run",
        PAIRED,
        unprecedented=_maintain_but_pairs,
    ),
    declare("revise_is_bound", "REVISE may change nothing.", "6.3", "run", CHAIN, unprecedented=_revise_bound),
    declare("digest_ignored", "Any digest is accepted.", "3.2", "universe", HOSTILE, linked=_linked_to_anything),
    declare(
        "digest_counts_under_maintain",
        "The digest is looked at under MAINTAIN only.",
        "3.2",
        "universe",
        HOSTILE,
        linked=_linked_under_maintain,
    ),
    declare(
        "any_digest_links",
        "Any digest will do where there is a previous artefact.",
        "3.2",
        "run",
        CHAIN.updated({"hostile": 1}),
        linked=_some_link,
    ),
    declare(
        "first_step_needs_a_link",
        "The first artefact must name the digest of an empty one.",
        "3.2",
        "universe",
        PLAIN,
        linked=_first_needs_a_link,
    ),
    declare("fail_fast", "Only the first error is reported.", "6", "universe", PLAIN, ranked=_one_error),
    declare(
        "errors_by_name", "Errors are reported in alphabetical order.", "6", "universe", HOSTILE, ranked=_by_code_name
    ),
    declare(
        "errors_by_section",
        "Rules 2 and 3 are reported before Rule 1.5.",
        "6",
        "universe",
        PLAIN,
        ranked=_by_rule_number,
    ),
)
"""Faults of the rules."""
