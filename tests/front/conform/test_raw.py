"""Values that no type admits: a kernel may refuse or take them, but it answers, and a refusal leaves it as it was."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any, cast

import pytest

from evenhand.conform.adapters import Unsupported, wire
from evenhand.conform.adapters.host import Host
from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse, _Listening, adapter_source  # pyright: ignore[reportPrivateUsage]
from evenhand.conform.checking.causes import alone
from evenhand.conform.checking.claims import Judge
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.divergence import Examiner
from evenhand.conform.checking.files import save_finding
from evenhand.conform.checking.finding import finding_json, recheck
from evenhand.conform.checking.loop import ALTERED, EXHAUSTIVE, NO_DOOR, CheckEffort, SystemChecked, check_system
from evenhand.conform.checking.ordering import Defect
from evenhand.conform.checking.raw import ENVELOPE, RAW, judged, with_change
from evenhand.core.codec import encode
from evenhand.core.registry import find
from evenhand.core.trace import Scenario
from tests.front.conform.in_process import InProcess
from tests.front.conform.test_altering import BANK, Bank, Paid, Pay, step


class Hosted(InProcess):
    """The host of Python adapters, without its process."""

    def _run(self, asked: KernelRequest) -> KernelResponse:
        host, heard = Host(self.factory), _Listening(asked, 1)
        heard.hear(host.answer(wire.start(1, asked.initial)), 1)
        for number, action in enumerate(asked.actions, start=2):
            heard.hear(host.answer(wire.step(number, action)), number)
        return heard.response()


class Teller:
    """A bank that takes payments as JSON objects; what is no payment it refuses, or takes for something."""

    def __init__(self, faults: Collection[str], bank: Bank) -> None:
        self.faults, self.bank, self.paid, self.odd = faults, bank, Paid(), False

    def answer(self, asked: Any) -> Any:
        """Take a payment.  Raises ValueError for what is none."""
        if self.odd and "dies later" in self.faults:
            raise KeyError("lost")
        fields: dict[str, Any] = {"who": "", "sum": 0, "for": None}
        if isinstance(asked, dict):
            fields = cast("dict[str, Any]", asked)
        if "takes a text" in self.faults and fields.get("sum") == "2":
            fields = {**fields, "sum": 2}
        if "dies of lists" in self.faults:
            assert {fields.get("who")}
        if "wants things" in self.faults:
            assert fields["for"] != 0
        if "adds" in self.faults:
            assert [fields.get("sum", 0) + 0]
        if not _is_sound(fields):
            self.refuse()
            return {"taken": "nothing"}
        self.paid, said = step(None, self.bank, self.paid, Pay(fields["who"], fields["sum"], tuple(fields["for"])))
        return encode(said)

    def refuse(self) -> None:
        """Refuse what is no payment, unless a kernel takes it for nothing."""
        if "dies of all" in self.faults:
            raise AssertionError("a payment")
        if "counts what it refuses" in self.faults:
            self.paid = replace(self.paid, count=self.paid.count + 1)
        self.odd = True
        if not {"takes all", "dies later"} & set(self.faults):
            raise ValueError("no payment")


def _is_sound(fields: dict[str, Any]) -> bool:
    things: Any = fields.get("for")
    texts = cast("list[Any]", things if isinstance(things, list) else [things])
    typed = isinstance(fields.get("who"), str) and type(fields.get("sum")) is int and isinstance(things, list)
    return len(fields) == 3 and typed and all(isinstance(one, str) for one in texts)


class Adapter:
    """Passes on any value; an answer that is none of the protocol it cannot read."""

    def __init__(self, faults: Collection[str], initial: Any) -> None:
        config = initial["config"]
        self.teller = Teller(faults, Bank(tuple(config["names"]), config["most"], config["often"]))

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        told = self.pass_on({"who": action["name"], "sum": action["amount"], "for": action["things"]})
        return {"$": "Said", **{name: told[name] for name in ("why", "total", "count", "things")}}

    def pass_on(self, message: Any) -> Any:
        """The answer to a payment.  Raises Unsupported if it is refused."""
        try:
            return self.teller.answer(message)
        except ValueError as error:
            raise Unsupported(str(error)) from error


class Closed(Adapter):
    """An adapter that hands over what it made of an action."""

    pass_on = None  # type: ignore[assignment]

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        return self.teller.answer({"who": action["name"], "sum": action["amount"], "for": action["things"]})


class Keyed(Adapter):
    """Its messages have a key that is new in each run."""

    runs = count()

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        self.key = f"number {next(self.runs)}"
        told = self.pass_on({self.key: {"who": action["name"], "sum": action["amount"], "for": action["things"]}})
        return {"$": "Said", **{name: told[name] for name in ("why", "total", "count", "things")}}

    def pass_on(self, message: Any) -> Any:
        """The answer to a payment.  Raises Unsupported if it is refused."""
        if not isinstance(message, dict) or self.key not in message:
            raise Unsupported("whose payment is it?")
        return super().pass_on(cast("dict[str, Any]", message)[self.key])


class Catching(Adapter):
    """Tells a refusal in the words of the protocol, and has no Unsupported."""

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        try:
            return super().step(action)
        except ValueError as error:
            return {"$": "Said", "why": str(error), "total": 0, "count": 0, "things": []}

    def pass_on(self, message: Any) -> Any:
        """The answer to a payment."""
        return self.teller.answer(message)


class Writing(Adapter):
    """Writes standard JSON, in which there is no number without end."""

    def pass_on(self, message: Any) -> Any:
        """The answer to a payment.  Raises Unsupported if it is refused."""
        return super().pass_on(json.loads(json.dumps(message, allow_nan=False)))


class Enveloped(Adapter):
    """Writes the name of a call beside the payment, and reads both without a look; no line of a kernel is known."""

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        payment = {"who": action["name"], "sum": action["amount"], "for": action["things"]}
        told = self.pass_on({"do": "pay", "payment": payment})
        return {"$": "Said", **{name: told[name] for name in ("why", "total", "count", "things")}}

    def pass_on(self, message: Any) -> Any:
        """The answer to a payment.  Raises Unsupported if it is refused."""
        if message["do"] != "pay":
            raise RuntimeError(f"no call {message['do']}")
        payment = message["payment"]
        if not isinstance(payment, dict):
            raise Unsupported("no payment")
        return super().pass_on({name: payment[name] for name in ("who", "sum", "for")})


class Tupled(Adapter):
    """Its messages are no JSON: the kernel is made for tuples."""

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        told = self.pass_on({"who": action["name"], "sum": action["amount"], "for": (*action["things"],)})
        return {"$": "Said", **{name: told[name] for name in ("why", "total", "count", "things")}}

    def pass_on(self, message: Any) -> Any:
        """The answer to a payment.  Raises Unsupported if it is refused."""
        return super().pass_on({**message, "for": [*(message["for"] + ())]})


def checked(faults: Collection[str], kind: Any = Adapter) -> SystemChecked:
    """Check the bank in three steps, and hand it values that no type admits."""
    effort = CheckEffort(transitions=12, examples=0, phases=(EXHAUSTIVE, ALTERED))
    return check_system("house", [BANK], (), Hosted(lambda initial: kind(faults, initial)), effort=effort)


@pytest.mark.parametrize(
    ("fault", "place", "said"),
    [
        ("dies of lists", ".who", "unhashable type: 'list'"),
        ("wants things", ".for", "KeyError: 'for'; nothing was there for"),
        ("adds", ".sum", "can only concatenate"),
    ],
)
def test_a_kernel_that_does_not_answer_is_told_once_with_place_and_value(fault: str, place: str, said: str) -> None:
    """The value is named that it was handed, and for what."""
    (defect,) = checked([fault]).defects
    found = defect.divergence
    assert (found.origin, found.what) == (RAW, "fails") and found.length <= 3
    assert said in found.why and place in found.why


def test_two_places_are_two_causes_and_all_places_are_one() -> None:
    """A kernel that dies of two fields is two findings; one that dies of whatever is no payment is one."""
    assert len(checked(["dies of lists", "adds"]).defects) == 2
    (defect,) = checked(["dies of all"]).defects
    assert len(defect.divergence.kinds) >= 4


def test_what_fails_around_the_payment_is_one_cause_and_any_key_too_few_is_another() -> None:
    """A message that is none and a call of another name fail in many words; each missing key has its own word."""
    found = [one.divergence for one in checked([], Enveloped).defects]
    around = [one for one in found if one.kinds == frozenset({ENVELOPE})]
    keys = [one for one in found if any("KeyError: 'sum'" in kind for kind in one.kinds)]
    assert len(found) == 2 and len(around) == len(keys) == 1
    more = [one.divergence for one in checked(["dies of lists"], Enveloped).defects]
    assert sum(one.kinds == frozenset({ENVELOPE}) for one in more) == sum("unhashable" in one.why for one in more) == 1


def test_a_kernel_must_answer_after_it_took_such_a_value() -> None:
    """What it stored makes it fail in a later step."""
    (defect,) = checked(["dies later"]).defects
    assert defect.divergence.length > 1 and "KeyError: 'lost'" in defect.divergence.why


def test_what_is_refused_changes_nothing() -> None:
    """The payment behind a refused one is answered as if there had been none."""
    found = checked(["counts what it refuses"]).defects
    assert found and all("it refused a value" in one.divergence.why for one in found)
    assert {one.divergence.what for one in found} == {"differs"}


@pytest.mark.parametrize("conduct", ["", "takes all", "takes a text"])
def test_refusing_taking_and_reading_such_values_accuse_nobody(conduct: str) -> None:
    """A kernel may refuse, take for nothing, or take for a value of the right type whatever no type admits."""
    result = checked([conduct])
    assert not result.defects
    assert result.runs[RAW] > 60
    assert NO_DOOR not in result.notes


@pytest.mark.parametrize("kind", [Keyed, Catching, Writing, Tupled])
def test_what_an_adapter_does_accuses_no_kernel(kind: Any) -> None:
    """A key of its own, a refusal in the protocol's words, a writer of JSON, messages that are none."""
    result = checked([], kind)
    assert not result.defects and (NO_DOOR in result.notes) == (kind is Tupled)


def test_an_adapter_without_pass_on_is_handed_nothing_and_the_report_says_so() -> None:
    """The same faults do not show, and one line says how they would."""
    result = checked(["dies of lists"], Closed)
    assert not result.defects and NO_DOOR in result.notes


def test_a_finding_is_repeated_with_its_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record holds the changed message: the faulty kernel shows it again, the honest one not."""
    kernel = "benchmarks.zoo.cud.classes.adapter:make"
    bundle = find("cud")
    system = bundle.model.systems["run"].at()
    scenario = next(
        Scenario(config, start, (action,))
        for config in system.all_configs()
        for start in system.initial(config)
        for action in islice(system.enabled(config, start), 50)
        if any(choice.request and choice.request.declared_scope for _, choice in action.choices)
    )
    examiner = Examiner(Coder("cud", system), Judge(()))
    trace = examiner.coder.trace(scenario)
    agent = next(name for name, choice in scenario.actions[0].choices if choice.request)
    change = wire.RawValue(0, [agent, "request", "declared_scope", 0], '["x"]')
    raw = wire.ChangedMessage(1, "declared_scope[]", change)
    plain = examiner.coder.request(trace)
    monkeypatch.setenv("ZOO_DEFECTS", "trusting_scope")
    source = adapter_source(kernel)
    (response,) = source.ask([with_change(plain, raw)])
    source.close()
    found = judged(raw, examiner, trace, plain, response)
    assert found is not None and "unhashable type" in found.why
    made = finding_json("cud", alone(system, Defect(found, 1)), bundle.claims, claims_only=False, kernel=kernel)
    path = save_finding(made, tmp_path, kernel)
    assert found.kinds == recheck(path, kernel).kinds
    monkeypatch.setenv("ZOO_DEFECTS", "")
    assert recheck(path, kernel).ok
    assert recheck(path, "evenhand.conform.adapters.model:reference").skipped
