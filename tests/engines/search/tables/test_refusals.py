"""Models that proxies cannot follow: search from tables is right or refuses them."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from evenhand.core.property import Always
from evenhand.core.system import System
from evenhand.model.cud.free_system import FREE
from evenhand.search import ModelError, explore


@dataclass(frozen=True)
class Lamp:
    """A lamp, and the number of presses."""

    on: Any = False
    pressed: Any = 0


def lamp(step: Callable[[Any, Any, Lamp, str], tuple[Any, str]]) -> System[Any, Any, str, str, Any]:
    """Return a lamp with a button, and a user that waits."""
    return System(
        name="lamp",
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (Lamp(),),
        step=step,
        actions=lambda _config, _scope, _state: ("press", "wait"),
    )


def honest(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """The reference."""
    if action == "press":
        return Lamp(not state.on, (state.pressed + 1) % 3), "pressed"
    return state, "waited"


def by_identity(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Compares with `is`."""
    return (Lamp(False, 0), "off") if state.on is True else (Lamp(True, 0), "on")


def by_computed_identity(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Compares a computed value with `is`."""
    return (Lamp(False, 0), "off") if (state.on or state.pressed) is True else (Lamp(True, 0), "on")


def by_type(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Asks for the type."""
    return (Lamp(True, 0), "on") if type(state.on) == bool else (Lamp(False, 0), "off")  # noqa: E721 - the fault


def by_id(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Asks for the address."""
    return (Lamp(True, 0), "on") if id(state.on) % 32 == 0 else (Lamp(False, 0), "off")


def swallows(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Handles everything."""
    try:
        return Lamp(not state.on, 0), "pressed"
    except:  # noqa: E722 - the fault
        return state, "failed"


def handles_type_errors(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Handles the symbolic proxy's own TypeError."""
    try:
        return Lamp(True, len("".join(["x", state.on]))), "on"
    except TypeError:
        return Lamp(True, 0), "no text"


def draws_lots(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Is no function of its arguments."""
    return Lamp(random.random() < 0.5, 0), "drawn"


def reads_the_clock(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Is no function of its arguments either."""
    return Lamp(time.time() > 0, 0), "late"


def prints(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Has a side effect."""
    print(action)
    return state, "said"


def counts_mutation(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Changes the state it is given, with a part that the tables would have to know."""
    object.__setattr__(state, "pressed", (state.pressed + 1) % 3)
    return Lamp(not state.on, state.pressed), "changed"


def mutates(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Changes the state it is given."""
    object.__setattr__(state, "on", True)
    return Lamp(False, 0), "changed"


REFUSED = [by_identity, by_computed_identity, by_type, swallows, handles_type_errors]


IMPURE = [
    (by_id, r"uses `id\(\)`"),
    (draws_lots, "uses `random.random`"),
    (reads_the_clock, "uses `time.time`"),
]


@pytest.mark.parametrize(("step", "says"), IMPURE, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_no_function_is_refused_by_every_method(step: Any, says: str) -> None:
    """The search refuses it after reading its code."""
    for method in (None, "explicit", "compiled"):
        with pytest.raises(ModelError, match=says):
            explore(lamp(step), method=method)


@pytest.mark.parametrize("step", [honest, *REFUSED])
def test_tables_are_right_or_refuse(step: Any) -> None:
    """Asked for or not, they never count another graph than explicit search."""
    plain = explore(lamp(step), method="explicit")
    assert explore(lamp(step)).states == plain.states
    try:
        found = explore(lamp(step), method="compiled")
    except ValueError as refused:
        assert "compiled search cannot explore system 'lamp'" in str(refused) and step is not honest
    else:
        assert found.method == "compiled"
        assert (found.states, found.transitions, found.edges) == (plain.states, plain.transitions, plain.edges)


def test_a_side_effect_is_refused() -> None:
    """`print` in a step."""
    with pytest.raises(ValueError, match="must not use 'print'"):
        explore(lamp(prints), method="compiled")


@pytest.mark.parametrize("step", [mutates, counts_mutation])
def test_a_step_that_changes_its_state(step: Any) -> None:
    """By every method; also where it changes an object that a claim or an offer is given."""
    for method in (None, "explicit", "compiled"):
        with pytest.raises((ModelError, ValueError), match=r"changes the state (it|that it) is given"):
            explore(lamp(step), method=method)


def test_an_offer_and_a_claim_that_change_the_state() -> None:
    """They are compared with a copy as well."""

    def offers(_config: Any, _scope: Any, state: Lamp) -> tuple[str, ...]:
        object.__setattr__(state, "on", False)
        return ("press", "wait")

    def check(_config: Any, state: Lamp) -> bool:
        object.__setattr__(state, "pressed", 0)
        return True

    claim = Always(name="claim", sentence="", check=check)
    for system, claims in ((replace(lamp(honest), actions=offers), ()), (lamp(honest), (claim,))):
        for method in ("explicit", "compiled"):
            with pytest.raises((ModelError, ValueError), match=r"change|elsewhere"):
                explore(system, claims, method=method)


def test_who_listens_to_the_collector_is_not_the_model() -> None:
    """A listener that reads the clock, called at every chance: the search is still compiled."""
    heard: list[float] = []

    def listener(_phase: str, _info: dict[str, int]) -> None:
        heard.append(time.monotonic())

    before = gc.get_threshold()
    gc.callbacks.append(listener)
    gc.set_threshold(1)
    try:
        found = explore(FREE, method="compiled")
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(listener)
    assert heard and found.states == explore(FREE, method="explicit").states
