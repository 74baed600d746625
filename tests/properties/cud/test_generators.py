"""The generators of cud: every rule draws its target, every event is reached, floors can be missed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenhand.core.generator import Generator
from evenhand.core.property import Safety
from evenhand.core.registry import find
from evenhand.core.system import AnyStep
from evenhand.core.verdict import Status
from evenhand.machine import fuzz
from evenhand.model.cud.protocol import CUD
from evenhand.properties.cud.generators import FREE_GENERATOR, GENERATORS, RUN_GENERATOR
from tests.deep import rest_slow

LEAST = 20
"""No floor is lower: an event seen less often is hardly covered."""


@pytest.mark.parametrize("generator", rest_slow(GENERATORS), ids=lambda generator: generator.system)
def test_a_short_run_draws_every_rule_and_sees_every_event(generator: Generator) -> None:
    """A quarter of a standard run misses none of them, and refutes no claim but those that are stated so."""
    bundle, name = find("cud"), generator.system
    claims = [claim for claim in bundle.claims_of(name) if isinstance(claim, Safety)]
    found = fuzz(CUD.systems[name], claims, generator, examples=50, steps=20)
    assert not found.findings
    refuted = [verdict.claim for verdict in found.verdicts if verdict.status is Status.REFUTED]
    assert [one for one in refuted if bundle.expectation(one, name, "fuzz", {}).expected is not Status.REFUTED] == []
    for rule in generator.rules:
        assert found.coverage[f"rule:{rule.name}"] > 0, rule.name
    for event in generator.events:
        assert found.coverage[f"event:{event.name}"] > 0, event.name


@pytest.mark.deep
@pytest.mark.parametrize("generator", GENERATORS, ids=lambda generator: generator.system)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_standard_run_is_above_every_floor(generator: Generator, seed: int) -> None:
    """Floors are absolute, and well below the usual counts."""
    found = fuzz(CUD.systems[generator.system], (), generator, seed=seed)
    for event in generator.events:
        assert LEAST <= event.floor <= found.coverage[f"event:{event.name}"], event.name


def _never(_step: AnyStep) -> bool:
    return False


def test_below_a_floor_nothing_is_a_verdict() -> None:
    """One event that is never seen leaves every claim undecided."""
    claim = next(one for one in find("cud").claims if one.name == "bare_tokens")
    events = (replace(RUN_GENERATOR.events[0], seen=_never),)
    starved = replace(RUN_GENERATOR, events=events)
    system = CUD.systems["run"]
    (verdict,) = fuzz(system, (claim,), starved, examples=5, steps=5).verdicts
    assert verdict.status is Status.UNDECIDED
    (verdict,) = fuzz(system, (claim,), replace(starved, events=()), examples=5, steps=5).verdicts
    assert verdict.status is Status.HOLDS


def test_hostile_and_constructive_rules_are_both_there() -> None:
    """A machine with one sort of rules alone proves little."""
    for generator in (RUN_GENERATOR, FREE_GENERATOR):
        assert {rule.hostile for rule in generator.rules} == {True, False}
