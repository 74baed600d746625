"""The registered expectations: well formed, about existing things, and true where they can be checked quickly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.registry import find
from evenhand.core.system import reading_values
from evenhand.core.verdict import Status
from evenhand.model.cud.protocol import CUD
from evenhand.model.cud.vocabulary import Config
from evenhand.search import explore
from tests.deep import rest_slow

BUNDLE = find("cud")
NAMES = {claim.name: claim for claim in BUNDLE.claims}


def test_expectations_speak_of_what_there_is() -> None:
    """Claims, systems, engines, readings and values exist, and no expectation is registered twice."""
    known = reading_values(CUD.readings)
    seen: list[Any] = []
    for one in BUNDLE.expected:
        assert one.claim in NAMES
        assert one.system in ("", *CUD.systems)
        assert one.engine in ("", "explore", "fuzz")
        if one.system:
            assert one.system in NAMES[one.claim].systems
        for name, value in (one.readings or {}).items():
            assert value in known[name]
        place = (one.claim, one.system, one.engine, dict(one.readings or {}))
        assert place not in seen
        seen.append(place)


QUICK = [
    ("conditions", name, value)
    for name, values in reading_values(CUD.readings).items()
    if name != "terminal_precedence"
    for value in values[1:]
]


@pytest.mark.parametrize(("system", "name", "value"), [("conditions", "", ""), *QUICK])
def test_conditions_come_out_as_registered(system: str, name: str, value: Any) -> None:
    """Every claim about the conditions, under every reading that is not the default."""
    readings = {name: value} if name else {}
    found = explore(CUD.systems[system].under(**readings), BUNDLE.claims_of(system))
    assert {v.claim: v.status for v in found.verdicts} == {
        v.claim: BUNDLE.expectation(v.claim, system, "explore", readings).expected for v in found.verdicts
    }


REFUTED_UNDER = [
    ("order_independence", {"scope_check": "after_rollback"}, {"keys": 2}),
    ("order_independence", {"scope_check": "after_keep"}, {"keys": 2}),
    ("only_own_scope_changes", {"scope_check": "after_keep"}, {"keys": 2}),
    ("only_own_scope_changes", {"scope_check": "joint_diff"}, {"keys": 2}),
    ("non_executed_changes_nothing", {"scope_check": "after_keep"}, {"keys": 2}),
    ("deadlock_xor_livelock", {"livelock_rule": "unchanged_state"}, {"keys": 1, "epochs": 2}),
    ("deadlock_is_stable", {"deadlock_space": "this_epoch_only"}, {"keys": 1, "epochs": 2}),
    ("exit_ends_no_run", {"orphan_ends_run": "at_once"}, {"keys": 1, "epochs": 2}),
]


@pytest.mark.parametrize(("name", "readings", "scope"), rest_slow(REFUTED_UNDER, 5))
def test_a_reading_refutes_what_the_default_keeps(name: str, readings: dict[str, str], scope: dict[str, int]) -> None:
    """REFUTED under the reading, as registered, and HOLDS under the default in the same scope."""
    system = CUD.systems["run"].at(**{"epochs": 1, **scope})
    (verdict,) = explore(system.under(**readings), (NAMES[name],)).verdicts
    assert verdict.status is Status.REFUTED
    assert BUNDLE.expectation(name, "run", "explore", readings).expected is Status.REFUTED
    (verdict,) = explore(system, (NAMES[name],)).verdicts
    assert verdict.status is Status.HOLDS


FOLLOWED = [
    ("run", "messages_one_epoch_later", {"broadcast": "to_everybody"}, {"keys": 1, "epochs": 2}),
    ("run", "observation_is_own_only", {"broadcast": "to_everybody"}, {"keys": 1, "epochs": 2}),
    ("free", "livelock_counter_is_faithful", {"livelock_rule": "collisions_alone"}, {"agents": 3}),
]


@pytest.mark.parametrize(("system", "name", "reading", "scope"), rest_slow(FOLLOWED))
def test_a_kernel_of_the_default_reading_is_told_apart(
    system: str, name: str, reading: dict[str, str], scope: dict[str, int]
) -> None:
    """The claim is true under the reading, and false of a kernel that follows the default there."""
    asked = CUD.systems[system].at(**scope).under(**reading)
    assert explore(asked, (NAMES[name],)).verdicts[0].status is Status.HOLDS
    rules, usual = asked.rules, CUD.systems[system].readings

    def as_usual(config: Config) -> Config:
        return replace(config, readings=usual)

    def observe(config: Config, state: Any, agent: str, sent: Any) -> Any:
        return rules.observe(as_usual(config), state, agent, sent)

    def count(config: Config, before: int, happened: Any) -> int:
        return int(rules.count(as_usual(config), before, happened))

    default = replace(rules, observe=observe, count=count)
    faulty = replace(asked, rules=default, variant="default")
    assert explore(faulty, (NAMES[name],)).verdicts[0].status is Status.REFUTED
