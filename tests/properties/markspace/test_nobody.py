"""No claim raises where somebody acts who is not of the system: what a kernel makes of that is asked in every check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from evenhand.conform.checking.claims import Judge, KernelStep, judged_kinds
from evenhand.conform.checking.wandering import wandering
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyTrace
from tests.properties.markspace.bundle import BUNDLE

WALKS = 60
FIRST = ("schedules", "subscriptions")


def with_nobody(system: AnySystem, walk: AnyTrace) -> Iterator[AnyStep]:
    """Yield the steps of a walk, before each action of an agent the same by nobody."""
    state = walk.scenario.start
    for action in walk.scenario.actions:
        for one in (replace(action, agent="nobody"), action) if hasattr(action, "agent") else (action,):
            step = system.take(walk.scenario.config, state, one)
            yield step
            state = step.after


@pytest.mark.parametrize("name", ["composing", "scheduling", "clock", "layers", "space"])
def test_claims_bear_acts_of_nobody(name: str) -> None:
    """They looked up the place of the agent and raised, and a check ended with them."""
    system = BUNDLE.model.systems[name]
    system = system.at(**{size: 1 for size in FIRST if size in system.scope})
    judged, _ = judged_kinds(BUNDLE.claims, name)
    by_nobody = 0
    for walk in islice(wandering((system,), (), seed=3), WALKS):
        steps = list(with_nobody(system, walk))
        by_nobody += sum(getattr(step.action, "agent", "") == "nobody" for step in steps)
        Judge(judged).violations(walk.scenario.config, [KernelStep(step, step.shown, False) for step in steps])
    assert by_nobody > WALKS
