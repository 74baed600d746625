"""A finding says under which other reading of the text it would vanish."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evenhand.conform.adapters.model import ModelKernel
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.loop import EXHAUSTIVE, MACHINE, CheckEffort, check_system, scopes_of
from evenhand.conform.checking.rereading import agreeing_readings
from evenhand.core.codec import decode
from evenhand.core.registry import find
from tests.deep import rest_slow
from tests.front.conform.in_process import InProcess

EFFORT = CheckEffort(400, 20, phases=(EXHAUSTIVE, MACHINE))
READ: list[tuple[str, str, dict[str, Any]]] = [
    ("conviction", "issue", {"self_stake": "at_stake_1"}),
    ("conviction", "run", {"ready_lasts": "phase"}),
    ("markspace", "first_writer", {"deferred_loser": "conflict_with_winner", "own_intents": "compete"}),
    ("cud", "run", {"fault_precedence": "failure_first"}),
]


def findings(protocol: str, name: str, changed: dict[str, Any], **rules: Any) -> list[dict[str, str]]:
    """Check a kernel that reads the text otherwise than it is told; return what is said under each finding."""
    bundle = find(protocol)
    system = bundle.model.systems[name]

    def factory(initial: Any) -> ModelKernel:
        config: Any = decode(initial["config"], *system.types)
        config = replace(config, readings=replace(config.readings, **changed))
        kernel = replace(system, rules=replace(system.rules, **rules))
        return ModelKernel(kernel, config, decode(initial["start"], *system.types))

    scope = scopes_of(bundle, system)[0]
    checked = check_system(
        protocol,
        [scope],
        bundle.claims,
        InProcess(factory),
        own=scope,
        generator=next((one for one in bundle.generators if one.system == name), None),
        effort=EFFORT,
    )
    return [dict(agreeing_readings(Coder(protocol, system), one.divergence)) for one in checked.defects]


@pytest.mark.parametrize(("protocol", "name", "changed"), rest_slow(READ), ids=[f"{one[0]}-{one[1]}" for one in READ])
def test_the_reading_of_a_kernel_is_named(protocol: str, name: str, changed: dict[str, Any]) -> None:
    """In most findings; in a run in which two readings make a difference neither does alone."""
    found = findings(protocol, name, changed)
    named = {reading for one in found for reading in one}
    assert found and named & {f"{key}={value}" for key, value in changed.items()}


def test_a_fault_vanishes_under_no_reading() -> None:
    """The winner of a collision is a fault however the text is read."""
    rules = next(one.rules for one in find("cud").model.mutants if one.name == "tie_break_by_name")
    found = findings("cud", "run", {}, refuse=rules.refuse)
    assert found and not any(found)
