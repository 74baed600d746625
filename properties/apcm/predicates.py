"""The predicates of `apcm` that claims use, computed from configuration, state and the submitted artefact.

They are written apart from the compiler, so that no compiler is judged by its own definitions: faults are found code by
code, where the compiler finds them field by field, and sets are compared as sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, TypeAlias

from evenhand.core.system import Step
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.vocabulary import (
    ASB,
    BYPASS,
    INVALID_RUN,
    MODES,
    Act,
    Artifact,
    Config,
    Error,
    Fields,
    Shown,
    Situation,
    State,
    Submit,
    digest_of,
    parts_of,
)

ONE_STEP = ("universe", "repaired")
FREE = ("run", "universe", "repaired")
"""The systems in which artefacts come from outside."""

ARTIFICIAL = ("run", "universe", "repaired", "agents", "conditions")
"""Every system."""

ApcmStep: TypeAlias = Step[Config, State, Act, Shown]
"""A step of any of them."""

Names: TypeAlias = frozenset[str]
Fault: TypeAlias = tuple[str, tuple[str, ...]]


def _set(readings: Readings, value: Any) -> frozenset[Any] | None:
    if type(value) is frozenset:
        return value  # pyright: ignore
    return frozenset(value) if type(value) is tuple and readings.list_inputs == "coerced" else None  # pyright: ignore


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(getattr(value, "text", getattr(value, "what", value)))


def published(step: ApcmStep) -> Situation:
    """Return the situation that the environment published in the step."""
    situations = step.config.situations
    return situations[step.before.place % len(situations)]


def violations(situation: Situation) -> Mapping[str, Names]:
    """Return what each feasible action violates, by its first entry."""
    return _violations(situation)


@lru_cache(maxsize=8_192)
def _violations(situation: Situation) -> Mapping[str, Names]:
    table: dict[str, Names] = {}
    for action in situation.feasible:
        made = [one.violates for name, one in situation.apcm if name == action]
        value: Any = made[0] if made else ()
        table[action] = frozenset(one for one in value if isinstance(one, str)) if _iterable(value) else frozenset()
    return table


def _iterable(value: Any) -> bool:
    return type(value) in (tuple, frozenset)


def apcm_faults(config: Config, situation: Situation) -> frozenset[Fault]:
    """Return every fault of a published situation (2.2), each code by its own definition."""
    return _apcm_faults(config.actions, config.preferences, config.readings, situation)


@lru_cache(maxsize=8_192)
def _apcm_faults(
    actions: tuple[str, ...], registry: tuple[str, ...], readings: Readings, situation: Situation
) -> frozenset[Fault]:
    feasible = set(situation.feasible)
    told = [name for name, _ in situation.apcm]
    faults: set[Fault] = {("E_FEASIBLE_UNKNOWN", (a,)) for a in feasible.difference(actions)}
    faults |= {("E_FEASIBLE_REPEATED", (a,)) for a in feasible if situation.feasible.count(a) != 1}
    faults |= {("E_APCM_MISSING", (a,)) for a in feasible.difference(told)}
    faults |= {("E_APCM_REPEATED", (a,)) for a in feasible if told.count(a) > 1}
    first = {name: one for name, one in reversed(situation.apcm) if name in feasible}
    for action, one in first.items():
        sides = {"violates": one.violates, "satisfies": one.satisfies}
        sets = {side: _set(readings, value) for side, value in sides.items()}
        faults |= {("E_APCM_NULL", (action, side)) for side, value in sides.items() if value is None}
        faults |= {
            ("E_APCM_TYPE", (action, side)) for side, value in sides.items() if value is not None and sets[side] is None
        }
        for side, found in sets.items():
            faults |= {
                ("E_APCM_UNKNOWN_PREFERENCE", (action, side, _text(p))) for p in (found or ()) if p not in registry
            }
        bad, good = sets["violates"], sets["satisfies"]
        if bad is None or good is None:
            continue
        if readings.satisfies == "disjoint_from_violates" and not bad.isdisjoint(good):
            faults.add(("E_APCM_SATISFIES", (action, *sorted(map(_text, bad & good)))))
        if readings.satisfies == "complement" and good != frozenset(p for p in registry if p not in bad):
            faults.add(("E_APCM_SATISFIES", (action,)))
    return frozenset(faults)


def schema_faults(config: Config, artifact: Artifact | None, *, groups: bool = False) -> frozenset[Fault]:
    """Return the faults that make an artefact malformed (3), each code by its own definition.

    With `groups` a collision has one member or more, none twice, as under the repaired rules.
    """
    if artifact is None:
        return frozenset({("E_SCHEMA_TYPE", ("artifact",))})
    faults: set[Fault] = set()
    for name in ("authorized_violations", "required_preservations"):
        found = _set(config.readings, getattr(artifact, name))
        if found is None or any(type(one) is not str for one in found):
            faults.add(("E_SCHEMA_TYPE", (name,)))
        else:
            faults |= {("E_UNKNOWN_PREFERENCE", (name, p)) for p in found.difference(config.preferences)}
    pairs = _set(config.readings, artifact.conflict_attribution)
    if pairs is None or any(type(pair) is not tuple or any(type(p) is not str for p in pair) for pair in pairs):
        faults.add(("E_SCHEMA_TYPE", ("conflict_attribution",)))
    else:
        named = {p for pair in pairs for p in pair}
        faults |= {("E_UNKNOWN_PREFERENCE", ("conflict_attribution", p)) for p in named.difference(config.preferences)}
        least = 1 if config.readings.pair_arity == "may_repeat" else 2
        lawful = {pair for pair in pairs if len(pair) == 2 and len(set(pair)) >= least}
        if groups:
            lawful = {pair for pair in pairs if len(pair) == len(set(pair)) > 0}
        faults |= {("E_PAIR_ARITY", pair) for pair in pairs - lawful}
    if artifact.previous_artifact_digest is not None and type(artifact.previous_artifact_digest) is not str:
        faults.add(("E_SCHEMA_TYPE", ("previous_artifact_digest",)))
    if type(artifact.precedent_reference) is not str:
        faults.add(("E_SCHEMA_TYPE", ("precedent_reference",)))
    mode = artifact.mode
    if type(mode) is not str:
        faults.add(("E_SCHEMA_TYPE", ("mode",)))
    elif mode not in MODES:
        faults.add(("E_UNKNOWN_MODE", (mode,)))
    return frozenset(faults)


@dataclass(frozen=True)
class Facts:
    """A submission, read apart from the compiler: the published sets and the artefact's fields.

    `pairs` are as Rule 3 compares them, `previous` the previous artefact's AV, RP and pairs (None where there is none);
    `equal` says that the fields are those, `links` that the digest is the previous artefact's.
    """

    config: Config
    violates: Mapping[str, Names]
    previous: Fields | None
    mode: str
    av: Names
    rp: Names
    pairs: frozenset[tuple[str, ...]]
    links: bool

    @property
    def keepers(self) -> tuple[str, ...]:
        """A_ok: the feasible actions that violate no required preservation."""
        return tuple(a for a, bad in self.violates.items() if not bad & self.rp)

    @property
    def fields(self) -> Fields:
        """The fields as a record."""
        return Fields(tuple(sorted(self.av)), tuple(sorted(self.rp)), tuple(sorted(self.pairs)))

    @property
    def equal(self) -> bool | None:
        """Whether the fields are the previous ones; None without previous fields."""
        return None if self.previous is None else self.fields == self.previous


_LAST: list[tuple[ApcmStep, Facts | None]] = []
"""The facts of the last step, cached because a dozen claims read them for each step."""


def facts(step: ApcmStep) -> Facts | None:
    """Return the facts of a submission that a compiler can read; None for any other step."""
    if _LAST and _LAST[0][0] is step:
        return _LAST[0][1]
    found = _facts(step)
    _LAST[:] = [(step, found)]
    return found


def said(step: ApcmStep) -> Facts:
    """Return the facts of a submission that is known to be readable, such as one that compiles."""
    known = facts(step)
    assert known is not None
    return known


def _facts(step: ApcmStep) -> Facts | None:
    config = step.config
    if not submits(step) or config.condition == ASB:
        return None
    situation = published(step)
    artifact = step.shown.artifact
    if artifact is None or apcm_faults(config, situation):
        return None
    if any(code != "E_PAIR_ARITY" for code, _ in schema_faults(config, artifact)):
        return None
    av, rp, pairs = (
        _set(config.readings, value) or frozenset()
        for value in (artifact.authorized_violations, artifact.required_preservations, artifact.conflict_attribution)
    )
    if config.readings.pair_order == "unordered":
        pairs = frozenset(tuple(sorted(pair)) for pair in pairs)
    previous = step.before.previous
    links = artifact.previous_artifact_digest == (digest_of(previous) if previous else None)
    return Facts(config, violations(situation), parts_of(previous), str(artifact.mode), av, rp, pairs, links)


def rule_faults(known: Facts) -> frozenset[Fault]:
    """Return every rule that a well-formed artefact breaks, with its payload."""
    readings = known.config.readings
    faults: set[Fault] = set() if known.links else {("E_DIGEST_MISMATCH", ())}
    if known.av and not known.pairs:
        faults.add(("E_AV_WITHOUT_COLLISION", ()))
    keeping = [known.violates[a] for a in known.keepers]
    faults |= {("E_GRATUITOUS_VIOLATION", (p,)) for p in known.av if not all(p in bad for bad in keeping)}
    if readings.av_in_collision == "required" and known.pairs:
        named = frozenset(p for pair in known.pairs for p in pair)
        faults |= {("E_AV_NOT_IN_COLLISION", (p,)) for p in known.av - named}
    if readings.av_rp_overlap == "error":
        faults |= {("E_AV_RP_OVERLAP", (p,)) for p in known.av & known.rp}
    for pair in known.pairs:
        if not all(bad.intersection(pair) for bad in known.violates.values()):
            faults.add(("E_FALSE_COLLISION", pair))
    if known.mode == "MAINTAIN":
        precedent = known.previous
        if precedent is None and readings.first_step_mode == "maintain_means_empty":
            precedent = Fields((), (), ())
        if known.fields != precedent:
            faults.add(("E_PRECEDENT_VIOLATION", ()))
    return frozenset(faults)


def first_codes(codes: Iterable[str]) -> Iterator[int]:
    """Return the rank of each code: link, 1.5 step 1, 1.5 step 2 with codes of readings, Rule 2, Rule 3."""
    order = ("DIGEST", "WITHOUT", "GRATUITOUS", "NOT_IN", "OVERLAP", "FALSE", "PRECEDENT")
    return (next(place for place, word in enumerate(order) if word in code) for code in codes)


def submits(step: ApcmStep) -> bool:
    """Return whether the step is a submission that was accepted in turn."""
    return isinstance(step.action, Submit) and step.shown.kind == "submit"


def proper(step: ApcmStep) -> bool:
    """Return whether the step is a submission in a situation without a fault."""
    return submits(step) and not apcm_faults(step.config, published(step))


def compiles(step: ApcmStep) -> bool:
    """Return whether the step is a submission of a readable artefact that compiled."""
    return step.shown.compile_ok is True and facts(step) is not None


def masks(step: ApcmStep) -> bool:
    """Return whether the submission compiled and its mask counts (not under BYPASS)."""
    return compiles(step) and step.config.condition != BYPASS


def permits(step: ApcmStep) -> bool:
    """Return whether the step is a submission after which an action may be selected."""
    return submits(step) and bool(step.shown.permitted)


def awaiting(config: Config, state: State) -> bool:
    """Return whether an artefact is awaited in a proper situation in which some action is feasible."""
    situation = config.published(state)
    return not state.over and not state.offered and bool(situation.feasible) and not apcm_faults(config, situation)


def clean(violates: Mapping[str, Names]) -> bool:
    """Return whether some feasible action violates nothing."""
    return any(not bad for bad in violates.values())


def minimal_sets(violates: Mapping[str, Names]) -> frozenset[Names]:
    """Return the violation sets that contain no other one."""
    every = frozenset(violates.values())
    return frozenset(one for one in every if not any(other < one for other in every))


def declarable(config: Config) -> tuple[Names, ...]:
    """Return the pairs that may be declared, as sets."""
    pairs = [frozenset(pair) for pair in combinations(config.preferences, 2)]
    if config.readings.pair_arity == "may_repeat":
        pairs += [frozenset((p,)) for p in config.preferences]
    return tuple(pairs)


def covering(config: Config, violates: Mapping[str, Names]) -> tuple[Names, ...]:
    """Return the pairs that may be declared truthfully: every feasible action violates a member."""
    return tuple(pair for pair in declarable(config) if all(bad & pair for bad in violates.values()))


def blocked(config: Config, situation: Situation) -> bool:
    """Return the closed form: whether some action is feasible, but no artefact compiles and permits one.

    Every feasible action violates something, and no pair of preferences meets every violation set.  Where authorised
    violations must occur in a declared pair: no minimal violation set consists of members of such pairs.
    """
    violates = violations(situation)
    if not violates or clean(violates):
        return False
    pairs = covering(config, violates)
    if config.readings.av_in_collision == "not_required":
        return not pairs
    named = frozenset(p for pair in pairs for p in pair)
    return not any(one <= named for one in minimal_sets(violates))


def faults_of(errors: tuple[Error, ...]) -> frozenset[Fault]:
    """Return reported errors as faults."""
    return frozenset((one.code, one.culprit) for one in errors)


def is_invalid(state: State) -> bool:
    """Return whether the run ended because of its environment."""
    return state.over == INVALID_RUN
