"""What a kernel cannot take: one value in many refused actions is the reason, and others with it are not tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse
from evenhand.conform.checking.loop import EXHAUSTIVE, CheckEffort, SystemChecked, check_system
from evenhand.conform.checking.refusing import ENOUGH, SOON, SPARED, SURE, Refusals, Slowness
from evenhand.core.kernel import Unsupported
from evenhand.core.system import Scope
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small
from tests.front.conform.test_altering import Bank, Kernel, Paid, Pay, Said, step

HERE = "house"
THINGS = tuple((f"thing {number}",) for number in range(60))


def _menu(_bank: Bank, _paid: Paid) -> Iterator[Pay]:
    yield from (Pay(name, amount, things) for name, amount, things in product(("ann", "bob"), (7, -7), THINGS))


SHOP = small(
    "shop", lambda _scope: iter([Bank(("ann", "bob"))]), Paid(), _menu, step, (Bank, Pay, Paid, Said), scope=Scope()
)


class Proud(Kernel):
    """A bank that takes no debt, whoever owes it for what, and loses the last things on its list."""

    def __init__(self, initial: Any, debts: list[int]) -> None:
        super().__init__(["loses things"], initial)
        self.debts = debts

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        if action["amount"] < 0:
            self.debts.append(action["amount"])
            raise Unsupported("a debt")
        told = super().step(action)
        return {**told, "things": 0} if "loses things" in self.faults and action["things"] == ["thing 59"] else told


def checked(debts: list[int]) -> SystemChecked:
    """Check the proud bank, and keep the debts that it is asked to take."""
    effort = CheckEffort(transitions=240, phases=(EXHAUSTIVE,))
    return check_system(HERE, [SHOP], (), InProcess(lambda initial: Proud(initial, debts)), effort=effort)


def test_a_value_that_the_kernel_never_takes_costs_few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of all actions are debts: without the rule each costs a run.  What is left still finds the fault."""
    few, many = list[int](), list[int]()
    result = checked(few)
    assert result.defects and not result.covered[0]["complete"]
    monkeypatch.setattr("evenhand.conform.checking.refusing.ENOUGH", 1_000)
    assert checked(many).defects
    assert len(few) < len(many) / 2


def _refused(known: Refusals, amount: int, count: int, start: int = 0) -> None:
    for things in THINGS[start : start + count]:
        known.refuse(HERE, Pay("ann", amount, things))


def test_what_the_kernel_took_is_no_reason() -> None:
    """The name stands in as many refused actions as the amount, but was taken once; so was one thing."""
    known = Refusals()
    known.take(HERE, [Pay("ann", 7, THINGS[0])])
    _refused(known, -7, ENOUGH)
    assert [value for _, _, value in known.reasons] == [-7]
    left_out = [(HERE, Pay("ann", -7, things)) in known for things in THINGS[ENOUGH:]]
    assert left_out.count(False) == len(left_out) // SPARED
    assert (HERE, Pay("bob", 7, THINGS[1])) not in known
    assert [(HERE, Pay("ann", -7, things)) in known for things in THINGS[ENOUGH:]] == left_out, "asked again, the same"


def test_a_reason_that_turns_out_to_be_none_is_dropped() -> None:
    """One in `SPARED` is tried nevertheless; when the kernel takes it, all others are tried again."""
    known = Refusals()
    known.take(HERE, [Pay("ann", 7, THINGS[0])])
    _refused(known, -7, ENOUGH)
    known.take("elsewhere", [Pay("bob", -7, THINGS[1])])
    assert not known.reasons
    assert (HERE, Pay("ann", -7, THINGS[-1])) not in known
    assert (HERE, Pay("ann", -7, THINGS[0])) in known, "this very one was refused"


def test_of_two_values_that_stand_together_neither_is_taken_for_the_reason_at_once() -> None:
    """More refusals are awaited, among which one of them may be missing."""
    known = Refusals()
    _refused(known, -7, ENOUGH)
    assert not known.reasons
    for things in THINGS[: SURE - ENOUGH]:
        known.refuse(HERE, Pay("bob", -7, things))
    assert [value for _, _, value in known.reasons if value == "ann"] == []
    assert known.reasons


def test_a_second_reason_is_found_beside_the_first() -> None:
    """What the first explains does not count for the second."""
    known = Refusals()
    known.take(HERE, [Pay("ann", 7, THINGS[0])])
    _refused(known, -7, ENOUGH)
    _refused(known, -9, ENOUGH - 1, start=20)
    assert [value for _, _, value in known.reasons] == [-7]
    _refused(known, -9, 1, start=40)
    assert [value for _, _, value in known.reasons] == [-7, -9]


class Tired(Proud):
    """A bank that thinks long about each debt, and then forgets what it was for."""

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        told = Kernel.step(self, action)
        if action["amount"] < 0:
            self.debts.append(action["amount"])
            return {**told, "things": 7}
        return told


class Waiting(InProcess):
    """A source that takes every answer about a debt for a slow one, without waiting."""

    def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        """Answer, and say which step was slow."""
        for asked, response in zip(scenarios, super().ask(scenarios), strict=False):
            debts = [place for place, action in enumerate(asked.actions, start=1) if b"-7" in action]
            yield replace(response, slow=debts[0] if debts else 0)


def test_what_is_slow_and_wrong_is_rarely_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the kernel should have shown tells which actions are slow, whoever does them to what."""
    few, many = list[int](), list[int]()
    effort = CheckEffort(transitions=240, phases=(EXHAUSTIVE,))
    result = check_system(HERE, [SHOP], (), Waiting(lambda initial: Tired(initial, few)), effort=effort)
    assert result.defects
    monkeypatch.setattr("evenhand.conform.checking.refusing.SOON", 10_000)
    monkeypatch.setattr("evenhand.conform.checking.phase.SLOW", 1)
    check_system(HERE, [SHOP], (), Waiting(lambda initial: Tired(initial, many)), effort=effort)
    assert len(few) < len(many) / 2


def _said(number: int, debt: int) -> Said:
    return Said("", total=number, count=1, things=debt)


def test_a_value_in_what_was_due_tells_slow_answers_if_most_with_it_are_slow() -> None:
    """One quick answer with it takes nothing back, as many do; one in `SPARED` is asked for all the same."""
    known = Slowness()
    for number, debt in ((0, 1), (50, 2), (51, 3)):
        known.answered(_said(number, debt))
    told = [known.waited(_said(number, 1)) for number in range(1, SOON + 1)]
    assert told == [False] * (SOON - 1) + [True]
    left = [_said(number, 1) in known for number in range(100, 100 + 2 * SPARED)]
    assert left.count(False) == 2
    assert _said(0, 1) not in known, "this one was answered at once"
    assert _said(100, 2) not in known
    for number in range(10, 10 + SOON):
        known.answered(_said(number, 1))
    assert _said(200, 1) not in known
