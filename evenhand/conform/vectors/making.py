"""Generate a protocol's suites of vectors: orbits of one step, a covering suite, and boundary cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass

from evenhand.conform.vectors.boundary import boundaries, class_of
from evenhand.conform.vectors.covering import smallest_cover
from evenhand.conform.vectors.orbits import cases_of, orbit_representatives, orbits_of
from evenhand.conform.vectors.pool import aimed, drawn, places_of, played
from evenhand.conform.vectors.settings import SUITES, Settings
from evenhand.conform.vectors.targets import (
    Candidate,
    Outcome,
    SeparatedTarget,
    Target,
    outcome_of,
    separated,
    targets_of,
)
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.codec import encode
from evenhand.core.system import AnySystem
from evenhand.evidence.vector import Expected, Separated, Suite, SuiteKind, Vector, VectorRun

Progress = Callable[[str], None]


def _quiet(_words: str) -> None:
    pass


def generate(
    bundle: Bundle, suites: Iterable[str] = SUITES, settings: Settings | None = None, progress: Progress = _quiet
) -> tuple[Suite, ...]:
    """Return the requested suites, in the order of `SUITES`.  Same protocol, settings and versions: same bytes."""
    chosen = settings or Settings()
    wanted = set(suites)
    found: list[Suite] = []
    if "orbits" in wanted:
        found.append(_orbits(bundle, chosen, progress))
    if wanted & {"covering", "boundary"}:
        pool = _pool(bundle, chosen, progress)
        if "covering" in wanted:
            found.append(_covering(bundle, chosen, pool, progress))
        if "boundary" in wanted:
            found.append(_boundary(bundle, chosen, pool, progress))
    return tuple(found)


def _pool(bundle: Bundle, settings: Settings, progress: Progress) -> list[Candidate]:
    pool: list[Candidate] = []
    for place in places_of(bundle):
        progress(f"draw {place.system}")
        pool += drawn(bundle, place, settings.examples, settings.seed)
    return [*pool, *played(bundle)]


def _orbits(bundle: Bundle, settings: Settings, progress: Progress) -> Suite:
    """One vector for each orbit; its targets are not computed, because the suite is exhaustive."""
    plan = orbits_of(bundle)
    if plan is None:
        return _suite(bundle, "orbits", settings, (), {"because": "no system of this protocol has a quotient"})
    system = bundle.model.systems[plan.system].at(**dict(plan.scope))
    vectors: list[Vector] = []
    total = 0
    for scenario, size in orbit_representatives(system, cases_of(system, plan)):
        if not len(vectors) % 100:
            progress(f"orbit {len(vectors)}")
        candidate = Candidate(system.name, system.scope, (), scenario, "every orbit")
        known = outcome_of(bundle, system, scenario)
        vectors.append(_vector(bundle, f"orbit-{len(vectors) + 1:04d}", candidate, known, (), {"orbit": size}))
        total += size
    made: dict[str, Json] = {"sentence": plan.sentence, "orbits": len(vectors), "cases": total}
    return _suite(bundle, "orbits", settings, vectors, made)


def _covering(bundle: Bundle, settings: Settings, pool: Sequence[Candidate], progress: Progress) -> Suite:
    """The fewest runs that separate every target that a drawn, scripted or aimed run separates."""
    targets = targets_of(bundle)
    kept: list[tuple[Candidate, Outcome, tuple[SeparatedTarget, ...]]] = []
    met: set[str] = set()
    for number, candidate in enumerate(pool):
        if not number % 20:
            progress(f"run {number} of {len(pool)}")
        met |= _judge(bundle, candidate, targets, kept)
    for target in targets:
        if target.title not in met:
            progress(f"aim at {target.title}")
            found = aimed(bundle, target, longest=settings.longest, max_steps=settings.max_steps)
            if found is not None:
                met |= _judge(bundle, found, targets, kept)
    number_of = {target.title: number for number, target in enumerate(targets)}
    sets = [frozenset(number_of[one.target.title] for one in found) for _, _, found in kept]
    cover = smallest_cover(sets, [candidate.size[0] * 100_000 + candidate.size[1] for candidate, _, _ in kept])
    chosen = sorted((kept[place] for place in cover.chosen), key=lambda entry: (entry[0].system, entry[0].size))
    vectors = tuple(
        _vector(bundle, f"covering-{number:02d}", candidate, known, found, {"origin": candidate.origin})
        for number, (candidate, known, found) in enumerate(chosen, start=1)
    )
    made: dict[str, Json] = {
        "runs": len(kept),
        "targets": len(targets),
        "separated": len(met),
        "lower_bound": cover.lower_bound,
        "smallest_of_these_runs": cover.smallest,
        "longest": max((len(entry[0].scenario.actions) for entry in chosen), default=0),
        "beyond": _beyond(kept, settings.longest),
        "not_separated": [_left(target) for target in targets if target.title not in met],
        "by_reading_alone": _unshown(chosen),
    }
    return _suite(bundle, "covering", settings, vectors, made)


def _judge(
    bundle: Bundle,
    candidate: Candidate,
    targets: Sequence[Target],
    kept: list[tuple[Candidate, Outcome, tuple[SeparatedTarget, ...]]],
) -> set[str]:
    """Keep a run that separates targets; return the titles of those targets."""
    known = outcome_of(bundle, candidate.reference(bundle), candidate.scenario)
    found = separated(bundle, candidate, targets, known)
    if found:
        kept.append((candidate, known, found))
    return {one.target.title for one in found}


def _left(target: Target) -> dict[str, Json]:
    """A target that no run separates, with its registered status and reason."""
    registered = "" if target.mutant is None else target.mutant.expected
    return {
        "kind": target.kind,
        "name": target.title,
        "registered": registered,
        "reason": target.mutant.reason if target.mutant is not None else "",
    }


def _beyond(kept: Iterable[tuple[Candidate, Outcome, tuple[SeparatedTarget, ...]]], longest: int) -> list[str]:
    """Targets that only runs of more than `longest` actions separate."""
    shortest: dict[str, int] = {}
    for candidate, _, found in kept:
        for one in found:
            length = len(candidate.scenario.actions)
            shortest[one.target.title] = min(length, shortest.get(one.target.title, length))
    return sorted(title for title, length in shortest.items() if length > longest)


def _unshown(chosen: Iterable[tuple[Candidate, Outcome, tuple[SeparatedTarget, ...]]]) -> list[str]:
    """Targets that observers alone separate: a kernel that tells no state cannot be judged on them."""
    all_found = [one for _, _, found in chosen for one in found]
    shown = {one.target.title for one in all_found if one.by != "observed"}
    return sorted({one.target.title for one in all_found} - shown)


def _boundary(bundle: Bundle, settings: Settings, pool: Sequence[Candidate], progress: Progress) -> Suite:
    """One smallest run for each pair of classes that one step or one choice separates."""
    targets = targets_of(bundle)
    vectors: list[Vector] = []
    for number, found in enumerate(boundaries(bundle, pool), start=1):
        progress(f"boundary {number}")
        known = outcome_of(bundle, found.candidate.reference(bundle), found.candidate.scenario)
        kills = separated(bundle, found.candidate, targets, known)
        about = {"class": found.here, "short_of": found.there, "by": found.by, "origin": found.candidate.origin}
        vectors.append(_vector(bundle, f"boundary-{number:02d}", found.candidate, known, kills, about))
    classes = sorted({str(one.about["class"]) for one in vectors} | {str(one.about["short_of"]) for one in vectors})
    return _suite(bundle, "boundary", settings, vectors, {"classes": classes, "runs": len(pool)})


def _suite(
    bundle: Bundle, kind: SuiteKind, settings: Settings, vectors: Sequence[Vector], made: dict[str, Json]
) -> Suite:
    return Suite(protocol=bundle.name, suite=kind, seed=settings.seed, made=made, vectors=tuple(vectors))


def _vector(
    bundle: Bundle,
    name: str,
    candidate: Candidate,
    known: Outcome,
    found: Sequence[SeparatedTarget],
    about: Mapping[str, Json],
) -> Vector:
    system = candidate.reference(bundle)
    observers = bundle.observers_of(system.name)
    label = class_of(observers, system, candidate.scenario)
    naming = next((one.name for one in observers if one.label is not None), "")
    return Vector(
        name=name,
        system=system.name,
        scope=dict(system.scope),
        readings=_readings(system),
        run=VectorRun.of(candidate.scenario),
        expected=tuple(Expected.of(seen.shown, seen.read) for seen in known),
        classes={} if label is None else {naming: label},
        separates=tuple(
            Separated(one.target.kind, one.target.name, encode(one.target.value), one.step, one.by) for one in found
        ),
        about=dict(about),
    )


def _readings(system: AnySystem) -> dict[str, Json]:
    record = system.readings
    if not is_dataclass(record) or isinstance(record, type):
        return {}
    return {entry.name: encode(getattr(record, entry.name)) for entry in fields(record)}
