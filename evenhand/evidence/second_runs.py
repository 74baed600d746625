"""Second runs of `Paired` claims: where they part from the first, how both compare, and the pair that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from evenhand.core.relations import Fork, Paired
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyScenario, Pair, Scenario, replay

PAIRS_FROM = 4_096
"""Enabled actions of one state from which a claim about pairs of runs picks."""


class Place(NamedTuple):
    """Where second runs part from the first: a state and actions, as `Paired.ways` takes them.

    `step` is the step of the first run if one is compared; `first` says that it begins that run.
    """

    config: Any
    state: Any
    actions: tuple[Any, ...]
    step: AnyStep | None = None
    first: bool = False


def at_step(step: AnyStep, *, first: bool) -> Place:
    """Return the place of a step; `first` says that it begins a run."""
    return Place(step.config, step.before, (step.action,), step, first)


class Compared(NamedTuple):
    """Two runs that were compared: the way that relates them, their last steps, and how they disagree, if so."""

    way: Any
    fork: Fork
    left: AnyStep
    right: AnyStep | None
    why: str


def compare(system: AnySystem, claim: Paired, place: Place, way: Any) -> Compared:
    """Take the two runs that a way relates at a place, and compare their ends."""
    fork = claim.fork(way, place.config, place.state, place.actions)
    return judged_pair(system, claim, place, way, fork, *ends(system, place, fork))


def judged_pair(
    system: AnySystem, claim: Paired, place: Place, way: Any, fork: Fork, left: AnyStep, right: AnyStep | None
) -> Compared:
    """Compare the ends of the two runs of a fork."""
    if place.first and claim.starts_too and not any(fork.state == start for start in system.initial(fork.config)):
        return Compared(way, fork, left, right, "the twin of an initial state is not initial")
    return Compared(way, fork, left, right, "" if claim.agrees(way, left, right) else claim.differ)


def compared(system: AnySystem, claim: Paired, place: Place) -> Iterator[Compared]:
    """Yield the comparison of every way at a place."""
    for way in claim.ways(place.config, place.state, place.actions):
        yield compare(system, claim, place, way)


def ends(system: AnySystem, place: Place, fork: Fork) -> tuple[AnyStep, AnyStep | None]:
    """Return the last step of both runs of a fork; None for a second run that takes none."""
    left = place.step
    if left is None:
        left = _end(system, place.config, place.state, fork.left)
    assert left is not None, "the first run takes a step"
    return left, _end(system, fork.config, fork.state, fork.right)


def _end(system: AnySystem, config: Any, state: Any, actions: Sequence[Any]) -> AnyStep | None:
    """The last step of these actions; None if there are none."""
    step: AnyStep | None = None
    for action in actions:
        step = system.take(config, state, action)
        state = step.after
    return step


def ways_at_end(system: AnySystem, claim: Paired, left: AnyScenario) -> Iterator[tuple[Place, Any]]:
    """Yield the ways in which a claim compares the end of a run, each with its place.

    A claim that reads states picks from the last actions alone, if they are on offer, else from all that is.
    """
    last = left.actions[-claim.taken :]
    if len(last) < claim.taken:
        return
    if claim.reads == "steps":
        place = at_step(replay(system, left).steps[-1], first=len(left.actions) == 1)
        yield from ((place, way) for way in claim.ways(place.config, place.state, place.actions))
        return
    config, state = left.config, replay(system, _without(left, claim.taken)).final

    def picked(actions: tuple[Any, ...]) -> Iterator[tuple[Place, Any]]:
        for way in claim.ways(config, state, actions):
            if claim.fork(way, config, state, actions).left == last:
                yield Place(config, state, actions), way

    alone = all(system.is_enabled(config, state, action) for action in last)
    yield from list(picked(last) if alone else ()) or picked(tuple(islice(system.enabled(config, state), PAIRS_FROM)))


def _without(run: AnyScenario, count: int) -> AnyScenario:
    return replace(run, actions=run.actions[:-count])


def refuting_pair(system: AnySystem, claim: Paired, left: AnyScenario) -> Pair[Any, Any, Any] | None:
    """Return the pair that refutes a claim at the end of `left`; None if no second run disagrees."""
    for place, way in ways_at_end(system, claim, left):
        found = compare(system, claim, place, way)
        if found.why:
            return pair_of(claim, _without(left, claim.taken), found)
    return None


def pair_of(claim: Paired, past: AnyScenario, found: Compared) -> Pair[Any, Any, Any]:
    """Return the two runs that were compared after `past`.

    Where both go on from one state, both are runs from the start; else the second is what the fork says.
    """
    fork = found.fork
    left, right = (replace(past, actions=(*past.actions, *actions)) for actions in (fork.left, fork.right))
    if claim.reads == "steps":
        right = Scenario(fork.config, fork.state, fork.right)
    return Pair(left, right, found.way if isinstance(found.way, str) else claim.name)
