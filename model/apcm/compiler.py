"""The compiler of RSA-PoC v1.0, and every other point that a reading or a mutant may change.

Pure set algebra: no randomness, no inference, no repair.  A malformed artefact is refused by its schema; for a
well-formed one every rule is consulted and every failure reported, ranked, so that the order of the rules
decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.records import dataclass, replace
from evenhand.model.apcm.generators import generate
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.vocabulary import (
    APCM_CODES,
    BYPASS,
    EMPTY,
    MAINTAIN,
    MODES,
    RANKED,
    SCHEMA_CODES,
    Artifact,
    Compiled,
    Config,
    Entry,
    Error,
    Fields,
    Pairs,
    Situation,
    State,
    digest_of,
    parts_of,
    whole,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Every point that may be changed; the functions below are the reference.

    `validate` finds the faults of a published situation, `pair_fits` says whether a declared pair has a lawful shape,
    `linked` whether the digest is that of the previous fields; the rules are called as in section 6.  `permit`
    turns a compile into the permitted actions, `offer` is the selector, `keep` the next previous artefact.
    """

    validate: Callable[[Config, Situation], tuple[Error, ...]]
    pair_fits: Callable[[Config, tuple[str, ...]], bool]
    read: Callable[[Rules, Config, Artifact | None], tuple[Fields | None, tuple[Error, ...]]]
    linked: Callable[[Config, Fields | None, Artifact], bool]
    keepers: Callable[[Situation, Fields], tuple[str, ...]]
    uncollided: Callable[[Fields], bool]
    gratuitous: Callable[[Situation, Fields, tuple[str, ...]], tuple[str, ...]]
    unexplained: Callable[[Config, Fields], tuple[str, ...]]
    overlap: Callable[[Config, Fields], tuple[str, ...]]
    false_pairs: Callable[[Situation, Fields], Pairs]
    unprecedented: Callable[[Config, Fields | None, Fields, str], bool]
    ranked: Callable[[tuple[Error, ...]], tuple[Error, ...]]
    forbidden: Callable[[Situation, Fields], tuple[str, ...]]
    generate: Callable[[Config, State], Artifact | None]
    scramble: Callable[[Config, Artifact], Artifact]
    permit: Callable[[Config, Situation, Compiled], tuple[str, ...]]
    halts: Callable[[Config, Situation, Compiled], bool]
    offer: Callable[[Config, State, Fields | None, tuple[str, ...]], tuple[str, ...]]
    keep: Callable[[Config, Fields | None, Compiled], Fields | None]


# The environment's side (2.2)


def validate(config: Config, situation: Situation) -> tuple[Error, ...]:
    """Return every fault of a published situation with its culprit, sorted; empty if there is none."""
    return _faults(config.actions, config.preferences, config.readings, situation)


@lru_cache(maxsize=4_096)
def _faults(
    actions: tuple[str, ...], preferences: tuple[str, ...], readings: Readings, situation: Situation
) -> tuple[Error, ...]:
    found: list[Error] = []
    for action in sorted(set(situation.feasible)):
        if action not in actions:
            found.append(Error("E_FEASIBLE_UNKNOWN", (action,)))
        if situation.feasible.count(action) > 1:
            found.append(Error("E_FEASIBLE_REPEATED", (action,)))
        entries = [entry for name, entry in situation.apcm if name == action]
        if not entries:
            found.append(Error("E_APCM_MISSING", (action,)))
        if len(entries) > 1:
            found.append(Error("E_APCM_REPEATED", (action,)))
        for entry in entries[:1]:
            found += _entry_errors(action, entry, preferences, readings)
    return tuple(sorted(found, key=lambda error: (APCM_CODES.index(error.code), error.culprit)))


def _entry_errors(action: str, entry: Entry, preferences: tuple[str, ...], readings: Readings) -> Iterator[Error]:
    values: dict[str, frozenset[Any]] = {}
    for name, value in (("violates", entry.violates), ("satisfies", entry.satisfies)):
        ids = _as_set(readings, value)
        if value is None:
            yield Error("E_APCM_NULL", (action, name))
        elif ids is None:
            yield Error("E_APCM_TYPE", (action, name))
        else:
            for one in sorted(_named(one) for one in ids if one not in preferences):
                yield Error("E_APCM_UNKNOWN_PREFERENCE", (action, name, one))
            values[name] = ids
    if len(values) == 2:
        violates, satisfies = values["violates"], values["satisfies"]
        match readings.satisfies:
            case "disjoint_from_violates" if violates & satisfies:
                yield Error("E_APCM_SATISFIES", (action, *sorted(map(_named, violates & satisfies))))
            case "complement" if satisfies != frozenset(preferences) - violates:
                yield Error("E_APCM_SATISFIES", (action,))
            case _:
                pass


def _as_set(readings: Readings, value: Any) -> frozenset[Any] | None:
    """Return a set, or a list where lists are coerced; None for anything else."""
    if isinstance(value, frozenset):
        return value  # pyright: ignore
    if isinstance(value, tuple) and readings.list_inputs == "coerced":
        return frozenset(value)  # pyright: ignore
    return None


def _named(value: Any) -> str:
    return value if isinstance(value, str) else str(value.text if isinstance(value, Atom) else value.what)


# Schema (3)


def pair_fits(config: Config, pair: tuple[str, ...]) -> bool:
    """Return whether a pair has two preferences, different ones unless the reading allows a self-collision."""
    return len(pair) == 2 and (pair[0] != pair[1] or config.readings.pair_arity == "may_repeat")


def group_fits(_config: Config, group: tuple[str, ...]) -> bool:
    """Return whether a group fits the repair: one preference or more, none twice."""
    return bool(group) and len(set(group)) == len(group)


def read(rules: Rules, config: Config, artifact: Artifact | None) -> tuple[Fields | None, tuple[Error, ...]]:
    """Return the fields of an artefact, or None and its faults."""
    if artifact is None:
        return None, (Error("E_SCHEMA_TYPE", ("artifact",)),)
    found: list[Error] = []
    sets: list[tuple[str, ...]] = []
    for name, value in (
        ("authorized_violations", artifact.authorized_violations),
        ("required_preservations", artifact.required_preservations),
    ):
        given = _as_set(config.readings, value)
        if given is None or not all(isinstance(one, str) for one in given):
            found.append(Error("E_SCHEMA_TYPE", (name,)))
            continue
        ids = tuple(sorted(given))
        found += [Error("E_UNKNOWN_PREFERENCE", (name, one)) for one in ids if one not in config.preferences]
        sets.append(ids)
    pairs, wrong = _pairs(rules, config, artifact.conflict_attribution)
    found += wrong
    for name, text in (
        ("previous_artifact_digest", artifact.previous_artifact_digest),
        ("precedent_reference", artifact.precedent_reference),
    ):
        if not (isinstance(text, str) or (text is None and name == "previous_artifact_digest")):
            found.append(Error("E_SCHEMA_TYPE", (name,)))
    if not isinstance(artifact.mode, str):
        found.append(Error("E_SCHEMA_TYPE", ("mode",)))
    elif artifact.mode not in MODES:
        found.append(Error("E_UNKNOWN_MODE", (artifact.mode,)))
    if found:
        return None, tuple(sorted(set(found), key=lambda error: (SCHEMA_CODES.index(error.code), error.culprit)))
    return Fields(sets[0], sets[1], pairs), ()


def _pairs(rules: Rules, config: Config, value: Any) -> tuple[Pairs, list[Error]]:
    name = "conflict_attribution"
    given = _as_set(config.readings, value)
    if given is None or not all(isinstance(pair, tuple) and all(isinstance(p, str) for p in pair) for pair in given):  # pyright: ignore
        return (), [Error("E_SCHEMA_TYPE", (name,))]
    found: list[Error] = []
    pairs: set[tuple[str, ...]] = set()
    for pair in given:
        found += [Error("E_UNKNOWN_PREFERENCE", (name, one)) for one in pair if one not in config.preferences]
        if not rules.pair_fits(config, pair):
            found.append(Error("E_PAIR_ARITY", pair))
        pairs.add(pair if config.readings.pair_order == "ordered" else tuple(sorted(pair)))
    return tuple(sorted(pairs)), found


# The rules (6)


def linked(_config: Config, previous: Fields | None, artifact: Artifact) -> bool:
    """Return whether the artefact names the digest of the previous one, or None in a step without one (3.2)."""
    return artifact.previous_artifact_digest == (None if previous is None else digest_of(previous))


def keepers(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """Return A_ok, the feasible actions that violate no required preservation (6.4)."""
    return tuple(sorted(a for a in situation.feasible if situation.violates(a).isdisjoint(fields.rp)))


def uncollided(fields: Fields) -> bool:
    """Return whether 6.4 step 1 fails: something is authorised, and no collision is declared."""
    return bool(fields.av) and not fields.pairs


def gratuitous(situation: Situation, fields: Fields, keeping: tuple[str, ...]) -> tuple[str, ...]:
    """Return the failures of 6.4 step 2: the authorised preferences that some action of A_ok does not violate."""
    return tuple(p for p in fields.av if any(p not in situation.violates(a) for a in keeping))


def unexplained(config: Config, fields: Fields) -> tuple[str, ...]:
    """Reading `av_in_collision=required`: return the authorised preferences that no declared pair names."""
    if config.readings.av_in_collision == "not_required" or not fields.pairs:
        return ()
    return tuple(p for p in fields.av if not any(p in pair for pair in fields.pairs))


def overlap(config: Config, fields: Fields) -> tuple[str, ...]:
    """Reading `av_rp_overlap=error`: return the preferences that are both authorised and to be preserved."""
    return tuple(p for p in fields.av if p in fields.rp) if config.readings.av_rp_overlap == "error" else ()


def false_pairs(situation: Situation, fields: Fields) -> Pairs:
    """Return the declared pairs of which some feasible action violates no member (6.2)."""
    return tuple(
        pair for pair in fields.pairs if any(situation.violates(a).isdisjoint(pair) for a in situation.feasible)
    )


def unprecedented(config: Config, previous: Fields | None, fields: Fields, mode: str) -> bool:
    """Return whether the mode is MAINTAIN and some field differs from the previous artefact (6.3)."""
    if mode != MAINTAIN:
        return False
    if previous is None:
        return config.readings.first_step_mode == "revise_only" or fields != EMPTY
    return fields != (previous if config.readings.digest == "of_the_parts" else parts_of(previous))


def ranked(errors: tuple[Error, ...]) -> tuple[Error, ...]:
    """Return the link first, then 1.5 (step 1 before 2), 2, 3; within a kind by culprit, which decides nothing."""
    return tuple(sorted(errors, key=lambda error: (RANKED.index(error.code), error.culprit)))


def forbidden(situation: Situation, fields: Fields) -> tuple[str, ...]:
    """Return the actions that violate a required preservation or an unauthorised preference (6.1, Rule 1)."""
    return tuple(
        sorted(
            a
            for a in situation.feasible
            if not situation.violates(a).isdisjoint(fields.rp) or not situation.violates(a).issubset(fields.av)
        )
    )


def compiled(
    rules: Rules, config: Config, situation: Situation, previous: Fields | None, artifact: Artifact | None
) -> Compiled:
    """Compile one artefact (5); the mask is empty where it does not compile, because nothing is then selected."""
    fields, malformed = rules.read(rules, config, artifact)
    if fields is None or artifact is None:
        return Compiled(None, "", malformed, ())
    mode = str(artifact.mode)
    keeping = rules.keepers(situation, fields)
    errors = (
        *(() if rules.linked(config, previous, artifact) else (Error("E_DIGEST_MISMATCH"),)),
        *((Error("E_AV_WITHOUT_COLLISION"),) if rules.uncollided(fields) else ()),
        *(Error("E_GRATUITOUS_VIOLATION", (p,)) for p in rules.gratuitous(situation, fields, keeping)),
        *(Error("E_AV_NOT_IN_COLLISION", (p,)) for p in rules.unexplained(config, fields)),
        *(Error("E_AV_RP_OVERLAP", (p,)) for p in rules.overlap(config, fields)),
        *(Error("E_FALSE_COLLISION", pair) for pair in rules.false_pairs(situation, fields)),
        *((Error("E_PRECEDENT_VIOLATION"),) if rules.unprecedented(config, previous, fields, mode) else ()),
    )
    return Compiled(fields, mode, rules.ranked(errors), () if errors else rules.forbidden(situation, fields), artifact)


# Mask, selector, conditions (7, 10)


def permit(config: Config, situation: Situation, result: Compiled) -> tuple[str, ...]:
    """Return feasible minus forbidden after a compile, nothing without one; everything feasible under BYPASS."""
    if config.condition == BYPASS:
        return tuple(sorted(situation.feasible))
    return tuple(sorted(a for a in situation.feasible if a not in result.forbidden)) if result.ok else ()


def halts(config: Config, situation: Situation, result: Compiled) -> bool:
    """Return whether nothing compiled (which BYPASS ignores), or no action is feasible under that reading."""
    if not situation.feasible and config.readings.feasible_empty == "halt":
        return True
    return not result.ok and config.condition != BYPASS


def offer(config: Config, _state: State, _fields: Fields | None, permitted: tuple[str, ...]) -> tuple[str, ...]:
    """Return the selector's choice from the permitted set, its only input (11.6); mutants read the other inputs."""
    return SELECTORS[config.selector](frozenset(permitted))


SELECTORS: dict[str, Callable[[frozenset[str]], tuple[str, ...]]] = {
    "any": lambda permitted: tuple(sorted(permitted)),
    "first": lambda permitted: tuple(sorted(permitted))[:1],
    "last": lambda permitted: tuple(sorted(permitted))[-1:],
}
"""The selectors by name, each from the permitted set to the offered actions; `any` leaves the choice open."""


def keep(config: Config, previous: Fields | None, result: Compiled) -> Fields | None:
    """Return the previous artefact of the next step: what its digest covers."""
    if result.fields is None or (not result.ok and config.readings.previous == "last_compiled"):
        return previous
    return result.fields if config.readings.digest == "of_the_parts" else whole(result.fields, result.artifact)


def generated(config: Config, state: State) -> Artifact | None:
    """Return the generator's artefact, from registry, feasible actions, APCM and previous artefact (4)."""
    return generate(config.generator, config.preferences, config.published(state), state.previous, config.readings)


def _swap(_config: Config, artifact: Artifact) -> Artifact:
    return replace(
        artifact,
        authorized_violations=artifact.required_preservations,
        required_preservations=artifact.authorized_violations,
    )


def _turned(config: Config, value: Any) -> Any:
    """Return a set of preferences with each one replaced by the next of the registry."""
    if not isinstance(value, frozenset):
        return value
    turn = dict(zip(config.preferences, (*config.preferences[1:], *config.preferences[:1]), strict=True))
    return frozenset(turn.get(one, one) for one in value)  # pyright: ignore


def _turn(config: Config, artifact: Artifact) -> Artifact:
    return replace(artifact, authorized_violations=_turned(config, artifact.authorized_violations))


def _silence(_config: Config, artifact: Artifact) -> Artifact:
    return replace(artifact, conflict_attribution=frozenset())


def _unlink(_config: Config, artifact: Artifact) -> Artifact:
    return replace(artifact, previous_artifact_digest="blake2b128:scrambled")


def _garble(_config: Config, artifact: Artifact) -> Artifact:
    return replace(artifact, authorized_violations=Opaque("garbled"))


SCRAMBLES: dict[str, Callable[[Config, Artifact], Artifact]] = {
    "swap": _swap,
    "turn": _turn,
    "silence": _silence,
    "unlink": _unlink,
    "garble": _garble,
}
"""Ways to scramble an artefact: AV for RP, AV moved on by one preference, no pairs, a wrong digest, no set at all."""


def scramble(config: Config, artifact: Artifact) -> Artifact:
    """Return the artefact as condition SCRAMBLE changes it (10)."""
    return SCRAMBLES[config.scramble](config, artifact)


REFERENCE = Rules(
    validate=validate,
    pair_fits=pair_fits,
    read=read,
    linked=linked,
    keepers=keepers,
    uncollided=uncollided,
    gratuitous=gratuitous,
    unexplained=unexplained,
    overlap=overlap,
    false_pairs=false_pairs,
    unprecedented=unprecedented,
    ranked=ranked,
    forbidden=forbidden,
    generate=generated,
    scramble=scramble,
    permit=permit,
    halts=halts,
    offer=offer,
    keep=keep,
)
"""The compiler of the text."""

REPAIRED = replace(REFERENCE, pair_fits=group_fits)
"""The repair: a collision may be declared among any number of preferences; every rule stays as it is."""
