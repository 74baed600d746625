"""Compare some picked states and their images with the model's own step, in every symmetric search.

A licence rests on a theorem whose conformance was tested on samples; this compares the configuration, scope and claims
at hand.  A step that does not commute, an image that is not on offer and a row that leads elsewhere stop the search; a
claim that tells an image apart is not decided.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.property import Property
from evenhand.core.system import AnyStep, AnySystem, Step
from evenhand.search.quotient import image_of, not_fixed, said
from evenhand.search.rows.labels import about_steps
from evenhand.search.rows.shape import OutsideDomain
from evenhand.search.steps import stepped
from evenhand.search.symmetric.walk import FoldedWalk, successors_in

IMAGES = 6
"""Steps of a state whose images are compared, under one exchange after the other."""

STATES = 12
"""States that are compared in each configuration: the first, the last, and random others."""

STEPS = 24
"""Actions that are compared in a state that offers more than `WHOLE`."""

WHOLE = 512
"""Actions up to which all those of a state are compared, with their counts."""


def compare_folded(walk: FoldedWalk, claims: Sequence[Property]) -> dict[str, str]:
    """Return for claims (by name) why the group does not fix them, as far as samples show.  Raises ModelError."""
    random = Random(walk.number)
    doubts: dict[str, str] = {}
    for sid in _drawn_states(walk, random):
        _rows(walk, sid, random, claims, doubts)
        _images(walk, sid, random, claims, doubts)
    return doubts


def _rows(walk: FoldedWalk, sid: int, random: Random, claims: Sequence[Property], doubts: dict[str, str]) -> None:
    system, config, state = walk.system, walk.config, walk.state(sid)
    rows, labeller = walk.flat.rows, walk.folded.program.labeller
    known = Counter[tuple[int, ...]]()
    labels: dict[tuple[int, ...], set[int]] = {}
    for _, row, words in successors_in(walk.flat, walk.words[sid]):
        orbit = tuple(walk.orbit_of(walk.shape.decoded(words)))
        known[orbit] += int(rows.weight[row])
        labels.setdefault(orbit, set()).add(int(rows.label[row]))
    offered = _agreed_offer(walk, state, known.total())
    found = Counter[tuple[int, ...]]()
    for action in _drawn_actions(system, config, state, None if offered <= WHOLE else random):
        after, shown = stepped(system, config, state, action)
        try:
            orbit = tuple(walk.orbit_of(walk.shape.numbers(after)))
        except OutsideDomain as error:
            raise ModelError(f"{system.label}: after action {action!r}, {error} ({_place_of(system)})") from error
        found[orbit] += 1
        if orbit not in known:
            raise ModelError(
                f"{system.label}: `step` ({_place_of(system)}) leads from {state!r} by action {action!r} to {after!r}, "
                "and no row leads into that orbit. Explore without the quotient"
            )
        label = labeller.label(config, state, (action,), shown, after)
        if label not in labels[orbit]:
            for claim in _distinguishable(walk, label, labels[orbit], claims):
                doubts.setdefault(claim.name, not_fixed(walk.quotient, claim))
    if offered <= WHOLE and found != known:
        raise ModelError(f"{system.label}: rows and `step` ({_place_of(system)}) lead to other orbits from {state!r}")


def _distinguishable(walk: FoldedWalk, label: int, others: set[int], claims: Sequence[Property]) -> list[Property]:
    """The claims that differ on a step from all rows that lead into its orbit."""
    labeller = walk.folded.program.labeller
    sets = labeller.sets

    def bits(number: int, k: int) -> int:
        return sets[number] >> 2 * k & 3

    differing = [
        claim for k, claim in enumerate(labeller.claims) if all(bits(label, k) != bits(other, k) for other in others)
    ]
    return [claim for claim in claims if any(claim is one for one in differing or labeller.claims)]


def _images(walk: FoldedWalk, sid: int, random: Random, claims: Sequence[Property], doubts: dict[str, str]) -> None:
    system, config, state = walk.system, walk.config, walk.state(sid)
    offered = _offered_in(system, config, state)
    if not offered:
        return
    generators = walk.folded.group.generators
    for number, action in enumerate(_drawn_actions(system, config, state, random)):
        if number >= IMAGES:
            break
        after, shown = stepped(system, config, state, action)
        step: AnyStep = Step(config, state, action, shown, after)
        w = generators[(sid + number) % len(generators)].by
        other = image_of(system, walk.quotient, w, config, step)
        for claim in claims:
            if about_steps(claim) and claim.applies(config) and said(claim, step) != said(claim, other):
                doubts.setdefault(claim.name, not_fixed(walk.quotient, claim))


def _drawn_states(walk: FoldedWalk, random: Random) -> list[int]:
    """Return the states of a walk that are compared, of those that were expanded."""
    closed = len(walk.words) if not walk.open else max(1, walk.levels[-1])
    return sorted({0, closed - 1, *(random.randrange(closed) for _ in range(STATES - 2))})


def _agreed_offer(walk: FoldedWalk, state: Any, of_rows: int) -> int:
    """Return how many actions a state offers.  Raises ModelError if its rows stand for another number."""
    offered = _offered_in(walk.system, walk.config, state)
    if offered != of_rows:
        raise ModelError(
            f"{walk.system.label}: state {state!r} offers {offered} actions, its rows stand for {of_rows}. "
            "Correct `domains`, or explore with a lower method"
        )
    return offered


def _offered_in(system: AnySystem, config: Any, state: Any) -> int:
    """Return how many actions are on offer; those of a product are not listed."""
    joint = system.joint
    assert joint is not None
    agents = joint.agents(config, state)
    if not agents:
        return 0
    return math.prod(sum(1 for _ in joint.choices(config, system.scope, state, agent)) for agent in agents)


def _drawn_actions(system: AnySystem, config: Any, state: Any, random: Random | None) -> Iterator[Any]:
    """Yield all actions on offer, or random ones of them."""
    if random is None:
        yield from system.enabled(config, state)
        return
    joint = system.joint
    assert joint is not None
    agents = joint.agents(config, state)
    menus = [tuple(joint.choices(config, system.scope, state, agent)) for agent in agents]
    for _ in range(STEPS):
        yield joint.join(config, state, tuple((a, random.choice(m)) for a, m in zip(agents, menus, strict=True)))


def _place_of(system: AnySystem) -> str:
    """Return file and line of the system's step."""
    code = getattr(system.step, "__code__", None)
    return "unknown place" if code is None else f"{code.co_filename}:{code.co_firstlineno}"
