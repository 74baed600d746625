"""The system record: scopes, readings, actions on offer, mutants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.lookup import UnknownName
from evenhand.core.system import Joint, Mutant, Scope, System, reading, reading_values


@dataclass(frozen=True)
class Readings:
    """Two readings: one with listed values, one a number."""

    order: str = reading("free", "sorted", sentence="Silent on order.")
    limit: int = reading(3, sentence="A small number.")


@dataclass(frozen=True)
class Rules:
    """One point that a mutant may change."""

    gain: int = 1


Config = tuple[int, str]
Pairs = tuple[tuple[str, int], ...]


def configs(scope: Scope, readings: Any) -> Iterable[Config]:
    """Yield one configuration, which contains its scope and readings."""
    return ((scope["agents"], readings.order if readings else "-"),)


def step(rules: Rules, config: Config, state: int, action: Pairs) -> tuple[int, str]:
    """Add the action to the state."""
    return state + rules.gain * sum(amount for _, amount in action), "added"


def choices(_config: Config, scope: Scope, _state: int, _agent: str) -> Iterator[int]:
    """Yield as many choices as the scope says."""
    return iter(range(scope["most"] + 1))


AnySystem = System[Config, int, Pairs, str, Rules]
SYSTEM: AnySystem = System(
    "sum",
    Rules(),
    configs,
    lambda _config: (0,),
    step,
    joint=Joint(
        lambda config, _state: tuple(f"a{i}" for i in range(config[0])),
        choices,
        lambda _config, _state, made: made,
        lambda action: action,
    ),
    scope=Scope(agents=2, most=1),
    readings=Readings(),
)


def listed(config: Config, _scope: Scope, state: int) -> Iterator[Pairs]:
    """Yield the same actions, without marking them as joint."""
    return SYSTEM.enabled(config, state)


def anything(_config: Config, _state: int, _action: Pairs) -> bool:
    """Accept every action."""
    return True


def test_a_system_needs_one_source_of_actions() -> None:
    """Neither or both is a mistake of the author."""
    with pytest.raises(ValueError, match="exactly one"):
        replace(SYSTEM, joint=None)
    with pytest.raises(ValueError, match="exactly one"):
        replace(SYSTEM, actions=listed)


def test_joint_actions_are_the_product_simplest_first() -> None:
    """In the order of the agents, with the last one changing fastest."""
    config = next(iter(SYSTEM.all_configs()))
    assert [tuple(x for _, x in action) for action in SYSTEM.enabled(config, 0)] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_joint_actions_are_made_one_at_a_time() -> None:
    """The product of 40 agents is never listed."""
    large = SYSTEM.at(agents=40)
    config = next(iter(large.all_configs()))
    assert next(large.enabled(config, 0)) == tuple((f"a{i}", 0) for i in range(40))


def test_without_agents_nothing_is_on_offer() -> None:
    """An empty joint action would let a run repeat for ever."""
    empty = SYSTEM.at(agents=0)
    assert list(empty.enabled(next(iter(empty.all_configs())), 0)) == []
    assert not empty.is_enabled((0, "free"), 0, ())


@given(st.lists(st.tuples(st.sampled_from(["a0", "a1", "x"]), st.integers(-1, 3)), max_size=3).map(tuple))
def test_is_enabled_says_what_enabled_lists(action: Pairs) -> None:
    """For honest, hostile and malformed actions, with and without the short cut through `joint`."""
    config: Config = (2, "free")
    offered = action in list(SYSTEM.enabled(config, 0))
    assert SYSTEM.is_enabled(config, 0, action) is offered
    assert replace(SYSTEM, joint=None, actions=listed).is_enabled(config, 0, action) is offered
    assert replace(SYSTEM, allows=anything).is_enabled(config, 0, action)


def test_a_scope_is_a_frozen_mapping() -> None:
    """The order of its fields does not matter."""
    assert Scope(b=2, a=1) == Scope({"a": 1}, b=2)
    assert hash(Scope(b=2, a=1)) == hash(Scope(a=1, b=2))
    assert str(Scope(b=2, a=1)) == "a=1,b=2"
    assert str(Scope()) == "-"
    assert Scope(a=1) != Scope(a=2)
    with pytest.raises(KeyError):
        Scope(a=1)["b"]


@pytest.mark.parametrize("size", [-1, True, 1.0, "2"])
def test_a_size_is_a_natural_number(size: Any) -> None:
    """Refused with the field's name."""
    with pytest.raises(ValueError, match="scope field 'agents' must be an integer >= 0"):
        SYSTEM.at(agents=size)


def test_unknown_names_say_what_there_is() -> None:
    """Scope fields, readings, values of readings."""
    with pytest.raises(
        UnknownName, match=r"unknown scope field 'agenst' \(did you mean agents\?\); there is: agents, most"
    ):
        SYSTEM.at(agenst=3)
    with pytest.raises(UnknownName, match=r"unknown reading 'odrer' \(did you mean order\?\); there is: limit, order"):
        SYSTEM.under(odrer="free")
    with pytest.raises(UnknownName, match=r"unknown value of reading order: 'wild'; there is: free, sorted"):
        SYSTEM.under(order="wild")


def test_of_many_names_the_near_one_is_told() -> None:
    """Seventy names of claims hide it; a name that is near none lists them."""
    names = [f"claim_{number}_holds" for number in range(13)] + ["no_winner"]
    near = str(UnknownName("claim", "no_winer", names))
    assert near == "unknown claim 'no_winer' (did you mean no_winner?); '?' in its place lists all 14"
    for cut in ("no_w", "no_wni"):
        assert "(did you mean no_winner?)" in str(UnknownName("claim", cut, names))
    assert str(UnknownName("claim", "?", names)).endswith(f"'?'; there is: {', '.join(sorted(names))}")


def test_readings_reach_the_configurations() -> None:
    """The original system stays unchanged."""
    assert list(SYSTEM.under(order="sorted").all_configs()) == [(2, "sorted")]
    assert SYSTEM.under(limit=7).readings == Readings(limit=7)
    assert SYSTEM.under() is SYSTEM
    assert list(SYSTEM.all_configs()) == [(2, "free")]


def test_the_values_of_readings_come_default_first() -> None:
    """A reading with one value takes any of its type."""
    assert reading_values(Readings()) == {"order": ("free", "sorted"), "limit": ()}
    assert reading_values(None) == {}
    assert Readings() == Readings("free", 3)


def test_a_mutant_is_other_rules_at_a_named_place() -> None:
    """Rules, scope, readings and the name of the variant."""
    mutant = Mutant("greedy", "Gains twice.", "", Rules(2), "sum", Scope(agents=1), (("order", "sorted"),))
    made = mutant.of({"sum": SYSTEM})
    assert (made.variant, made.rules, made.scope, made.readings.order) == (
        "greedy",
        Rules(2),
        Scope(agents=1, most=1),
        "sorted",
    )
    assert made.take((1, "sorted"), 0, (("a0", 1),)).after == 2
    assert SYSTEM.take((1, "sorted"), 0, (("a0", 1),)).after == 1
