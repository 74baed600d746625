"""Strangers: a kernel may refuse nobody because of how a name is spelled, and take nobody for somebody else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

import pytest

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.loop import ALTERED, EXHAUSTIVE, CheckEffort, SystemChecked, check_system
from evenhand.conform.checking.spelling import ODD, places
from evenhand.conform.checking.strangers import LETTERS, ROUND, SHORT, STACKED, STRANGER, Strangers
from evenhand.core.codec import encode
from evenhand.core.trace import Scenario
from tests.front.conform.in_process import InProcess
from tests.front.conform.test_altering import BANK, Bank, Kernel, Paid, Pay, Said, step

BASE = Scenario(Bank(("ann", "bob")), Paid(), (Pay("ann", 2), Pay("bob", 2, ("tea",))))


class Loose(Kernel):
    """A bank that reads names in its own way."""

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        name, names = action["name"], self.bank.names
        if "pastes" in self.faults and "'" in name:
            raise RuntimeError("syntax error")
        if "counts braces" in self.faults and name.count("{") != name.count("}"):
            raise RuntimeError("no JSON")
        if "begins alike" in self.faults:
            action = {**action, "name": next((one for one in names if one.startswith(name)), name)}
        if "wildcard" in self.faults and name == "%":
            action = {**action, "name": names[0]}
        if "takes anybody" in self.faults and name not in names:
            action = {**action, "name": names[0]}
        told = super().step(action)
        return {**told, "things": told["things"] + 1} if "miscounts" in self.faults else told


def _only(bank: Bank) -> Callable[[Any, Any], Iterator[Bank]]:
    return lambda _scope, _readings: iter([bank])


def checked(faults: Collection[str], often: int = 99) -> SystemChecked:
    """Check without hostile values a bank that refuses no customer for paying too often, unless `often` is small."""
    bank = replace(BANK, configs=_only(Bank(("ann", "bob"), often=often)))
    effort = CheckEffort(transitions=12, examples=4, phases=(EXHAUSTIVE, ALTERED))
    return check_system("house", [bank], (), InProcess(lambda initial: Loose(faults, initial)), effort=effort)


@pytest.mark.parametrize("fault", ["inherits names", "ignores letters", "pastes", "begins alike", "wildcard"])
def test_an_odd_stranger_is_a_stranger(fault: str) -> None:
    """Each fault is found in one step by the default run, which sends no hostile value."""
    found = [one.divergence for one in checked([fault]).defects]
    assert found and all(one.length == 1 for one in found)
    names = {action.name for one in found for action in one.scenario.actions}
    assert names and not any(name in ("ann", "bob") or STRANGER in name for name in names)


def test_strangers_are_met_beside_what_differs_in_every_run() -> None:
    """A fault that no run is free of hides no other."""
    faults = ["miscounts", "wildcard"]
    found = [one.divergence for one in checked(faults).defects]
    assert len(found) <= 3  # behind the second the bank counts one payment more
    assert {action.name for one in found for action in one.scenario.actions} >= {"%"}


def test_a_stranger_closes_a_brace_that_none_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both braces together hide it from whoever counts them."""

    def names() -> set[str]:
        defects = checked(["counts braces"], often=3).defects
        return {action.name for one in defects for action in one.divergence.scenario.actions}

    assert names() == {"}"}
    monkeypatch.setattr("evenhand.conform.checking.strangers.ODD", tuple(one for one in ODD if one != "}"))
    assert not names()


def within(_rules: Any, bank: Bank, paid: Paid, pay: Pay) -> tuple[Paid, Said]:
    """A payment by anybody whose name has one character at most."""
    after = paid if len(pay.name) > 1 else Paid(paid.total + 1, paid.count + 1)
    return after, Said("too long" if after == paid else "", after.total, after.count, 0)


class Short:
    """A bank that counts the units of UTF-16 as the characters of a name."""

    def __init__(self, _initial: Any) -> None:
        self.paid = Paid()

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        units = len(action["name"].encode("utf-16-le")) // 2
        self.paid, said = within(None, Bank(()), self.paid, Pay("x" * units, 0))
        return encode(said)


def test_short_strangers_meet_a_limit_that_long_ones_exceed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one character is allowed, each longer stranger is refused, however it is counted."""
    short = replace(BANK, step=within, configs=_only(Bank(("a", "b"))))

    def differing() -> set[str]:
        effort = CheckEffort(transitions=12, examples=4, phases=(EXHAUSTIVE, ALTERED))
        result = check_system("house", [short], (), InProcess(Short), effort=effort)
        return {action.name for one in result.defects for action in one.divergence.scenario.actions}

    assert {len(name.encode("utf-16-le")) for name in differing() if len(name) == 1} == {4}
    monkeypatch.setattr("evenhand.conform.checking.loop.ROUNDS", 1)  # the first one is of long strangers
    assert not differing()


def test_an_honest_kernel_is_silent() -> None:
    """And one that takes every stranger for a customer is not accused by strangers, but for other reasons."""
    result = checked(())
    assert not result.defects and result.runs[ALTERED] > 10
    assert not checked(["takes anybody"]).defects


def test_a_stranger_is_sent_where_the_plain_one_was_answered_as_in_the_model() -> None:
    """Those of a run that the kernel answers otherwise are left out."""
    strangers = Strangers(Coder("house", BANK), [Coder("house", BANK).trace(BASE)])
    plain = [one.scenario for _ in range(8) for one in strangers.plain()]
    texts = [{text for action in one.actions for text in (action.name, *action.things)} for one in plain]
    assert all(len(one.intersection({*LETTERS, SHORT})) == 1 for one in texts)
    assert not list(strangers.odd([]))
    (first, *_) = [one for one in plain if STRANGER in (one.actions[0].name, one.actions[1].name)]
    runs = [one.scenario for one in strangers.odd([first])]
    assert runs and all({"ann", "bob"} & {action.name for action in run.actions} for run in runs)


def test_a_word_of_which_the_model_makes_something_else_is_no_stranger() -> None:
    """Such as the star that stands for everybody."""

    def starred(rules: Any, bank: Bank, paid: Paid, pay: Pay) -> tuple[Paid, Any]:
        return step(rules, bank, paid, replace(pay, name=bank.names[0]) if pay.name == "*" else pay)

    def words(system: Any) -> set[str]:
        strangers = Strangers(Coder("house", system), [Coder("house", system).trace(BASE)])
        plain = [one.scenario for _ in range(8) for one in strangers.plain()]
        return {action.name for _ in range(9) for run in strangers.odd(plain) for action in run.scenario.actions}

    assert "*" in words(BANK) and "*" not in words(replace(BANK, step=starred))


def test_a_name_that_is_there_is_no_stranger() -> None:
    """The plain word gets a letter more, and odd words that name something are left out."""
    base = replace(BASE, config=Bank((STRANGER, "%")), actions=(Pay("%", 2),))
    strangers = Strangers(Coder("house", BANK), [Coder("house", BANK).trace(base)])
    plain = [one.scenario for _ in range(20) for one in strangers.plain()]
    assert {one.actions[0].name for one in plain} == {f"{STRANGER}x", *LETTERS, SHORT} - {STRANGER}
    odd = {action.name for run in strangers.odd(plain) for action in run.scenario.actions}
    assert odd and not {"%", STRANGER} & odd


def test_what_is_below_a_name_that_is_there_is_no_stranger() -> None:
    """A kernel may let `a/b` do what `a` may; without an `a` it is a stranger like any other."""

    def odd(name: str) -> set[str]:
        base = replace(BASE, config=Bank((name, "bob")), actions=(Pay(name, 2),))
        strangers = Strangers(Coder("house", BANK), [Coder("house", BANK).trace(base)])
        plain = [one.scenario for _ in range(8) for one in strangers.plain()]
        return {action.name for _ in range(9) for run in strangers.odd(plain) for action in run.scenario.actions}

    assert "a/b" in odd("ann")
    assert not [one for one in odd("a") if one.startswith("a/")]


def test_every_odd_word_comes_before_any_comes_again() -> None:
    """In each sort of place: chance alone would send some a third time before others."""
    base = Coder("house", BANK).trace(replace(BASE, actions=(Pay("ann", 2),)))
    strangers = Strangers(Coder("house", BANK), [base])
    plain = next(
        one.scenario for _ in range(9) for one in strangers.plain() if one.scenario.actions[0].name == STRANGER
    )
    runs = [run.scenario for _ in range(3) for run in strangers.odd([plain])]
    sent = [action.name for run in runs for action in run.actions]
    assert len(sent) == 3 * STACKED == len(set(sent))


def test_texts_in_pairs_stand_in_places_of_their_names() -> None:
    """Of the fields of a record that come as pairs each is a sort of its own; two texts in a list are none."""

    def sorts(value: Any) -> set[str]:
        return {one.path for one in places(value, Any, lambda new: new) if isinstance(one.value, str)}

    assert sorts(((("path", "a"), ("text", "b")), ("c", "d"))) == {"[path]", "[text]", "[c]"}
    assert sorts(("a", "b")) == {""}


@pytest.mark.parametrize("letters", ["ascii", "printable"])
def test_letters_that_no_name_may_have_on_the_way_to_the_kernel_are_left_out(letters: str) -> None:
    """An adapter that sends names in a header fails for every name of such letters: that is no finding."""

    class Header(Kernel):
        def step(self, action: Any) -> Any:
            if not (action["name"].isascii() if letters == "ascii" else action["name"].isprintable()):
                raise ValueError("invalid header")
            return super().step(action)

    effort = CheckEffort(transitions=12, examples=4, phases=(EXHAUSTIVE, ALTERED))
    result = check_system("house", [BANK], (), InProcess(lambda initial: Header((), initial)), effort=effort)
    assert not result.defects and result.runs[ALTERED] > 10


def test_strangers_stand_where_they_decide() -> None:
    """Where the payment is refused for its amount, whoever pays, a kernel may take a stranger for somebody unseen."""
    idle = [Coder("house", BANK).trace(replace(BASE, actions=(Pay("ann", amount),))) for amount in range(-15, 0)]
    strangers = Strangers(Coder("house", replace(BANK, step=_amounts_first)), [*idle, Coder("house", BANK).trace(BASE)])
    plain = [one.scenario for _ in range(12) for one in strangers.plain()]
    named = [one.actions[0].amount for one in plain if one.actions[0].name not in ("ann", "bob")]
    assert sum(amount > 0 for amount in named) > len(named) / 2


def _amounts_first(rules: Any, bank: Bank, paid: Paid, pay: Pay) -> tuple[Paid, Any]:
    return step(rules, bank, paid, pay if pay.amount > 0 else replace(pay, name="ann"))


def test_the_longest_stranger_that_a_limit_admits_comes_first() -> None:
    """It meets a limit that is counted in bytes, or counts some letters twice, whatever else is sent."""

    def at_most_five(_rules: Any, _bank: Bank, paid: Paid, pay: Pay) -> tuple[Paid, Said]:
        return (paid, Said("too long", 0, 0, 0)) if len(pay.name) > 5 else (Paid(paid.total + 1, 0), Said("", 1, 0, 0))

    bank = Bank(("ann", "bob"), often=5)
    coder = Coder("house", replace(BANK, step=at_most_five, configs=_only(bank)))
    base = coder.trace(Scenario(bank, Paid(), (Pay("ann", 2),)))
    for seed in range(4):
        strangers = Strangers(coder, [base], seed)
        rounds = [[one.scenario for one in strangers.plain()] for _ in range(ROUND)]
        first = next(strangers.odd(rounds[-1]))
        assert first.scenario.actions[0].name == "\U0001f600" * 5
