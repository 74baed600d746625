"""The kind of a difference: its place and the two values, without names and numbers."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from evenhand.conform.adapters.wire import Fault, text
from evenhand.conform.checking.comparing import (
    Difference,
    Names,
    differences,
    failure,
    in_words,
    words_of,
)
from evenhand.core.atoms import Atom, atom
from evenhand.core.canonical import Json
from evenhand.core.codec import encode
from evenhand.core.registry import find
from evenhand.model.cud.vocabulary import Effect


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ('"OwnProposal"', '"InsufficientCredit"', False),
        ('"agent_1 is late"', '"agent_2 is late"', True),
        ('"wrong_key"', '"late"', False),
        ("3", "4", True),
        ('{"$":"Event","kind":"Burn"}', '{"$":"Event","kind":"Staked"}', False),
    ],
    ids=str,
)
def test_the_kind_of_a_difference_is_taken_from_any_spelling(expected: str, got: str, same: bool) -> None:
    """Values of the vocabulary make another kind, names and numbers do not."""
    names = Names({"agents": ["agent_1", "agent_2"]})
    base = names.kinds([Difference("reason", '"x"', got)])
    assert (names.kinds([Difference("reason", '"x"', expected)]) == base) == same


def test_a_name_inside_a_longer_word_is_none() -> None:
    """Whatever its length."""
    (kind,) = Names(["low"]).kinds([Difference("gate", '"allowlist"', '"low"')])
    assert kind == "gate: allowlist / ·"


def test_a_text_that_an_action_brings_is_no_word_of_the_protocol() -> None:
    """Sentences that are lost are one kind, whatever they say; the protocol's own words make others."""
    words = words_of(find("sovereign").model.systems["agent"].types)
    assert {"REFUSE", "Notify", "BUDGET_EXHAUSTED"} <= words and "because" not in words

    def lost(said: str, config: Any = None) -> frozenset[str]:
        action = {"$": "Say", "text": said, "kind": "Notify", "mood": {"$enum": "Mood", "name": "merry"}}
        return Names(config, [action], words).kinds(
            [Difference("effects[]", json.dumps({**action, "done": "gone"}), None)]
        )

    assert lost("tea is ready") == lost("so be it") == {"effects[]: Say Notify merry gone / nothing"}
    assert lost("REFUSE") != lost("so be it")


@pytest.mark.parametrize(("one", "other"), [(0, None), ("", True), ("free", 1)], ids=str)
def test_a_write_that_is_lost_is_one_kind_whatever_was_written(one: Any, other: Any) -> None:
    """The sort of a value of the world is none of the protocol's words, where a record is missing or too much."""

    def lost(value: Any) -> frozenset[str]:
        return Names(["a"]).kinds(
            [Difference("effects[]", text(encode(Effect("a", Atom("str", "x"), cast("Atom", atom(value))))), None)]
        )

    assert lost(one) == lost(other) == {"effects[]: Effect Atom / nothing"}


@pytest.mark.parametrize("shown", [1, "taken", None], ids=str)
def test_another_value_of_the_world_is_one_kind(shown: Any) -> None:
    """Whether its sort differs or its text."""
    world = [["a", encode(atom("free"))]], [["a", encode(atom(shown))]]
    assert Names(["a"]).kinds(differences(*world, "world")) == {"world[#][#]: · / ·"}


def test_a_text_of_signs_alone_is_no_word_where_an_action_brings_it() -> None:
    """It is one only as a whole: within a sentence it is no name."""
    names = Names([], [{"$": "Say", "text": "{}"}])
    assert names.kinds([Difference("said", '"{}"', None)]) == {"said: · / nothing"}
    assert names.kinds([Difference("said", '"so {}"', None)]) == {"said: so {} / nothing"}


def test_a_record_of_an_action_within_another_is_no_word() -> None:
    """A line that is lost is one kind, whatever was asked; what the line says of it makes another."""

    def lost(kind: str, outcome: str, *actions: Any) -> frozenset[str]:
        line = {"$": "Line", "of": {"$": "Ask", "kind": kind}, "outcome": outcome}
        return Names([], actions).kinds([Difference("log[]", json.dumps(line), None)])

    ask = {"$": "Epoch", "asks": [{"$": "Ask", "kind": "READ"}]}
    assert lost("READ", "DONE", ask) == lost("WRITE", "DONE", ask) == {"log[]: Line Ask DONE / nothing"}
    assert lost("READ", "DONE", ask) != lost("READ", "REFUSED", ask)
    assert lost("WRITE", "DONE") == {"log[]: Line Ask WRITE DONE / nothing"}


def test_the_same_values_in_another_order_are_one_kind() -> None:
    """Whatever they are."""
    names = Names({})
    swapped = [Difference("log[0]", '"a"', '"b"'), Difference("log[1]", '"b"', '"a"')]
    assert names.kinds(swapped) == {"log[#]: another order"}


def test_a_number_is_more_or_less_than_another_in_any_spelling() -> None:
    """A whole one than a fraction."""
    half, bad = {"$fraction": "1/2"}, {"$fraction": "1/0"}
    assert kinds({"paid": 1}, {"paid": half}) == {"paid: less"} and kinds({"paid": half}, {"paid": 1}) == {"paid: more"}
    assert kinds({"paid": 1}, {"paid": bad}) == {"paid: · / a record"} and kinds([1], [True]) == {"[#]: · / true"}


def kinds(expected: Any, got: Any, config: Any = ()) -> frozenset[str]:
    """The kinds of the differences of two values."""
    return Names(list(config)).kinds(differences(expected, got))


def test_a_text_of_an_action_is_no_word_of_a_kind_whatever_its_characters() -> None:
    """Else each title of another length is another finding."""
    told = [Names({}, [{"title": title}]).kinds(differences([[title]], [[]])) for title in ("plain", "\U0001f600" * 3)]
    assert told == [{"[#][]: · / nothing"}] * 2
    assert Names({}, [{"title": "-"}]).without("re-use") == "re-use"


def event(kind: str, who: str, amount: int, why: str = "") -> Any:
    """A record of a log."""
    return {"$": "Event", "kind": kind, "who": who, "amount": amount, "why": why}


def test_a_fault_in_an_entry_is_the_same_difference_where_another_fault_drops_one() -> None:
    """The paid amount is wrong, and elsewhere a burn is missing: both are told where they meet."""
    paid, burnt = event("paid", "ann", 5), event("burnt", "bob", 7, "late")
    wrong, lacks = kinds([paid, burnt], [event("paid", "ann", 6), burnt]), kinds([paid, burnt], [paid])
    assert wrong == {"[#].amount: more"} and lacks == {"[]: Event burnt bob late / nothing"}
    assert kinds([paid, burnt], [event("paid", "ann", 6)]) == wrong | lacks
    assert kinds([burnt], [burnt, burnt]) == {"[]: nothing / Event burnt bob late"}
    assert kinds([["a", 1, 2], ["b", 1]], [["a", 1, 3]]) == {"[#][#]: more", "[]: b / nothing"}


def test_entries_of_other_sorts_are_not_taken_for_each_other() -> None:
    """Few of the fields agree, or two words are others, or the class is another one."""
    refused, burnt = (
        event(kind, "ann", 0, why) | {"of": 1, "to": 2} for kind, why in (("refused", "late"), ("burnt", "won"))
    )
    assert kinds([refused], [burnt, burnt]) == {
        "[]: Event refused ann late / nothing",
        "[]: nothing / Event burnt ann won",
    }
    one, other = event("paid", "ann", 5, "won"), event("burnt", "bob", 7, "late")
    assert kinds([one], [other, other]) == {"[]: Event paid ann won / nothing", "[]: nothing / Event burnt bob late"}
    assert kinds([one], [one | {"$": "Note"}] * 2) == {
        "[]: Event paid ann won / nothing",
        "[]: nothing / Note paid ann won",
    }


def test_the_sort_of_an_entry_counts_and_not_what_is_empty_or_true_in_it() -> None:
    """Nor a text of one letter that the configuration lists."""
    notes: list[Any] = [
        {"$": "Note", "text": text, "open": flag, "to": None} for text, flag in (("a", True), ("", False))
    ]
    assert {kinds([], [note], ["a"]) for note in notes} == {frozenset({"[]: nothing / Note"})}
    assert kinds({"open": True}, {"open": False}) == {"open: true / false"}
    assert kinds([], [""]) == {'[]: nothing / ""'}


def test_a_place_is_one_kind_however_many_digits_it_has() -> None:
    """The ninth entry and the tenth."""
    entries = [0] * 12
    assert kinds(entries, [*entries[:9], 1, *entries[10:]]) == kinds(entries, [*entries[:10], 1, 0]) == {"[#]: more"}


def test_letters_are_names_where_they_stand_alone() -> None:
    """Within words they are no names."""
    assert kinds({"why": "a"}, {"why": "late"}, ["a"]) == {"why: · / late"}


def test_what_an_error_quotes_is_data() -> None:
    """The same error about other words is the same failure; in another line of the kernel it may be as well."""
    said = [f'SyntaxError: near "{word}": no such word (kernel.py, line 7)' for word in ("tea", "so'")]
    kinds = {failure(Fault.RAISED, Names({}).without(one)) for one in said}
    assert kinds == {"raised: SyntaxError: near ·: no such word (kernel.py, line #)"}
    assert len({failure(Fault.ILLEGAL, one) for one in said}) == 2


def test_a_difference_is_told_by_the_names_and_in_the_words_of_the_model() -> None:
    """Named values by name, records without class tags and empty fields; zero is not empty.  Kinds keep the path."""
    expected: Json = {"$": "Shown", "world": [["a", encode(Atom("str", "free"))], ["b", encode(Atom("int", "0"))]]}
    got: Json = {"$": "Shown", "world": [["a", encode(Atom("str", "free"))], ["b", encode(Atom("str", "taken"))]]}
    (one,) = differences(expected, got)
    assert (one.path, str(one)) == ("world[1][1]", "world[b]: expected 0, shown 'taken'")
    extra: Json = {"$": "Burn", "amount": 0, "by": "a1", "why": "", "late": False}
    (one,) = differences({"$": "Shown", "burns": []}, {"$": "Shown", "burns": [extra]})
    assert (one.path, str(one)) == ("burns[]", "burns: not expected: Burn(amount=0, by='a1')")
    (one,) = differences({"$": "Shown", "burns": [extra]}, {"$": "Shown", "burns": []})
    assert str(one) == "burns: missing: Burn(amount=0, by='a1')"
    assert [str(one) for one in differences([["b", 1]], [["b", 2]], "facts")] == ["facts[b]: expected 1, shown 2"]
    assert in_words([{"$fraction": "1/3"}, {"$enum": "Colour", "name": "RED"}, {"$unknown": True}, {"of": None}]) == (
        "[1/3, RED, (not told), {of: None}]"
    )


def test_what_differs_is_never_told_in_the_same_words() -> None:
    """A text in place of the atom of that text; and of what is no value of a model no part is left out."""
    assert [str(one) for one in differences("a", encode(Atom("str", "a")), "id")] == [
        'id: expected "a", shown {"$":"Atom","kind":"str","text":"a"}'
    ]
    assert in_words({"name": "ann", "age": 1}) == "{name: 'ann', age: 1}"
    assert in_words({"$int": "1", "more": "'"}) == """{$int: '1', more: "'"}"""
