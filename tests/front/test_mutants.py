"""The kill matrix: statuses, idle claims and engines, mutants made by rule, and expectations that fail."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import evenhand
from evenhand.core.bundle import Bundle
from evenhand.core.lookup import UnknownName
from evenhand.core.property import Always, EachStep, Reachable
from evenhand.core.registry import find
from evenhand.core.system import Protocol
from evenhand.jobs.pool import Ran
from evenhand.jobs.proving import theorem_names
from evenhand.studies.by_rule import Automatic, Made, Trial, hunted
from evenhand.studies.mutants import Hunt, KillMatrix, kill_matrix
from evenhand.studies.walking import places, walked
from evenhand.variants.automatic import mutated
from tests.deep import rest_slow
from tests.front.conftest import Command

MADE = 8
"""Mutants made by rule, of the 28 there are."""


@cache
def _matrix() -> KillMatrix:
    return kill_matrix(find("latch"), automatic=MADE, hunt=Hunt(jobs=2))


@pytest.fixture
def matrix(latch: None) -> KillMatrix:
    """Return the matrix of all mutants of the latch, run once."""
    return _matrix()


@pytest.mark.slow
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
    """As many as were asked for, each with one status; those that live with function, change and difference."""
    made = matrix.automatic
    assert len(made.mutants) == len({one.name for one in made.mutants}) == MADE
    told = made.to_json()
    assert told["made"] == MADE
    lists: list[Any] = [*told["equivalent"], *told["listed"], *told["surviving"]]
    assert told["killed"] + len(lists) == MADE
    assert all(one["function"].startswith("toylatch.") and one["change"].startswith("line ") for one in lists)


def latch_with(*claims: str) -> Bundle:
    """The latch with these claims alone."""
    bundle = find("latch")
    kept = tuple(claim for claim in bundle.claims if claim.name in claims)
    return replace(bundle, claims=kept, expected=(), plans=(), profile=())


def fate(bundle: Bundle, name: str) -> Made:
    """What becomes of one mutant of the latch."""
    return Trial(bundle, [walked(bundle, place) for place in places(bundle)])(f"auto:toylatch.{name}")


def test_a_claim_kills_and_without_it_the_mutant_survives() -> None:
    """The latch is free for all: two are inside; no other claim sees it."""
    killed = fate(latch_with("one_inside"), "_step:drop_guard_2")
    assert (killed.status, killed.claim) == ("killed", "one_inside")
    alive = fate(latch_with("somebody_enters"), "_step:drop_guard_2")
    assert (alive.status, alive.function, alive.claim) == ("surviving", "toylatch._step", "")
    assert alive.change == "line 69: if not rules.free(config, state, action.agent): -> left out"
    assert "shows 'taken', not 'refused'" in alive.because
    assert alive.command.startswith(
        "evenhand compare latch --system latch --scope agents=2 --mutant auto:toylatch._step"
    )


def test_equal_graphs_are_equivalent_and_say_where() -> None:
    """Under the default reading nobody enters twice, so who was inside before needs no keeping."""
    found = fate(latch_with("one_inside"), "_step:drop_element_1")
    assert (found.status, found.places) == ("equivalent", ("latch agents=2 (3 states, 12 steps)",))


def unreached(state: int, action: str) -> int:
    """A step with a line that never runs, and one that a fault makes raise or never end."""
    if state > 5:
        state = 0
    while state > 3:
        state -= 1
    return min(state + 1, 3) if action == "up" else [state][0]


COUNTER = evenhand.system("counter", initial=[0], actions=lambda _state: ["up", "down"], step=unreached)


COUNTERS = Bundle(Protocol("counter", "", "", {"counter": COUNTER}))


@pytest.mark.slow
def test_what_no_step_runs_and_what_raises_is_told_apart() -> None:
    """Neither is killed nor equivalent."""
    trial = Trial(COUNTERS, [walked(COUNTERS, place) for place in places(COUNTERS)])

    def status(change: str) -> tuple[str, str]:
        made = trial(f"auto:test_mutants.unreached:{change}")
        return made.change.partition(": ")[2], made.status

    assert status("plus_one_2") == ("0 -> 1", "unreached")
    assert status("other_comparison_1") == ("state > 5 -> state >= 5", "equivalent")
    assert status("other_call_1") == ("min(state + 1, 3) -> max(state + 1, 3)", "surviving")
    assert status("negate_2") == ("while state > 3: -> while not state > 3:", "raising")


def test_an_engine_that_breaks_on_a_mutant_is_told() -> None:
    """A goal is asked by engines alone and raises on the 4 that the fault makes: no silent survivor."""

    def goal(step: evenhand.Step[Any, Any, Any, Any]) -> bool:
        if step.after > 3:
            raise KeyError("no such count")
        return bool(step.after == 3)

    claim = Reachable(name="three", sentence="Three is reached.", systems=("counter",), goal=goal)
    counters = replace(COUNTERS, claims=(claim,))
    trial = Trial(counters, [walked(counters, place) for place in places(counters)])
    made = trial("auto:test_mutants.unreached:other_call_1")
    assert made.status == "surviving"
    assert [why.partition(" ")[0] for why in made.broken] == ["explore", "fuzz"]
    assert all("no such count" in why for why in made.broken)
    told = Automatic((made, replace(made, name="whole", broken=()))).to_json()
    assert told["broken"] == [made.name]


@pytest.mark.slow
def test_a_claim_that_raises_on_the_reference_kills_nobody() -> None:
    """It tells the two apart by its own fault: the mutant survives."""

    def no_fall(step: evenhand.Step[Any, Any, Any, Any]) -> bool:
        if step.action == "up" and step.after >= step.before:
            raise KeyError("no such count")
        return bool(step.action != "up")

    claim = EachStep(name="no_fall", sentence="No count falls.", systems=("counter",), check=no_fall)
    counters = replace(COUNTERS, claims=(claim,))
    (one,) = [walked(counters, place) for place in places(counters)]
    name = "auto:test_mutants.unreached:other_sign_1"
    trial, mutant = Trial(counters, [one]), mutated(COUNTER, name)
    assert trial(name).status != "killed"
    difference, _, _ = Trial(COUNTERS, [one]).tried(one, mutant, "test_mutants.unreached")
    assert difference is not None
    assert trial.searched(difference, mutant)[0] == "", "neither a search nor the machine kills by it"


def test_a_fault_is_in_force_in_the_step_alone() -> None:
    """A claim that calls the same function sees it as it is."""
    system = mutated(COUNTER, "auto:test_mutants.unreached:other_sign_1")
    assert system.take(None, 1, "up").after == 0
    assert unreached(1, "up") == 2
    with pytest.raises(UnknownName, match="unknown function 'door'"):
        mutated(COUNTER, "auto:door:negate_1")
    with pytest.raises(UnknownName, match=r"unknown change of test_mutants\.unreached:"):
        mutated(COUNTER, "auto:test_mutants.unreached:upside_down")


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
    rest_slow(
        [
            ("sticky", "killed", "survivor"),
            ("always_free", "equivalent", "killed"),
            ("slow_leave", "killed", "equivalent"),
        ]
    ),
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


@pytest.mark.slow
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
    assert found.automatic.mutants == ()
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


@pytest.mark.slow
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
    assert sorted(made["automatic"]) == ["broken", "equivalent", "killed", "kills", "listed", "made", "surviving"]
    assert sorted(made["matrix"][0]) == [
        "as_expected", "because", "command", "doubts", "expected", "hint", "kills", "mutant", "proved", "readings",
        "reason", "scope", "sentence", "source", "status", "system", "unproved",
    ]  # fmt: skip
    assert (made["survivors"], made["equivalent"], made["open_gaps"]) == ([], [], ["sticky"])
    told = matrix.to_json()
    assert (told["survivors"], told["equivalent"], told["open_gaps"]) == ([], ["slow_leave"], ["sticky"])


def test_the_choice_of_mutants_made_by_rule_is_seeded() -> None:
    """Same seed, same mutants; another seed, others; none if none are asked for."""
    bundle = latch_with("one_inside")

    def drawn(seed: int) -> list[str]:
        return [one.name for one in hunted(bundle, 3, seed=seed).mutants]

    assert drawn(7) == drawn(7) != drawn(8)
    assert hunted(bundle, 0).mutants == ()


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
