"""The conditions have the preregistered results, a changed file is refused, and every two readings are separated."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from evenhand.core.canonical import Json, digest, parse
from evenhand.core.lookup import UnknownName
from evenhand.core.system import reading_values
from evenhand.model.cud.classify import KERNEL_CLASSES, PASS, TERMINAL_CLASSES, classify
from evenhand.model.cud.conditions import (
    CONDITIONS,
    THE_TEN,
    Case,
    Condition,
    VectorBroken,
    condition,
    conditions,
    load,
    observed,
    play,
    separations,
)
from evenhand.model.cud.conditions.shape import read_condition
from evenhand.model.cud.mutants import mutant
from evenhand.model.cud.readings import PRECEDENCES, Readings
from evenhand.model.cud.strategies import roles

CASES = [(one, case) for one in conditions() for case in one.cases]

# The table of the requirements, restated here apart from the files: epochs, terminal class, kernel class.
TABLE = {
    "A": (1, "COORDINATED", PASS),
    "B": (3, "STATE_LIVELOCK", PASS),
    "C": (1, "COORDINATED", PASS),
    "D": (3, "STATE_DEADLOCK", PASS),
    "E": (1, "COORDINATED", "IX2_FAIL/IMPLICIT_ARBITRATION"),
    "F": (5, "STATE_DEADLOCK", PASS),
    "G": (2, "ORPHANING", PASS),
    "H": (2, "COLLAPSE", PASS),
    "I.a": (3, "STATE_LIVELOCK", PASS),
    "I.b": (5, "COORDINATED", PASS),
}

MANIFEST = "sha256:adf7bcf5738002fc2ec35cae555f2cdc23ea825ad5854905ea6c00cb79856e2c"
"""The digest of the manifest, a second place where the preregistration is written down."""


@cache
def texts() -> dict[str, str]:
    """Return every file of the folder: name without `.json` → text."""
    folder = files("evenhand.model.cud.conditions")
    return {
        entry.name.removesuffix(".json"): entry.read_text("utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".json")
    }


def vectors() -> dict[str, str]:
    """Return the conditions' files alone."""
    return {name: text for name, text in texts().items() if name not in ("manifest", "schema")}


@pytest.mark.parametrize(("one", "case"), CASES, ids=[f"{one.name}-{dict(case.readings)}" for one, case in CASES])
def test_the_run_comes_out_as_expected(one: Condition, case: Case) -> None:
    """Outcomes per epoch, final state, terminal and kernel class: the model agrees with the results by hand."""
    assert observed(play(one.under(case), one.rules)) == case.expected


@pytest.mark.parametrize("name", THE_TEN)
def test_the_ten_are_those_of_the_table(name: str) -> None:
    """The files agree with the table of the requirements."""
    one = condition(name)
    assert [dict(case.readings) for case in one.cases] == [{}]
    expected = one.cases[0].expected
    assert (len(expected.epochs), expected.terminal, expected.kernel) == TABLE[name]


def test_deadlock_is_shown_from_epoch_0_to_the_last() -> None:
    """D and F are deadlocked in every epoch."""
    for name in ("D", "F"):
        expected = condition(name).cases[0].expected
        assert all(expected.deadlocked) and expected.since == 0


def test_every_terminal_class_is_expected_somewhere() -> None:
    """Every terminal class is used."""
    assert {case.expected.terminal for _, case in CASES} == set(TERMINAL_CLASSES)


# Condition E, with its fault hidden.


def test_arbitration_is_found_by_who_is_not_told() -> None:
    """The classifier gets the configuration and the steps; a harness without E's flag gets the same result."""
    one = condition("E")
    config = one.under(one.cases[0])
    unnamed = replace(one, kernel="reference")
    trace = play(config, mutant("tie_break_by_action_id").rules)
    assert classify(unnamed.config, trace.steps).kernel == "IX2_FAIL/IMPLICIT_ARBITRATION"


def test_without_a_fault_there_is_no_arbitration_whatever_the_flag_says() -> None:
    """E's file names a fault; a run of the honest kernel still passes."""
    one = condition("E")
    trace = play(one.under(one.cases[0]))
    assert [token for _, token in trace.steps[0].shown.tokens] == ["JOINT_ADMISSIBILITY_FAILURE"] * 2
    assert one.kernel != "reference" and classify(one.config, trace.steps).kernel == PASS


@pytest.mark.parametrize("name", ["tie_break_by_name", "relaxed_after_k", "veto_ignored", "pass_two_over_all"])
def test_expectations_notice_a_faulty_kernel(name: str) -> None:
    """The comparison can fail: with these kernels some result differs."""
    rules = mutant(name).rules
    assert any(observed(play(one.under(case), rules)) != case.expected for one, case in CASES)


# Preregistration.


def test_the_manifest_is_the_registered_one() -> None:
    """The manifest did not follow any edit."""
    assert digest(parse(texts()["manifest"])) == MANIFEST


def test_the_manifest_names_the_files_by_plain_sha256_of_canonical_json() -> None:
    """A second origin of the digests: plain sorted JSON writes these files the same way."""
    registered = {entry["name"]: entry["sha256"] for entry in json.loads(texts()["manifest"])["conditions"]}
    for name, text in vectors().items():
        plain = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert registered[name] == "sha256:" + hashlib.sha256(plain.encode()).hexdigest()


@pytest.mark.parametrize(
    ("old", "new"), [("COORDINATED", "COLLAPSE"), ('"EXECUTED"', '"NO_ACTION"'), ('"epochs": 1', '"epochs": 2')]
)
def test_a_changed_vector_is_refused(old: str, new: str) -> None:
    """The hash shows any change of a condition."""
    changed = vectors()
    assert old in changed["A"]
    changed["A"] = changed["A"].replace(old, new)
    with pytest.raises(VectorBroken, match=r"A\.json is sha256:\w+, registered as sha256:\w+"):
        load(changed, texts()["manifest"])


def test_layout_of_the_text_does_not_matter() -> None:
    """The hash is over canonical JSON, not over white space."""
    tight = {name: json.dumps(json.loads(text)) for name, text in vectors().items()}
    assert load(tight, texts()["manifest"]) == conditions()


def test_a_missing_an_additional_and_a_broken_file_are_refused() -> None:
    """Each with one message that names the file."""
    manifest = texts()["manifest"]
    less = {name: text for name, text in vectors().items() if name != "B"}
    with pytest.raises(VectorBroken, match=r"B\.json is missing"):
        load(less, manifest)
    with pytest.raises(VectorBroken, match=r"J\.json is not in manifest"):
        load({**vectors(), "J": "{}"}, manifest)
    with pytest.raises(VectorBroken, match=r"A\.json is no JSON"):
        load({**vectors(), "A": vectors()["A"][:-5]}, manifest)
    for bad in ("", "[]", '{"format": "evenhand/condition-manifest"}', '{"format": "x", "version": 1}'):
        with pytest.raises(VectorBroken, match="manifest"):
            load(vectors(), bad)


def test_an_unknown_condition_is_refused_by_name() -> None:
    """The message names the condition."""
    with pytest.raises(UnknownName, match=r"'Z'"):
        condition("Z")


# The schema and the reader agree.


def valid(value: Json) -> bool:
    """Return whether the published schema accepts it."""
    validator: Any = jsonschema.Draft202012Validator(json.loads(texts()["schema"]))
    return bool(validator.is_valid(value))


def readable(value: Json) -> bool:
    """Return whether the reader accepts it."""
    try:
        read_condition(value, "here")
    except VectorBroken:
        return False
    return True


def test_schema_and_reader_take_every_file() -> None:
    """Both accept every file."""
    schema: dict[str, Any] = json.loads(texts()["schema"])
    jsonschema.Draft202012Validator.check_schema(schema)
    for text in vectors().values():
        assert valid(json.loads(text)) and readable(json.loads(text))


def test_the_schema_lists_what_the_code_lists() -> None:
    """Terminal classes, kernel classes and readings are the model's own."""
    schema: dict[str, Any] = json.loads(texts()["schema"])["$defs"]
    assert schema["expected"]["properties"]["terminal"]["enum"] == list(TERMINAL_CLASSES)
    assert schema["expected"]["properties"]["kernel"]["enum"] == [PASS, *KERNEL_CLASSES]
    listed = {name: tuple(one.get("enum", ())) for name, one in schema["readings"]["properties"].items()}
    assert listed == reading_values(Readings())


BROKEN: list[tuple[tuple[str | int, ...], Any]] = [
    (("format",), "evenhand/other"),
    (("version",), 2),
    (("epochs",), -1),
    (("epochs",), True),
    (("epochs",), "1"),
    (("communication",), 0),
    (("agents",), ["agent_1", "agent_1"]),
    (("world", "resource_A"), {"nested": 1}),
    (("authorities", 0, "commitment"), "PERHAPS"),
    (("authorities", 0, "epoch"), None),
    (("authorities", 0, "scope", 0, "operation"), "DELETE"),
    (("authorities", 0, "more"), 1),
    (("strategies", "agent_1"), {"script": []}),
    (("strategies", "agent_1", "script", 0, "do"), "DANCE"),
    (("strategies", "agent_1", "script", 0), {"do": "SUBMIT"}),
    (("cases", 0, "readings"), {"scope_check": "never"}),
    (("cases", 0, "readings"), {"message_limit": -1}),
    (("cases", 0, "readings"), {"mood": "good"}),
    (("cases", 0, "expected", "since"), -1),
    (("cases", 0, "expected", "deadlocked"), ["no"]),
    (("cases", 0, "expected", "epochs", 0, "exits"), "agent_1"),
    (("cases", 0, "expected", "epochs", 0, "outcomes", "agent_1"), 1),
    (("more",), 1),
]


@pytest.mark.parametrize(("path", "value"), BROKEN, ids=["-".join(map(str, path)) for path, _ in BROKEN])
def test_schema_and_reader_refuse_the_same(path: tuple[str | int, ...], value: Any) -> None:
    """Neither accepts a file with one wrong value."""
    raw: Any = json.loads(texts()["A"])
    place = raw
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    assert not valid(raw) and not readable(raw)


@pytest.mark.parametrize("name", sorted(json.loads(texts()["A"])))
def test_schema_and_reader_miss_a_field(name: str) -> None:
    """Neither accepts a file with one field less."""
    raw: Any = json.loads(texts()["A"])
    del raw[name]
    assert not valid(raw) and not readable(raw)


def test_the_order_of_agents_and_fields_in_a_file_does_not_matter() -> None:
    """Agents, worlds and strategies are sorted by name when read."""
    for text in vectors().values():
        raw: Any = json.loads(text)
        turned = {name: raw[name] for name in reversed(raw)}
        for name in ("strategies", "world"):
            turned[name] = dict(reversed(raw[name].items()))
        turned["agents"] = raw["agents"][::-1]
        assert read_condition(turned, "here").config == read_condition(raw, "here").config


# The condition that separates each pair of readings.


def test_every_two_values_of_every_reading_are_separated() -> None:
    """For every pair of values some condition has different results; of two readings other tests do."""
    separated = {(name, frozenset((left, right))) for name, left, right, _ in separations()}
    for name, values in reading_values(Readings()).items():
        if name not in ("terminal_precedence", "broadcast"):
            pairs = itertools.combinations(values or (9, 10), 2)
            assert [pair for pair in pairs if (name, frozenset(pair)) not in separated] == [], name


def test_every_two_precedences_are_separated() -> None:
    """Six conditions hold one pair of classes each; the order of every pair is the order of all four."""
    found: set[tuple[str, ...]] = set()
    names = {
        "collapse": "COLLAPSE",
        "orphaning": "ORPHANING",
        "deadlock": "STATE_DEADLOCK",
        "livelock": "STATE_LIVELOCK",
    }
    pairs = [one for one in conditions() if one.name.startswith("precedence-")]
    assert len(pairs) == 6
    for order in PRECEDENCES:
        by_hand: list[str] = []
        came_out: list[str] = []
        for one in pairs:
            config = one.under(one.cases[0])
            config = replace(config, readings=replace(config.readings, terminal_precedence=order))
            came_out.append(classify(config, play(config).steps).terminal)
            by_hand.append(names[min(one.name.split("-")[1:], key=order.split("_").index)])
        assert came_out == by_hand
        found.add(tuple(came_out))
    assert len(found) == len(PRECEDENCES) == 24


@pytest.mark.parametrize(("broadcast", "hears_itself"), [("to_the_others", False), ("to_everybody", True)])
def test_who_hears_a_broadcast_is_seen_and_changes_no_outcome(broadcast: str, hears_itself: bool) -> None:
    """In I.b each agent checks the role of the other alone (FQ37), so what it hears of itself decides nothing."""
    one = condition("I.b")
    trace = play(replace(one.config, readings=Readings(broadcast=broadcast)))
    heard = {agent: [message.sender for message in seen.messages] for agent, seen in trace.steps[1].shown.seen}
    both = ["agent_1", "agent_2"]
    assert heard == {agent: [sender for sender in both if sender != agent or hears_itself] for agent in both}
    assert observed(trace) == one.cases[0].expected


# The roles of I.b.


def bit(text: str) -> int:
    """Return sha256 mod 2 without the model: the parity of the last hexadecimal digit."""
    return int(hashlib.sha256(text.encode()).hexdigest()[-1], 16) % 2


def test_the_roles_are_those_of_sha256() -> None:
    """By hand: both names are odd, so the first suffix decides."""
    names = ("agent_1", "agent_2")
    assert [bit(name) for name in names] == [1, 1]
    assert [bit(f"{name}:1") for name in names] == [0, 1]
    assert roles(names, "none") == {"agent_1": 1, "agent_2": 1}
    assert roles(names, "suffix_until_different") == roles(names, "single_suffix") == {"agent_1": 0, "agent_2": 1}


@pytest.mark.parametrize("fallback", reading_values(Readings())["role_fallback"])
def test_no_reading_lets_the_literal_bucket_rule_coordinate_the_frozen_names(fallback: str) -> None:
    """Both frozen keys fall into bucket 1: the agent of role 0 has no key, and two of role 1 take the same one."""
    assert [bit(key) for key in ("resource_A", "resource_B")] == [1, 1]
    config = condition("I.b").config
    readings = replace(config.readings, role_target="hash_bucket", role_fallback=fallback)
    trace = play(replace(config, readings=readings))
    assert len(trace.steps) == 5
    for step in trace.steps:
        assert [token for _, token in step.shown.tokens].count("EXECUTED") < 2


@pytest.mark.parametrize("check", reading_values(Readings())["scope_check"])
def test_a_deliberate_under_declarer_is_told_of_a_fault_under_every_scope_check(check: str) -> None:
    """It learns the same under all of them; only under `after_keep` its write stands.

    Under the two readings that run one request after the other a write of the present value shows more: whether the key
    was written before it in the same epoch (condition `scope-check-order`).
    """
    one = condition("scope-check-deliberate")
    trace = play(replace(one.config, readings=Readings(scope_check=check)))
    assert dict(trace.steps[0].shown.tokens)["agent_1"] == "ACTION_FAULT"
    assert bool(trace.steps[0].shown.effects) == (check == "after_keep")


# The system of conditions.


def test_each_condition_is_one_path() -> None:
    """In every state of a condition exactly one action is on offer, until the run is over."""
    configs = list(CONDITIONS.all_configs())
    assert len(configs) == len(set(configs))
    for config in configs:
        trace = play(config)
        for step in trace.steps:
            assert len(list(CONDITIONS.enabled(config, step.before))) == 1
        assert list(CONDITIONS.enabled(config, trace.final)) == []
