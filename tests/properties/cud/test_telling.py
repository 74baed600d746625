"""An epoch described by its phases: the kernel's behaviour, in the words of the text."""

from __future__ import annotations

from typing import Any

from evenhand.core.registry import find
from evenhand.core.trace import Scenario, replay
from evenhand.evidence.replay import replay_record
from evenhand.jobs.fixtures import fixtures_of
from evenhand.properties.cud.phases import phases


def told(variant: str) -> dict[str, list[str]]:
    """Return the first epoch of the fixture in which names decide, under this variant of the kernel."""
    bundle = find("cud")
    (record,) = (
        r for name, r in fixtures_of("cud") if name.startswith("cud/log_names_the_true_pass--tie_break_by_name--")
    )
    evidence = replay_record(record, bundle).evidence
    assert isinstance(evidence, Scenario)
    system: Any = bundle.model.systems[record.system]
    if variant != "reference":
        system = next(m for m in bundle.model.mutants if m.name == variant).of(bundle.model.systems)
    step = replay(system.at(**dict(record.scope)), evidence).steps[0]
    return {name: list(lines) for name, lines in phases(step)}


def test_the_reference_refuses_both_in_pass_2() -> None:
    """No agent wins."""
    seen = told("reference")
    assert list(seen) == ["requests", "pass 1", "pass 2", "outcome"]
    assert len(seen["requests"]) == 2 and seen["pass 1"] == ["refuses nobody"]
    assert seen["pass 2"] == ["refuses agent_1", "refuses agent_2"]
    assert seen["outcome"] == [f"agent_{n}: JOINT_ADMISSIBILITY_FAILURE" for n in (1, 2)]


def test_the_mutant_is_told_as_it_did() -> None:
    """Agent 1 wins by its name, and the description shows it."""
    seen = told("tie_break_by_name")
    assert seen["pass 2"] == ["refuses agent_2"]
    assert seen["outcome"] == ["agent_1: EXECUTED", "agent_2: JOINT_ADMISSIBILITY_FAILURE"]
