"""Every claim gets a verdict on a mutant whose records lack a field or hold another type; none ends the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from typing import Any, cast

import pytest

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Property, Safety
from evenhand.core.registry import find
from evenhand.core.system import AnySystem
from evenhand.jobs.raising import RAISES, decided
from evenhand.search import explore

STATES, DEPTH, WIDTH = 6, 8, 6
"""States of each search; and steps, and actions of each, that are looked through for a record with much in it."""

FEW = 100
"""Actions on offer at first up to which a system is searched."""

Damage = Callable[[Any], Any]


def fullest(system: AnySystem, config: Any) -> Any:
    """The longest record on a short walk."""
    state, found = next(iter(system.initial(config))), list[Any]()
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
        yield f"{name} is None", _set(name, None)
        yield f"{name} is a text", _set(name, "odd")
        if isinstance(value, tuple) and value and is_dataclass(value[0]):  # pyright: ignore[reportUnknownArgumentType]
            for inner in fields(value[0]):  # pyright: ignore[reportUnknownArgumentType]
                yield f"{name}[].{inner.name} is None", _in_parts(name, inner.name)
        elif is_dataclass(nested := getattr(record, name)):
            for inner in fields(nested):
                yield f"{name}.{inner.name} is None", _in_field(name, inner.name)


def _set(name: str, value: Any) -> Damage:
    return lambda record: replace(record, **{name: value})


def _in_parts(name: str, inner: str) -> Damage:
    def damaged(record: Any) -> Any:
        parts: Any = getattr(record, name)
        if not isinstance(parts, tuple):
            return record
        lost = tuple(
            replace(one, **{inner: None}) if hasattr(one, inner) else one for one in cast("tuple[Any, ...]", parts)
        )
        return replace(record, **{name: lost})

    return damaged


def _in_field(name: str, inner: str) -> Damage:
    def damaged(record: Any) -> Any:
        part: Any = getattr(record, name)
        return replace(record, **{name: replace(part, **{inner: None})}) if hasattr(part, inner) else record

    return damaged


def recorded(system: AnySystem, damage: Damage) -> AnySystem:
    """The system whose steps record what is damaged."""

    def step(rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        after, shown = system.step(rules, config, state, action)
        return after, damage(shown)

    return replace(system, step=step, separated=None, variant="damaged")


def asked(claims: tuple[Property, ...], system: AnySystem, config: Any) -> int:
    """Ask every claim about states and steps of one record; return how many raised.  Only ModelError is decided."""
    state = next(iter(system.initial(config)))
    raised = 0
    for action in islice(system.enabled(config, state), WIDTH):
        step = system.take(config, state, action)
        for claim in claims:
            if isinstance(claim, Safety) and claim.applies(config):
                try:
                    claim.at(config, claim.follow(claim.memory(config), step), step)
                except ModelError:
                    raised += 1
    return raised


def undecided(claims: tuple[Property, ...], system: AnySystem, config: Any) -> int:
    """Search a few states; return how many claims say that they raised.  Each claim has its verdict."""
    start = next(iter(system.initial(config)))
    if sum(1 for _ in islice(system.enabled(config, start), FEW + 1)) > FEW:
        return 0
    found = decided(
        lambda some: explore(system, some, max_states=STATES, configs=[config]).verdicts, claims, system, "explore"
    )
    assert [one.claim for one in found] == [one.name for one in claims]
    return sum(one.because.startswith(RAISES) for one in found)


@pytest.mark.parametrize("protocol", ["apcm", "conviction", "cud", "markspace", "sovereign"])
def test_no_foreign_record_ends_a_run(protocol: str) -> None:
    """Every damage is shown to every claim about a step; a system with few actions is searched with one."""
    bundle, raised = find(protocol), 0
    for name, system in bundle.model.systems.items():
        claims, config = bundle.claims_of(name), next(iter(system.all_configs()))
        broken = [recorded(system, damage) for _, damage in damages(fullest(system, config))]
        raised += sum(asked(claims, one, config) for one in broken) + undecided(claims, broken[0], config)
    assert raised
