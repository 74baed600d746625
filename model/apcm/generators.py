"""Deterministic, rule-based generators of artefacts (12.1).

A generator gets only the registry, the published situation, the fields of the previous artefact and the readings that
say what compiles (4).  It may prefer one preference over another, because arbitration is the agent's business and
never the compiler's.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from evenhand.core.lookup import UnknownName
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.vocabulary import (
    EMPTY,
    REVISE,
    Artifact,
    Fields,
    Situation,
    digest_of,
    parts_of,
)


def artifact_of(fields: Fields, previous: Fields | None, mode: str = REVISE) -> Artifact:
    """Return a well-formed artefact with these fields, linked to the previous one."""
    link = None if previous is None else digest_of(previous)
    return Artifact(
        frozenset(fields.av), frozenset(fields.rp), frozenset(fields.pairs), mode, link, "" if link is None else link
    )


def covers(situation: Situation, group: tuple[str, ...]) -> bool:
    """Return whether every feasible action violates a member: Rule 2 for this group."""
    return not any(situation.violates(a).isdisjoint(group) for a in situation.feasible)


def minimal(situation: Situation) -> tuple[tuple[str, ...], ...]:
    """Return the minimal violation sets of feasible actions, sorted."""
    every = [situation.violates(a) for a in situation.feasible]
    least = {tuple(sorted(one)) for one in every if not any(other < one for other in every)}
    return tuple(sorted(least))


def _candidates(preferences: tuple[str, ...], readings: Readings) -> tuple[tuple[str, ...], ...]:
    twins = tuple((p, p) for p in preferences) if readings.pair_arity == "may_repeat" else ()
    return (*combinations(sorted(preferences), 2), *twins)


def single_pair(
    preferences: tuple[str, ...], situation: Situation, _previous: Fields | None, readings: Readings
) -> Fields:
    """Authorise one preference for the sake of one other, as in 11.5: AV = {p}, RP = {q}, pair {p, q}.

    The first covering pair with a feasible action that violates p and nothing else, or else the first covering pair.
    EMPTY
    where no violation is needed or no pair covers.
    """
    sets = [situation.violates(a) for a in situation.feasible]
    if frozenset() in sets:
        return EMPTY
    pairs = [pair for pair in _candidates(preferences, readings) if pair[0] != pair[1] and covers(situation, pair)]
    oriented = [way for pair in pairs for way in (pair, pair[::-1])]
    for p, q in oriented:
        if frozenset((p,)) in sets:
            return Fields((p,), (q,), (tuple(sorted((p, q))),))
    if oriented:
        p, q = oriented[0]
        return Fields((p,), (q,), (tuple(sorted((p, q))),))
    return EMPTY


def complete(
    preferences: tuple[str, ...], situation: Situation, _previous: Fields | None, readings: Readings
) -> Fields:
    """Authorise a minimal violation set and require everything else, with the pairs that the reading asks for.

    EMPTY where no artefact would do.
    """
    pairs = [pair for pair in _candidates(preferences, readings) if covers(situation, pair)]
    for av in minimal(situation):
        rp = tuple(sorted(p for p in preferences if p not in av))
        if not av:
            return Fields(av, rp, ())
        if readings.av_in_collision == "not_required":
            declared = tuple(pairs[:1])
        else:
            declared = tuple(sorted({next((pair for pair in pairs if p in pair), ()) for p in av}))
        if declared and all(declared):
            return Fields(av, rp, declared)
    return EMPTY


def lazy(preferences: tuple[str, ...], _situation: Situation, _previous: Fields | None, _readings: Readings) -> Fields:
    """The Lazy Legislator of 11.5: authorise the first preference in every situation, and declare a collision."""
    first = tuple(sorted(preferences))[:2]
    return Fields(first[:1], (), (first,) if len(first) == 2 else ())


GENERATORS: dict[str, Callable[[tuple[str, ...], Situation, Fields | None, Readings], Fields]] = {
    "single_pair": single_pair,
    "complete": complete,
    "lazy": lazy,
}
"""The generators by name."""


def generate(
    name: str,
    preferences: tuple[str, ...],
    situation: Situation,
    previous: Fields | None,
    readings: Readings,
) -> Artifact | None:
    """Return the artefact that a generator submits; None where there is no generator.

    MAINTAIN where the fields are those of the previous artefact, else REVISE.  Raises UnknownName.
    """
    if not name:
        return None
    if name not in GENERATORS:
        raise UnknownName("generator", name, GENERATORS)
    fields = GENERATORS[name](preferences, situation, previous, readings)
    return artifact_of(fields, previous, "MAINTAIN" if fields == parts_of(previous) else REVISE)
