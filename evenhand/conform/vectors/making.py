"""Generate a protocol's suites of vectors: registered conditions, orbits, a covering suite, and boundary cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from evenhand.conform.vectors.boundary import boundaries
from evenhand.conform.vectors.covering import smallest_cover
from evenhand.conform.vectors.describing import Heading, boundary_heading, covering_heading, vector_of
from evenhand.conform.vectors.orbits import cases_of, orbit_representatives, orbits_of
from evenhand.conform.vectors.pool import aimed, drawn, kept, places_of, played
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
from evenhand.evidence.vector import Suite, SuiteKind, Vector

Progress = Callable[[str], None]
Judged = tuple[Candidate, Outcome, tuple[SeparatedTarget, ...]]
"""A run, its outcome, and the targets that it separates."""


def generate(
    bundle: Bundle, suites: Iterable[str], settings: Settings | None = None, progress: Progress = lambda _words: None
) -> tuple[Suite, ...]:
    """Return the requested suites, in the order of `SUITES`.  Same protocol, settings and versions: same bytes."""
    chosen = settings or Settings()
    wanted = set(suites)
    pool = _pool(bundle, chosen, progress) if wanted & {"covering", "boundary"} else []
    return tuple(_MADE[kind](bundle, chosen, pool, progress) for kind in SUITES if kind in wanted)


def _pool(bundle: Bundle, settings: Settings, progress: Progress) -> list[Candidate]:
    pool: list[Candidate] = []
    for place in places_of(bundle):
        progress(f"draw {place.system}")
        pool += drawn(bundle, place, settings.examples, settings.seed)
    return [*pool, *played(bundle)]


def _conditions(bundle: Bundle, settings: Settings, _pool: Sequence[Candidate], progress: Progress) -> Suite:
    """One vector for each preregistered run with an outcome that was worked out by hand."""
    targets = targets_of(bundle)
    vectors: list[Vector] = []
    left_out: list[Json] = []
    for one in bundle.vectors.registered() if bundle.vectors is not None else ():
        if one.left_out:
            left_out.append({"name": one.name, "because": one.left_out})
            continue
        progress(f"condition {one.name}")
        scope = bundle.model.systems[one.system].scope
        candidate = Candidate(one.system, scope, one.readings, one.run, f"registered as condition {one.name}")
        known = outcome_of(bundle, candidate.reference(bundle), candidate.scenario)
        kills = separated(bundle, candidate, targets, known)
        heading = Heading(one.name, one.title, one.source, {"origin": candidate.origin})
        vectors.append(vector_of(bundle, heading, candidate, known, kills))
    made: dict[str, Json] = {"left_out": left_out}
    if not vectors:
        made["because"] = "no run of this protocol has an outcome that was registered by hand"
    return _suite(bundle, "conditions", settings, vectors, made)


def _orbits(bundle: Bundle, settings: Settings, _pool: Sequence[Candidate], progress: Progress) -> Suite:
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
        name = f"orbit-{len(vectors) + 1:04d}"
        heading = Heading(name, f"one step: {scenario.actions[0]}", plan.source, {"orbit": size})
        vectors.append(vector_of(bundle, heading, candidate, known, (), depends=False))
        total += size
    made: dict[str, Json] = {"sentence": plan.sentence, "orbits": len(vectors), "cases": total}
    return _suite(bundle, "orbits", settings, vectors, made)


def _covering(bundle: Bundle, settings: Settings, pool: Sequence[Candidate], progress: Progress) -> Suite:
    """The fewest runs that separate every target that a drawn, scripted or aimed run separates."""
    targets = targets_of(bundle)
    taken: list[Judged] = []
    met: set[str] = set()
    for number, candidate in enumerate(pool):
        if not number % 20:
            progress(f"run {number} of {len(pool)}")
        met |= _judge(bundle, candidate, targets, taken)
    for target in targets:
        if target.title not in met:
            progress(f"aim at {target.title}")
            met |= _aim(bundle, target, settings, targets, taken)
    number_of = {target.title: number for number, target in enumerate(targets)}
    sets = [frozenset(number_of[one.target.title] for one in found) for _, _, found in taken]
    cover = smallest_cover(sets, [candidate.size[0] * 100_000 + candidate.size[1] for candidate, _, _ in taken])
    chosen = sorted((taken[place] for place in cover.chosen), key=lambda entry: (entry[0].system, entry[0].size))
    times = Counter(one.target.title for _, _, found in chosen for one in found)
    vectors: list[Vector] = []
    for number, (candidate, known, found) in enumerate(chosen, start=1):
        own = [one.target for one in found if times[one.target.title] == 1]
        heading = covering_heading(bundle, f"covering-{number:02d}", own, candidate.origin)
        vectors.append(vector_of(bundle, heading, candidate, known, found))
    made: dict[str, Json] = {
        "runs": len(taken),
        "targets": len(targets),
        "separated": len(met),
        "lower_bound": cover.lower_bound,
        "smallest_of_these_runs": cover.smallest,
        "longest": max((len(entry[0].scenario.actions) for entry in chosen), default=0),
        "beyond": _beyond(taken, settings.longest),
        "not_separated": [_left(target) for target in targets if target.title not in met],
        "by_reading_alone": _unshown(chosen),
    }
    if not vectors:
        made["because"] = "no run was found in which a mutant or another reading has another outcome"
    return _suite(bundle, "covering", settings, vectors, made)


def _aim(
    bundle: Bundle, target: Target, settings: Settings, targets: Sequence[Target], taken: list[Judged]
) -> set[str]:
    """Judge a run that separates one target: kept as a counterexample of it, else searched for."""
    met: set[str] = set()
    for candidate in kept(bundle, target):
        met |= _judge(bundle, candidate, targets, taken)
        if target.title in met:
            return met
    found = aimed(bundle, target, settings)
    return met if found is None else met | _judge(bundle, found, targets, taken)


def _judge(bundle: Bundle, candidate: Candidate, targets: Sequence[Target], taken: list[Judged]) -> set[str]:
    """Keep a run that separates targets; return the titles of those targets."""
    known = outcome_of(bundle, candidate.reference(bundle), candidate.scenario)
    found = separated(bundle, candidate, targets, known)
    if found:
        taken.append((candidate, known, found))
    return {one.target.title for one in found}


def _left(target: Target) -> dict[str, Json]:
    """A target that no run separates, with its registered status and reason."""
    registered, reason = ("", "") if target.mutant is None else (target.mutant.expected, target.mutant.reason)
    return {"kind": target.kind, "name": target.title, "registered": registered, "reason": reason}


def _beyond(taken: Iterable[Judged], longest: int) -> list[str]:
    """Targets that only runs of more than `longest` actions separate."""
    shortest: dict[str, int] = {}
    for candidate, _, found in taken:
        for one in found:
            length = len(candidate.scenario.actions)
            shortest[one.target.title] = min(length, shortest.get(one.target.title, length))
    return sorted(title for title, length in shortest.items() if length > longest)


def _unshown(chosen: Iterable[Judged]) -> list[str]:
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
        heading = boundary_heading(bundle, f"boundary-{number:02d}", found)
        vectors.append(vector_of(bundle, heading, found.candidate, known, kills))
    classes = sorted({str(one.about["class"]) for one in vectors} | {str(one.about["short_of"]) for one in vectors})
    made: dict[str, Json] = {"classes": classes, "runs": len(pool)}
    if not vectors:
        named = any(one.label is not None for one in bundle.observers)
        made["because"] = (
            "no run was found that one step or one choice separates from another class"
            if named
            else "no observer of this protocol names the class of a run (its `label`), so no run is short of a class"
        )
    return _suite(bundle, "boundary", settings, vectors, made)


def _suite(
    bundle: Bundle, kind: SuiteKind, settings: Settings, vectors: Sequence[Vector], made: dict[str, Json]
) -> Suite:
    return Suite(protocol=bundle.name, suite=kind, seed=settings.seed, made=made, vectors=tuple(vectors))


_MADE: Mapping[str, Callable[[Bundle, Settings, Sequence[Candidate], Progress], Suite]] = {
    "conditions": _conditions,
    "orbits": _orbits,
    "covering": _covering,
    "boundary": _boundary,
}
