"""Bounded memory, the condensation, and the choice of a method on the command line."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

from evenhand.core.property import Always, DeterminedBy
from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status
from evenhand.model.cud.free_system import FREE
from evenhand.search import LicenceMissing, explore, graph, memory
from evenhand.search.memory import MemoryBudget, resident
from tests.models.random_systems import joint_system
from tests.models.two_phase_commit import two_phase_commit

HELD = Always(name="held", sentence="", check=lambda _config, _state: True)


WIDE = FREE.at(agents=2, keys=4)


@pytest.mark.parametrize(
    ("method", "system", "states"),
    [("explicit", two_phase_commit(3), 288), ("compiled", WIDE, 153)],
    ids=["explicit", "compiled"],
)
def test_memory_that_is_spent_leaves_it_open(
    method: str, system: AnySystem, states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known states are still expanded, none is added, and the verdict names the bound and the coverage."""
    asked: list[int] = []

    def filling() -> int:
        asked.append(1)
        return 10 if len(asked) < 2 else 1_000

    monkeypatch.setattr(memory, "resident", filling)
    found = explore(system, [HELD], method=method, max_memory=500)
    assert not found.complete and 0 < found.states < states
    assert found.verdicts[0].status is Status.UNDECIDED
    assert "max_memory=500" in found.verdicts[0].because and f"{found.states} states" in found.verdicts[0].because
    asked.clear()
    monkeypatch.setattr(memory, "resident", lambda: 10)
    assert explore(system, [HELD], method=method, max_memory=500).states == states


@pytest.mark.slow
def test_a_claim_that_tables_leave_to_a_search_without_memory_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables finish, and the search below them, which decides the other claim, meets the bound."""
    searches: list[MemoryBudget] = []

    class Budget(MemoryBudget):
        """Spent from the second search on."""

        def __init__(self, bound: int | None, *, spills: bool = False) -> None:
            super().__init__(bound, spills=spills)
            searches.append(self)

        def spent(self) -> bool:
            return len(searches) > 1 and self.limit is not None

    by_state = DeterminedBy(name="by_state", sentence="", key=lambda step: step.after, value=lambda _step: 0)
    for short_of_memory in (False, True):
        if short_of_memory:
            monkeypatch.setattr(graph, "MemoryBudget", Budget)
        found = explore(WIDE, [HELD, by_state], method="compiled", max_memory=1 << 40)
        assert found.method == "compiled" and "'by_state' was left to explicit search" in found.why_method
        assert found.states == 153 and found.complete is not short_of_memory
        assert [one.status for one in found.verdicts] == [Status.UNDECIDED if short_of_memory else Status.HOLDS] * 2


def test_reasons_of_many_configurations_are_counted() -> None:
    """The first is told: the others differ in numbers alone."""
    found = explore(joint_system(3), [HELD], method="compiled")
    assert found.why_method.count("samples were compared") == 1
    assert found.why_method.endswith(" (1 more such reason, of other configurations)")


def test_the_memory_of_this_process() -> None:
    """At least some megabytes, and it grows with the data."""
    before = resident()
    held = bytearray(64 << 20)
    assert before > 1 << 20 and resident() > before and len(held)


def test_the_condensation_is_acyclic_and_whole() -> None:
    """Against networkx on the graph itself; messages are never unsent, so two-phase commit has many components."""
    found = explore(two_phase_commit(3))
    made: Any = found.condensation()
    whole: Any = found.to_networkx()
    assert nx.is_directed_acyclic_graph(made)
    assert sum(len(about["members"]) for _, about in made.nodes(data=True)) == 288
    assert made.number_of_nodes() == nx.number_strongly_connected_components(whole)
    within = sum(
        about["weight"]
        for one, other, about in whole.edges(data=True)
        if made.graph["mapping"][one] == made.graph["mapping"][other]
    )
    assert sum(about["weight"] for *_, about in made.edges(data=True)) + within == found.transitions


def test_a_bound_that_makes_no_sense() -> None:
    """One message."""
    with pytest.raises(ValueError, match="max_memory must be at least 1"):
        explore(FREE, max_memory=0)
    with pytest.raises(ValueError, match="unknown method 'fast'; there is: compiled, explicit, symmetric"):
        explore(FREE, method="fast")
    with pytest.raises(LicenceMissing, match="none is licensed"):
        explore(FREE, method="symmetric")
