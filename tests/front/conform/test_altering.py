"""Altered runs: what no menu offers, a kernel meets nevertheless."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest

from evenhand.conform.checking.altering import Altering
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.loop import ALTERED, EXHAUSTIVE, CheckEffort, SystemChecked, check_system
from evenhand.core.atoms import Atom
from evenhand.core.codec import encode
from evenhand.core.system import Scope
from evenhand.core.trace import Scenario
from tests.deep import rest_slow
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small


@dataclass(frozen=True)
class Bank:
    """Who has an account, and how much may be paid at once and how often."""

    names: tuple[str, ...]
    most: int = 20
    often: int = 3


@dataclass(frozen=True)
class Pay:
    """Somebody pays something for a list of things."""

    name: str
    amount: int
    things: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paid:
    """What was paid so far, by how many payments."""

    total: int = 0
    count: int = 0


@dataclass(frozen=True)
class Said:
    """The answer: why it was refused, and what was paid so far, how often, for how many things in this payment."""

    why: str
    total: int
    count: int
    things: int


def step(_rules: Any, bank: Bank, paid: Paid, pay: Pay) -> tuple[Paid, Said]:
    """A payment by a customer, within both limits."""
    why = "stranger" if pay.name not in bank.names else "too little" if pay.amount <= 0 else ""
    why = why or ("too much" if pay.amount > bank.most else "too often" if paid.count >= bank.often else "")
    after = paid if why else Paid(paid.total + pay.amount, paid.count + 1)
    return after, Said(why, after.total, after.count, len(pay.things))


def _menu(bank: Bank, _paid: Paid) -> Iterator[Pay]:
    yield from (Pay(name, 2, ("tea",)) for name in bank.names)


BANK = small(
    "bank",
    lambda _scope: iter([Bank(("ann", "bob"))]),
    Paid(),
    _menu,
    step,
    (Bank, Pay, Paid, Said),
    scope=Scope(depth=2),
)


class Kernel:
    """A bank with faults."""

    def __init__(self, faults: Collection[str], initial: Any) -> None:
        config = initial["config"]
        self.faults, self.paid = faults, Paid()
        self.bank = Bank(tuple(config["names"]), config["most"], config["often"])
        if "pastes names" in faults and any("'" in name for name in self.bank.names):
            raise RuntimeError("syntax error")

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        pay, bank = Pay(action["name"], action["amount"], tuple(action["things"])), self.bank
        if "inherits names" in self.faults and pay.name in ("constructor", "__proto__", "toString"):
            pay = replace(pay, name=bank.names[0])
        if "ignores letters" in self.faults and pay.name.lower() in bank.names:
            pay = replace(pay, name=pay.name.lower())
        if "takes one more" in self.faults and pay.amount == bank.most + 1:
            bank = replace(bank, most=bank.most + 1)
        if "takes debts" in self.faults and pay.amount < 0:
            pay = replace(pay, amount=-pay.amount)
        if "forgets things" in self.faults and len(set(pay.things)) < len(pay.things):
            pay = replace(pay, things=tuple(set(pay.things)))
        if "wants things" in self.faults:
            pay.things[0]
        self.paid, said = step(None, bank, self.paid, pay)
        return encode(said)


ALONE = (
    "inherits names", "ignores letters", "takes one more", "takes debts", "forgets things", "wants things",
    "pastes names",
)  # fmt: skip
STACKED = (
    ("inherits names", "takes debts"),
    ("ignores letters", "takes one more", "forgets things"),
    ("takes debts", "takes one more", "wants things"),
    ("inherits names", "forgets things", "pastes names"),
)


def checked(faults: Collection[str], *phases: str, examples: int = 60, hostile: bool = True) -> SystemChecked:
    """Check the kernel, exhaustively in one step, with these phases."""
    effort = CheckEffort(transitions=2, examples=examples, phases=(EXHAUSTIVE, *phases), hostile=hostile)
    return check_system("house", [BANK], (), InProcess(lambda initial: Kernel(faults, initial)), effort=effort)


def told(result: SystemChecked, faults: Collection[str]) -> set[str]:
    """Return the faults that show, alone, in the run of some finding."""
    runs = [one.divergence.scenario for one in result.defects]
    return {fault for fault in faults if any(_shown({fault}, run) != _shown((), run) for run in runs)}


def _shown(faults: Collection[str], run: Scenario[Bank, Paid, Pay]) -> Any:
    try:
        kernel = Kernel(faults, {"config": encode(run.config)})
        return [kernel.step(encode(action)) for action in run.actions]
    except Exception as error:
        return str(error)


@pytest.mark.parametrize("fault", rest_slow(ALONE))
def test_altered_runs_find_what_the_menu_does_not_offer(fault: str) -> None:
    """Each fault is found by altered runs, in one finding of one to four steps, and not without them."""
    assert not checked({fault}).defects
    (defect,) = checked({fault}, ALTERED).defects
    assert defect.divergence.length <= 4


@pytest.mark.parametrize("faults", rest_slow(map(pytest.param, STACKED)), ids=", ".join)
def test_each_of_several_faults_is_told_once(faults: tuple[str, ...]) -> None:
    """k faults that hide one another give k findings, and every sighting is explained."""
    result = checked(faults, ALTERED)
    assert told(result, faults) == set(faults)
    assert len(result.defects) == len(faults)
    assert result.explained == result.divergences


@pytest.mark.slow
def test_more_time_loses_no_finding() -> None:
    """What a short check tells, a longer one tells too; the longest tells all."""
    faults = ("ignores letters", "takes one more", "forgets things")
    found = [told(checked(faults, ALTERED, examples=number), faults) for number in (1, 4, 16, 64)]
    assert all(less <= more for less, more in pairwise(found))
    assert found[0] < found[-1] == set(faults)


def test_an_honest_kernel_is_silent() -> None:
    """All altered runs agree; there are as many as asked for, and those with strangers."""
    result = checked((), ALTERED)
    assert not result.defects
    assert result.runs[ALTERED] > 960


@pytest.mark.slow
def test_without_hostile_values_every_action_is_on_offer() -> None:
    """Then actions are repeated and moved alone, and what takes a strange value is not found."""
    coder = Coder("house", BANK)
    base = coder.trace(Scenario(Bank(("ann", "bob")), Paid(), (Pay("ann", 2), Pay("bob", 2, ("tea",)))))
    runs = [run.scenario for run in Altering(coder, [base], 0, hostile=False).runs(50)]
    same = [run for run in runs if run.config == base.scenario.config]
    assert same and {replace(one, things=()) for run in same for one in run.actions} <= {Pay("ann", 2), Pay("bob", 2)}
    assert not checked({"takes debts"}, ALTERED, hostile=False).defects


@pytest.mark.slow
def test_names_without_a_meaning_are_exchanged_without_hostile_values() -> None:
    """A customer may have any plain name: a kernel that takes one for something else is found."""
    assert checked({"pastes names"}, ALTERED, hostile=False).defects
    assert not checked((), ALTERED, hostile=False).defects


def test_without_hostile_values_nothing_is_asked_that_is_not_on_offer_there() -> None:
    """An action that is not on offer any more is left out, or exchanged for one that differs in a number alone."""

    def menu(bank: Bank, _scope: Scope, paid: Paid) -> Iterator[Pay]:
        yield from (Pay(name, paid.count + 1) for name in bank.names if paid.count < bank.often)

    bank = replace(BANK, actions=menu)
    coder = Coder("house", bank)
    base = coder.trace(Scenario(Bank(("ann", "bob")), Paid(), (Pay("ann", 1), Pay("bob", 2), Pay("ann", 3))))

    def asked(*, hostile: bool) -> list[bool]:
        runs = list(Altering(coder, [base], 0, hostile=hostile).runs(30))
        return [bank.is_enabled(step.config, step.before, step.action) for run in runs for step in run.steps]

    assert len(asked(hostile=False)) > 3 and all(asked(hostile=False))
    assert not all(asked(hostile=True))


def test_parts_of_two_actions_meet_in_one() -> None:
    """A fault that needs a value of one action and a list of another is found without hostile values."""

    def allows(bank: Bank, _paid: Paid, pay: Pay) -> bool:
        return pay.name in bank.names

    coder = Coder("house", replace(BANK, allows=allows))
    runs = (Pay("ann", 3), Pay("bob", 2, ("tea",))), (Pay("bob", 2, ("milk",)),)
    bases = [coder.trace(Scenario(Bank(("ann", "bob")), Paid(), run)) for run in runs]
    asked = {action for run in Altering(coder, bases, 0, hostile=False).runs(300) for action in run.scenario.actions}
    assert {Pay("ann", 3, ("tea",)), Pay("bob", 2, ("tea", "milk"))} <= asked
    assert {action.amount for action in asked} >= {2, 3}


def _asked(*runs: tuple[Pay, ...]) -> set[tuple[Pay, ...]]:
    """The altered runs of a bank that lets a customer buy anything."""

    def allows(bank: Bank, _paid: Paid, pay: Pay) -> bool:
        return pay.name in bank.names

    coder = Coder("house", replace(BANK, allows=allows))
    bases = [coder.trace(Scenario(Bank(("ann", "bob")), Paid(), run)) for run in runs]
    made = (Altering(coder, bases, seed, hostile=False).runs(100) for seed in range(24))
    return {run.scenario.actions for runs in made for run in runs}


def test_two_lists_meet_without_what_both_have() -> None:
    """A fault that shows where two things are bought beside the tea is hidden where there is tea twice."""
    asked = _asked((Pay("ann", 2, ("tea", "milk")),), (Pay("ann", 2, ("tea", "salt")),))
    lists = {action.things for run in asked for action in run}
    assert lists & {("tea", "milk", "salt"), ("tea", "salt", "milk")}
    assert ("tea", "milk", "tea", "salt") in lists


def test_what_held_before_comes_again_where_it_holds_no_more() -> None:
    """A part of an earlier action stands in a later one, and an action is done again with one part of another."""
    before, after = Pay("ann", 3, ("tea",)), Pay("bob", 2)
    asked = _asked((before, after))
    assert (before, replace(after, things=before.things)) in asked
    assert (before, replace(before, amount=after.amount), after) in asked


def test_where_the_run_is_over_for_good_kernels_are_asked_nevertheless() -> None:
    """If the source says so, and not elsewhere."""

    def menu(bank: Bank, _scope: Scope, paid: Paid) -> Iterator[Pay]:
        yield from (Pay(name, 2) for name in bank.names if not paid.count)

    def most(bank: Any) -> int:
        coder = Coder("house", bank)
        base = coder.trace(Scenario(Bank(("ann", "bob"), often=1), Paid(), (Pay("ann", 2),)))
        return max((len(one.steps) for one in Altering(coder, [base], 0, hostile=False).runs(30)), default=0)

    def over(bank: Bank, paid: Paid, pay: Pay) -> bool:
        return paid.count >= bank.often and pay.amount > 0

    bank = replace(BANK, actions=menu)
    assert most(bank) <= 1 < most(replace(bank, over=over))


def test_values_that_look_alike_stand_for_others() -> None:
    """In the whole run, from the configuration on, if the model makes no difference between them."""

    def put(_rules: Any, _start: Atom, held: Atom, new: Atom) -> tuple[Atom, bool]:
        return new, new == held

    old, new, other = (Atom("str", text) for text in ("old", "new", "other"))

    def menu(_start: Atom, _held: Atom) -> Iterator[Atom]:
        yield from (old, new)

    def initial(start: Atom) -> tuple[Atom]:
        return (start,)

    slot = replace(small("slot", lambda _scope: iter([old]), old, menu, put, (Atom,)), initial=initial)
    coder = Coder("house", slot)
    base = coder.trace(Scenario(old, old, (new, new, other)))
    made = (Altering(coder, [base], seed, hostile=False).runs(100) for seed in range(24))
    asked = {(*run.scenario.actions[:1], run.scenario.config) for runs in made for run in runs}
    assert {(Atom("bool", "true"), Atom("int", "1")), (Atom("int", "1"), Atom("str", "1"))} <= asked


def test_the_same_seed_alters_the_same() -> None:
    """Equal seeds give equal runs, others do not."""
    coder = Coder("house", BANK)
    base = coder.trace(Scenario(Bank(("ann", "bob")), Paid(), (Pay("ann", 2), Pay("bob", 2, ("tea",)))))
    once, again, other = ([one.scenario for one in Altering(coder, [base], seed).runs(50)] for seed in (1, 1, 2))
    assert once == again != other


def test_what_the_model_has_no_answer_to_is_left_out() -> None:
    """A step that raises says nothing about a kernel."""
    coder = Coder("house", replace(BANK, step=_picky))
    base = coder.trace(Scenario(Bank(("ann",)), Paid(), (Pay("ann", 2),)))
    runs = list(Altering(coder, [base], 0).runs(200))
    assert runs and all(action.amount > 0 for run in runs for action in run.scenario.actions)


def _picky(rules: Any, bank: Bank, paid: Paid, pay: Pay) -> tuple[Paid, Said]:
    if pay.amount <= 0:
        raise ValueError("no such amount")
    return step(rules, bank, paid, pay)


def test_other_names_stand_everywhere() -> None:
    """A run with another name has it in the configuration and in all actions."""
    coder = Coder("house", BANK)
    base = coder.trace(Scenario(Bank(("ann", "bob")), Paid(), (Pay("ann", 2), Pay("bob", 2), Pay("ann", 1))))
    names = {run.scenario.config.names for run in Altering(coder, [base], 0).runs(100)}
    assert len(names) > 5


@dataclass(frozen=True)
class Order:
    """Something is ordered, perhaps with a wish or to an address."""

    what: str
    wish: str | None = "soon"
    address: str | None = "here"


@dataclass(frozen=True)
class Taken:
    """Whether an order was taken."""

    taken: bool


class Waiter:
    """A kernel that takes an order without an address."""

    def __init__(self, _initial: Any) -> None: ...

    def step(self, action: Any) -> Any:
        """Take an order."""
        return {"$": "Taken", "taken": action["wish"] is not None}


def test_what_may_be_absent_is_absent() -> None:
    """No menu leaves it out, but any order may come; what is offered alone is all that is sent otherwise."""

    def _any(_config: Any, _state: Any, _order: Any) -> bool:
        return True

    def taken(_rules: Any, _config: Any, state: int, order: Order) -> tuple[int, Taken]:
        return state, Taken(None not in (order.wish, order.address))

    bar = small(
        "bar", lambda _scope: iter(["bar"]), 0, lambda _config, _state: iter([Order("tea")]), taken, (Order, Taken)
    )
    for allows, lacking in ((_any, ["address"]), (None, [])):
        system = replace(bar, allows=allows)
        effort = CheckEffort(examples=20)
        result = check_system("bar", [system], (), InProcess(Waiter), effort=effort)
        (*orders,) = (action for one in result.defects for action in one.divergence.scenario.actions)
        assert [name for order in orders for name in ("wish", "address") if getattr(order, name) is None] == lacking
