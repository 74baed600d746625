"""Kernels with words of their own: each marker hides what it should, and nothing more."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from evenhand.conform.adapters.wire import text
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import differences, normal
from evenhand.conform.checking.loop import CheckEffort, SystemChecked, check_system
from evenhand.conform.checking.words import Dictionary, Malformed, Reader
from evenhand.core.atoms import Atom
from evenhand.core.codec import encode
from evenhand.core.freedom import free_field
from evenhand.core.kernel import Unsupported
from evenhand.core.property import Property, each_step
from evenhand.core.registry import find
from evenhand.core.system import Scope, System
from evenhand.model.apcm import vocabulary as apcm
from evenhand.model.conviction import vocabulary as conviction
from evenhand.model.conviction.exact import Surd
from evenhand.model.cud import vocabulary as cud
from evenhand.model.markspace import guard_vocabulary as guard
from evenhand.model.markspace import marks
from evenhand.model.markspace.exact import decayed
from evenhand.model.sovereign.state import TYPES as sovereign_types
from evenhand.model.sovereign.vocabulary import Request
from tests.deep import rest_slow
from tests.front.conform.in_process import InProcess

NAMES = ("ann", "bob", "cy")


@dataclass(frozen=True, slots=True)
class Enter:
    """Somebody enters."""

    name: str


@dataclass(frozen=True, slots=True)
class Leave:
    """Somebody leaves."""

    name: str


@dataclass(frozen=True, slots=True)
class Guest:
    """A guest and the guest's ticket."""

    name: str
    ticket: str


@dataclass(frozen=True, slots=True)
class Room:
    """Who is inside, in order of entering."""

    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """What a step shows."""

    ok: bool
    ticket: str | None
    share: Fraction
    guests: tuple[Guest, ...]
    why: str = free_field("texts", "")
    code: str = free_field("codes", "")
    left: tuple[str, ...] = free_field("orders", ())


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the run amounts to."""

    full: bool


TYPES = (Enter, Leave, Guest, Room, Told, Conclusion)


def ticket_of(name: str) -> str:
    """Return the model's hash of a name."""
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def step(_rules: Any, _config: Any, room: Room, action: Enter | Leave) -> tuple[Room, Told]:
    """Enter and leave; each guest has a ticket as long as the guest lives."""
    within = action.name in room.inside
    ok = within is isinstance(action, Leave)
    if not ok:
        after = room.inside
    elif within:
        after = tuple(name for name in room.inside if name != action.name)
    else:
        after = (*room.inside, action.name)
    return Room(after), Told(
        ok,
        ticket_of(action.name) if ok else None,
        Fraction(len(after), len(NAMES)),
        tuple(Guest(name, ticket_of(name)) for name in after),
        "" if ok else f"{action.name} is {'inside' if within else 'outside'} already",
        "" if ok else "REPEATED",
        tuple(name for name in NAMES if name not in after),
    )


def conclude(steps: Any) -> Conclusion:
    """Return whether everybody is inside."""
    return Conclusion(len(steps[-1].after.inside) == len(NAMES))


ROOM: System[Any, Any, Any, Any, Any] = System(
    "room",
    None,
    lambda _scope, _readings: ("house",),
    lambda _config: (Room(),),
    step,
    lambda _config, _scope, _room: [kind(name) for name in NAMES for kind in (Enter, Leave)],
    scope=Scope(),
    types=TYPES,
    conclusion=conclude,
)


@each_step("A ticket is the hash of the name.")
def hashed(step: Any) -> bool:
    """A claim that recomputes a value that kernels compute otherwise."""
    return step.shown.ticket in (None, ticket_of(step.action.name))


@each_step("Who is let in has a ticket.")
def has_ticket(step: Any) -> bool:
    """A claim that looks at identity only."""
    return not step.shown.ok or step.shown.ticket is not None


@each_step("Nobody is turned away without a ticket being withheld.")
def no_ticket(step: Any) -> bool:
    """The same for the other value."""
    return step.shown.ok or step.shown.ticket is None


CLAIMS: tuple[Property, ...] = (hashed, has_ticket, no_ticket)
Change = Callable[[Any, "Own"], Any]


class Own:
    """The model behind `change`, which rewrites what is shown; `inside` is the state."""

    def __init__(self, change: Change) -> None:
        self.room, self.change, self.steps = Room(), change, 0

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        self.steps += 1
        made = (Enter if action["$"] == "Enter" else Leave)(action["name"])
        self.room, shown = step(None, None, self.room, made)
        return self.shows(encode(shown))

    def shows(self, shown: Any) -> Any:
        """Rewrite what is shown."""
        return self.change(shown, self)


def checked(change: Change, *, kind: type[Own] = Own, compare: Any = ()) -> SystemChecked:
    """Check a kernel on every transition and some drawn runs."""
    effort = CheckEffort(examples=6, steps=6, phases=("exhaustive", "machine"))
    return check_system("house", (ROOM,), CLAIMS, InProcess(lambda _: kind(change)), effort=effort, compare=compare)


def found(change: Change, *, kind: type[Own] = Own, compare: Any = ()) -> list[tuple[str, str]]:
    """Return the claims and first differences of all findings."""
    defects = checked(change, kind=kind, compare=compare).defects
    return [(one.divergence.subject, str([*one.divergence.differences, one.divergence.why][0])) for one in defects]


def own_ticket(name: str) -> Any:
    """Return a kernel's own ticket."""
    return {"$opaque": f"#{name[::-1]}"}


def hide(shown: Any, own: Own) -> Any:
    """All that a stranger's kernel may write otherwise: own hash, float, any order, own texts, no code."""
    shown["ticket"] = shown["ticket"] and {"$opaque": "T" + shown["ticket"]}
    shown["guests"] = {"$bag": [{"ticket": {"$opaque": "T" + g["ticket"]}, "name": g["name"]} for g in shown["guests"]]}
    shown["guests"]["$bag"].reverse()
    shown["share"] = {"$near": len(own.room.inside) / 3, "within": 1e-9}
    shown["why"] = shown["why"] and "no!"
    shown["left"].reverse()
    del shown["code"]
    return shown


def test_a_kernel_with_words_of_its_own_is_honest() -> None:
    """Everything is hidden in its own way, and nothing is found; all claims are judged."""
    made = checked(hide)
    assert made.defects == () and made.covered[0]["complete"]


def test_random_tokens_are_no_chance() -> None:
    """Tokens that are new in each run are the same answers, also when a finding is repeated."""
    import itertools

    count = itertools.count()

    def fresh(shown: Any, own: Own) -> Any:
        own.tickets = getattr(own, "tickets", {})  # type: ignore[attr-defined]
        for one in [shown, *shown["guests"]]:
            if one["ticket"]:
                one["ticket"] = {"$opaque": own.tickets.setdefault(one["ticket"], next(count))}  # type: ignore[attr-defined]
        return shown

    def faulty(shown: Any, own: Own) -> Any:
        return {**fresh(shown, own), "ok": False}

    assert found(fresh) == []
    assert {claim for claim, _ in found(faulty)} == {"kernel_agrees_with_model"}


FAULTS: dict[str, tuple[Change, str]] = {
    "one token for two guests": (
        lambda shown, _: {**shown, "ticket": shown["ticket"] and {"$opaque": 1}},
        "ticket: expected '",
    ),
    "two tokens for one guest": (
        lambda shown, own: {**shown, "ticket": shown["ticket"] and {"$opaque": own.steps}},
        "{$opaque: 'a second token for it, number",
    ),
    "a token where there is nothing": (
        lambda shown, _: {**shown, "ticket": {"$opaque": str(shown["ticket"])}},
        "",  # nothing: an opaque value may stand for null
    ),
    "just out of tolerance": (
        lambda shown, own: {
            **shown,
            "share": {"$near": str(Fraction(len(own.room.inside), 3) + Fraction(1, 99)), "within": "1/100"},
        },
        "within: '1/100'",
    ),
    "a float out of tolerance, as it was written": (
        lambda shown, _: {**shown, "share": {"$near": 0.85, "within": 1e-9}},
        "{$near: '0.85', within: '1e-09'}",
    ),
    "a duplicate in a bag": (
        lambda shown, _: {**shown, "guests": {"$bag": [*shown["guests"], *shown["guests"][:1]]}},
        "guests: not expected: ",
    ),
    "a bag that lacks one": (lambda shown, _: {**shown, "guests": {"$bag": shown["guests"][1:]}}, "guests: missing: "),
    "a wrong name in a bag": (
        lambda shown, _: {
            **shown,
            "guests": {"$bag": [{**one, "name": "eve", "ticket": {"$unknown": True}} for one in shown["guests"]]},
        },
        "name: expected 'ann', shown 'eve'",
    ),
    "wrong beside what is hidden": (
        lambda shown, own: {**hide(shown, own), "ok": True},
        "ok: expected False, shown True",
    ),
    "an array in another order": (lambda shown, _: {**shown, "guests": shown["guests"][::-1]}, "guests[0]"),
    "no reason for a refusal": (lambda shown, _: {**shown, "why": ""}, "why: "),
    "a reason for no refusal": (lambda shown, _: {**shown, "why": "just so"}, "why: expected '', shown 'just so'"),
    "one left out of an order that is free": (lambda shown, _: {**shown, "left": shown["left"][1:]}, "left: missing: "),
}


@pytest.mark.parametrize("name", rest_slow(FAULTS, 3))
def test_each_marker_hides_no_more_than_it_says(name: str) -> None:
    """A fault beside a marker is found, by the difference that it makes; no claim is accused of it.

    A token that was seen beside another guest's ticket is that guest's ticket, so the claim about tickets is.
    """
    change, difference = FAULTS[name]
    made = found(change)
    if not difference:
        assert made == []
        return
    assert made and difference in made[0][1], made
    assert name != "one token for two guests" or {claim for claim, _ in made} == {"hashed"}
    if name not in ("one token for two guests", "wrong beside what is hidden"):
        assert {claim for claim, _ in made} == {"kernel_agrees_with_model"}, made


@pytest.mark.slow
def test_a_claim_does_not_rest_on_what_was_not_shown() -> None:
    """With the model's ticket filled in, `no_ticket` would be false of every refusal that is shown as granted."""

    def silent(shown: Any, _own: Own) -> Any:
        return {**shown, "ok": not shown["ok"], "ticket": {"$unknown": True}}

    def frank(shown: Any, _own: Own) -> Any:
        return {**shown, "ok": not shown["ok"]}

    assert {claim for claim, _ in found(silent)} == {"kernel_agrees_with_model"}
    assert {claim for claim, _ in found(frank)} == {"has_ticket", "no_ticket"}


@pytest.mark.slow
def test_a_hash_of_its_own_violates_no_claim_about_hashes() -> None:
    """Plain, it does; as a token it does not, even in a step that differs."""
    assert found(lambda shown, _: {**shown, "ticket": shown["ticket"] and "T" + shown["ticket"]})[0][0] == "hashed"

    def different(shown: Any, own: Own) -> Any:
        return {**hide(shown, own), "left": ["eve"]}

    assert {claim for claim, _ in found(different)} == {"kernel_agrees_with_model"}


@pytest.mark.parametrize(
    ("compare", "difference"), [("texts", "why: "), ("codes", "code: "), ("orders", "left[0]: ")], ids=str
)
def test_texts_codes_and_orders_are_compared_on_request(compare: str, difference: str) -> None:
    """By default none is; on request each for itself."""

    def otherwise(shown: Any, _own: Own) -> Any:
        return {**shown, "why": shown["why"] and "no!", "code": shown["code"] and "E7", "left": shown["left"][::-1]}

    assert found(otherwise) == []
    ((claim, told),) = found(otherwise, compare=[compare])
    assert claim == "kernel_agrees_with_model" and told.startswith(difference)


SETS: Any = (
    (apcm.TYPES, apcm.Shown("submit", forbidden=("fly", "rest")), "forbidden"),
    (conviction.TYPES, conviction.Event("Staked", data=(("old", 1), ("new", 2))), "data"),
    (
        cud.TYPES,
        cud.Observation(0, (("a", Atom("str", "x")), ("b", Atom("str", "y"))), None, None, None, ()),
        "world_state",
    ),
    (
        cud.TYPES,
        cud.Observation(0, (), None, None, None, (cud.Message("a", 0, "{}"), cud.Message("b", 0, "{}"))),
        "messages",
    ),
    (cud.TYPES, cud.State((("a", Atom("str", "x")), ("b", Atom("str", "y"))), ()), "world"),
    (cud.TYPES, cud.State((), (), (("a", "{}"), ("b", "{}"))), "mailbox"),
    (sovereign_types, Request("Notify", (("message", "m"), ("zz", "more"))), "fields"),
    (
        guard.TYPES,
        guard.Decision(guard.What.BOUNDARY, told=(("a", guard.Verdict.ALLOW), ("b", guard.Verdict.BLOCKED))),
        "told",
    ),
    (conviction.TYPES, conviction.Shown((conviction.Event("Burn", "a"), conviction.Event("Burn", "b"))), "events"),
    (marks.SEEN_TYPES, marks.Reply(hooked=("count", "list")), "hooked"),
)
"""Records of the protocols, with a field that the source calls an object or a set."""


@pytest.mark.parametrize(("types", "record", "name"), SETS, ids=[name for *_, name in SETS])
def test_objects_and_sets_of_a_source_have_no_order(types: Any, record: Any, name: str) -> None:
    """A kernel may list their entries as it likes, but must list each."""
    expected: Any = encode(record)
    shuffled, shorter = {**expected, name: expected[name][::-1]}, {**expected, name: expected[name][1:]}

    def agrees(shown: Any, *compare: Any) -> bool:
        return bool(Reader(types, compare).reading(shown, expected, Dictionary()).told == expected)

    assert shuffled != expected and agrees(shuffled)
    assert not agrees(shuffled, "orders") and not agrees(shorter)


def test_a_told_state_is_judged_in_the_order_of_the_models() -> None:
    """Claims about states compare tuples, and the source orders neither messages nor keys."""
    state = cud.State((("a", Atom("str", "x")), ("b", Atom("str", "y"))), (), (("a", "{}"), ("b", "{}")), 1)
    said: Any = encode(state)
    told = {**said, "world": said["world"][::-1], "mailbox": said["mailbox"][::-1]}
    system = find("cud").model.systems["run"]
    coder = Coder("cud", system)
    assert coder.told(told, state) == state and coder.told({**told, "epoch": 2}, state) == replace(state, epoch=2)
    assert Coder("cud", system, frozenset({"orders"})).told(told, state) == coder.decoded(told) != state


def test_pairs_with_a_free_text_have_no_order() -> None:
    """Who was rejected may be listed in any order, each as often as in the model, and with a reason."""
    expected: Any = encode(cud.Shown(rejected=(("a", "unknown"), ("b", "twice"), ("b", "twice"))))

    def agrees(*pairs: tuple[str, str], compare: Any = ()) -> bool:
        shown = {**expected, "rejected": [list(one) for one in pairs]}
        return bool(Reader(cud.TYPES, compare).reading(shown, expected, Dictionary()).agrees)

    others = ("b", "no"), ("a", "no"), ("b", "never")
    assert agrees(*others) and not agrees(*others, compare=["texts"])
    assert not agrees(*others[:2]) and not agrees(*others[:2], ("c", "no")) and not agrees(*others[:2], ("a", "no"))
    assert not agrees(*others[:2], ("b", ""))


MALFORMED: Any = (
    {"$unknown": False},
    {"$unknown": True, "more": 1},
    {"$opaque": {"$opaque": 1}},
    {"$opaque": True},
    {"$opaque": None},
    {"$opaque": 1.5},
    {"$near": 1},
    {"$near": "a", "within": 1},
    {"$near": {"$near": 1, "within": 1}, "within": 1},
    {"$near": 1, "within": -1},
    {"$near": "1e999999999", "within": 1},
    {"$near": "1/0", "within": 1},
    {"$near": "1" * 9_999, "within": 1},
    {"$near": True, "within": 1},
    {"$near": "1_0", "within": 1},
    {"$bag": {}},
    {"$bag": "ann"},
    {"$bag": [], "$unknown": True},
    {"$bag": [{"$near": []}]},
    [{"$opaque": [[[]]]}],
    {"$": "Guest", "name": {"$unknown": 1}, "ticket": ""},
)


@pytest.mark.parametrize("marker", MALFORMED, ids=lambda one: str(one)[:40])
@pytest.mark.parametrize("place", rest_slow(["ticket", "guests", "share", "ok"]))
def test_a_malformed_marker_is_no_answer(marker: Any, place: str) -> None:
    """It is found as such, whatever stands there in the model."""
    with pytest.raises(Malformed):
        Reader(TYPES).reading({**encode(step(None, None, Room(), Enter("ann"))[1]), place: marker}, SHOWN, Dictionary())
    ((claim, _),) = found(lambda shown, _: {**shown, place: marker})
    assert claim == "kernel_answers"


SHOWN = encode(step(None, None, Room(), Enter("ann"))[1])


def test_a_marker_of_everything_and_a_nested_one() -> None:
    """The whole observation may be unknown; markers may stand within bags; a nested bag is an array of the model's."""
    assert found(lambda _shown, _own: {"$unknown": True}) == []
    assert found(lambda shown, _: {**shown, "guests": {"$bag": [{"$unknown": True} for _ in shown["guests"]]}}) == []
    deep: Any = "x"
    for _ in range(5_000):
        deep = {"$bag": [deep]}
    with pytest.raises((Malformed, RecursionError)):
        Reader(TYPES).reading({**SHOWN, "guests": deep}, SHOWN, Dictionary())


class Facts(Own):
    """It tells facts beside what it shows; `change` makes them."""

    def shows(self, shown: Any) -> Any:
        """Change nothing."""
        return shown

    def facts(self) -> Any:
        """Return what `change` makes of the state."""
        return self.change(encode(self.room), self)


@pytest.mark.slow
def test_facts_are_compared() -> None:
    """The state's fields and the conclusion, as far as they are told; markers may stand in them."""
    assert found(lambda _facts, _own: {}, kind=Facts) == []
    assert found(lambda facts, _own: facts, kind=Facts) == []
    assert found(lambda facts, _own: {"inside": {"$bag": facts["inside"][::-1]}}, kind=Facts) == []
    assert found(lambda facts, own: {"conclusion": {"full": len(own.room.inside) == 3}}, kind=Facts) == []
    assert found(lambda facts, own: {"conclusion": {"full": len(own.room.inside) >= 2}}, kind=Facts) == [
        ("kernel_agrees_with_model", "facts.conclusion.full: expected False, shown True")
    ]
    assert found(lambda facts, _own: {"inside": facts["inside"][:1]}, kind=Facts)[0][1].startswith(
        "facts.inside: missing: "
    )
    ((claim, why),) = found(lambda _facts, _own: {"outside": 1}, kind=Facts)
    assert claim == "kernel_answers" and "no field outside; it has: conclusion, inside" in why
    assert found(lambda _facts, _own: [], kind=Facts)[0][0] == "kernel_answers"


class Partly(Own):
    """It tells a state with gaps."""

    def state(self) -> Any:
        """Return the state, one guest unknown."""
        return {"$": "Room", "inside": [{"$unknown": True} for _ in self.room.inside][self.change is LESS :]}


def same(shown: Any, _own: Own) -> Any:
    """Change nothing."""
    return shown


def LESS(shown: Any, _own: Own) -> Any:
    """Change nothing; the state lacks a guest."""
    return shown


@pytest.mark.slow
def test_a_state_with_gaps_is_compared_as_facts() -> None:
    """It is no state for claims, and how many are inside is compared."""
    assert found(same, kind=Partly) == []
    assert found(LESS, kind=Partly)[0][1].startswith("facts.inside: missing: ")


class NoLeaving(Own):
    """A kernel that nobody can leave."""

    def step(self, action: Any) -> Any:
        """Refuse to leave."""
        if action["$"] == "Leave":
            raise Unsupported("there is no exit")
        return super().step(action)


def test_actions_that_a_kernel_cannot_take_are_left_out() -> None:
    """They are counted, the others are judged, and nothing is complete; a fault beside them is found."""
    made = checked(same, kind=NoLeaving)
    assert made.defects == () and not made.covered[0]["complete"]
    ((kind, count, why),) = [(one.kind, one.count, one.why) for one in made.left_out]
    assert (kind, why) == ("Leave", 'the adapter says "there is no exit"') and count >= 12
    assert sum(made.steps.values()) > 20
    assert made.unsupported == {}

    def third(shown: Any, own: Own) -> Any:
        return {**shown, "ok": own.steps < 3 and shown["ok"]}

    assert found(third, kind=NoLeaving)


def test_a_kernel_that_can_take_nothing_answers_nothing() -> None:
    """No step is counted, so the command calls it unsupported."""

    class Nothing(Own):
        def step(self, action: Any) -> Any:
            raise Unsupported("not yet")

    made = checked(same, kind=Nothing)
    assert made.defects == () and not any(made.steps.values())
    assert {one.kind for one in made.left_out} == {"Enter", "Leave"}


def different(said: Any, expected: Any, types: tuple[type, ...] = TYPES, known: Dictionary | None = None) -> list[str]:
    """Return where one observation differs."""
    told = Reader(types).reading(said, expected, known or Dictionary()).told
    return [str(one) for one in differences(normal(expected), normal(told))]


def test_a_tolerance_is_computed_exactly() -> None:
    """Also beside roots, which no fraction equals: the bounds are half open at neither end."""
    root = Surd(Fraction(2), (Fraction(0), Fraction(1)))
    half = decayed(Fraction(1), 1, 2)
    for value, good, bad in ((root, "1.41421356", "1.41421357"), (half, "0.70710678", "0.70710679")):
        types = (type(value),)
        assert different({"$near": good, "within": "1/200000000"}, encode(value), types) == []
        assert different({"$near": bad, "within": "1/200000000"}, encode(value), types) != []
    assert different({"$near": "1/3", "within": 0}, encode(Fraction(1, 3))) == []
    assert different({"$near": 0.1, "within": 0}, encode(Fraction(1, 10))) == []
    assert different({"$near": 0.30000000000000004, "within": 0}, encode(Fraction(3, 10))) != []
    assert different({"$near": 1, "within": 0}, True) != [] and different({"$near": 1, "within": 1}, "1") != []


def test_tokens_in_bags_are_learned_only_where_they_are_sure() -> None:
    """Two entries that differ in the token alone may be either; once it is known, it counts."""
    known, expected = Dictionary(), ["a", "b", "b"]
    bag: Any = {"$bag": [{"$opaque": 2}, {"$opaque": 1}, {"$opaque": 2}]}
    assert different(bag, expected, known=known) == []
    assert different([{"$opaque": 1}, {"$opaque": 2}], ["a", "b"], known=known) == []
    assert different(bag, expected, known=known) == []
    assert different({"$bag": [{"$opaque": 2}, {"$opaque": 1}, {"$opaque": 1}]}, expected, known=known) != []
    assert different({"$set": [{"$opaque": 2}, "a"]}, {"$set": ["a", "b"]}, known=known) == []
    assert different({"$set": [{"$opaque": 2}, "b"]}, {"$set": ["a", "b"]}, known=known) != []


def test_a_token_that_is_known_is_translated_where_an_entry_is_too_much() -> None:
    """Deep in a record that the model does not show: a random token there would make each run a finding of its own."""
    known = Dictionary()
    assert different([{"$opaque": "a1-f0"}, []], ["t", []], known=known) == []
    guest: Any = {"$": "Guest", "name": "ann", "ticket": {"$opaque": "a1-f0"}}
    shown = different(["t", [{"within": guest}]], ["t", []], known=known)
    assert len(shown) == 1 and "ticket='t'" in shown[0] and "a1-f0" not in shown[0]


def test_another_encoding_is_no_record_with_gaps() -> None:
    """A set where the model has a record shows no fields of it, whatever it lacks."""
    assert different({"$set": []}, encode(Guest("ann", "t"))) != []
    assert different({}, encode(Guest("ann", "t"))) == []


def test_a_token_is_no_plain_text() -> None:
    """The token 1 is not the token "1", and a text is never renamed."""
    known = Dictionary()
    assert different([{"$opaque": 1}, {"$opaque": "1"}], ["a", "b"], known=known) == []
    assert different(["1"], ["b"], known=known) == ["[0]: expected 'b', shown '1'"]


@pytest.mark.parametrize(
    ("code", "compare", "agrees"),
    [("E_SCHEMA_TYPE", (), True), ("E_SCHEMA_TYPE", ("codes",), False), ("E_GRATUITOUS_VIOLATION", (), False)],
)
def test_what_stands_beside_a_code_is_free_where_the_code_is(code: str, compare: tuple[Any, ...], agrees: bool) -> None:
    """Whom an error names is the source's where the code is."""
    expected, said = encode(apcm.Error(code, ("P1",))), encode(apcm.Error(code, ("P2",)))
    reading = Reader(apcm.TYPES, compare).reading(said, expected, Dictionary())
    assert reading.agrees is agrees


def test_a_code_that_the_source_names_is_no_other_one() -> None:
    """Nor is what stands beside it free then."""
    expected, said = encode(apcm.Error("E_SCHEMA_TYPE", ("x",))), encode(apcm.Error("E_FALSE_COLLISION", ("y",)))
    told = Reader(apcm.TYPES).reading(said, expected, Dictionary()).told
    assert told == said


_LINK, _TYPE = apcm.Error("E_DIGEST_MISMATCH"), apcm.Error("E_SCHEMA_TYPE", ("artifact",))
_FALSE, _NEEDLESS = apcm.Error("E_FALSE_COLLISION", ("P1", "P2")), apcm.Error("E_GRATUITOUS_VIOLATION", ("P1",))
_OWN = apcm.Error("STALE")


@pytest.mark.parametrize("bag", [False, True])
@pytest.mark.parametrize(
    ("model", "kernel", "wrong"),
    [
        ((_TYPE, _TYPE), (_OWN,), False),  # one fault of two that the text has no code for
        ((_TYPE,), (_OWN, _OWN), False),  # nor are faults counted alike
        ((_LINK, _FALSE), (_OWN,), False),  # what else is wrong is not looked for
        ((_LINK, _NEEDLESS, _FALSE), (_OWN, _FALSE), False),
        ((_LINK, _FALSE), (_OWN, _NEEDLESS), True),  # but what is said must be so
        ((_FALSE, _NEEDLESS), (_NEEDLESS,), False),  # nor is what comes behind the first fault of the text's
        ((_FALSE, _NEEDLESS), (_NEEDLESS, _FALSE), False),  # or which fault comes first
        ((_FALSE, _NEEDLESS), (_FALSE, _FALSE), True),
        ((_FALSE,), (_NEEDLESS,), True),
        ((_LINK,), (), True),
        ((), (_OWN,), True),
        ((_FALSE,), (_OWN,), True),
    ],
)
def test_a_kernel_need_not_look_for_every_fault(
    model: tuple[apcm.Error, ...], kernel: tuple[apcm.Error, ...], wrong: bool, bag: bool
) -> None:
    """So is which codes of the text stand beside one that it does not name; none at all is something else."""
    said: Any = encode(kernel)
    found = different({"$bag": said} if bag else said, encode(model), types=apcm.TYPES)
    assert bool(found) == wrong
    codes: Any = ("codes",)
    asked = Reader(apcm.TYPES, codes).reading(said, encode(model), Dictionary())
    assert asked.agrees == (model == kernel)


@pytest.mark.parametrize("bag", [False, True])
def test_codes_beside_ours_may_stand_in_any_order(bag: bool) -> None:
    """In an array as in a bag, as no section says which fault is looked for first."""
    said: Any = encode((_NEEDLESS, _OWN, _FALSE))
    model = encode((_FALSE, _LINK, _NEEDLESS))
    assert not different({"$bag": said} if bag else said, model, types=apcm.TYPES)


@pytest.mark.parametrize(
    "value",
    [
        1e16,
        5e-07,
        -0.0,
        [0.1, True, 1, None],
        2**70,
        "\ud800",
        "1.5",
        "".join(map(chr, range(1, 0x2100))),
        {"b": 1e300, "a": {}},
    ],
)
def test_a_text_is_what_the_standard_library_writes(value: Any) -> None:
    """Another encoder is faster, but writes floats otherwise and no half of a surrogate pair."""
    assert text(value) == json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
