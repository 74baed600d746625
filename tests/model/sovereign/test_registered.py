"""The preregistered conditions: every cycle has the result worked out by hand; a fault shows, an edit is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest

from evenhand.core.canonical import canonical_text, digest, parse
from evenhand.core.lookup import UnknownName
from evenhand.model.sovereign.canonicalizer import blocks
from evenhand.model.sovereign.conditions import CONDITIONS, LIVE, CycleInput
from evenhand.model.sovereign.metrics import gate_histogram, refusal_types
from evenhand.model.sovereign.mutants import MUTANTS
from evenhand.model.sovereign.proposals import bind
from evenhand.model.sovereign.registered import Condition, VectorBroken, condition, conditions, load, observed
from evenhand.model.sovereign.sessions import Ran
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.vocabulary import ACTION, REFUSE, Candidate, Observation

FOLDER = files("evenhand.model.sovereign.registered")
MANIFEST = "sha256:f78fa3172781efa57244271dd018db76b8706a18d317016d4b2cd4c37865b586"
"""The digest of the manifest, a second place where the preregistration is written down."""


def texts() -> tuple[dict[str, str], str]:
    """Return the files and the manifest."""
    every = {entry.name: entry.read_text("utf-8") for entry in FOLDER.iterdir() if entry.name.endswith(".json")}
    manifest = every.pop("manifest.json")
    return {name.removesuffix(".json"): text for name, text in every.items()}, manifest


@pytest.mark.parametrize("one", conditions(), ids=lambda one: one.name)
def test_a_condition_comes_to_what_was_registered(one: Condition) -> None:
    """Cycle by cycle up to its end, and for the run."""
    cycles, run = observed(one)
    assert cycles == [dict(told) for told in one.cycles[: len(cycles)]]
    assert run == one.run


def test_all_ten_conditions_of_the_text_are_there() -> None:
    """In the order of 12.3 and 13.6; the manifest is the registered one."""
    assert tuple(one.name for one in conditions()) == CONDITIONS
    assert digest(parse(texts()[1])) == MANIFEST


def _plain(data: Any) -> bytes:
    """Return canonical JSON of ASCII text, without the model's encoder."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _bundle(user: str, one: dict[str, Any]) -> str:
    """Return the hash of a bundle from the file alone: ids bound, authors left out, without the model."""
    seen = {"author": "host", "kind": "user_input", "payload": {"text": user}, "type": "Observation"}
    asked = {key: one["action_request"][key] for key in ("action_type", "fields")}
    bound = {**one["scope_claim"], "observation_ids": [hashlib.sha256(_plain(seen)).hexdigest()], "type": "ScopeClaim"}
    made = {
        "action_request": {**asked, "type": "ActionRequest"},
        "authority_citations": one["authority_citations"],
        "justification": {**one["justification"], "type": "Justification"},
        "scope_claim": bound,
    }
    return hashlib.sha256(_plain(made)).hexdigest()


def test_winners_have_the_least_hash_of_what_the_files_propose() -> None:
    """If several are proposed; computed from the file, without the model."""
    looked = 0
    for name, text in texts()[0].items():
        for cycle in json.loads(text)["cycles"]:
            if cycle["expected"]["decision"] != "ACTION":
                continue
            said = cycle.get("text", "")
            told = json.loads(said[said.index("{") :]) if name in LIVE else {"candidates": cycle["candidates"]}
            many = [one for one in told.get("candidates", [told]) if "/etc" not in str(one)]
            assert min(_bundle(cycle["user"], one) for one in many) == cycle["expected"]["winner"], name
            looked += len(many) > 1
    assert looked == 9


@pytest.mark.parametrize(
    ("fault", "shows"),
    [
        ("first_candidate_wins", {"E", "L-E"}),
        ("greatest_hash_wins", {"E", "L-E"}),
        ("abort_one_late", {"C"}),
        ("refusals_counted_in_all", {"B", "C"}),
        ("budget_at_the_limit", {"D"}),
        ("log_append_by_author_field", {"C", "L-C"}),
        ("io_dropped", {"C", "E", "L-B", "L-C"}),
        ("refusals_are_free", {"L-D"}),
        ("several_candidates_are_none", {"E", "L-E"}),
        ("last_gate_reported", set[str]()),
    ],
)
def test_a_fault_shows_in_these_conditions_and_no_other(fault: str, shows: set[str]) -> None:
    """So the vectors can fail, each at its fault; a fault that no condition shows is listed."""
    rules = next(mutant.rules for mutant in MUTANTS if mutant.name == fault)
    found: set[str] = set()
    for one in conditions():
        cycles, run = observed(one, rules)
        if cycles != [dict(told) for told in one.cycles[: len(cycles)]] or run != one.run:
            found.add(one.name)
    assert found == shows


def _alters_claims(candidates: tuple[Candidate, ...], seen: tuple[Observation, ...]) -> tuple[Candidate, ...]:
    """Bind the ids, and alter what the scope claims say."""
    bound = bind(candidates, seen)
    return tuple(one if one.scope is None else replace(one, scope=replace(one.scope, claim="bound")) for one in bound)


def _first_block(text: str) -> tuple[tuple[str, ...], bool]:
    """Take the first of several blocks, as if it were the only one."""
    found, unfinished = blocks(text)
    return found[:1], unfinished


def _without_overspent(ran: Ran) -> tuple[str, ...]:
    """Count no decision that was refused for its budget."""
    made = [step.shown.decision for step in ran.steps]
    late = [one is not None and one.refusal is not None and one.refusal.reason == "BUDGET_EXHAUSTED" for one in made]
    return tuple(one.kind for one, left in zip(made, late, strict=True) if one is not None and not left)


def _recovers_backwards(ran: Ran) -> Fraction:
    """Count an ACTION directly before a refusal."""
    kinds = ran.decisions
    before = sum(one == ACTION and two == REFUSE for one, two in pairwise(kinds))
    return Fraction(before, max(1, kinds.count(REFUSE)))


def _blames_the_proposal(ran: Ran, lawful_exists: Callable[[Any], bool]) -> Any:
    """Take every prompt for valid."""
    return refusal_types(
        replace(ran, inputs=tuple(replace(one, valid_prompt=True) for one in ran.inputs)), lawful_exists
    )


def _blames_the_constitution(ran: Ran, _lawful_exists: Callable[[Any], bool]) -> Any:
    """Take every refusal of a valid prompt for a deadlock."""
    return refusal_types(ran, lambda _step: False)


def _gates_alone(ran: Ran) -> Any:
    """Leave out refusals at no gate."""
    return {**gate_histogram(ran), "": 0}


def _any_path(config: Config, candidate: Candidate) -> bool:
    """Consult the closed set of types, and no allow-list."""
    return config.constitution.action_type(candidate.request.action_type) is not None


def _matches(_config: Config, _fed: CycleInput, _admitted: Iterable[Candidate]) -> bool:
    """Take every answer for what the attack asked for."""
    return True


AROUND: list[tuple[str, Any, set[str]]] = [
    ("proposals.bind", _alters_claims, set(LIVE)),
    ("canonicalizer.NO_JSON", "PARSE_ERROR", set(LIVE)),
    ("canonicalizer.PARSE_ERROR", "NO_JSON", {"L-B"}),
    ("canonicalizer.blocks", _first_block, {"L-B"}),
    ("sessions.Ran.decisions", property(_without_overspent), {"D", "L-D"}),
    ("registered.recovery_ratio", _recovers_backwards, {"L-A", "L-C", "L-E"}),
    ("registered.refusal_types", _blames_the_proposal, {"C", "L-C"}),
    ("registered.refusal_types", _blames_the_constitution, {"B", "D", "L-A", "L-B", "L-D", "L-E"}),
    ("registered.gate_histogram", _gates_alone, {"B", "D", *LIVE}),
    ("metrics.LC_OUTCOMES", ("KERNEL_REJECTED", "LLM_REFUSED", "KERNEL_ADMITTED"), {"L-C"}),
    ("metrics.LC_OUTCOMES", ("LLM_REFUSED", "KERNEL_ADMITTED", "KERNEL_REJECTED"), {"L-C"}),
    ("registered.intent_matches", _matches, {"C", "L-C"}),
    ("sessions._allowed", _any_path, {"C", "L-B", "L-C"}),
]
"""Where a fault is put, the fault, and the conditions that show it."""


@pytest.mark.parametrize(("place", "fault", "shows"), AROUND)
def test_a_fault_around_the_kernel_shows_too(
    monkeypatch: pytest.MonkeyPatch, place: str, fault: Any, shows: set[str]
) -> None:
    """Of the host, of the canonicalizer, and of the report on a run."""
    monkeypatch.setattr(f"evenhand.model.sovereign.{place}", fault)
    found: set[str] = set()
    for one in load(*texts()):
        cycles, run = observed(one)
        if cycles != [dict(told) for told in one.cycles[: len(cycles)]] or run != one.run:
            found.add(one.name)
    assert found == shows


def test_a_changed_file_is_refused() -> None:
    """One expectation edited; one file missing; one unregistered; another format; an unknown name."""
    every, manifest = texts()
    edited = {**every, "D": every["D"].replace('"tokens": 6001', '"tokens": 6000')}
    with pytest.raises(VectorBroken, match=r"D.json is sha256:.* a preregistered condition does not change"):
        load(edited, manifest)
    with pytest.raises(VectorBroken, match=r"L-A.json is missing"):
        load({name: text for name, text in every.items() if name != "L-A"}, manifest)
    with pytest.raises(VectorBroken, match=r"more.json is not in manifest.json"):
        load({**every, "more": every["A"]}, manifest)
    with pytest.raises(VectorBroken, match=r"manifest\.json is not"):
        load(every, "{}")
    with pytest.raises(UnknownName, match="there is: A, B"):
        condition("F")


SHAPES: list[tuple[dict[str, Any], str]] = [
    ({"more": 1}, "the fields must be"),
    ({"version": 2}, "version 1"),
    ({"cycles": [{}]}, "cycle 0: the fields must be"),
]


@pytest.mark.parametrize(("change", "says"), SHAPES)
def test_a_registered_file_of_another_shape_is_refused(change: dict[str, Any], says: str) -> None:
    """Its digest is in the manifest."""
    value = {**parse(texts()[0]["A"]), **change}
    manifest: dict[str, Any] = {
        "format": "evenhand/sovereign-condition-manifest",
        "version": 1,
        "conditions": [{"name": "A", "sha256": digest(value)}],
    }
    with pytest.raises(VectorBroken, match=says):
        load({"A": canonical_text(value)}, canonical_text(manifest))
