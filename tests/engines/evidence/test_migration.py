"""Files of other versions and of younger models: migrated, completed, or refused with what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evenhand.cli import app
from evenhand.core.bundle import Bundle
from evenhand.core.codec import encode
from evenhand.core.plan import Expectation
from evenhand.core.property import EachStep
from evenhand.core.system import Protocol, Scope, System, reading
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Status
from evenhand.evidence.growth import completed, reduced, shape
from evenhand.evidence.migration import BadRecord, Migration, migrated
from evenhand.evidence.record import VERSION, Record
from evenhand.evidence.replay import outcome_digest, renewed, replay_record
from evenhand.evidence.store import load
from tests.engines.evidence.latch import LATCHES, record

OLD = sorted((Path(__file__).parent / "data" / "v1").glob("*.json"))


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_files_of_version_1_still_replay(path: Path) -> None:
    """As they were written then; migrated they are of the newest version, replay as well, and keep their name."""
    assert json.loads(path.read_bytes())["version"] == 1
    old = load(path)
    result = replay_record(old)
    assert result.ok and result.filled == ()
    new = renewed(old, result)
    assert (json.loads(new.to_bytes())["version"], new.file_name) == (VERSION, path.name)
    assert new.shape
    assert replay_record(Record.from_json(new.to_json())).ok


def test_there_are_old_files() -> None:
    """A scenario, a lasso, a pair."""
    assert sorted(load(path).run["kind"] for path in OLD) == ["lasso", "pair", "scenario"]


def test_a_seal_of_version_1_is_checked_before_migration(tmp_path: Path) -> None:
    """An edit of an old file is an edit."""
    data = json.loads(OLD[0].read_bytes())
    with pytest.raises(BadRecord, match="sha256 differs"):
        Record.from_json({**data, "reproduce": "something else"})


def test_migrations_are_applied_in_turn() -> None:
    """From version 1 to 3 by way of 2."""
    steps: dict[int, Migration] = {1: lambda d: {**d, "a": 1}, 2: lambda d: {**d, "b": d["a"] + 1}}
    old = {"format": "x", "version": 1}
    assert migrated(old, "x", 3, "f", steps) == {"format": "x", "version": 3, "a": 1, "b": 2}
    assert old == {"format": "x", "version": 1}


@pytest.mark.parametrize(
    ("data", "cause", "next_step"),
    [
        ({"format": "x", "version": 4}, "it is of version 4, newer than 3, the newest known here", "Update evenhand"),
        ({"format": "x", "version": 1}, "it is of version 1, and nothing leads from there to 3", "Record it again"),
        ({"format": "y", "version": 3}, "its format is 'y', not 'x'", "Give a file"),
        ({"format": "x", "version": "3"}, "its version is '3', not 3", "Record it again"),
    ],
)
def test_what_cannot_be_migrated_is_refused(data: Any, cause: str, next_step: str) -> None:
    """With the version it has and what to do."""
    with pytest.raises(BadRecord) as caught:
        migrated(data, "x", 3, "f.json", {2: lambda d: d})
    assert cause in caught.value.cause
    assert next_step in caught.value.next_step
    assert caught.value.culprit == "f.json"


@dataclass(frozen=True)
class Readings:
    """Those of the latch, and one more."""

    again: str = reading("refused", "granted", sentence="as before")
    doors: str = reading("one", "two", sentence="added later")


@dataclass(frozen=True)
class Shown:
    """What a step shows: `said` from the beginning, `warmth` since a later version."""

    said: str
    warmth: int = 0


@dataclass(frozen=True)
class Heat:
    """A state."""

    level: int = 0


def _oven(readings: Any, warmth: int = 0) -> System[Any, Any, Any, Any, Any]:
    def step(_rules: Any, _config: Any, state: Heat, _action: str) -> tuple[Heat, Shown]:
        return Heat(state.level + 1), Shown("hotter", warmth)

    def actions(_config: Any, _scope: Scope, _state: Heat) -> Iterator[str]:
        yield "heat"

    return System(
        name="oven",
        rules=None,
        configs=lambda _scope, chosen: (chosen,),
        initial=lambda _config: (Heat(),),
        step=step,
        actions=actions,
        readings=readings,
        types=(Heat, Shown, Readings),
    )


def test_later_fields_are_put_in_with_their_defaults() -> None:
    """Wherever they stand, and told once; what is there stays, what has no default is still missed."""
    old = {"at": [{"$": "Shown", "said": "a"}, {"$": "Shown", "said": "b", "warmth": 2}, {"$": "Shown"}]}
    new, put = completed(old, (Shown,))
    assert put == ("Shown.warmth",)
    assert new["at"][0] == {"$": "Shown", "said": "a", "warmth": 0}
    assert new["at"][1]["warmth"] == 2
    assert "said" not in new["at"][2]


def test_a_shape_reduces_what_is_shown_to_what_was_known() -> None:
    """Other classes stay whole."""
    known = shape([encode(Shown("a")), encode(Heat(1))])
    assert known == {"Heat": ["level"], "Shown": ["said", "warmth"]}
    assert reduced([encode(Shown("a", 5)), encode(Heat(1))], {"Shown": ["said"]}) == [
        {"$": "Shown", "said": "a"},
        {"$": "Heat", "level": 1},
    ]


@pytest.mark.parametrize(("warmth", "same"), [(0, True), (7, True)])
def test_an_old_digest_is_compared_in_its_own_shape(warmth: int, same: bool) -> None:
    """What was added to `shown` since is no part of what was recorded; a change of what was recorded is seen."""
    run = Scenario(Readings(), Heat(), ("heat",))
    then = outcome_digest(_oven(Readings()), run, "REFUTED", {"Shown": ["said"]})
    now = _oven(Readings(), warmth)
    assert (outcome_digest(now, run, "REFUTED", {"Shown": ["said"]}) == then) is same
    assert outcome_digest(now, run, "REFUTED") != then

    def cold(_rules: Any, _config: Any, state: Heat, _action: str) -> tuple[Heat, Shown]:
        return state, Shown("colder", warmth)

    assert outcome_digest(replace(now, step=cold), run, "REFUTED", {"Shown": ["said"]}) != then


def test_a_reading_and_a_field_added_later_leave_a_record_green() -> None:
    """The old file lacks both; it replays, and says what was filled in."""
    never = EachStep(name="never_hot", sentence="Nothing gets hotter.", check=lambda step: step.shown.said == "colder")
    system = _oven(Readings())
    young = Bundle(
        Protocol("oven", "Oven", "nowhere", {"oven": system}, Readings()),
        claims=(never,),
        expected=(_refuted("never_hot"),),
    )
    old = replace(
        record(),
        protocol="oven",
        system="oven",
        scope=Scope(),
        readings={"again": "refused"},
        variant_kind="reference",
        variant="reference",
        claim="never_hot",
        claim_version=1,
        run={
            "kind": "scenario",
            "config": {"$": "Readings", "again": "refused"},
            "start": {"$": "Heat"},
            "actions": ["heat"],
        },
        shown=outcome_digest(system, Scenario(Readings(), Heat(), ("heat",)), "REFUTED", {"Shown": ["said"]}),
        shape={"Shown": ["said"]},
    )
    result = replay_record(old, young)
    assert result.ok, result.message
    assert result.filled == ("Readings.doors", "Heat.level", "reading doors")
    new = renewed(old, result)
    assert new.readings == {"again": "refused", "doors": "one"}
    assert new.shape == {"Shown": ["said", "warmth"]}
    assert replay_record(new, young).filled == ()
    unshaped = replay_record(replace(old, shape={}), young)
    assert not unshaped.ok and "shows something else" in unshaped.message, "without its shape the digest does not fit"


def _refuted(claim: str) -> Expectation:
    return Expectation(claim, Status.REFUTED, because="it heats")


def test_only_what_replays_is_renewed() -> None:
    """A digest is not made to fit."""
    result = replay_record(replace(record(), shown="sha256:" + "0" * 64), LATCHES)
    with pytest.raises(ValueError, match="only what replays can be migrated"):
        renewed(record(), result)


def test_migrate_rewrites_old_files_in_place(tmp_path: Path) -> None:
    """Once; a file of the newest version is left as it is."""

    def migrates() -> bool:
        answer = CliRunner().invoke(app, ["replay", str(path), "--migrate", "--json"])
        assert answer.exit_code == 0
        return bool(json.loads(answer.stdout)["replays"][0]["migrated"])

    path = tmp_path / OLD[0].name
    path.write_bytes(OLD[0].read_bytes())
    assert migrates()
    written = path.read_bytes()
    assert json.loads(written)["version"] == VERSION
    assert not migrates()
    assert path.read_bytes() == written
