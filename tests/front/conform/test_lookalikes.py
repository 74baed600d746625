"""Mutants that look like a kernel which shows only a part, or speaks in words of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evenhand.conform.adapters.model import variant
from evenhand.conform.checking.loop import EXHAUSTIVE, SEPARATING, CheckEffort, SystemChecked, check_system
from evenhand.core.registry import find
from evenhand.jobs.fixtures import fixtures_of
from tests.front.conform.in_process import InProcess

HIDDEN = ("log", "receipts", "dropped", "rejected")


class Partial:
    """A mutant that keeps a part of what it shows to itself."""

    def __init__(self, name: str, hidden: Sequence[str], initial: Any) -> None:
        self.kernel, self.hidden = variant("cud", name)(initial), hidden

    def step(self, action: Any) -> Any:
        """Take an action."""
        shown: Any = self.kernel.step(action)
        return {key: value for key, value in shown.items() if key not in self.hidden}


def checked(name: str, hidden: Sequence[str]) -> SystemChecked:
    """Check a mutant of cud with its counterexamples."""
    bundle = find("cud")
    system = bundle.model.systems["universe"]
    records = [record for _, record in fixtures_of("cud")]
    effort = CheckEffort(transitions=60, phases=(SEPARATING, EXHAUSTIVE))
    source = InProcess(lambda initial: Partial(name, hidden, initial))
    return check_system(
        "cud", [system], bundle.claims, source, effort=effort, records=records, mutants=bundle.model.mutants
    )


@pytest.mark.parametrize("hidden", [(), HIDDEN], ids=["all", "a part"])
@pytest.mark.parametrize("name", ["forged_action_id_passes", "agent_id_from_request"])
def test_a_mutant_is_recognised_by_what_it_shows(name: str, hidden: Sequence[str]) -> None:
    """Whether it shows all or a part; it is named in each finding that has a name."""
    found = [one.alike for one in checked(name, hidden).defects]
    assert found and any(name in alike for alike in found)


def test_mutants_that_show_another_thing_are_no_lookalikes() -> None:
    """A kernel that takes a forged id is not one that believes the name in the request."""
    (alike, *_) = [one.alike for one in checked("forged_action_id_passes", HIDDEN).defects if one.alike]
    assert "agent_id_from_request" not in alike
