"""Every claim has its registered verdict on every system; the plans name existing things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.property import DeadlockFree, DeterminedBy, LivelockFree, TwoRun
from evenhand.core.system import System, reading_values
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Status, Verdict
from evenhand.machine import fuzz
from evenhand.model.apcm.vocabulary import Config
from evenhand.search import explore
from tests.deep import rest_slow
from tests.properties.apcm.bundle import BUNDLE

CHEAP = ("universe", "repaired", "agents", "conditions")
"""Systems that are searched in a second or two."""


def unexpected(verdicts: tuple[Verdict, ...], system: str, engine: str, readings: Mapping[str, Any]) -> dict[str, str]:
    """Return claims whose verdict is not the registered one."""
    return {
        verdict.claim: f"{verdict.status.value}: {verdict.because}"
        for verdict in verdicts
        if verdict.status is not BUNDLE.expectation(verdict.claim, system, engine, readings).expected
    }


@pytest.mark.parametrize("name", rest_slow(CHEAP))
def test_the_search_says_what_was_registered(name: str) -> None:
    """At the system's own scope, the repaired one with hostile input; heavy two-run claims are left to the full run."""
    system = BUNDLE.model.systems[name].at(**({"hostile": 1} if name == "repaired" else {}))
    claims = [claim for claim in BUNDLE.claims_of(name) if name != "universe" or not isinstance(claim, TwoRun)]
    found = explore(system, claims)
    assert found.complete
    assert unexpected(found.verdicts, name, "explore", {}) == {}


@pytest.mark.deep
@pytest.mark.parametrize("name", ["universe", "run"])
def test_the_search_says_what_was_registered_of_everything(name: str) -> None:
    """Every claim of the two systems with free artefacts."""
    found = explore(BUNDLE.model.systems[name], BUNDLE.claims_of(name))
    assert found.complete
    assert unexpected(found.verdicts, name, "explore", {}) == {}


@pytest.mark.deep
@pytest.mark.parametrize("plan", [plan for plan in BUNDLE.plans if plan.readings], ids=lambda plan: str(plan.readings))
def test_every_reading_says_what_was_registered(plan: Any) -> None:
    """By the plans."""
    system = BUNDLE.model.systems[plan.system].under(**plan.readings)
    claims = [claim for claim in BUNDLE.claims_of(plan.system) if claim.name in plan.claims]
    found = explore(system, claims)
    assert unexpected(found.verdicts, plan.system, "explore", plan.readings) == {}


def test_plans_name_what_there_is() -> None:
    """Systems, claims and readings of every plan; every reading that is not a default has a plan."""
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
    """Each claim has one name, each expectation a claim and a reason."""
    names = [claim.name for claim in BUNDLE.claims]
    assert len(set(names)) == len(names)
    for expectation in BUNDLE.expected:
        assert expectation.claim in names and expectation.because


@pytest.mark.slow
@pytest.mark.parametrize("name", ["universe", "agents", "conditions"])
def test_the_machine_reaches_its_events(name: str) -> None:
    """A standard run stays above every floor, and finds only registered refutations."""
    generator = next(one for one in BUNDLE.generators if one.system == name)
    claims = [c for c in BUNDLE.claims_of(name) if not isinstance(c, DeadlockFree | LivelockFree | TwoRun)]
    found = fuzz(BUNDLE.model.systems[name], claims, generator, examples=200, steps=20)
    assert found.findings == ()
    for event in generator.events:
        assert found.coverage[f"event:{event.name}"] >= event.floor, event.name
    wrong = unexpected(found.verdicts, name, "fuzz", {})
    assert wrong == {}


def test_the_witness_of_the_deadlock_is_the_smallest() -> None:
    """Three actions, three preferences, one each: the search agrees with the page."""
    system = BUNDLE.model.systems["universe"].at(actions=3, preferences=3, hostile=0)
    claim = next(claim for claim in BUNDLE.claims if claim.name == "every_situation_can_be_justified")
    verdict = explore(system, (claim,), configs=_single_violations(system)).verdicts[0]
    assert verdict.status is Status.REFUTED
    assert isinstance(verdict.evidence, Scenario)
    config: Config = verdict.evidence.config
    situation = config.situations[0]
    assert sorted(sorted(situation.violates(a)) for a in situation.feasible) == [["P1"], ["P2"], ["P3"]]


def _single_violations(system: System[Any, Any, Any, Any, Any]) -> list[Config]:
    """Return the 27 situations in which each action violates one preference; six of them are blocked."""
    found: list[Config] = []
    for config in system.all_configs():
        situation = config.situations[0]
        if all(len(situation.violates(action)) == 1 for action in situation.feasible):
            found.append(config)
    assert len(found) == 27
    return found


def test_determined_by_claims_compare_something() -> None:
    """No claim of dependence is vacuous in the first system that it names."""
    for claim in BUNDLE.claims:
        if isinstance(claim, DeterminedBy) and "conditions" in claim.systems:
            verdict = explore(BUNDLE.model.systems["conditions"], (claim,)).verdicts[0]
            assert verdict.coverage["met"] > verdict.coverage["keys"], claim.name


@pytest.mark.parametrize(
    ("name", "value", "where", "claim"),
    [
        ("after_halt", "ends", "run", "every_step_moves_on_by_one"),
        ("digest", "of_the_whole", "conditions", "links_chain"),
        ("digest", "of_the_whole", "conditions", "precedent_is_kept_as_read"),
        ("validated", "on_arrival", "universe", "artifacts_are_sent_back_as_read"),
    ],
)
def test_a_reading_is_told_apart(name: str, value: str, where: str, claim: str) -> None:
    """The claim is true under the reading, and false of a kernel that goes on as by default."""
    (asked,) = (one for one in BUNDLE.claims if one.name == claim)
    usual = BUNDLE.model.systems[where]
    read = usual.under(**{name: value})
    assert explore(read, (asked,)).verdicts[0].status is Status.HOLDS

    def step(rules: Any, config: Config, state: Any, act: Any) -> tuple[Any, Any]:
        return usual.step(rules, replace(config, readings=usual.readings), state, act)

    assert explore(replace(read, step=step, variant="default"), (asked,)).verdicts[0].status is Status.REFUTED
