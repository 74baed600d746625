"""A kernel may tell in any order who is due and who promises too much, because the text names none."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.conform.adapters.model import reference
from evenhand.conform.checking.loop import ALTERED, EXHAUSTIVE, CheckEffort, check_system
from evenhand.core.registry import find
from tests.front.conform.in_process import InProcess

FIELDS = ("activated", "overpromised")


class Backwards:
    """The reference, which tells the names in the order of another language's sets, or leaves one of several out."""

    def __init__(self, initial: Any, lost: bool) -> None:
        self.kernel, self.lost = reference(initial), lost

    def step(self, action: Any) -> Any:
        """Take the reference's step."""
        shown: Any = self.kernel.step(action)
        turned = {name: shown[name][::-1][1 if self.lost and len(shown[name]) > 1 else 0 :] for name in FIELDS}
        return {**shown, **turned}


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("name", ["scheduling", "clock"])
def test_no_order_is_asked_of_those_that_are_due(name: str, lost: bool) -> None:
    """Both agents are due at once in some configuration; a name that lacks is found, another order is not."""
    system = find("markspace").model.systems[name]
    source = InProcess(lambda initial: Backwards(initial, lost))
    effort = CheckEffort(transitions=1_500, examples=4, phases=(EXHAUSTIVE, ALTERED))
    result = check_system("markspace", (system,), (), source, effort=effort)
    assert bool(result.defects) == lost
