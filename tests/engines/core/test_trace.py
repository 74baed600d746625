"""Replay: the only way from a scenario to a trace."""

from __future__ import annotations

import pytest

from evenhand.core.system import Scope, System
from evenhand.core.trace import Lasso, NotReplayable, Scenario, replay, replay_lasso


def step(_rules: None, size: int, state: int, action: int) -> tuple[int, str]:
    """Move around a circle of `size`."""
    return (state + action) % size, f"{state}+{action}"


CIRCLE: System[int, int, int, str, None] = System(
    "circle",
    None,
    lambda scope, _readings: (scope["size"],),
    lambda _config: (0,),
    step,
    actions=lambda _config, _scope, _state: (1, 2),
    scope=Scope(size=5),
)


def test_a_trace_has_one_state_more_than_steps() -> None:
    """The start, and one state after each action; each step begins where the last one ended."""
    trace = replay(CIRCLE, Scenario(5, 0, (1, 2, 2)))
    assert trace.states == (0, 1, 3, 0)
    assert [step.shown for step in trace.steps] == ["0+1", "1+2", "3+2"]
    assert trace.final == 0
    assert all(one.after == two.before for one, two in zip(trace.steps, trace.steps[1:], strict=False))


def test_a_trace_without_actions_ends_where_it_starts() -> None:
    """It has one state."""
    trace = replay(CIRCLE, Scenario(5, 3))
    assert (trace.final, trace.states, trace.steps) == (3, (3,), ())


def test_a_lasso_gives_the_steps_of_its_loop() -> None:
    """Stem 0 → 1, then 1 → 3 → 0 → 1 for ever."""
    trace, loop = replay_lasso(CIRCLE, Lasso(5, 0, (1,), (2, 2, 1)))
    assert trace.states == (0, 1, 3, 0, 1)
    assert [(step.before, step.after) for step in loop] == [(1, 3), (3, 0), (0, 1)]


@pytest.mark.parametrize(("loop", "why"), [((), "at least one action"), ((1, 1), "another state than it began in")])
def test_a_loop_that_does_not_close_is_no_lasso(loop: tuple[int, ...], why: str) -> None:
    """Nor does an empty loop, which would be a run without actions."""
    with pytest.raises(NotReplayable, match=why):
        replay_lasso(CIRCLE, Lasso(5, 0, (1,), loop))
