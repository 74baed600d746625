"""Every claim says what was registered; the plans name what there is; the machine reaches its events."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.model.sovereign.state import Config
from evenhand.model.system import reading_values
from evenhand.model.trace import Scenario
from evenhand.properties.machine import fuzz
from evenhand.properties.property import TwoRun
from evenhand.properties.search import explore
from evenhand.properties.sovereign.stopping import deadlocked
from evenhand.properties.verdict import Status, Verdict
from tests.properties.sovereign.bundle import BUNDLE

SMALL: list[tuple[str, dict[str, int]]] = [
    ("agent", {"proposals": 1, "executors": 1}),
    ("session", {}),
    ("constitutions", {}),
]


def surprises(verdicts: tuple[Verdict, ...], system: str, engine: str, readings: dict[str, Any]) -> dict[str, str]:
    """Claims whose verdict is not the registered one."""
    return {
        one.claim: f"{one.status.value}: {one.because}"
        for one in verdicts
        if one.status is not BUNDLE.expectation(one.claim, system, engine, readings).expected
    }


@pytest.mark.parametrize(("name", "scope"), SMALL)
def test_the_search_says_what_was_registered(name: str, scope: dict[str, int]) -> None:
    """At small scopes; what no small scope can meet is left out by the plan."""
    names = {
        claim for plan in BUNDLE.plans if plan.system == name and plan.engine == "explore" for claim in plan.claims
    }
    claims = [claim for claim in BUNDLE.claims_of(name) if not names or claim.name in names]
    found = explore(BUNDLE.model.systems[name].at(**scope), claims)
    assert found.complete
    assert surprises(found.verdicts, name, "explore", {}) == {}


@pytest.mark.deep
@pytest.mark.parametrize(
    "plan",
    [plan for plan in BUNDLE.plans if plan.engine == "explore"],
    ids=lambda p: f"{p.system}-{p.scope}-{p.readings}",
)
def test_every_search_says_what_was_registered(plan: Any) -> None:
    """As planned."""
    system = BUNDLE.model.systems[plan.system].at(**plan.scope).under(**plan.readings)
    claims = [claim for claim in BUNDLE.claims_of(plan.system) if not plan.claims or claim.name in plan.claims]
    found = explore(system, claims)
    assert surprises(found.verdicts, plan.system, "explore", dict(plan.readings)) == {}


def test_plans_name_what_there_is() -> None:
    """Systems, claims and readings of every plan; every reading that is not a default has one."""
    planned: set[tuple[str, Any]] = set()
    for plan in BUNDLE.plans:
        names = {claim.name for claim in BUNDLE.claims_of(plan.system)}
        assert set(plan.claims) <= names, plan
        assert set(plan.scope) <= set(BUNDLE.model.systems[plan.system].scope), plan
        planned |= set(plan.readings.items())
    others = {(name, value) for name, values in reading_values(BUNDLE.model.readings).items() for value in values[1:]}
    assert planned == others
    assert {plan.system for plan in BUNDLE.plans} == set(BUNDLE.model.systems)


def test_names_are_unique_and_expectations_are_about_claims() -> None:
    """A claim has one name, an expectation a claim and a reason."""
    names = [claim.name for claim in BUNDLE.claims]
    assert len(set(names)) == len(names)
    for expectation in BUNDLE.expected:
        assert expectation.claim in names and expectation.because


def test_the_machine_reaches_its_events() -> None:
    """A standard run of the agent stays above every floor, and catches nothing that was not registered."""
    generator = next(one for one in BUNDLE.generators if one.system == "agent")
    claims = [claim for claim in BUNDLE.claims_of("agent") if not isinstance(claim, TwoRun)]
    found = fuzz(BUNDLE.model.systems["agent"], claims, generator, examples=200, steps=20)
    assert found.findings == ()
    for event in generator.events:
        assert found.coverage[f"event:{event.name}"] >= event.floor, event.name
    assert surprises(found.verdicts, "agent", "fuzz", {}) == {}


def test_the_smallest_deadlock_has_one_kernel_only_type() -> None:
    """One action type, no clause, no requirement: the smallest constitution of its kind, by closed form and search."""
    system = BUNDLE.model.systems["constitutions"]
    claim = next(one for one in BUNDLE.claims if one.name == "every_action_space_admits_something")
    verdict = explore(system, (claim,)).verdicts[0]
    assert verdict.status is Status.REFUTED and isinstance(verdict.evidence, Scenario)
    config: Config = verdict.evidence.config
    assert deadlocked(config)
    first = next(one for one in system.all_configs() if deadlocked(one))
    assert config == first
    assert len(first.constitution.action_types) == 1 and first.constitution.clauses == ()
