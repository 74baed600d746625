"""The kill matrix: statuses, idle claims and engines, mutants made by rule, and expectations that fail."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from evenhand.core.bundle import Bundle
from evenhand.core.property import Always
from evenhand.core.registry import find
from evenhand.core.system import UnknownName
from evenhand.jobs.pool import Ran
from evenhand.jobs.proving import theorem_names
from evenhand.studies.mutants import Hunt, KillMatrix, kill_matrix
from evenhand.variants.automatic import automatic_names, faults, mutated, watched
from tests.front.conftest import Command

MADE = 8
"""Mutants made by rule, of the 21 there are."""


@cache
def _matrix() -> KillMatrix:
    return kill_matrix(find("latch"), automatic=MADE, hunt=Hunt(jobs=2))


@pytest.fixture
def matrix(latch: None) -> KillMatrix:
    """Return the matrix of all mutants of the latch, run once."""
    return _matrix()


def test_every_mutant_has_its_status(matrix: KillMatrix) -> None:
    """One killed, one equivalent, one open gap, as registered."""
    assert {row.mutant: row.status for row in matrix.rows} == {
        "always_free": "killed",
        "slow_leave": "equivalent",
        "sticky": "open_gap",
    }
    assert matrix.exit_code == 0
    assert all(row.as_expected for row in matrix.rows)


def test_kills_name_claim_engine_and_length(matrix: KillMatrix) -> None:
    """Two agents take the latch: two steps. The claim that is false on the reference kills nothing."""
    kills = [(kill.claim, kill.engine, kill.length) for kill in matrix.rows[0].kills]
    assert kills == [
        ("one_inside", "explore", 2),
        ("taken_when_free", "explore", 2),
        ("one_inside", "fuzz", 2),
        ("taken_when_free", "fuzz", 2),
    ]
    assert matrix.idle_claims == ("taken", "somebody_enters")
    assert matrix.idle_engines == ()


def test_mutants_made_by_rule_are_reported_unfiltered(matrix: KillMatrix) -> None:
    """Each of them is listed, and a latch that is always free is killed however it was made."""
    made = matrix.automatic
    assert made.made == len(automatic_names(find("latch"), MADE, 0)) == MADE
    assert len(made.killed) + len(made.equivalent) + len(made.surviving) + len(made.invalid) == made.made
    assert made.unfinished == ()
    assert "latch: auto:free:drop_not_1" in made.killed
    assert any("auto:left" in name for name in made.surviving), "no claim says that one can leave"


def bundle_with(monkeypatch: pytest.MonkeyPatch, **expected: Any) -> Bundle:
    """Return the latch with one mutant registered differently."""
    bundle = find("latch")
    mutants = tuple(replace(m, expected=expected.get(m.name, m.expected)) for m in bundle.model.mutants)
    changed = replace(bundle, model=replace(bundle.model, mutants=mutants))
    return registered(monkeypatch, changed)


def registered(monkeypatch: pytest.MonkeyPatch, bundle: Bundle) -> Bundle:
    """Let the child processes find this bundle."""

    def instead(_name: str) -> Bundle:
        return bundle

    monkeypatch.setattr("evenhand.jobs.pool.find", instead)
    return bundle


@pytest.mark.parametrize(
    ("mutant", "expected", "status"),
    [("sticky", "killed", "survivor"), ("always_free", "equivalent", "killed"), ("slow_leave", "killed", "equivalent")],
)
def test_a_status_that_is_not_the_registered_one_fails(
    monkeypatch: pytest.MonkeyPatch, mutant: str, expected: str, status: str
) -> None:
    """The run exits with 1."""
    found = kill_matrix(bundle_with(monkeypatch, **{mutant: expected}), mutants=[mutant])
    assert (found.rows[0].status, found.exit_code) == (status, 1)


def test_an_open_gap_that_is_killed_after_all_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gap is closed."""
    assert kill_matrix(bundle_with(monkeypatch, always_free="open_gap"), mutants=["always_free"]).exit_code == 0


def test_a_claim_that_cannot_fail_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A weakened claim no longer kills, and the matrix says so."""
    bundle = find("latch")
    (claim,) = (claim for claim in bundle.claims if claim.name == "one_inside")
    assert isinstance(claim, Always)

    def nothing(_config: object, _state: object) -> bool:
        return True

    changed = registered(
        monkeypatch, replace(bundle, claims=(replace(claim, check=nothing),), expected=(), plans=(), profile=())
    )
    found = kill_matrix(changed, mutants=["always_free"])
    assert found.idle_claims == ("one_inside",)
    assert found.idle_engines == ("explore", "fuzz")
    assert found.of("survivor") == ("always_free",)


@pytest.mark.parametrize("observed", [True, False])
def test_hidden_state_is_no_equivalence(monkeypatch: pytest.MonkeyPatch, observed: bool) -> None:
    """A counter that shows in no step and that no claim reads: a survivor, with a hint if it is seen."""
    cud = find("cud")
    bare = replace(cud, claims=(), expected=(), plans=(), profile=())
    registered(monkeypatch, replace(bare, observers=cud.observers if observed else ()))
    found = kill_matrix(bare, mutants=["livelock_counts_silence"])
    (row,) = found.rows
    assert (row.status, found.exit_code) == ("survivor", 1)
    assert bool(row.hint) is observed
    assert ("livelock_counter" if observed else "states differ in unobserved parts") in row.because
    assert row.command.startswith("evenhand compare cud --system free")


def test_an_interrupted_run_calls_nobody_a_survivor(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unfinished hunt decides nothing."""

    def stopped(jobs: Any, **_more: Any) -> Ran:
        return Ran((), tuple(jobs), interrupted=True)

    monkeypatch.setattr("evenhand.studies.mutants.run_jobs", stopped)
    found = kill_matrix(find("latch"), automatic=3)
    assert {row.status for row in found.rows} == {"unfinished"}
    assert len(found.automatic.unfinished) == found.automatic.made == 3
    assert found.of("survivor") == ()
    assert found.exit_code == 130


def test_times_are_told_by_mutant_and_engine(matrix: KillMatrix) -> None:
    """Times are under `timing` alone."""
    timing = matrix.timing()
    assert set(timing["mutants"]["always_free"]) == {"explore", "fuzz"}
    assert set(timing["mutants"]["slow_leave"]) == {"explore", "fuzz", "compare"}
    assert set(timing["engines"]) == {"explore", "fuzz", "compare"}
    assert "seconds" not in json.dumps(matrix.to_json())


def test_an_unknown_mutant_is_named_with_those_there_are() -> None:
    """One message."""
    with pytest.raises(UnknownName, match="unknown mutant of latch: 'x'; there is: always_free, slow_leave, sticky"):
        kill_matrix(find("latch"), mutants=["x"])


def test_claims_are_idle_only_where_every_mutant_was_hunted(cli: Command) -> None:
    """On a single mutant most claims kill nothing, which makes none of them idle."""
    assert "claims that kill nothing: " in cli("mutants", "latch").out
    assert "kill nothing" not in cli("mutants", "latch", "--mutant", "always_free").out


def test_the_keys_are_these(cli: Command, matrix: KillMatrix) -> None:
    """Other programs rely on them."""
    made = cli("mutants", "latch", "--mutant", "sticky", "--automatic", "1", "--json").json
    assert sorted(made) == [
        "automatic", "claims", "engines", "equivalent", "fixtures", "format", "idle_claims", "idle_engines",
        "interrupted", "matrix", "open_gaps", "protocol", "survivors", "timing", "unfinished", "version", "versions",
    ]  # fmt: skip
    assert sorted(made["automatic"]) == ["equivalent", "invalid", "killed", "made", "surviving", "unfinished"]
    assert sorted(made["matrix"][0]) == [
        "as_expected", "because", "command", "doubts", "expected", "hint", "kills", "mutant", "proved", "readings",
        "reason", "scope", "sentence", "source", "status", "system", "unproved",
    ]  # fmt: skip
    assert (made["survivors"], made["equivalent"], made["open_gaps"]) == ([], [], ["sticky"])
    told = matrix.to_json()
    assert (told["survivors"], told["equivalent"], told["open_gaps"]) == ([], ["slow_leave"], ["sticky"])


def test_the_choice_of_automatic_mutants_is_seeded() -> None:
    """Same seed, same mutants; enough seeds, other mutants."""
    bundle = find("latch")
    assert automatic_names(bundle, 3, 7) == automatic_names(bundle, 3, 7)
    assert len({automatic_names(bundle, 3, seed) for seed in range(20)}) > 1
    assert automatic_names(bundle, 0, 7) == ()


def test_an_automatic_mutant_is_made_again_by_name() -> None:
    """In any process, from the name alone; an unknown name is refused."""
    system = find("latch").model.systems["latch"]
    config = next(iter(system.all_configs()))
    state = next(iter(system.initial(config)))
    assert system.rules.free(config, state, 0) is True
    assert mutated(system, "auto:free:negated").rules.free(config, state, 0) is False
    with pytest.raises(UnknownName, match="unknown rule 'door'"):
        mutated(system, "auto:door:negated")
    with pytest.raises(UnknownName, match="unknown fault of rule free:"):
        mutated(system, "auto:free:upside_down")


@dataclass(frozen=True)
class Call:
    """The observed calls of a rule of this shape."""

    results: list[Any]
    names: list[str]


@pytest.mark.parametrize(
    "call",
    [
        Call([True, False], ["negated", "frozen_1", "frozen_2"]),
        Call([0, 3], ["plus_one", "minus_one", "frozen_1", "frozen_2"]),
        Call([("a", "b")], ["emptied", "first_only", "reversed"]),
        Call(["x"], []),
        Call([], []),
    ],
)
def test_operators_fit_what_was_seen(call: Call) -> None:
    """A truth value is negated, a count is off by one, a tuple is cut; a constant result is not frozen."""
    seen = next(iter(watched(find("latch").model.systems["latch"]).values()))
    shaped = replace(seen, results=call.results, arguments=[])
    assert [name for name, _ in faults(shaped)] == call.names


def test_the_matrix_is_plain_json(matrix: KillMatrix) -> None:
    """It contains no value of a model."""
    assert json.loads(json.dumps(matrix.to_json())) == matrix.to_json()


def test_one_mutant_is_hunted_by_the_theorems_about_it() -> None:
    """Proving the other theorems would take a minute and decide nothing about it."""
    everything = theorem_names("markspace")
    assert theorem_names("markspace", mutants=["matcher_counts"]) == ("pattern_match_purity_p55",)
    assert theorem_names("markspace", mutants=["nobody"]) == () and len(everything) > 30
    every = [mutant.name for mutant in find("markspace").model.mutants]
    assert set(theorem_names("markspace", mutants=every)) <= set(everything)
