"""Models of which no rows can be made are refused with file and line; search from tables is right or refuses them."""

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
from evenhand.core.system import Joint, OneOf, Separated, System
from evenhand.model.cud.free_system import FREE
from evenhand.search import ModelError, explore
from evenhand.search.rows import compiler
from evenhand.search.rows.compiler import Compiler, Program, Unfit
from evenhand.search.rows.flat import flattened
from evenhand.search.rows.proxies import TooWide
from evenhand.search.rows.watch import Evades


@dataclass(frozen=True)
class Lamp:
    """A lamp, and the number of presses."""

    on: Any = False
    pressed: Any = 0


def lamp(step: Callable[[Any, Any, Lamp, str], tuple[Any, str]], domain: Any = None) -> System[Any, Any, str, str, Any]:
    """Return a lamp with a button, and a user that waits."""
    return System(
        name="lamp",
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (Lamp(),),
        step=step,
        actions=lambda _config, _scope, _state: ("press", "wait"),
        domains=lambda _config, _scope: domain or Lamp(OneOf((False, True)), OneOf((0, 1, 2))),
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


def leaves_its_domain(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Counts further than declared."""
    return Lamp(state.on, state.pressed + 1), "pressed"


def counts_mutation(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Changes the state it is given, with a part that the tables would have to know."""
    object.__setattr__(state, "pressed", (state.pressed + 1) % 3)
    return Lamp(not state.on, state.pressed), "changed"


def mutates(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Changes the state it is given."""
    object.__setattr__(state, "on", True)
    return Lamp(False, 0), "changed"


def unhashable(_rules: Any, _config: Any, state: Lamp, action: str) -> tuple[Lamp, str]:
    """Puts a list into the state."""
    return Lamp([], 0), "listed"


REFUSED = [
    (by_identity, "`is` looks past"),
    (by_computed_identity, "`is` on a computed value"),
    (by_type, r"`type\(\)` looks past"),
    (swallows, "swallows what the search must see"),
    (handles_type_errors, "TypeError is handled here"),
]


IMPURE = [
    (by_id, r"uses `id\(\)`"),
    (draws_lots, "uses `random.random`"),
    (reads_the_clock, "uses `time.time`"),
]


def rows_of(system: System[Any, Any, str, str, Any]) -> Program:
    """Return the rows of the only configuration, where one agent chooses the action."""
    step = system.step
    joint = Joint[Any, Any, Any, str](
        agents=lambda _config, _state: ("user",),
        choices=lambda _config, _scope, _state, _agent: ("press", "wait"),
        join=lambda _config, _state, picked: picked[0][1],
        split=lambda action: (("user", action),),
    )
    separated = Separated[Any, Any, Any, Any, Any, str](
        reads=lambda _rules, _config, _state: None,
        judge=lambda _rules, _config, _key, _agent, choice: choice,
        merge=lambda _rules, _config, _key, made: made[0][1],
        apply=lambda rules, config, state, action: step(rules, config, state, action),
    )
    return Compiler(replace(system, actions=None, joint=joint, separated=separated), None, ()).program()


@pytest.mark.parametrize(("step", "says"), IMPURE, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_no_function_is_refused_by_every_method(step: Any, says: str) -> None:
    """The search refuses it after reading its code."""
    for method in (None, "explicit", "compiled"):
        with pytest.raises(ModelError, match=says):
            explore(lamp(step), method=method)


@pytest.mark.parametrize(("step", "says"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_what_rows_cannot_follow(step: Any, says: str) -> None:
    """The refusal names the place."""
    with pytest.raises(Evades, match=rf"test_refusals\.py:\d+ .*{says}"):
        rows_of(lamp(step))


@pytest.mark.parametrize("step", [honest, *(step for step, _ in REFUSED)])
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
    with pytest.raises(Evades, match="must not use 'print'"):
        rows_of(lamp(prints))
    with pytest.raises(ValueError, match="compiled search cannot explore system 'lamp'"):
        explore(lamp(prints), method="compiled")


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (leaves_its_domain, "state.pressed is 3, which its declared domain (0, 1, 2) lacks"),
        (unhashable, "state.on is [], which its declared domain"),
    ],
)
def test_steps_that_leave_their_domains(step: Any, says: str) -> None:
    """Each path is known, with the file and line of the step."""
    reasons = flattened(rows_of(lamp(step))).reasons.values()
    assert any(says in one and "test_refusals.py:" in one for one in reasons)
    assert not flattened(rows_of(lamp(honest))).reasons


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


def test_declarations_that_make_no_sense() -> None:
    """Empty, doubled, unhashable, missing; and initial states outside."""
    for domain, says in (
        (Lamp(OneOf(()), 0), "state.on is empty"),
        (Lamp(OneOf((1, 1)), 0), "has 1 twice"),
        (Lamp(OneOf(([],)), 0), "cannot be hashed"),  # type: ignore[arg-type]
        (Lamp(True, 0), "no `OneOf`"),
        (Lamp(OneOf((True,)), OneOf((0, 1, 2))), "initial state.on is False"),
        (Lamp(OneOf((False, True)), 7), "declared never to change from 7"),
    ):
        with pytest.raises(Unfit, match=r"test_refusals\.py:\d+") as said:
            rows_of(lamp(honest, domain))
        assert says in str(said.value)


def test_a_domain_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would have too many paths."""
    monkeypatch.setattr(compiler, "RUNS", 50)
    wide = lamp(lambda _r, _c, s, _a: (Lamp(s.on, (s.pressed + 1) % 99), ""), Lamp(False, OneOf(tuple(range(99)))))
    with pytest.raises(TooWide, match="more than 50 paths"):
        rows_of(wide)
    assert explore(wide, method="compiled").states == explore(wide, method="explicit").states == 99


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
