"""Every claim has its registered verdict; the plans name existing things; the machine reaches its events."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.answers import ModelError
from evenhand.core.property import Reachable, TwoRun
from evenhand.core.system import reading_values
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Status, Verdict
from evenhand.evidence.store import load
from evenhand.machine import fuzz
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.step import REFERENCE, agent_step
from evenhand.properties.sovereign.stopping import deadlocked
from evenhand.search import explore
from tests.deep import rest_slow
from tests.properties.sovereign.bundle import BUNDLE

SMALL: list[tuple[str, dict[str, int]]] = [
    ("agent", {"proposals": 1, "executors": 1}),
    ("session", {}),
    ("constitutions", {}),
]


def unexpected(verdicts: tuple[Verdict, ...], system: str, engine: str, readings: dict[str, Any]) -> dict[str, str]:
    """Return claims whose verdict is not the registered one."""
    return {
        one.claim: f"{one.status.value}: {one.because}"
        for one in verdicts
        if one.status is not BUNDLE.expectation(one.claim, system, engine, readings).expected
    }


@pytest.mark.parametrize(("name", "scope"), rest_slow(SMALL))
def test_the_search_says_what_was_registered(name: str, scope: dict[str, int]) -> None:
    """At small scopes; the plan leaves out events that no small scope can meet."""
    names = {
        claim for plan in BUNDLE.plans if plan.system == name and plan.engine == "explore" for claim in plan.claims
    }
    claims = [claim for claim in BUNDLE.claims_of(name) if not names or claim.name in names]
    found = explore(BUNDLE.model.systems[name].at(**scope), claims)
    assert found.complete
    assert unexpected(found.verdicts, name, "explore", {}) == {}


@pytest.mark.deep
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(
    "plan",
    [plan for plan in BUNDLE.plans if plan.engine == "explore"],
    ids=lambda p: f"{p.system}-{p.scope}-{p.readings}",
)
def test_every_search_says_what_was_registered(plan: Any) -> None:
    """By the plans."""
    system = BUNDLE.model.systems[plan.system].at(**plan.scope).under(**plan.readings)
    claims = [claim for claim in BUNDLE.claims_of(plan.system) if not plan.claims or claim.name in plan.claims]
    found = explore(system, claims)
    assert unexpected(found.verdicts, plan.system, "explore", dict(plan.readings)) == {}


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
def test_the_machine_reaches_its_events() -> None:
    """A standard run of the agent stays above every floor, and finds only registered refutations."""
    generator = next(one for one in BUNDLE.generators if one.system == "agent")
    claims = [claim for claim in BUNDLE.claims_of("agent") if not isinstance(claim, TwoRun)]
    found = fuzz(BUNDLE.model.systems["agent"], claims, generator, examples=200, steps=20)
    assert found.findings == ()
    for event in generator.events:
        assert found.coverage[f"event:{event.name}"] >= event.floor, event.name
    assert unexpected(found.verdicts, "agent", "fuzz", {}) == {}


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


STORE = Path(__file__).parents[3] / "counterexamples" / "sovereign"


def test_stated_refutations_of_the_reference_are_on_file() -> None:
    """Each one with a run, under the readings it is registered for; an unreached goal has no run."""
    unreached = {claim.name for claim in BUNDLE.claims if isinstance(claim, Reachable)}
    stated = {
        (one.claim, tuple(sorted((one.readings or {}).items())))
        for one in BUNDLE.expected
        if one.expected is Status.REFUTED and one.claim not in unreached
    }
    found: set[tuple[str, tuple[Any, ...]]] = set()
    for file in STORE.glob("*--reference--*.json"):
        record = load(file)
        other = {k: v for k, v in record.readings.items() if v != getattr(BUNDLE.model.readings, k)}
        found.add((record.claim.name, tuple(sorted(other.items()))))
    assert stated == found
    assert len(stated) == 22


def _remembers(rules: Any, config: Config, state: Any, action: Any) -> Any:
    """A kernel that stamps differently once it has issued a warrant, so it depends on more than its inputs."""
    return agent_step(replace(rules, stamp=_later) if state.issued else rules, config, state, action)


def _later(_config: Config, time: str) -> str:
    return f"after {time}"


def test_a_kernel_that_remembers_is_seen() -> None:
    """INV-4: the same inputs decided twice in one run, in different states."""
    system = BUNDLE.model.systems["agent"].at(proposals=1, executors=1)
    claim = next(one for one in BUNDLE.claims if one.name == "decisions_depend_on_inputs_alone")
    assert explore(system, (claim,)).verdicts[0].status is Status.HOLDS
    faulty = replace(system, step=_remembers, variant="remembers")
    assert explore(faulty, (claim,), max_states=2_000).verdicts[0].status is Status.REFUTED


def test_a_kernel_with_a_clock_of_its_own_is_no_model() -> None:
    """INV-4: a stamp from an unobserved source makes the model invalid, for any claim."""
    ticks = iter(range(10**9))
    system = BUNDLE.model.systems["agent"].at(proposals=1, executors=1)

    def read(_config: Config, _time: str) -> str:
        return str(next(ticks) % 3)

    ticking = replace(REFERENCE, stamp=read)
    with pytest.raises(ModelError, match="uses the iterator `ticks`"):
        explore(replace(system, rules=ticking, variant="clock of its own"), max_states=2_000)
