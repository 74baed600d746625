"""One-epoch orbits: as many as Burnside's lemma says, each case once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from evenhand.conform.vectors.orbits import cases_of, orbit_representatives, orbits_of
from evenhand.core.registry import find
from evenhand.properties.cud.vectors import one_epoch_cases

KEYS: tuple[str, ...] = ("A", "B")
Shape = tuple[str, frozenset[str], frozenset[str]]
"""The request of one agent: operation, declared keys, written keys."""


def _shapes() -> Iterator[Shape]:
    """Return the 17 shapes without the model: nothing, exit, READ of 3 scopes, WRITE of 3 scopes with 4 deltas."""
    yield ("NONE", frozenset(), frozenset())
    yield ("EXIT", frozenset(), frozenset())
    subsets = [frozenset(s) for size in range(3) for s in itertools.combinations(KEYS, size)]
    for scope in subsets[1:]:
        yield ("READ", scope, frozenset())
        yield from (("WRITE", scope, delta) for delta in subsets)


def _atoms(shape: Shape) -> frozenset[tuple[str, str]]:
    return frozenset((key, shape[0]) for key in shape[1])


Case = tuple[tuple[Shape, Shape], frozenset[tuple[int, str, str]]]
"""A joint choice and a layout: slots (holder 0 or 1, or 2 for a DENY; key; operation)."""


def _cases() -> set[Case]:
    found: set[Case] = set()
    for joint in itertools.product(tuple(_shapes()), tuple(_shapes())):
        slots = [(agent, *atom) for agent in (0, 1) for atom in _atoms(joint[agent])]
        slots += [(2, *atom) for atom in _atoms(joint[0]) | _atoms(joint[1])]
        for size in range(len(slots) + 1):
            found |= {(joint, frozenset(picked)) for picked in itertools.combinations(slots, size)}
    return found


def _image(swap_agents: bool, swap_keys: bool) -> Callable[[Case], Case]:
    key = dict(zip(KEYS, reversed(KEYS), strict=True)) if swap_keys else {k: k for k in KEYS}
    agent = {0: 1, 1: 0, 2: 2} if swap_agents else {0: 0, 1: 1, 2: 2}

    def shape(one: Shape) -> Shape:
        return (one[0], frozenset(key[k] for k in one[1]), frozenset(key[k] for k in one[2]))

    def image(case: Case) -> Case:
        joint = (shape(case[0][0]), shape(case[0][1]))
        layout = frozenset((agent[a], key[k], op) for a, k, op in case[1])
        return (joint[1], joint[0]) if swap_agents else joint, layout

    return image


def test_there_are_as_many_orbits_as_burnside_counts() -> None:
    """The mean number of cases that the four renamings fix, counted without the model: 2,383 of 9,172."""
    cases = _cases()
    fixed = [sum(_image(a, k)(case) == case for case in cases) for a in (False, True) for k in (False, True)]
    assert sum(fixed) % 4 == 0
    bundle = find("cud")
    plan = orbits_of(bundle)
    assert plan is not None
    system = bundle.model.systems[plan.system].at(**dict(plan.scope))
    found = list(orbit_representatives(system, cases_of(system, plan)))
    assert len(found) == sum(fixed) // 4
    assert sum(size for _, size in found) == len(cases) == sum(1 for _ in one_epoch_cases())
