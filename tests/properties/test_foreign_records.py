"""Every claim gets a verdict on a mutant whose records lack a field or hold another type; none ends the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from typing import Any

import pytest

from evenhand.core.registry import find
from evenhand.core.system import AnySystem
from evenhand.jobs.raising import RAISES, decided
from evenhand.machine import fuzz
from evenhand.search import explore

STATES, DEPTH, WIDTH = 6, 8, 6
"""States of each search; and steps, and actions of each, that are looked through for a record with much in it."""

Damage = Callable[[Any], Any]


def fullest(system: AnySystem, config: Any) -> Any:
    """The longest record on a short walk."""
    state, found = system.initial(config)[0], list[Any]()
    for _ in range(DEPTH):
        taken = [system.take(config, state, action) for action in islice(system.enabled(config, state), WIDTH)]
        if not taken:
            break
        found += [step.shown for step in taken]
        state = taken[-1].after
    return max(found, key=lambda shown: len(repr(shown)))


def damages(record: Any) -> Iterator[tuple[str, Damage]]:
    """Each field lost, each of another type, and each field of its parts lost."""
    for entry in fields(record):
        name, value = entry.name, getattr(record, entry.name)
        yield f"{name} is None", lambda one, name=name: replace(one, **{name: None})
        yield f"{name} is a text", lambda one, name=name: replace(one, **{name: "odd"})
        if isinstance(value, tuple) and value and is_dataclass(value[0]):  # pyright: ignore[reportUnknownArgumentType]
            for inner in fields(value[0]):  # pyright: ignore[reportUnknownArgumentType]
                yield f"{name}[].{inner.name} is None", _in_parts(name, inner.name)


def _in_parts(name: str, inner: str) -> Damage:
    def damaged(record: Any) -> Any:
        parts = getattr(record, name)
        lost = tuple(replace(one, **{inner: None}) if hasattr(one, inner) else one for one in parts)
        return replace(record, **{name: lost})

    return damaged


def recorded(system: AnySystem, damage: Damage) -> AnySystem:
    """The system whose steps record what is damaged."""

    def step(rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        after, shown = system.step(rules, config, state, action)
        return after, damage(shown)

    return replace(system, step=step, separated=None, variant="damaged")


@pytest.mark.parametrize("protocol", ["apcm", "conviction", "cud", "markspace", "sovereign"])
def test_no_foreign_record_ends_a_run(protocol: str) -> None:
    """By search, and by drawn runs for each system's first record; some claims say that they raised, and on what."""
    bundle, raised = find(protocol), 0
    for name, system in bundle.model.systems.items():
        claims = bundle.claims_of(name)
        config = next(iter(system.all_configs()))
        generator = next((one for one in bundle.generators if one.system == name), None)
        for number, (what, damage) in enumerate(damages(fullest(system, config))):
            broken = recorded(system, damage)
            verdicts = decided(
                lambda asked, broken=broken: explore(broken, asked, max_states=STATES, configs=[config]).verdicts,
                claims,
                broken,
                "explore",
            )
            if not number and generator is not None:
                verdicts += decided(
                    lambda asked, broken=broken: fuzz(broken, asked, generator, examples=2, steps=4).verdicts,
                    claims,
                    broken,
                    "fuzz",
                )
            assert {one.claim for one in verdicts} == {one.name for one in claims}, what
            raised += sum(one.because.startswith(RAISES) for one in verdicts)
    assert raised
