"""How differing runs are grouped into causes in little time: which mutants are run, in what order, when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random
from typing import Any

import pytest

from evenhand.conform.checking import defects as grouping
from evenhand.conform.checking.claims import Judge
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.defects import Defects
from evenhand.conform.checking.divergence import Divergence, Examiner
from evenhand.conform.checking.lookalikes import Moves
from evenhand.conform.checking.ordering import Defect, broad
from evenhand.core.codec import encode
from evenhand.core.parts import part
from evenhand.core.registry import find
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import Scenario
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small

PAID, HELD, SENT, LOST = WORDS = ("PAID", "HELD", "SENT", "LOST")


@dataclass(frozen=True)
class Ask:
    """Somebody asks for something."""

    word: str
    amount: int


@dataclass(frozen=True)
class Entry:
    """What became of it."""

    word: str


@dataclass(frozen=True)
class Told:
    """The log of a step, its word, its amount, and a note."""

    entries: tuple[Entry, ...] = field(metadata=part("record"))
    word: str
    amount: int
    note: str = "plain"


@dataclass(frozen=True)
class Desk:
    """A desk, which remembers nothing."""


def ask(_rules: Any, _config: Any, desk: Desk, asked: Ask) -> tuple[Desk, Told]:
    """Everybody gets what was asked for."""
    return desk, Told((Entry(asked.word),), asked.word, asked.amount)


def _menu(_config: Any, _desk: Desk) -> Iterator[Ask]:
    yield from (Ask(word, amount) for amount in (1, 2) for word in WORDS)


DESK = small("desk", lambda _scope: iter([Desk()]), Desk(), _menu, ask, (Desk, Ask, Entry, Told))


class Clerk:
    """A desk with planted faults, by their names."""

    def __init__(self, *faults: str) -> None:
        self.faults = frozenset(faults)

    def step(self, action: Any) -> Any:
        """Take an action."""
        made: Any = encode(ask(None, None, Desk(), Ask(action["word"], action["amount"]))[1])
        if "no_log" in self.faults:
            made["entries"] = []
        if "late_log" in self.faults and action["word"] == HELD:
            made |= {"entries": []} if action["amount"] == 1 else {"entries": [], "word": LOST}
        if "lost_is_sent" in self.faults and action["word"] == LOST:
            made["word"] = SENT
        if "doubled" in self.faults and action["amount"] == 2:
            made["amount"] = 4
        if "odd_note" in self.faults and action == encode(Ask(HELD, 2)):
            made["note"] = "odd"
        return made


class Counted(InProcess):
    """A source that counts what it is asked."""

    asked = 0

    def ask(self, scenarios: Any) -> Any:
        """Answer."""
        self.asked += len(scenarios)
        return super().ask(scenarios)


def _seen(*faults: str) -> tuple[Defects, Counted]:
    """One run of each action, on a desk with these faults."""
    source = Counted(lambda _initial: Clerk(*faults))
    examiner = Examiner(Coder("desk", DESK), Judge(()))
    made = Defects(examiner.coder, examiner, source)
    for action in _menu(None, Desk()):
        trace = examiner.coder.trace(Scenario(Desk(), Desk(), (action,)))
        request = examiner.coder.request(trace)
        (response,) = source.ask([request])
        found = examiner.examine(trace, request, response, "machine")
        if found is not None:
            made.add(found)
    return made, source


@pytest.mark.parametrize(
    "faults",
    [
        ("no_log",), ("no_log", "lost_is_sent"), ("no_log", "odd_note"), ("lost_is_sent", "doubled"),
        ("no_log", "lost_is_sent", "odd_note"), ("lost_is_sent", "doubled", "odd_note"),
    ],
)  # fmt: skip
def test_each_planted_fault_is_one_finding(faults: tuple[str, ...]) -> None:
    """An entry that is missing in most runs is one fault, whatever it would say; what stands beside it is another."""
    made, _ = _seen(*faults)
    found = [one.divergence for one in made.distinct(8)]
    assert len(found) == len(faults), [sorted(one.kinds) for one in found]
    shown = frozenset[str]().union(*(one.kinds for one in found))
    places = {"no_log": "entries[]", "lost_is_sent": "word", "doubled": "amount", "odd_note": "note"}
    assert {kind.partition(": ")[0] for kind in shown} == {places[one] for one in faults}


def test_the_gravest_form_of_a_fault_is_shown() -> None:
    """An entry that is missing is a wrong record; where another word is told too, that is a wrong decision."""
    made, _ = _seen("late_log")
    (found,) = made.distinct(100)
    assert found.count == 2
    assert {kind.partition(": ")[0] for kind in found.divergence.kinds} == {"entries[]", "word"}


def test_runs_of_one_cause_support_it_together() -> None:
    """Two runs, each seen once, that one mutant explains are no form of what another explains."""
    made, _ = _seen()
    one = _differing("a: P / Q")
    made._made.append(replace(one, alike=frozenset({"known"})))  # pyright: ignore[reportPrivateUsage]
    made.like.alike = lambda divergence: frozenset({"other"})  # type: ignore[method-assign]
    assert [made._explained(one, made._made) for _ in range(2)] == [0, None]  # pyright: ignore[reportPrivateUsage]


class Upset(Clerk):
    """A clerk who notes HELD oddly once so many were sent away or paid wrongly; the desk does not tell of it."""

    def __init__(self, patience: int) -> None:
        super().__init__("lost_is_sent", "doubled")
        self.patience = patience

    def step(self, action: Any) -> Any:
        """Take an action."""
        made = super().step(action)
        made["note"] = "odd" if self.patience <= 0 and action["word"] == HELD else "plain"
        self.patience -= action["word"] == LOST or action["amount"] == 2
        return made

    def facts(self) -> Any:
        """Nothing."""
        return {}


@pytest.mark.parametrize(("patience", "number"), [(1, 3), (2, 2)])
def test_what_shows_behind_several_differences_alone_is_no_finding(patience: int, number: int) -> None:
    """Behind either one it is told, as it shows often; behind two it may be a consequence of what was not told."""
    source = InProcess(lambda _initial: Upset(patience))
    examiner = Examiner(Coder("desk", DESK), Judge(()))
    made = Defects(examiner.coder, examiner, source)
    for first in (Ask(LOST, 1), Ask(PAID, 2)) * 3:
        run = [*[first] * patience, *(Ask(word, 1) for word in (PAID, HELD, SENT))]
        trace = examiner.coder.trace(Scenario(Desk(), Desk(), tuple(run)))
        request = examiner.coder.request(trace)
        (response,) = source.ask([request])
        found = examiner.examine(trace, request, response, "machine")
        assert found is not None
        made.add(found)
        made.follow(found, len(run), list(examiner.later(trace, request, response, "machine")))
    kinds = [sorted(one.divergence.kinds) for one in made.distinct(6)]
    assert len(kinds) == number, kinds


def _differing(*kinds: str) -> Defect:
    run = Scenario(Desk(), Desk(), (Ask(PAID, 1),))
    return Defect(Divergence(run, "machine", "differs", frozenset(kinds), "", (None,), (None,)), 1)


@pytest.mark.parametrize(
    ("sides", "number"),
    [
        (("LATE / null", "POOR / null", "LOST / null", "HELD / null"), 4),
        (('LATE / ""', 'POOR / ""', 'LOST / ""', 'HELD / ""'), 1),
        (("null / LATE", "null / POOR", "null / LOST", "null / HELD"), 1),
        (("LATE / POOR", "POOR / LOST", "LOST / HELD", "HELD / LATE"), 1),
        (("null / LATE", "null / POOR", "null / LOST", "null / HELD", "LATE / null", "POOR / HELD"), 3),
    ],
)
def test_each_overlooked_reason_is_one_of_its_own(sides: tuple[str, ...], number: int) -> None:
    """While a field in which the kernel tells one reason or another, where none or another is due, is one."""
    assert len([*broad(_differing(f"why: {one}") for one in sides)]) == number


def test_what_stands_beside_a_field_that_is_wrong_in_many_ways_stays_apart() -> None:
    """An end that is told otherwise in every run hides no decision, and few ways of two fields are not many of one."""
    many = [(f"end: {word} / PAID", other) for word in "ABCD" for other in ("word: A / B", "word: A / C")]
    few = [(left, right) for left in ("a: A / B", "a: A / C") for right in ("b: A / B", "b: A / C")]
    for forms, number in ((many, 2), (few, 4)):
        told = [*broad(_differing(*form) for form in forms)]
        assert len(told) == number and sum(one.count for one in told) == len(forms)


def test_when_the_time_is_over_nothing_is_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is grouped by its words, and no kernel is asked."""
    made, source = _seen("no_log", "lost_is_sent")

    def shrinks(*_given: Any, **_named: Any) -> None:
        pytest.fail("it shrinks")

    monkeypatch.setattr(grouping, "shrink", shrinks)
    made.left = lambda: -1.0
    assert made.distinct(8) and made.hurried and source.asked == 8


def test_one_of_each_sort_of_place_comes_before_the_second_of_any() -> None:
    """The order in which divergences are reduced: if the time ends, what is left differs where others do."""
    made, _ = _seen()
    for kinds in ({"a: P / Q"}, {"a: P / R"}, {"a: P / S"}, {"b: P / Q"}, {"b: P / R", "c: P / Q"}):
        run = Scenario(Desk(), Desk(), (Ask(PAID, 1),))
        made.add(Divergence(run, "machine", "differs", frozenset(kinds), "", (None,), (None,)))
    order = [sorted(one.divergence.kinds) for one in made._ordered()]  # pyright: ignore[reportPrivateUsage]
    assert order == [["a: P / Q"], ["b: P / Q"], ["b: P / R", "c: P / Q"], ["a: P / R"], ["a: P / S"]]


def _steps(system: AnySystem, runs: int, length: int) -> list[AnyStep]:
    random, made = Random(1), list[AnyStep]()
    configs = list(islice(system.all_configs(), 40))
    for _ in range(runs):
        config = random.choice(configs)
        state = next(iter(system.initial(config)))
        for _ in range(length):
            menu = list(islice(system.enabled(config, state), 60))
            if not menu:
                break
            made.append(system.take(config, state, random.choice(menu)))
            state = made[-1].after
    return made


@pytest.mark.parametrize(
    ("protocol", "name"),
    [("apcm", "run"), ("conviction", "issue"), ("cud", "run"), ("markspace", "deferred"), ("sovereign", "agent"),
     ("sovereign", "session")],
)  # fmt: skip
def test_what_mutants_do_otherwise_is_seen_without_running_most(
    protocol: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant whose rules answer the calls of a step alike takes the same step, also where the model keeps answers."""
    model = find(protocol).model
    system = model.systems[name]
    moves = Moves(system, model.mutants)
    run, honest = list[str](), moves.step

    def counted(mutant: str, step: Any, state: Any) -> Any:
        run.append(mutant)
        return honest(mutant, step, state)

    monkeypatch.setattr(moves, "step", counted)
    mutants = [one for one in model.mutants if type(one.rules) is type(system.rules)]
    steps = _steps(system, runs=4, length=5)
    for step in steps:
        taken = {one.name: honest(one.name, step, step.before) for one in mutants}
        expected = {
            name for name, one in taken.items() if one is None or (one.shown, one.after) != (step.shown, step.after)
        }
        assert set(moves.other(step)) == expected
        assert expected <= set(run)
    assert 0 < len(run) < len(mutants) * len(steps) / 2
