"""The preregistered conditions: the observations of every step, worked out by hand; and telemetry as JSON Lines."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest

from evenhand.core.canonical import parse
from evenhand.model.apcm.conditions import Condition, VectorBroken, conditions, load, observed, play
from evenhand.model.apcm.mutants import MUTANTS
from evenhand.model.apcm.telemetry import json_lines, run_record, step_records
from evenhand.model.apcm.vocabulary import ASB, BYPASS, Entry, Situation

FOLDER = files("evenhand.model.apcm.conditions")

FIELDS_OF_A_STEP = (
    "step",
    "feasible_actions_pre_mask",
    "apcm_digest",
    "AV",
    "RP",
    "conflict_attribution",
    "conflict_resolution_mode",
    "compile_ok",
    "compile_error_code",
    "forbidden_actions",
    "nontrivial_forbidden_count",
    "gridlock",
    "halt",
    "revision_event",
    "selected_action",
    "selected_action_violates",
)
"""Section 9.1."""


def texts() -> tuple[dict[str, str], str]:
    """Return the files and the manifest."""
    every = {entry.name: entry.read_text("utf-8") for entry in FOLDER.iterdir() if entry.name.endswith(".json")}
    manifest = every.pop("manifest.json")
    return {name.removesuffix(".json"): text for name, text in every.items()}, manifest


@pytest.mark.parametrize("one", conditions(), ids=lambda one: one.name)
def test_a_condition_shows_what_was_registered(one: Condition) -> None:
    """Step by step, and for the run."""
    steps, run = observed(one)
    assert [dict(step) for step in steps] == [dict(step) for step in one.steps]
    assert run == one.run


def test_all_four_conditions_of_the_text_are_there() -> None:
    """ASB, MVRA, SCRAMBLE and BYPASS."""
    assert {one.config.condition for one in conditions()} == {"ASB_NULL", "MVRA", "SCRAMBLE", "BYPASS"}


@pytest.mark.parametrize(
    "name", ["bypass_keeps_the_mask", "scramble_does_nothing", "necessity_dropped", "rule_1_dropped"]
)
def test_a_fault_shows_in_some_condition(name: str) -> None:
    """So the vectors can fail."""
    rules = next(mutant.rules for mutant in MUTANTS if mutant.name == name)
    assert any([dict(s) for s in observed(one, rules)[0]] != [dict(s) for s in one.steps] for one in conditions())


def test_a_changed_file_is_refused() -> None:
    """One expectation edited; one file missing; one unregistered; another format."""
    every, manifest = texts()
    edited = {**every, "mvra": every["mvra"].replace('"halt": false', '"halt": true', 1)}
    with pytest.raises(VectorBroken, match=r"mvra.json is sha256:.* a preregistered condition does not change"):
        load(edited, manifest)
    with pytest.raises(VectorBroken, match=r"bypass.json is missing"):
        load({name: text for name, text in every.items() if name != "bypass"}, manifest)
    with pytest.raises(VectorBroken, match=r"more.json is not in manifest.json"):
        load({**every, "more": every["mvra"]}, manifest)
    with pytest.raises(VectorBroken, match=r"manifest.json is not"):
        load(every, "{}")
    with pytest.raises(VectorBroken, match=r"mvra.json is no JSON"):
        load({**every, "mvra": "{"}, manifest)


def test_bypass_equals_asb_on_the_registered_environment() -> None:
    """For both generators the permitted and executed actions are the baseline's."""
    by_name = {one.name: one.config for one in conditions()}
    baseline = [(s.shown.permitted, s.shown.selected) for s in play(by_name["asb-null"])]
    for name in ("bypass", "bypass-lazy"):
        assert [(s.shown.permitted, s.shown.selected) for s in play(by_name[name])] == baseline


def test_telemetry_is_json_lines_and_complete() -> None:
    """One line per step with all fields of 9.1, and one for the run with those of 9.2."""
    one = next(one for one in conditions() if one.name == "mvra")
    records = tuple(step_records(play(one.config)))
    lines = json_lines((*records, run_record(one.config, records))).splitlines()
    assert [parse(line) for line in lines[:-1]] == list(records) and len(records) == 4
    for field in FIELDS_OF_A_STEP:
        assert field in json.loads(lines[0])
    run = json.loads(lines[-1])
    assert run["prevented_gratuitous_authorizations"] == 0 and run["alternations_under_maintain"] == 0


def test_what_was_published_is_counted_and_digested() -> None:
    """9.1: the feasible actions, and the APCM of those alone."""
    one = next(one for one in conditions() if one.name == "mvra").config
    first, *rest = one.situations

    def recorded(situation: Situation) -> tuple[Any, Any]:
        made = next(step_records(play(replace(one, situations=(situation, *rest)))))
        return made["feasible_actions_pre_mask"], made["apcm_digest"]

    feasible, apcm = recorded(first)
    assert feasible["count"] == len(first.feasible) > 1
    name, _ = first.apcm[0]
    assert recorded(replace(first, apcm=((name, Entry(frozenset(("P3",)))), *first.apcm[1:])))[1] != apcm
    fewer = replace(first, feasible=first.feasible[1:])
    less, other = recorded(fewer)
    assert less["count"] == feasible["count"] - 1 and less["digest"] != feasible["digest"] and other != apcm
    gone = first.feasible[0]
    assert recorded(replace(fewer, apcm=tuple(entry for entry in first.apcm if entry[0] != gone))) == (less, other)


def test_oscillation_is_counted() -> None:
    """Fields that come back after others: Sophie's two choices in turn."""
    fields: list[dict[str, Any]] = [
        {"AV": [p], "RP": [], "conflict_attribution": [["P1", "P2"]]} for p in ("P1", "P2", "P1", "P1", "P2")
    ]
    base: dict[str, Any] = dict.fromkeys(("gridlock", "halt", "revision_event"), False)
    base |= {"compile_ok": True, "compile_errors": [], "selected_action": None, "conflict_resolution_mode": "REVISE"}
    one = next(one for one in conditions() if one.name == "mvra")
    assert run_record(one.config, [{**base, **made} for made in fields])["oscillations"] == 1


def test_a_selector_that_leaves_a_choice_cannot_be_played() -> None:
    """The error says so."""
    one = next(one for one in conditions() if one.config.condition == ASB)
    with pytest.raises(ValueError, match="selector 'any' leaves a choice"):
        play(replace(one.config, selector="any"))


def test_the_same_bytes_under_any_hash_seed() -> None:
    """Telemetry of every condition, in two processes with different hash seeds."""
    code = (
        "from evenhand.model.apcm.conditions import conditions, play\n"
        "from evenhand.model.apcm.telemetry import json_lines, step_records\n"
        "print(''.join(json_lines(step_records(play(one.config))) for one in conditions()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1 and BYPASS.encode() in next(iter(outputs))
