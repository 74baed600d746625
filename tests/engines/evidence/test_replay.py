"""Replay: it passes in one case only, and names every other case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs, to_builtins

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import digest
from evenhand.core.codec import encode
from evenhand.core.plan import Expectation
from evenhand.core.system import Mutant
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Status
from evenhand.evidence.judge import Judgement, judge
from evenhand.evidence.record import BadRecord, MutantVariant, Record, encode_run
from evenhand.evidence.replay import outcome_digest, record_run, replay_record
from tests.engines.evidence.latch import LATCHES, RUNS, TAKE, TWO_INSIDE, find_claim, mutant, record
from tests.front.plugins.toylatch import LATCH, Act

KINDS = sorted(RUNS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_record_replays(kind: str) -> None:
    """Against the mutant and not the reference; or against the reference, as registered."""
    done = replay_record(record(kind), LATCHES)
    assert done.ok
    assert done.refuted
    assert done.same_shown
    assert done.evidence == RUNS[kind][2]
    assert done.reference_refuted is (RUNS[kind][0] == "reference")
    assert ("as registered" in done.message) is (RUNS[kind][0] == "reference")


def test_a_witness_replays() -> None:
    """A reachability claim is recorded as witnessed."""
    claim = find_claim("taken")
    made = record_run(LATCHES, LATCH, claim, Scenario(TWO_INSIDE.config, TWO_INSIDE.start, (TAKE,)), engine="explore")
    assert made.outcome == "WITNESSED"
    done = replay_record(made, LATCHES)
    assert done.ok
    assert "witnesses taken" in done.message


def test_nothing_is_recorded_that_refutes_nothing() -> None:
    """On the reference the second agent is refused."""
    with pytest.raises(ValueError, match="nothing to record about one_inside in latch"):
        record_run(LATCHES, LATCH, find_claim("one_inside"), TWO_INSIDE, engine="explore")


def test_nothing_is_recorded_that_could_not_be_found_again() -> None:
    """A variant without a name in the protocol; a class missing in `types`."""
    claim = find_claim("one_inside")
    with pytest.raises(ValueError, match="unknown mutant 'mine'"):
        record_run(LATCHES, replace(mutant("always_free"), variant="mine"), claim, TWO_INSIDE, engine="explore")
    with pytest.raises(ValueError, match="unknown dataclass 'Act'"):
        forgetful = replace(mutant("always_free"), types=tuple(kind for kind in LATCH.types if kind is not Act))
        record_run(LATCHES, forgetful, claim, TWO_INSIDE, engine="explore")


def test_a_changed_digest_fails_loudly() -> None:
    """The run still refutes, but with different observations."""
    done = replay_record(structs.replace(record(), shown=digest("something else")), LATCHES)
    assert not done.ok
    assert done.refuted
    assert not done.same_shown
    assert "shows something else in always_free" in done.message
    assert "Record it again: evenhand explore latch" in done.message


def test_a_model_that_shows_something_else_fails_loudly() -> None:
    """The same run and refutation, with another observation."""

    def louder(rules: Any, config: Any, state: Any, action: Any) -> Any:
        after, shown = LATCH.step(rules, config, state, action)
        return after, f"{shown}!"

    changed = _with_system(replace(LATCH, step=louder))
    done = replay_record(record(), changed)
    assert (done.ok, done.refuted, done.same_shown) == (False, True, False)


def test_a_mutant_that_was_mended_is_reported() -> None:
    """The record then refutes nothing."""
    mended = tuple(replace(one, rules=LATCH.rules) for one in LATCHES.model.mutants)
    done = replay_record(record(), replace(LATCHES, model=replace(LATCHES.model, mutants=mended)))
    assert (done.ok, done.refuted) == (False, False)
    assert "no longer refutes one_inside in always_free" in done.message


def test_a_reference_that_is_refuted_too_is_reported() -> None:
    """The fault has reached the reference, the worst possible result of a fixture."""
    faulty = next(one.rules for one in LATCHES.model.mutants if one.name == "always_free")
    done = replay_record(record(), _with_system(replace(LATCH, rules=faulty)))
    assert (done.ok, done.refuted, done.reference_refuted) == (False, True, True)
    assert "refutes one_inside in the reference too" in done.message


@pytest.mark.parametrize("status", [Status.HOLDS, Status.UNDECIDED])
def test_a_refuted_reference_must_be_registered(status: Status) -> None:
    """Otherwise the record is a finding, not a fixture."""
    surprised = replace(LATCHES, expected=(Expectation("somebody_enters", status),))
    done = replay_record(record("lasso"), surprised)
    assert not done.ok
    assert f"somebody_enters is registered as {status.value}" in done.message


def test_what_is_registered_for_other_readings_does_not_count() -> None:
    """Expectations name readings that differ from the default."""
    usual = Expectation("somebody_enters", Status.REFUTED, readings={})
    assert replay_record(record("lasso"), replace(LATCHES, expected=(usual,))).ok
    other = Expectation("somebody_enters", Status.REFUTED, readings={"again": "granted"})
    assert not replay_record(record("lasso"), replace(LATCHES, expected=(other,))).ok
    granted = LATCH.under(again="granted")
    variant, claim, lasso = RUNS["lasso"]
    assert variant == "reference"
    config = next(iter(granted.all_configs()))
    made = record_run(LATCHES, granted, claim, replace(lasso, config=config), engine="explore")
    assert made.readings == {"again": "granted"}
    assert replay_record(made, replace(LATCHES, expected=(other,))).ok


def test_a_reference_that_nobody_can_judge_is_no_green(monkeypatch: pytest.MonkeyPatch) -> None:
    """An undecided reference does not count as not refuted."""

    def unsure(system: Any, claim: Any, evidence: Any) -> Judgement:
        known = judge(system, claim, evidence)
        return known if known.refutes else Judgement(False, "too many states", decided=False)

    monkeypatch.setattr("evenhand.evidence.replay.judge", unsure)
    done = replay_record(record(), LATCHES)
    assert (done.ok, done.refuted, done.reference_refuted) == (False, True, False)
    assert "in the reference is not decided: too many states" in done.message


def test_a_claim_of_another_kind_fails_loudly() -> None:
    """It was a reachability claim when it was recorded."""
    done = replay_record(structs.replace(record(), outcome="WITNESSED"), LATCHES)
    assert (done.ok, done.refuted, done.same_shown) == (False, True, False)


STALE: dict[str, tuple[Callable[[Record], Record], Callable[[Bundle], Bundle], str]] = {
    "system": (lambda r: structs.replace(r, system="door"), lambda b: b, "unknown system 'door'; there is: latch"),
    "scope": (lambda r: structs.replace(r, scope={"doors": 1}), lambda b: b, "unknown scope field 'doors'"),
    "reading": (lambda r: structs.replace(r, readings={"agian": "x"}), lambda b: b, "unknown reading 'agian'"),
    "value": (lambda r: structs.replace(r, readings={"again": "x"}), lambda b: b, "unknown value of reading again"),
    "mutant": (lambda r: structs.replace(r, variant=MutantVariant("gone")), lambda b: b, "unknown mutant 'gone'"),
    "claim": (
        lambda r: structs.replace(r, claim=structs.replace(r.claim, name="gone")),
        lambda b: b,
        "'gone'; there is: ",
    ),
    "claim version": (
        lambda r: r,
        lambda b: replace(b, claims=tuple(replace(claim, version=2) for claim in b.claims)),
        "it is about version 1 of one_inside, which is of version 2 now",
    ),
    "class": (
        lambda r: structs.replace(r, run=structs.replace(r.run, actions=[{"$": "Popen", "args": "x"}])),
        lambda b: b,
        "unknown dataclass 'Popen'",
    ),
    "field": (
        lambda r: structs.replace(r, run=structs.replace(r.run, actions=[{"$": "Act", "verb": "take"}])),
        lambda b: b,
        "Act lacks agent",
    ),
    "type": (
        lambda r: structs.replace(r, run=structs.replace(r.run, start={"$": "State", "inside": ["a"]})),
        lambda b: b,
        "$.inside",
    ),
}


@pytest.mark.parametrize("name", sorted(STALE))
def test_what_the_model_does_not_know_is_named(name: str) -> None:
    """One message: culprit, cause, next step."""
    change, of_bundle, cause = STALE[name]
    with pytest.raises(BadRecord) as caught:
        replay_record(change(record()), of_bundle(LATCHES), origin="f.json")
    assert cause in caught.value.cause
    assert caught.value.culprit == "f.json"
    assert "evenhand explore latch" in caught.value.next_step


def test_an_unknown_protocol_is_named() -> None:
    """The registry has no latch of this folder."""
    with pytest.raises(BadRecord, match=r"f\.json: unknown protocol 'latch'; there is: "):
        replay_record(record(), origin="f.json")


def test_a_forged_start_refutes_nothing() -> None:
    """A record with a valid seal and a start that the model does not have."""
    forged = encode_run(replace(TWO_INSIDE, start=replace(TWO_INSIDE.start, inside=(0, 1)), actions=()))
    done = replay_record(structs.replace(record(), run=forged), LATCHES)
    assert (done.ok, done.refuted) == (False, False)
    assert "initial state" in done.message


def test_the_digest_looks_at_every_step_and_at_the_outcome() -> None:
    """Harmless edits of the model's source do not change it."""
    system, run = mutant("always_free"), TWO_INSIDE
    usual = outcome_digest(system, run, "REFUTED")
    assert usual == digest({"outcome": "REFUTED", "runs": [["taken", "taken"]]})
    assert usual != outcome_digest(LATCH, run, "REFUTED")
    assert usual != outcome_digest(system, run, "WITNESSED")
    assert usual != outcome_digest(system, replace(run, actions=(*run.actions, TAKE)), "REFUTED")
    lasso, pair = RUNS["lasso"][2], RUNS["pair"][2]
    assert outcome_digest(LATCH, lasso, "REFUTED") == digest({"outcome": "REFUTED", "runs": [["left"]]})
    shown = [["taken"], ["taken", "refused"]]
    assert outcome_digest(LATCH, pair, "REFUTED") == digest({"outcome": "REFUTED", "runs": shown})


def test_the_record_holds_what_codec_writes() -> None:
    """No part of the run is described in words."""
    assert to_builtins(record().run)["actions"] == encode(TWO_INSIDE.actions)


def _with_system(system: Any) -> Bundle:
    mutants: tuple[Mutant[Any], ...] = LATCHES.model.mutants
    return replace(LATCHES, model=replace(LATCHES.model, systems={"latch": system}, mutants=mutants))
