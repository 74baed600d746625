"""Compare some picked states and their images with the model's own step, in every symmetric search.

A licence rests on a theorem whose conformance was tested on samples; this compares the configuration, scope and claims
at hand.  A step that does not commute, an image that is not on offer and a row that leads elsewhere stop the search; a
claim that tells an image apart is not decided.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TypeAlias

import numpy as np

from evenhand.core.answers import ModelError
from evenhand.core.property import Property
from evenhand.core.system import AnyStep, Step
from evenhand.search.compiled.check import STATES, WHOLE, drawn_actions, offered_in, place_of
from evenhand.search.compiled.labels import about_steps
from evenhand.search.compiled.shape import OutsideDomain
from evenhand.search.compiled.walk import successors_in
from evenhand.search.quotient import image_of, not_fixed, said
from evenhand.search.steps import stepped
from evenhand.search.symmetric.walk import FoldedWalk

IMAGES = 6
"""Steps of a state whose images are compared, under one exchange after the other."""


_Orbit: TypeAlias = tuple[int, ...]


def compare_folded(walk: FoldedWalk, claims: tuple[Property, ...]) -> dict[int, str]:
    """Return for claims (by place) why the group does not fix them, as far as samples show.  Raises ModelError."""
    random = Random(walk.number)
    closed = len(walk.words) if not walk.open else max(1, walk.levels[-1])
    chosen = {0, closed - 1, *(random.randrange(closed) for _ in range(STATES - 2))}
    doubts: dict[int, str] = {}
    for sid in sorted(chosen):
        _rows(walk, sid, random, claims, doubts)
        _images(walk, sid, random, claims, doubts)
    return doubts


def _rows(walk: FoldedWalk, sid: int, random: Random, claims: tuple[Property, ...], doubts: dict[int, str]) -> None:
    system, config, state = walk.system, walk.config, walk.state(sid)
    rows, labeller = walk.flat.rows, walk.folded.program.labeller
    known = Counter[_Orbit]()
    labels: dict[_Orbit, set[int]] = {}
    for _, row, words in successors_in(walk.flat, walk.words[sid]):
        orbit = _orbit(walk, walk.shape.decoded(words))
        known[orbit] += int(rows.weight[row])
        labels.setdefault(orbit, set()).add(int(rows.label[row]))
    offered = offered_in(system, config, state)
    if offered != known.total():
        raise ModelError(
            f"{system.label}: state {state!r} offers {offered} actions, its rows stand for {known.total()}. "
            "Correct `domains` or `menu`, or explore with a lower method"
        )
    found = Counter[_Orbit]()
    for action in drawn_actions(system, config, state, offered, None if offered <= WHOLE else random):
        after, shown = stepped(system, config, state, action)
        try:
            orbit = _orbit(walk, walk.shape.numbers(after))
        except OutsideDomain as error:
            raise ModelError(f"{system.label}: after action {action!r}, {error} ({place_of(system)})") from error
        found[orbit] += 1
        if orbit not in known:
            raise ModelError(
                f"{system.label}: `step` ({place_of(system)}) leads from {state!r} by action {action!r} to {after!r}, "
                "and no row leads into that orbit. Explore without the quotient"
            )
        label = labeller.label(config, state, (action,), shown, after)
        if label not in labels[orbit]:
            for place in _distinguishable(walk, label, labels[orbit], claims):
                doubts.setdefault(place, not_fixed(walk.quotient, claims[place]))
    if offered <= WHOLE and found != known:
        raise ModelError(f"{system.label}: rows and `step` ({place_of(system)}) lead to other orbits from {state!r}")


def _distinguishable(walk: FoldedWalk, label: int, others: set[int], claims: tuple[Property, ...]) -> list[int]:
    """The claims that differ on a step from all rows that lead into its orbit."""
    labeller = walk.folded.program.labeller
    sets = labeller.sets

    def bits(number: int, k: int) -> int:
        return sets[number] >> 2 * k & 3

    differing = [
        claim for k, claim in enumerate(labeller.claims) if all(bits(label, k) != bits(other, k) for other in others)
    ]
    return [place for place, claim in enumerate(claims) if any(claim is one for one in differing or labeller.claims)]


def _images(walk: FoldedWalk, sid: int, random: Random, claims: tuple[Property, ...], doubts: dict[int, str]) -> None:
    system, config, state = walk.system, walk.config, walk.state(sid)
    offered = offered_in(system, config, state)
    if not offered:
        return
    generators = walk.folded.group.generators
    for number, action in enumerate(drawn_actions(system, config, state, offered, random)):
        if number >= IMAGES:
            break
        after, shown = stepped(system, config, state, action)
        step: AnyStep = Step(config, state, action, shown, after)
        w = generators[(sid + number) % len(generators)].by[0]
        other = image_of(system, walk.quotient, w, config, step)
        for place, claim in enumerate(claims):
            if about_steps(claim) and claim.applies(config) and said(claim, step) != said(claim, other):
                doubts.setdefault(place, not_fixed(walk.quotient, claim))


def _orbit(walk: FoldedWalk, numbers: list[int]) -> tuple[int, ...]:
    return tuple(walk.folded.group.picked(np.asarray([numbers], dtype=np.int64))[0].tolist())
