"""A comparison runs both sides from one configuration with exchanged readings, so readings must be the only difference.

A number that a configuration copies from a reading would keep its value, and the two sides would be called equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pytest

from evenhand.core.registry import protocols
from evenhand.core.system import Protocol, Scope, System, reading, reading_values
from evenhand.variants.separate import counterpart

SEEN = 40
"""Configurations compared in each system."""


def parted(reference: System[Any, Any, Any, Any, Any], name: str, value: Any) -> bool:
    """Return whether the variant's configurations differ from the reference's with its readings."""
    variant = reference.under(**{name: value})
    theirs = counterpart(reference, variant)
    ours = [theirs(config) for config in islice(reference.all_configs(), SEEN)]
    return ours != list(islice(variant.all_configs(), SEEN))


def asked(readings: Any) -> list[tuple[str, Any]]:
    """Yield every reading with another value; a number is halved."""
    return [
        (name, value)
        for name, values in reading_values(readings).items()
        for value in (values[1:] or (getattr(readings, name) // 2,))
    ]


@pytest.mark.parametrize("protocol", [bundle.model for bundle in protocols()], ids=lambda one: one.name)
def test_a_variant_differs_in_its_readings_alone(protocol: Protocol) -> None:
    """For every reading, value and system."""
    systems = [system for system in protocol.systems.values() if system.readings is not None]
    assert systems
    for system in systems:
        for name, value in asked(system.readings):
            assert not parted(system, name, value), (system.name, name, value)


@dataclass(frozen=True)
class Readings:
    """One number."""

    rounds: int = reading(4, sentence="a number that the text leaves open")


@dataclass(frozen=True)
class Config:
    """A configuration with two copies of the number."""

    rounds: int
    readings: Readings


def _twice(_scope: Scope, readings: Readings) -> Iterator[Config]:
    yield Config(readings.rounds, readings)


def _once(_scope: Scope, readings: Readings) -> Iterator[Config]:
    yield Config(0, readings)


def test_a_copied_number_is_found() -> None:
    """The fault that this file searches for."""
    system: System[Any, Any, Any, Any, Any] = protocols()[0].model.systems["run"]
    copying = replace(system, configs=_twice, scope=Scope({}), readings=Readings())
    assert parted(copying, "rounds", 2) and not parted(replace(copying, configs=_once), "rounds", 2)
