"""No run of a check goes on behind an action of which no section tells what follows, however the run was made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from evenhand.conform.adapters import Unsupported
from evenhand.conform.checking.loop import CheckEffort, check_system
from evenhand.core.property import Reachable, TwoRun
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small


@dataclass(frozen=True)
class Press:
    """A button is pressed."""

    name: str


@dataclass(frozen=True)
class Lit:
    """How many lamps are lit."""

    lamps: int


def _menu(_config: Any, _state: int) -> Iterator[Press]:
    yield from (Press("up"), Press("odd"))


def _step(_rules: Any, _config: Any, state: int, action: Press) -> tuple[int, Lit]:
    lamps = min(2, state + (action.name == "up"))
    return lamps, Lit(lamps)


def _dark(_config: Any, state: int, action: Press) -> bool:
    """Nobody says what the odd button does in the dark."""
    return state == 0 and action.name == "odd"


LAMPS = replace(small("lamps", lambda _scope: iter(["a lamp"]), 0, _menu, _step, (Press, Lit)), unsaid=_dark)
EITHER = TwoRun(
    name="either_button_is_answered",
    sentence="Another button in place of one is answered too.",
    twins=lambda _config, _state, action: (replace(action, name="odd" if action.name == "up" else "up"),),
    config=lambda _w, config: config,
    state=lambda _w, _config, state: state,
    other=lambda w, _action: (w,),
    agree=lambda _w, _one, _other: True,
)


class Lamps:
    """A kernel that lights seven lamps where the odd button is pressed; `asked` are the buttons of its runs."""

    asked: ClassVar[list[list[str]]] = []

    def __init__(self, _initial: Any) -> None:
        self.lamps = 0
        self.asked.append([])

    def step(self, action: Any) -> Any:
        """Press a button."""
        self.asked[-1].append(action["name"])
        self.lamps = min(2, self.lamps + (action["name"] == "up"))
        return {"$": "Lit", "lamps": 7 if action["name"] == "odd" else self.lamps}


def test_no_run_goes_on_behind_what_is_unsaid() -> None:
    """Not an exhaustive walk, nor a random one, nor the smallest run of a finding, nor the second one of a pair."""
    Lamps.asked.clear()
    result = check_system("lamps", [LAMPS], (EITHER,), InProcess(Lamps), effort=CheckEffort(examples=20))
    (defect,) = result.defects
    assert [action.name for action in defect.divergence.scenario.actions] == ["up", "odd"]
    runs = [run for run in Lamps.asked if run]
    assert len(runs) > 20 and not [run for run in runs if run[0] == "odd"]


def test_without_what_a_kernel_cannot_take_no_run_goes_on_behind_what_is_unsaid() -> None:
    """Where no lamp can be lit, the odd button would always be pressed in the dark."""

    class Dim(Lamps):
        asked: ClassVar[list[list[str]]] = []

        def step(self, action: Any) -> Any:
            if action["name"] == "up":
                raise Unsupported("no lamp")
            return super().step(action)

    check_system("lamps", [LAMPS], (), InProcess(Dim), effort=CheckEffort(examples=20))
    assert Dim.asked and not [run for run in Dim.asked if run]


def test_a_goal_is_judged_on_the_graph_without_what_is_unsaid() -> None:
    """A kernel that tells its state is searched; an action that is never asked is no failure on the way."""

    class Honest:
        def __init__(self, _initial: Any) -> None:
            self.lamps = 0

        def step(self, action: Any) -> Any:
            self.lamps = min(2, self.lamps + (action["name"] == "up"))
            return {"$": "Lit", "lamps": self.lamps}

        def state(self) -> int:
            return self.lamps

    bright = Reachable(name="bright", sentence="Two lamps can be lit.", goal=lambda step: step.after == 2)
    result = check_system("lamps", [LAMPS], (bright,), InProcess(Honest), effort=CheckEffort(examples=20))
    assert not result.defects and result.judged == (bright.name,)
