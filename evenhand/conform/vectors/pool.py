"""Collect candidate runs: drawn by generators, scripted, kept as counterexamples, or aimed at missed targets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from evenhand.conform.checking.drawing import machine_runs
from evenhand.conform.vectors.settings import Settings
from evenhand.conform.vectors.targets import Candidate, Target
from evenhand.core.bundle import Bundle
from evenhand.core.registry import folder
from evenhand.core.system import AnySystem, Scope
from evenhand.core.trace import Scenario, replay
from evenhand.core.vector_plan import VectorScope
from evenhand.evidence.record import BadRecord
from evenhand.evidence.replay import replay_record
from evenhand.evidence.store import load
from evenhand.search.estimate import estimate
from evenhand.variants.separate import separate


def places_of(bundle: Bundle) -> tuple[VectorScope, ...]:
    """Return where runs are drawn: as the protocol says, else every system at its own scope."""
    if bundle.vectors is not None and bundle.vectors.places:
        return bundle.vectors.places
    return tuple(VectorScope(name) for name in bundle.model.systems)


def drawn(bundle: Bundle, place: VectorScope, count: int, seed: int) -> tuple[Candidate, ...]:
    """Return the distinct runs of `count` examples of the machine, in drawing order.

    Same place, count and seed: same runs.  The protocol's generator is used, including its hostile rules.
    """
    system = bundle.model.systems[place.system].at(**dict(place.scope))
    generator = bundle.generator_of(system.name)
    runs = machine_runs(system, generator, examples=count, steps=place.steps, seed=seed)
    kept = [run for run in runs if len(run.actions) <= place.steps]
    return tuple(
        Candidate(system.name, system.scope, (), run, f"drawn in {system.name} at {system.scope}") for run in kept
    )


def played(bundle: Bundle) -> tuple[Candidate, ...]:
    """Return the protocol's scripted runs, each followed while exactly one action is on offer."""
    found: list[Candidate] = []
    for name, config in bundle.vectors.runs() if bundle.vectors is not None else ():
        system = bundle.model.systems[name]
        start = state = next(iter(system.initial(config)))
        actions: list[Any] = []
        while len(offered := list(islice(system.enabled(config, state), 2))) == 1 and len(actions) < MOST:
            actions += offered
            state = system.take(config, state, offered[0]).after
        run = Scenario(config, start, tuple(actions))
        found.append(Candidate(name, system.scope, (), run, f"scripted, in {name}"))
    return tuple(found)


MOST = 50
"""Actions after which a scripted run is cut."""

LONGER = 4
"""As many runs are drawn for a reading that nothing else separates, for each one drawn for all variants."""

MORE = 200
"""Actions that are tried after a kept run, and longer runs that are tried with another one."""


def kept(bundle: Bundle, target: Target) -> Iterator[Candidate]:
    """Yield the runs of a mutant's kept counterexamples, smallest first, then each with an action or two more.

    These show what only the state after the last action holds.  Counterexamples that no longer replay, or were recorded
    under other readings than the target's, are left out: their configurations name those.
    """
    if target.mutant is None or bundle.own:
        return
    found: list[Candidate] = []
    for path in sorted((folder("counterexamples") / bundle.name).glob(f"*--{target.name}--*.json")):
        with suppress(BadRecord):
            replayed = replay_record(load(path), bundle, origin=str(path))
            run, system = replayed.evidence, replayed.system
            wanted = bundle.model.systems[system.name].under(**dict(target.readings)).readings
            if isinstance(run, Scenario) and run.actions and system.readings == wanted:
                origin = f"kept as a counterexample to {replayed.claim.name}"
                found.append(Candidate(system.name, system.scope, target.readings, run, origin))
    found.sort(key=lambda one: one.size)
    yield from found
    longer = [more for one in found for more in _with_one_more(bundle, one)]
    yield from longer
    yield from (more for one in longer[:MORE] for more in _with_one_more(bundle, one))


def _with_one_more(bundle: Bundle, one: Candidate) -> Iterator[Candidate]:
    """Yield a run with each of the actions that are on offer after it."""
    system = one.reference(bundle)
    last = replay(system, one.scenario).final
    for action in islice(system.enabled(one.scenario.config, last), MORE):
        run = replace(one.scenario, actions=(*one.scenario.actions, action))
        yield replace(one, scenario=run, origin=f"{one.origin}, and an action more")


def aimed(bundle: Bundle, target: Target, settings: Settings) -> Candidate | None:
    """Return a smallest separating run; None if no place has one.

    A mutant is searched for where it is a fault, a reading in every system, small searches first.  The first place with
    a run of at most `longest` actions decides, else the shortest run.  Where no search finds one, runs are drawn on
    both variants until one separates them, and made shorter.
    """
    best: Candidate | None = None
    for system in _where(bundle, target):
        variant = target.variant(bundle, system)
        if variant is None:
            continue
        observers = bundle.observers_of(system.name)
        found = separate(system, variant, observers=observers, forced=True, max_steps=settings.max_steps, examples=0)
        if found.scenario is None:
            continue
        origin = f"searched for {target.title} in {system.name} at {system.scope}"
        one = Candidate(system.name, system.scope, target.readings, found.scenario, origin)
        if len(one.scenario.actions) <= settings.longest:
            return one
        best = min(best or one, one, key=lambda candidate: candidate.size)
    return best or _drawn_apart(bundle, target, settings)


def _drawn_apart(bundle: Bundle, target: Target, settings: Settings) -> Candidate | None:
    """Return a run of the first place of the plan in which drawn runs separate a reading."""
    for place in places_of(bundle) if target.mutant is None else ():
        system = bundle.model.systems[place.system].at(**dict(place.scope))
        variant = target.variant(bundle, system)
        if variant is None:
            continue
        found = separate(
            system,
            variant,
            observers=bundle.observers_of(system.name),
            forced=True,
            max_steps=0,
            examples=LONGER * settings.examples,
            steps=place.steps,
            seed=settings.seed,
            generator=bundle.generator_of(system.name),
        )
        if found.scenario is not None:
            origin = f"drawn for {target.title} in {system.name} at {system.scope}"
            return Candidate(system.name, system.scope, target.readings, found.scenario, origin)
    return None


def _where(bundle: Bundle, target: Target) -> Iterator[AnySystem]:
    systems = bundle.model.systems
    if target.mutant is not None:
        one = target.mutant
        yield systems[one.system].at(**dict(one.scope)).under(**dict(one.readings))
        return
    found: list[tuple[int, str, str, Scope]] = []
    for name, base in systems.items():
        sized = [(estimate(base.at(**dict(scope))), scope) for scope in bundle.scopes_of(name)]
        known = [(about, name, str(scope), scope) for about, scope in sized if about is not None]
        small = [entry for entry in known if entry[0] <= SMALL]
        found += [max(some, key=lambda entry: entry[:3]) for some in (small, known) if some]
    for _, name, _, scope in sorted(dict.fromkeys(found), key=lambda entry: entry[:3]):
        yield systems[name].at(**dict(scope))


SMALL = 10_000
"""Estimated steps of a search that is tried before larger ones."""
