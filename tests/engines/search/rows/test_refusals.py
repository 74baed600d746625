"""Models that cannot be compiled, or that break their contract, are refused with file and line, or caught."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from evenhand.core.property import Always, Monitor, Reachable
from evenhand.core.system import OneOf, Scope, System
from evenhand.core.verdict import Status
from evenhand.model.cud.free_system import FREE
from evenhand.search import ModelError, explore
from evenhand.search.rows import compiler, table, watch


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
    (prints, "must not use 'print'"),
]


IMPURE = [(by_id, r"uses `id\(\)`"), (draws_lots, "uses `random.random`"), (reads_the_clock, "uses `time.time`")]


@pytest.mark.parametrize(("step", "says"), IMPURE, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_no_function_is_refused_by_every_method(step: Any, says: str) -> None:
    """The search refuses it after reading its code."""
    for method in (None, "explicit", "compiled"):
        with pytest.raises(ModelError, match=says):
            explore(lamp(step), method=method)


@pytest.mark.parametrize(("step", "says"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_what_rows_cannot_follow(step: Any, says: str) -> None:
    """If compiled search was requested, the refusal names the place; otherwise the search falls back."""
    with pytest.raises(ValueError, match=rf"test_refusals\.py:\d+ .*{says}"):
        explore(lamp(step), method="compiled")
    if step in (by_identity, by_computed_identity, by_type, swallows):
        found = explore(lamp(step))
        assert (
            found.method == "explicit"
            and "not compiled search" in found.why_method
            and "test_refusals.py:" in found.why_method
        )
        assert found.states == explore(lamp(step), method="explicit").states


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (leaves_its_domain, r"state\.pressed is 3, which its declared domain \(0, 1, 2\) lacks"),
        (unhashable, r"state\.on is \[\], which its declared domain"),
        (mutates, "changes the state it is given"),
    ],
)
def test_models_that_break_their_contract(step: Any, says: str) -> None:
    """Each is named, with the file and line of the step."""
    with pytest.raises(ModelError, match=rf"(?s)test_refusals\.py:\d+.*{says}|{says}.*test_refusals\.py:\d+"):
        explore(lamp(step))


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
        with pytest.raises(ValueError, match=r"test_refusals\.py:\d+") as said:
            explore(lamp(honest, domain), method="compiled")
        assert says in str(said.value)


def test_a_domain_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would have too many paths."""
    monkeypatch.setattr(compiler, "RUNS", 50)
    wide = lamp(lambda _r, _c, s, _a: (Lamp(s.on, (s.pressed + 1) % 99), ""), Lamp(False, OneOf(tuple(range(99)))))
    assert explore(wide).method == "explicit"
    with pytest.raises(ValueError, match="more than 50 paths"):
        explore(wide, method="compiled")


def test_claims_that_rows_cannot_answer() -> None:
    """The reason names the claim."""
    history = Monitor(
        name="lit", sentence="", start=lambda _c: False, update=lambda was, s: was or s.after.on, ok=lambda _c, _v: True
    )
    found = explore(lamp(honest), [history])
    assert found.method == "explicit" and "'lit'" in found.why_method
    assert explore(lamp(honest), [Always(name="any", sentence="", check=lambda _c, _s: True)]).method == "compiled"


def test_the_comparison_catches_what_the_watch_would_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the watch, each unsound model gives a wrong transition table, and the comparison reports it."""
    monkeypatch.setattr(watch.Watch, "_complain", lambda _self, _what: None)
    for step in (by_identity, by_type):
        with pytest.raises(ModelError, match="rows and `step`"):
            explore(lamp(step), method="compiled")


def test_without_watch_and_comparison_they_go_unnoticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without both checks the graph is wrong, so the tests above are effective."""
    monkeypatch.setattr(watch.Watch, "_complain", lambda _self, _what: None)
    monkeypatch.setattr("evenhand.search.rows.method.compare", lambda _walk: None)
    goes_off = Reachable(name="goes_off", sentence="", goal=lambda step: bool(step.shown == "off"))
    wrong, right = (explore(lamp(by_identity), [goes_off], method=method) for method in ("compiled", "explicit"))
    assert (wrong.verdicts[0].status, right.verdicts[0].status) == (Status.REFUTED, Status.HOLDS)


def _doubled(first: int, weight: int, ways: Any) -> table.Unit:
    return table.Unit(first, weight + 1, ways)


def test_a_planted_fault_in_the_rows_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that drops a bit, and one that counts an action twice."""
    bits = table._bits  # pyright: ignore[reportPrivateUsage]

    def forgets(shape: Any, numbers: Any) -> Any:
        keep, value = bits(shape, numbers)
        return keep, [word & ~1 for word in value]

    with monkeypatch.context() as patch, pytest.raises(ModelError, match="rows and `step`"):
        patch.setattr(table, "_bits", forgets)
        explore(lamp(honest), method="compiled")
    with monkeypatch.context() as patch, pytest.raises(ModelError, match="rows for another number"):
        patch.setattr(compiler, "Unit", _doubled)
        explore(lamp(honest), method="compiled")
    assert explore(lamp(honest), method="compiled").states == explore(lamp(honest), method="explicit").states == 6


def test_the_menu_must_be_what_is_on_offer() -> None:
    """A `menu` or `allows` that leaves an action out is caught by counting."""
    forgetful = replace(lamp(honest), menu=lambda _c, _s: ("press",), allows=lambda _c, _s, _a: True)
    with pytest.raises(ModelError, match="offers 2 actions, its rows stand for 1"):
        explore(forgetful)
    assert explore(lamp(honest).at(), method="compiled").transitions == 12
    assert Scope() == lamp(honest).scope


def test_who_listens_to_the_collector_is_not_the_model() -> None:
    """A listener that reads the clock, called at every chance: the search still compiles."""
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
