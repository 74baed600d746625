"""Collect scenarios beyond the exhaustive scope: drawn by the state machine, or separating known variants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from evenhand.conform.checking.spelling import atoms_of, exchanged
from evenhand.core.atoms import Atom
from evenhand.core.codec import decode, encode
from evenhand.core.generator import Generator
from evenhand.core.property import Monitor
from evenhand.core.system import AnyStep, AnySystem, Scope
from evenhand.core.trace import AnyScenario, Scenario
from evenhand.core.verdict import runs
from evenhand.evidence.growth import read_run
from evenhand.evidence.record import Record
from evenhand.evidence.vector import Vector
from evenhand.machine import fuzz

_WHOLE = re.compile(r"-?\d+")

Stored: TypeAlias = Record | Vector
"""A run that was chosen because it separates something: a counterexample of a variant, or a vector."""


def machine_runs(
    system: AnySystem, generator: Generator | None, *, examples: int, steps: int, seed: int
) -> tuple[AnyScenario, ...]:
    """Return the distinct runs of the reference that the machine draws, by constructive and hostile rules.

    A run that a later one begins with is left out, as the machine draws each run step by step.
    """
    runs: dict[AnyScenario, None] = {}

    def follow(value: AnyScenario | None, step: AnyStep) -> AnyScenario:
        before = value or Scenario(step.config, step.before)
        return Scenario(before.config, before.start, (*before.actions, step.action))

    def keep(_config: Any, value: AnyScenario | None) -> bool:
        if value is not None:
            runs.pop(Scenario(value.config, value.start, value.actions[:-1]), None)
            runs[value] = None
        return True

    collect = Monitor(name="collect", sentence="Every run is kept.", start=lambda _config: None, update=follow, ok=keep)
    bare = replace(system, types=())  # that actions pass through a file is checked where the model is
    fuzz(bare, (collect,), generator, examples=examples, steps=steps, seed=seed)
    return tuple(runs)


def drawn(
    system: AnySystem, generator: Generator | None, *, examples: int, steps: int, seed: int
) -> tuple[AnyScenario, ...]:
    """Return the same runs without floats that are whole numbers."""
    runs = machine_runs(system, generator, examples=examples, steps=steps, seed=seed)
    return tuple(dict.fromkeys(no_whole_floats(system, run) for run in runs))


def silenced(
    system: AnySystem, run: AnyScenario, done: Mapping[str, int], most: int
) -> Iterator[tuple[str, AnyScenario]]:
    """Yield each agent that acts in the run, and the run without its actions, if less than `most` are `done`."""
    if system.actor is None:
        return
    actors = [system.actor(action) for action in run.actions]
    for agent in dict.fromkeys(filter(None, actors)):  # an action without a name is nobody's
        kept = tuple(action for action, actor in zip(run.actions, actors, strict=True) if actor != agent)
        if kept and done.get(agent, 0) < most:
            yield agent, replace(run, actions=kept)


def separating(system: AnySystem, records: Sequence[Stored]) -> Iterator[AnyScenario]:
    """Yield the stored runs of this system: each separates some variant, or one class of runs, from the others.

    They come from search, machine and solvers, and were replayed before they were stored.  Runs recorded under other
    readings are taken under these.  The tests of the store report runs that no longer decode; here they are skipped.
    A vector ends before the first action that is not on offer: there a counterexample shows what some sentence forbids.
    """
    seen = set[AnyScenario]()
    for record in records:
        if record.system != system.name:
            continue
        try:
            evidence, _ = read_run(record.run, system.types)
            recorded = {name: decode(value, *system.types) for name, value in record.readings.items()}
        except ValueError:
            continue
        for run in runs(evidence):
            made = no_whole_floats(system, _reread(system, run, recorded))
            made = _answered(system, made) if isinstance(record, Vector) else made
            if made.actions and made not in seen:
                seen.add(made)
                yield made


def no_whole_floats(system: AnySystem, run: AnyScenario) -> AnyScenario:
    """The run with a half more in place of floats that are whole numbers.

    The models tell 1.0 from 1.  JSON and the sources do not say whether these are one value, and some languages cannot.
    """
    if Atom not in system.types:
        return run
    config, start, *actions = map(encode, (run.config, run.start, *run.actions))
    floats = [one for one in atoms_of([config, start, *actions]) if one["kind"] == "number"]
    whole = [one for one in floats if _WHOLE.fullmatch(one["text"])]
    if not whole:
        return run
    halves = [{**one, "text": f"{one['text']}.5"} for one in whole]
    put = [decode(exchanged(one, whole, halves), *system.types) for one in (config, start, *actions)]
    return Scenario(put[0], put[1], tuple(put[2:]))


def where_said(system: AnySystem, beyond: set[tuple[Any, Any, Any]]) -> AnySystem:
    """Return the system that does not offer what no section tells; what is met of it goes to `beyond`."""
    unsaid, actions = system.unsaid, system.actions
    if unsaid is None:
        return system

    def kept(config: Any, state: Any, action: Any) -> bool:
        found = unsaid(config, state, action)
        if found:
            beyond.add((config, state, action))
        return found

    def offered(config: Any, scope: Scope, state: Any) -> Iterator[Any]:
        assert actions is not None
        return (one for one in actions(config, scope, state) if not kept(config, state, one))

    return replace(system, unsaid=kept, actions=None if actions is None else offered)


def _answered(system: AnySystem, run: AnyScenario) -> AnyScenario:
    """The run up to the first action to which the source gives no answer."""
    state, kept = run.start, list[Any]()
    for action in run.actions:
        if not system.has_answer(run.config, state, action):
            break
        kept.append(action)
        state = system.take(run.config, state, action).after
    return replace(run, actions=tuple(kept))


def _reread(system: AnySystem, run: AnyScenario, recorded: dict[str, Any]) -> AnyScenario:
    """The run under the system's own readings, if its configuration holds readings."""
    held: Any = getattr(run.config, "readings", None)
    if system.readings is None or held is None or held == system.readings or not recorded:
        return run
    config = replace(run.config, readings=system.readings)
    starts = tuple(system.initial(config))
    return Scenario(config, run.start if run.start in starts else starts[0], run.actions) if starts else run
