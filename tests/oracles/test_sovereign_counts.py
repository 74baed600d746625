"""The pinned counts of `sovereign`, each from origins that share nothing with the model."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from evenhand.model.sovereign.systems import SYSTEMS
from evenhand.search import explore

PINNED = {
    "-": 450,
    "completeness": 4437,
    "authority_citation": 144,
    "scope_claim": 108,
    "constitution_compliance": 8,
    "io_allowlist": 16,
    "": 12,
}
SESSIONS = {
    "A": (4, 40),
    "B": (26, 50),
    "C": (26, 125),
    "D": (26, 100),
    "E": (1, 4),
    "L-A": (715, 1_350),
    "L-B": (715, 2_700),
    "L-C": (715, 2_025),
    "L-D": (45, 72),
    "L-E": (377, 700),
}
"""States and steps, at the scope of the standard budget."""
LISTS = {(2, 2): {"ACTION": 1_300, "EXIT": 964, "REFUSE": 15_329}}


def oracle() -> ModuleType:
    """Return a fresh copy of the oracle: tests may break theirs."""
    spec = importlib.util.spec_from_file_location("sovereign_counts", Path(__file__).parent / "sovereign_counts.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_counting_multiplying_and_the_pin_agree() -> None:
    """5,175 candidates in one context."""
    one = oracle()
    assert dict(one.one_by_one()) == one.closed_form() == PINNED
    assert sum(PINNED.values()) == 5_175
    assert dict(one.lists(2, 2)) == LISTS[2, 2]


def test_a_fault_in_the_oracle_moves_the_counts() -> None:
    """One gate's share changed."""
    one = oracle()
    one.__dict__["FIELDS"]["ReadLocal"] = (6, 3, 1)
    assert dict(one.one_by_one()) != PINNED and one.closed_form() != PINNED


@pytest.mark.parametrize("contexts", [1, pytest.param(19, marks=pytest.mark.deep)])
def test_the_model_gives_the_pinned_classes(contexts: int) -> None:
    """Every candidate in every context, once: by gate in those that judge."""
    system = SYSTEMS["candidates"].at(contexts=contexts)
    (config,) = system.all_configs()
    (state,) = system.initial(config)
    gates: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for action in system.enabled(config, state):
        decision = system.take(config, state, action).shown.decision
        assert decision is not None
        reason = decision.refusal.reason if decision.refusal is not None else decision.kind
        kinds["judged" if reason in ("ACTION", "NO_ADMISSIBLE_ACTION") else reason] += 1
        if reason in ("ACTION", "NO_ADMISSIBLE_ACTION"):
            gates[decision.trace[0][1] if decision.trace else "-"] += 1
    judging = {1: 1, 19: 4}[contexts]
    assert dict(gates) == {gate: count * judging for gate, count in PINNED.items()}
    if contexts == 19:
        assert dict(kinds) == {
            "judged": 4 * 5_175,
            "EXIT": 5_175,
            "MISSING_REQUIRED_OBSERVATION": 7 * 5_175,
            "BUDGET_EXHAUSTED": 7 * 5_175,
        }


def test_the_model_gives_the_pinned_lists() -> None:
    """73 lists of observations by 241 of candidates."""
    system = SYSTEMS["lists"].at(observations=2, candidates=2)
    (config,) = system.all_configs()
    (state,) = system.initial(config)
    kinds = Counter(
        decision.kind
        for action in system.enabled(config, state)
        if (decision := system.take(config, state, action).shown.decision) is not None
    )
    assert dict(kinds) == LISTS[2, 2] and sum(kinds.values()) == 73 * 241


def test_the_model_gives_the_pinned_sessions() -> None:
    """Condition by condition, and all ten together; a budget of one cycle less is another graph."""
    one = oracle()
    assert {name: one.session(name) for name in SESSIONS} == SESSIONS
    found = explore(SYSTEMS["session"])
    assert found.states == sum(states for states, _ in SESSIONS.values()) == 2_650
    assert found.transitions == sum(steps for _, steps in SESSIONS.values()) == 7_166
    one.__dict__["MOST_TOKENS"] -= 590
    assert one.session("L-A") != SESSIONS["L-A"]


def test_the_model_gives_the_pinned_constitutions() -> None:
    """420 of up to one type, 16 of which let a file be written."""
    found = explore(SYSTEMS["constitutions"])
    assert (found.states, found.transitions) == oracle().small_constitutions() == (436, 1_804)
