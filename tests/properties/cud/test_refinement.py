"""The free graph refines the epochs that the conditions run; a kernel with an arbiter breaks it.

The free graph keeps of each agent only a mark.  The mapping makes the whole state between two epochs of it: what each
agent asked for last, and what it had when it left, is history.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import evenhand
from evenhand.core.fairness import per_agent
from evenhand.core.system import AnyStep, AnySystem, Fairness, Joint, Step
from evenhand.model.cud import free_system
from evenhand.model.cud.conditions import CONDITIONS
from evenhand.model.cud.free_system import EXITED, FREE, NONE, FreeState
from evenhand.model.cud.mutants import mutant
from evenhand.model.cud.step import active, ended
from evenhand.model.cud.vocabulary import AgentState, Choice, Config, Epoch, State

Past = tuple[tuple[str | None, tuple[str, ...] | None], ...]
SIZES = {"agents": 2, "keys": 2, "values": 2}
"""A refinement sees states and no actions.  With one key, which the second agent may not write, the outcome of a tie
that is broken for the first agent is that of a write without authority, so that the fault would not show."""


def _choices(config: Config, scope: Any, _state: State, agent: str) -> Any:
    """The menu of the free graph."""
    return free_system.choices(config, scope, FreeState(config.world, ()), agent)


def _agents(config: Config, state: State) -> tuple[str, ...]:
    return () if ended(config, state) else active(config, state)


EPOCHS: Any = replace(
    CONDITIONS,
    name="epochs",
    scope=evenhand.Scope(**SIZES),
    configs=FREE.configs,
    joint=Joint(_agents, _choices, lambda _config, _state, picked: Epoch(picked), lambda action: action.choices),
)
"""Whole epochs, as the conditions run them, over the layout and the menu of the free graph."""


def remembered(past: Past, step: AnyStep) -> Past:
    """What each agent got and asked for in the last epoch that it did not leave in."""
    chosen: dict[str, Choice] = dict(step.action.choices)
    found: list[tuple[str | None, tuple[str, ...] | None]] = []
    for name, mark, before in zip(step.config.agents, step.after.marks, past, strict=True):
        request = chosen[name].request if name in chosen else None
        found.append(before if mark == EXITED else (mark, None if request is None else request.declared_scope))
    return tuple(found)


@evenhand.refines(
    "Each step of the free graph is an epoch as the conditions run it.",
    abstract=EPOCHS,
    start=lambda config: ((None, None),) * len(config.agents),
    update=remembered,
)
def is_an_epoch(_config: Config, state: FreeState, past: Past) -> State:
    """Marks are tokens of agents in the run; what an agent had when it left is history."""
    agents = [
        AgentState(mark != EXITED, last if mark == EXITED else None if mark == NONE else mark, scope)
        for mark, (last, scope) in zip(state.marks, past, strict=True)
    ]
    return State(state.world, tuple(agents))


def test_the_free_graph_refines_the_epochs() -> None:
    """Every step of every reachable state, with its history."""
    found = evenhand.explore(FREE.at(**SIZES), [is_an_epoch])
    assert (found.complete, found.holds) == (True, True), found.verdicts[0].because


@pytest.mark.parametrize("name", ["tie_break_by_name", "reads_never_collide", "pass_one_skipped"])
def test_a_fault_breaks_it(name: str) -> None:
    """The story names the epoch that the conditions' kernel does not run."""
    (verdict,) = evenhand.explore(replace(FREE.at(**SIZES), rules=mutant(name).rules), [is_an_epoch]).verdicts
    assert verdict.status is evenhand.Status.REFUTED
    assert "epochs has no step from" in verdict.because


def leaves(config: Config) -> Any:
    """Each agent leaves at last, if it may."""

    def does(agent: str) -> Fairness[Any, Any]:
        return Fairness("weak", lambda _state, epoch: any(who == agent and it.exits for who, it in epoch.choices))

    return per_agent("leaves", config.agents, does)


def remembering(stays: str = "") -> AnySystem:
    """The free graph with the history of the mapping in its state; an agent that `stays` is not offered to leave."""
    free, joint = FREE.at(**SIZES), FREE.joint
    assert joint is not None

    def step(rules: Any, config: Config, state: Any, action: Any) -> tuple[Any, Any]:
        after, shown = free.step(rules, config, state[0], action)
        return (after, remembered(state[1], Step(config, state[0], action, shown, after))), shown

    def choices(config: Config, scope: Any, state: Any, agent: str) -> list[Choice]:
        return [one for one in joint.choices(config, scope, state[0], agent) if agent != stays or not one.exits]

    return evenhand.System(
        name="remembering",
        rules=free.rules,
        configs=free.configs,
        initial=lambda config: [(one, is_an_epoch.start(config)) for one in free.initial(config)],
        step=step,
        joint=Joint(lambda config, state: joint.agents(config, state[0]), choices, joint.join, joint.split),
        scope=free.scope,
        readings=free.readings,
        fair=leaves,
        types=free.types,
    )


@evenhand.refines("Each step is an epoch, and all leave.", abstract=replace(EPOCHS, fair=leaves))
def is_an_epoch_of_leavers(config: Config, state: Any, _past: None) -> State:
    """The same mapping, of a state that holds its history."""
    image: State = is_an_epoch.mapping(config, state[0], state[1], None)
    return image


@pytest.mark.parametrize(("stays", "expected"), [("", "HOLDS"), ("agent_2", "REFUTED")])
def test_what_must_happen_is_kept(stays: str, expected: str) -> None:
    """Both leave at last, if the free graph lets them; without that assumption, or for an agent that stays, not."""
    live = evenhand.keeps_fairness(is_an_epoch_of_leavers, fairness=("leaves",))
    lazy = evenhand.keeps_fairness(is_an_epoch_of_leavers, name="lazy")
    found = evenhand.explore(remembering(stays), [is_an_epoch_of_leavers, live, lazy])
    assert [one.status.value for one in found.verdicts] == ["HOLDS", expected, "REFUTED"], found.verdicts
