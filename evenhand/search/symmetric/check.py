"""Compare some picked states and their images with the model's own step, in every symmetric search.

A licence rests on a theorem whose conformance was tested on samples; this compares the configuration, scope and claims
at hand.  A step that does not commute, an image that is not on offer and a row that leads elsewhere stop the search; a
claim that tells an image apart is not decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from evenhand.core.answers import ModelError
from evenhand.core.system import AnyStep, AnySystem, Step
from evenhand.search.quotient import image_of, said
from evenhand.search.steps import joint_choices, menus_of, stepped
from evenhand.search.symmetric.walk import OrbitWalk
from evenhand.search.tables.joint_method import compare_classes
from evenhand.search.witness import NotLearned

IMAGES = 6
"""Steps of a state whose images are compared, under one exchange after the other."""

STATES = 12
"""States that are compared in each configuration: the first, the last, and random others."""

STEPS = 24
"""Actions that are compared in a state that offers more than `WHOLE`."""

WHOLE = 512
"""Actions up to which all those of a state are compared, with their counts."""


def compare_orbits(walk: Any, expanded: int) -> None:
    """Raise NotLearned or ModelError for a sample in which tables, model and quotient differ; note doubts of claims."""
    walk.learner.check()
    if walk.learner.of_monitors and expanded == walk.states and not walk.histories:
        return  # once their values are known
    starts = range(walk.levels[1] if len(walk.levels) > 1 else walk.states)
    if {tuple(walk.numbers(sid)) for sid in starts} != {
        tuple(walk.learner.shape.numbers(state)) for _, state in walk.starts()
    }:
        raise NotLearned("the search did not begin in the picked initial states")
    compare_classes(walk, expanded)
    random = Random(walk.number)
    for sid in sorted({0, max(0, expanded - 1), *(random.randrange(max(1, expanded)) for _ in range(STATES - 2))}):
        _steps(walk, sid, random)
        _images(walk, sid, random)


def _steps(walk: OrbitWalk, sid: int, random: Random) -> None:
    """Compare steps of a state, of all orders of its joint choices, with its rows."""
    learner, state = walk.learner, walk.state(sid)
    system, config, shape = learner.system, learner.config, learner.shape
    known, found = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    if walk.bounds.depth is None or walk.depth_of(sid) < walk.bounds.depth:
        for orbit, weight in walk.orbits_after(sid):
            known[orbit] += weight
    else:
        return
    offered = joint_choices(system, config, state)
    if offered != known.total():
        raise NotLearned(f"state {state!r} offers {offered} actions, its rows stand for {known.total()}")
    for action in _drawn_actions(system, config, state, None if offered <= WHOLE else random):
        after, _ = stepped(system, config, state, action)
        orbit = tuple(learner.group.picked(np.asarray([shape.numbers(after)]))[0].tolist())
        found[orbit] += 1
        if orbit not in known:
            raise ModelError(
                f"{system.label}: `step` ({_place_of(system)}) leads from {state!r} by action {action!r} to {after!r}, "
                "and no row leads into that orbit. Explore without the quotient"
            )
    if offered <= WHOLE and found != known:
        raise ModelError(f"{system.label}: rows and `step` ({_place_of(system)}) lead to other orbits from {state!r}")


def _images(walk: OrbitWalk, sid: int, random: Random) -> None:
    """Compare images of a state and of its steps with what the quotient and the model say."""
    learner, state, numbers = walk.learner, walk.state(sid), walk.numbers(sid)
    system, config, quotient = learner.system, learner.config, learner.quotient
    generators = learner.group.generators
    for move in generators:
        if learner.shape.numbers(quotient.state(move.by, config, state)) != [numbers[place] for place in move.source]:
            raise NotLearned(f"quotient {quotient.name!r} takes {state!r} elsewhere than its tables")
    if not joint_choices(system, config, state):
        return
    for number, action in enumerate(_drawn_actions(system, config, state, random)):
        if number >= IMAGES:
            break
        after, shown = stepped(system, config, state, action)
        step: AnyStep = Step(config, state, action, shown, after)
        other = image_of(system, quotient, generators[(sid + number) % len(generators)].by, config, step)
        for place, claim in enumerate(learner.claims):
            if claim.applies(config) and said(claim, step) != said(claim, other):
                walk.doubt(place)
        for place, history in walk.histories.items():
            values, follow = history.updated.values.values, history.claim.follow
            some = random.sample(values, min(IMAGES, len(values)))
            if [follow(value, step) for value in some] != [follow(value, other) for value in some]:
                walk.doubt(place)


def _drawn_actions(system: AnySystem, config: Any, state: Any, random: Random | None) -> Iterator[Any]:
    """Yield all actions on offer, or random ones of them."""
    if random is None:
        yield from system.enabled(config, state)
        return
    assert system.joint is not None
    menus = menus_of(system, config, state)
    for _ in range(STEPS):
        yield system.joint.join(config, state, tuple([(agent, random.choice(menu)) for agent, menu in menus]))


def _place_of(system: AnySystem) -> str:
    """Return file and line of the system's step."""
    code = getattr(system.step, "__code__", None)
    return "unknown place" if code is None else f"{code.co_filename}:{code.co_firstlineno}"
