"""Random walks: larger scopes, habits that equal chances do not have, and what a kernel refuses in one place alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby, islice
from math import inf
from typing import Any

import pytest

from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse
from evenhand.conform.checking.claims import Judge
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.defects import Defects
from evenhand.conform.checking.divergence import Divergence, Examiner
from evenhand.conform.checking.loop import MACHINE, CheckEffort, check_system
from evenhand.conform.checking.phase import Phase
from evenhand.conform.checking.spelling import numberless
from evenhand.conform.checking.wandering import larger, wandering
from evenhand.core.bundle import Bundle
from evenhand.core.codec import encode
from evenhand.core.kernel import Unsupported
from evenhand.core.registry import find
from evenhand.core.system import Scope
from evenhand.core.trace import Scenario
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small


@dataclass(frozen=True)
class Hall:
    """How many may ring."""

    ringers: int


@dataclass(frozen=True)
class Ring:
    """One rings, or a second passes (0)."""

    who: int


@dataclass(frozen=True)
class Bells:
    """How often in a row the last one rang."""

    last: int = 0
    times: int = 0


@dataclass(frozen=True)
class Heard:
    """Which bell, how often in a row."""

    last: int
    times: int


def step(_rules: Any, _hall: Hall, bells: Bells, ring: Ring) -> tuple[Bells, Heard]:
    """Count a bell that rings again, else begin anew."""
    after = Bells(ring.who, bells.times + 1 if ring.who == bells.last else 1)
    return after, Heard(after.last, after.times)


def _halls(scope: Scope) -> Iterator[Hall]:
    if scope["ringers"] > 5:
        raise ValueError("there are five bells")
    yield Hall(scope["ringers"])


def _menu(hall: Hall, _bells: Bells) -> Iterator[Ring]:
    yield from (Ring(who) for who in range(hall.ringers + 1))


BELLS = small("bells", _halls, Bells(), _menu, step, (Hall, Ring, Bells, Heard), scope=Scope(ringers=2))


class Kernel:
    """A hall that hears the third bell as the second."""

    def __init__(self, initial: Any) -> None:
        self.hall, self.bells = Hall(initial["config"]["ringers"]), Bells()

    def step(self, action: Any) -> Any:
        """Ring."""
        self.bells, heard = step(None, self.hall, self.bells, Ring(action["who"]))
        return encode(replace(heard, last=min(heard.last, 2)))


def test_walks_meet_a_fault_that_only_a_larger_scope_shows() -> None:
    """No kernel is judged by two agents alone, and each finding is shrunk to one step."""

    def checked(wider: Sequence[Any]) -> Any:
        effort = CheckEffort(examples=8, phases=(MACHINE,))
        return check_system("house", (BELLS,), (), InProcess(Kernel), effort=effort, wider=wider)

    assert not checked(()).defects
    (defect,) = checked((BELLS, BELLS.at(ringers=3))).defects
    assert defect.divergence.length == 1


def test_walks_are_on_offer_and_the_same_each_time() -> None:
    """So an honest kernel knows every answer."""
    walks = list(islice(wandering((BELLS,), (), seed=3), 40))
    assert walks == list(islice(wandering((BELLS,), (), seed=3), 40))
    assert walks != list(islice(wandering((BELLS,), (), seed=4), 40))
    assert all(BELLS.is_enabled(step.config, step.before, step.action) for walk in walks for step in walk.steps)


def test_walks_repeat_what_they_did() -> None:
    """With six bells and equal chances, six times the same in a row is one chance in 7,776."""
    walks = islice(wandering((BELLS.at(ringers=5),), (), seed=0), 60)
    rows = [len(list(row)) for walk in walks for _, row in groupby(walk.scenario.actions)]
    assert max(rows) >= 6


class Move(Enum):
    """What one does at a door: the first loses all that was reached."""

    WAIT = 0
    KNOCK = 1
    OPEN = 2
    ENTER = 3
    CLOSE = 4
    SIT = 5


@dataclass(frozen=True)
class Do:
    """Somebody does something."""

    move: Move


def test_half_of_the_walks_do_what_is_seldom_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five moves in a row, each of a kind of its own, with one on offer that spoils them."""

    def done(_rules: Any, _config: Any, place: int, do: Do) -> tuple[int, int]:
        return do.move.value, do.move.value

    def menu(_config: Any, place: int) -> Iterator[Do]:
        yield Do(Move.WAIT)
        yield from (Do(one) for one in Move if one.value == place + 1)

    door = small("door", lambda _scope: iter(["door"]), 0, menu, done, (Do, Move))

    def sat() -> int:
        walks = islice(wandering((door,), (), seed=0), 100)
        return sum(any(step.after == Move.SIT.value for step in walk.steps) for walk in walks)

    often = sat()
    monkeypatch.setattr("evenhand.conform.checking.wandering.CURIOUS", 0.0)
    assert often > 1.5 * sat() > 0


def test_behind_half_of_the_walks_nobody_acts_until_all_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends after forty ticks ends in such walks alone, since none else is as long."""

    def ticking(_rules: Any, _hall: Hall, place: int, ring: Ring) -> tuple[int, Heard]:
        return place + (ring.who == 0), Heard(ring.who, place)

    def menu(hall: Hall, place: int) -> Iterator[Ring]:
        yield from (Ring(who) for who in range(hall.ringers + 1)) if place < 40 else ()

    def actor(ring: Ring) -> str:
        return f"ringer {ring.who}" if ring.who else ""

    clock = replace(small("clock", _halls, 0, menu, ticking, (Hall, Ring, Heard), scope=Scope(ringers=4)), actor=actor)

    def over() -> int:
        monkeypatch.setattr("evenhand.conform.checking.wandering.CURIOUS", 0.0)
        return sum(walk.steps[-1].after == 40 for walk in islice(wandering((clock,), (), seed=0), 100))

    often = over()
    monkeypatch.setattr("evenhand.conform.checking.wandering.CLOSED", 0.0)
    assert often > 5 and not over()


def test_agents_of_a_joint_action_want_the_same() -> None:
    """Three agents write one key in one epoch, and in others one of them rests."""
    system = find("cud").model.systems["free"].at(agents=3)
    joint = system.joint
    assert joint is not None
    chosen = [
        [choice for _, choice in joint.split(action)]
        for walk in islice(wandering((system,), (), seed=0), 60)
        for action in walk.scenario.actions
    ]
    wanted = [[one.request.declared_scope if one.request else () for one in some] for some in chosen]
    assert sum(len(some) == 3 and len(set(some)) == 1 and some[0] != () for some in wanted) > 20
    assert sum(some.count(()) == 1 for some in wanted) > 20


def test_of_a_long_menu_walks_take_from_everywhere() -> None:
    """The last of 3,000 actions have something that the first ones lack."""

    def menu(_hall: Hall, _bells: Bells) -> Iterator[Ring]:
        yield from map(Ring, range(3_000))

    tower = small("tower", _halls, Bells(), menu, step, (Hall, Ring, Bells, Heard), scope=Scope(ringers=2))
    rung = [action.who for walk in islice(wandering((tower,), (), seed=0), 30) for action in walk.scenario.actions]
    assert sum(who > 2_000 for who in rung) > len(rung) / 5


def test_values_that_differ_in_whole_numbers_alone_are_equal_without_them() -> None:
    """Also deep inside; a truth value, a text or another class is no number."""
    deep = (Ring(1), (Bells(), (2, Hall(3))))
    assert numberless(deep) == numberless((Ring(4), (Bells(), (5, Hall(6)))))
    for other in ((Hall(1), deep[1]), (Ring(1), (Bells(), (True, Hall(3)))), (Ring(1), (Bells(), ("2", Hall(3))))):
        assert numberless(deep) != numberless(other)


def test_larger_scopes_are_the_planned_ones_and_each_size_that_the_model_takes() -> None:
    """One more, and some more if that multiplies neither configurations nor actions; a model may refuse a size."""
    cud: Bundle = find("cud")
    bare = replace(cud, plans=())
    assert [one.scope["ringers"] for one in larger(bare, BELLS)] == [2, 3]
    assert [one.scope["ringers"] for one in larger(bare, BELLS.at(ringers=5))] == [5]
    free = cud.model.systems["free"]
    assert (4, 3) in {(one.scope["agents"], one.scope["keys"]) for one in larger(cud, free)}
    assert (4, 3) not in {(one.scope["agents"], one.scope["keys"]) for one in larger(bare, free)}
    run = cud.model.systems["run"]
    assert {one.scope["epochs"] for one in larger(cud, run)} == {2, 3, 8}
    apcm: Bundle = find("apcm")
    artefacts = larger(apcm, apcm.model.systems["run"])  # two to the power of 28 sets of pairs of eight preferences
    assert {one.scope["preferences"] for one in artefacts} == {2, 3}


class Listening(InProcess):
    """A source that keeps what it was asked."""

    def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        """Keep the actions."""
        self.asked = [*getattr(self, "asked", []), *(one.actions for one in scenarios)]
        return super().ask(scenarios)


class Tired(Kernel):
    """A hall in which no bell is rung three times in a row."""

    def step(self, action: Any) -> Any:
        """Ring, if not tired."""
        if (self.bells.last, self.bells.times) == (action["who"], 2):
            raise Unsupported("not again")
        return super().step(action)


def test_what_a_kernel_refuses_in_one_place_is_left_out_there_alone() -> None:
    """The kernel took the action before, so it is asked again where it comes later."""
    source, coder = Listening(Tired), Coder("house", BELLS)
    examiner = Examiner(coder, Judge(()))
    phase = Phase(coder, examiner, Defects(coder, examiner, source), source, lambda: inf)
    actions = tuple(map(Ring, (1, 1, 1, 2, 1)))
    phase.run(MACHINE, [coder.trace(Scenario(Hall(2), Bells(), actions))])
    asked = [[b'"who":1' in action for action in run] for run in source.asked]
    assert asked == [[True, True, True, False, True], [True, True, False, True]]
    assert phase.left_out["Ring"].count == 1


def test_runs_to_alter_are_the_first_ones_and_the_last() -> None:
    """Stored runs come first, and take actions that walks seldom take; the last ones are of the largest scopes."""
    source, coder = Listening(Kernel), Coder("house", BELLS)
    examiner = Examiner(coder, Judge(()))
    phase = Phase(coder, examiner, Defects(coder, examiner, source), source, lambda: inf)
    runs = [coder.trace(Scenario(Hall(2), Bells(), (Ring(1),) * times)) for times in range(1, 7)]
    phase.agreed, phase.fine = runs, runs[:3]
    assert phase.sound(4) == [*runs[:2], *runs[-2:], *runs[:3]]
    assert phase.sound(6) == [*runs, *runs[:3]]


@pytest.mark.parametrize(("runs", "more"), [(40, 1), (41, 0)])
def test_runs_that_show_what_a_quarter_of_all_shows_are_altered_too(runs: int, more: int) -> None:
    """Whatever should be shown there: the two kinds are one on the side of the kernel."""
    source, coder = Listening(Kernel), Coder("house", BELLS)
    examiner = Examiner(coder, Judge(()))
    phase = Phase(coder, examiner, defects := Defects(coder, examiner, source), source, lambda: inf)
    run = coder.trace(Scenario(Hall(2), Bells(), (Ring(1),)))
    kinds = [frozenset({f"name: {due} / DENIED"}) for due in ("CONFLICT", "BLOCKED")]
    for one in kinds * 5:
        defects.add(Divergence(run.scenario, MACHINE, "differs", one, "", (), ()))
    phase.marred, phase.runs[MACHINE] = [(run, kinds[0])], runs
    assert phase.bases(9) == [run] * more
