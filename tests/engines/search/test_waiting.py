"""Wait-for graphs: against the textbook's, on the shipped protocols, and with faults that must be noticed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from evenhand.core.registry import find, protocols
from evenhand.core.system import AnySystem
from evenhand.core.trace import Lasso, Scenario
from evenhand.search import waiting
from evenhand.search.alone import Alone
from evenhand.search.waiting import CircularWaits, WaitFor, circular_waits, waits_after
from tests.models.philosophers import philosophers, waits_by_hand
from tests.models.random_systems import table_system


def system_of(protocol: str, name: str, mutant: str = "", /, **sizes: int) -> AnySystem:
    """Return a shipped system, or a mutant of it."""
    bundle = find(protocol)
    system = bundle.model.systems[name].at(**sizes)
    if mutant:
        rules = next(one.rules for one in bundle.model.mutants if one.name == mutant)
        system = replace(system, rules=rules, variant=mutant)
    return system


def edges(found: WaitFor) -> set[tuple[str, str]]:
    """Return the pairs of a waiting agent and the agent that it waits for."""
    return {(wait.waiter, wait.holder) for wait in found.waits}


def told(found: CircularWaits) -> tuple[int, bool, tuple[tuple[str, ...], ...]]:
    """Return how many states have a circle, whether the search was complete, and the circles of the nearest."""
    assert found.first is not None
    return found.circular, found.complete, found.first.cycles


# Dining philosophers, with the results of the textbook.


def random_run(system: AnySystem, seed: int, length: int) -> Scenario[Any, Any, Any]:
    """Return so many drawn actions, each on offer."""
    random, config = Random(seed), next(iter(system.all_configs()))
    start = state = next(iter(system.initial(config)))
    actions: list[Any] = []
    while len(actions) < length and (menu := list(system.enabled(config, state))):
        actions.append(random.choice(menu))
        state = system.take(config, state, actions[-1]).after
    return Scenario(config, start, tuple(actions))


def agree_with_the_textbook() -> None:
    """In random runs, with forks taken and put back, a philosopher waits for the holder of a fork that it needs now."""
    for seed in range(60):
        system: AnySystem = philosophers(2 + seed % 3, contrary=seed % 2 == 0)
        found = waits_after(system, random_run(system, seed, 3 + seed % 14))
        assert edges(found) == waits_by_hand(found.state)
        assert all(wait.holds and set(wait.beside) < set(found.agents) for wait in found.waits)


def test_philosophers_wait_as_in_the_textbook() -> None:
    """For every run."""
    agree_with_the_textbook()


@pytest.mark.parametrize("count", [2, 3, 4])
def test_exactly_one_table_is_a_circle(count: int) -> None:
    """Each philosopher holds one fork; no circle exists if the last takes its forks the other way round."""
    names = tuple(f"philosopher_{number}" for number in range(count))
    assert told(circular_waits(philosophers(count))) == (1, True, (names,))
    assert told(circular_waits(philosophers(count, contrary=True))) == (0, True, ())


def test_every_state_is_looked_at_as_runs_are() -> None:
    """In every state but the empty table some philosopher waits."""
    found = circular_waits(philosophers(3))
    assert (found.states, found.waiting) == (14, 13)


# Shipped protocols.


@pytest.mark.slow
def test_hold_and_wait_with_two_resources_is_a_circle() -> None:
    """Markspace, P12: an action claims for ever, so neither agent can release the resource that the other needs.

    The same run under the reading in which a holder supersedes its own action is a candidate, and no deadlock.
    """
    system = system_of("markspace", "first_writer", resources=2, levels=1)
    found = circular_waits(system, depth=6)
    assert found.first is not None
    assert found.first.cycles == (("agent_1", "agent_2"),)
    releasing = system.under(claim_release="superseding_action_of_holder")
    config = next(iter(releasing.all_configs()))
    again = waits_after(releasing, replace(found.first.run, config=config))
    assert again.cycles == found.first.cycles and all(wait.gives for wait in again.waits)
    assert found.first.state.claims == ("agent_1", "agent_2")
    assert {(wait.what.agent, wait.what.resource, wait.gives) for wait in found.first.waits} == {
        ("agent_1", "room_2", False),
        ("agent_2", "room_1", False),
    }


@pytest.mark.slow
def test_where_actions_claim_nothing_nobody_waits() -> None:
    """The mutant that changes this, on the whole graph."""
    found = circular_waits(system_of("markspace", "first_writer", "actions_claim_nothing", resources=2, levels=1))
    assert (told(found), found.waiting) == ((0, True, ()), 0)


def test_with_one_resource_one_waits_and_no_circle_closes() -> None:
    """The holder of the only resource waits for no agent."""
    found = circular_waits(system_of("markspace", "first_writer"))
    assert told(found) == (0, True, ())
    assert found.waiting and found.first is not None and edges(found.first) == {("agent_2", "agent_1")}


@pytest.mark.parametrize(("name", "sizes"), [("free", {"keys": 2}), ("run", {"keys": 1, "epochs": 1})])
def test_nobody_reserves_anything_in_cud(name: str, sizes: dict[str, int]) -> None:
    """The kernel reserves nothing from one epoch to the next; the end of the last epoch is caused by no agent."""
    found = circular_waits(system_of("cud", name).at(**sizes))
    assert (told(found), found.waiting) == ((0, True, ()), 0)


@pytest.mark.parametrize(("mutant", "expected"), [("", set[Any]()), ("exit_keeps_a_lock", {("agent_1", "agent_2")})])
def test_a_lock_that_outlives_its_holder_is_waited_for(mutant: str, expected: set[tuple[str, str]]) -> None:
    """The mutant that changes this: agent_2 reads a key and exits."""
    system = system_of("cud", "run", mutant, epochs=3, keys=1)
    joint = system.joint
    assert joint is not None
    config = next(iter(system.all_configs()))
    start = state = next(iter(system.initial(config)))
    actions: list[Any] = []
    for exits in (False, True):
        one, other = (tuple(joint.choices(config, system.scope, state, name)) for name in ("agent_1", "agent_2"))
        wanted = next(choice for choice in other if (choice.exits if exits else choice.request is not None))
        made = (("agent_1", one[0]), ("agent_2", wanted))
        actions.append(joint.join(config, state, made))
        state = system.take(config, state, actions[-1]).after
    found = waits_after(system, Scenario(config, start, tuple(actions)))
    assert edges(found) == expected
    assert not any(wait.gives for wait in found.waits)


def _only(config: Any) -> Callable[..., tuple[Any, ...]]:
    """Return no smaller configuration."""

    def configs(_scope: Any, _readings: Any) -> tuple[Any, ...]:
        return (config,)

    return configs


def test_every_main_system_says_whose_action_is_whose() -> None:
    """In every protocol the first system names the actors in its first states."""
    for bundle in protocols():
        if bundle.name in ("apcm", "conviction", "cud", "markspace", "sovereign"):
            system = next(iter(bundle.model.systems.values()))
            config = next(iter(system.all_configs()))
            found = circular_waits(replace(system, configs=_only(config)), max_states=4, limit=60)
            assert found.states <= 4 and found.first is not None and found.first.agents, bundle.name


def test_who_needs_help_waits_too() -> None:
    """In apcm nothing can be selected before the author has justified it, and no agent has prevented it."""
    found = circular_waits(system_of("apcm", "run"))
    assert found.first is not None
    assert {(wait.waiter, wait.holder, wait.holds, wait.gives) for wait in found.first.waits} == {
        ("selector", "author", False, True)
    }


# Bounds, lassos, refusals.


def test_a_bound_is_not_passed_over() -> None:
    """Neither the bound of the search nor the bound of an agent's own moves is passed over."""
    assert not circular_waits(philosophers(3), max_states=5).complete
    found = circular_waits(philosophers(3), limit=2)
    assert not found.complete and found.first is not None and "more than 2 states" in found.first.unknown[0]


def test_a_lasso_ends_after_its_loop() -> None:
    """Stem and one round."""
    system: AnySystem = philosophers(2)
    run = random_run(system, 3, 6)
    lasso = Lasso(run.config, run.start, run.actions[:2], run.actions[2:])
    assert waits_after(system, lasso).waits == waits_after(system, run).waits


def test_a_system_that_names_no_actor_is_refused() -> None:
    """The alternative would be a report that no agent waits."""
    with pytest.raises(ValueError, match="does not say whose action is whose"):
        circular_waits(table_system(1))
    with pytest.raises(ValueError, match="Give the system an `actor`"):
        waits_after(replace(philosophers(2), actor=None), random_run(philosophers(2), 1, 1))


# Faults planted in the engine: the comparison with the textbook notices each.


def _first_set_alone(everybody: Sequence[str]) -> list[frozenset[str]]:
    return [frozenset(), *(frozenset([name]) for name in everybody)]


def _forgetful(self: Alone, start: Any) -> None:
    """Finds only moves that complete at once."""
    own = self.moves.own(start)
    self.known[start] = {action for actor, action, _, completes in own if completes and actor == self.agent}


def _stands_still(_self: Any, before: waiting.Without, _action: Any) -> waiting.Without:
    return before


@pytest.mark.parametrize(
    ("where", "name", "fault"),
    [
        (waiting, "_sets", _first_set_alone),  # of two holders of needed forks none is named
        (Alone, "_explore", _forgetful),  # nothing is ever reachable
        (waiting.Hands, "then", _stands_still),  # runs without the other agents do not continue
    ],
)
def test_planted_faults_are_noticed(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, fault: Any) -> None:
    """By the comparison with the textbook."""
    monkeypatch.setattr(where, name, fault)
    with pytest.raises(AssertionError):
        agree_with_the_textbook()
