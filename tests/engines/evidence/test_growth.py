"""Files of an older model: completed with later additions to the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from msgspec import structs

from evenhand.core.bundle import Bundle
from evenhand.core.codec import encode
from evenhand.core.plan import Expectation
from evenhand.core.property import EachStep
from evenhand.core.system import Protocol, Scope, System, reading
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Status
from evenhand.evidence.growth import completed, reduced, shape
from evenhand.evidence.record import Claim, ReferenceVariant, ScenarioRun
from evenhand.evidence.replay import outcome_digest, replay_record
from tests.engines.evidence.latch import record


@dataclass(frozen=True)
class Readings:
    """The readings of the latch, and one more."""

    again: str = reading("refused", "granted", sentence="as before")
    doors: str = reading("one", "two", sentence="added later")


@dataclass(frozen=True)
class Shown:
    """The observation of a step: `said` from the beginning, `warmth` since a later version."""

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
    """At any depth, and reported once; present fields stay, and a field without a default is still missing."""
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
    """Later additions to `shown` are ignored; a change of a recorded part is noticed."""
    run = Scenario(Readings(), Heat(), ("heat",))
    then = outcome_digest(_oven(Readings()), run, "REFUTED", {"Shown": ["said"]})
    now = _oven(Readings(), warmth)
    assert (outcome_digest(now, run, "REFUTED", {"Shown": ["said"]}) == then) is same
    assert outcome_digest(now, run, "REFUTED") != then

    def cold(_rules: Any, _config: Any, state: Heat, _action: str) -> tuple[Heat, Shown]:
        return state, Shown("colder", warmth)

    assert outcome_digest(replace(now, step=cold), run, "REFUTED", {"Shown": ["said"]}) != then


def test_a_reading_and_a_field_added_later_leave_a_record_green() -> None:
    """The old file lacks both; it replays, and lists the filled-in fields."""
    never = EachStep(name="never_hot", sentence="Nothing gets hotter.", check=lambda step: step.shown.said == "colder")
    system = _oven(Readings())
    young = Bundle(
        Protocol("oven", "Oven", "nowhere", {"oven": system}, Readings()),
        claims=(never,),
        expected=(_refuted("never_hot"),),
    )
    old = structs.replace(
        record(),
        protocol="oven",
        system="oven",
        scope={},
        readings={"again": "refused"},
        variant=ReferenceVariant("reference"),
        claim=Claim("never_hot", 1, ""),
        run=ScenarioRun({"$": "Readings", "again": "refused"}, {"$": "Heat"}, ["heat"]),
        shown=outcome_digest(system, Scenario(Readings(), Heat(), ("heat",)), "REFUTED", {"Shown": ["said"]}),
        shape={"Shown": ["said"]},
    )
    result = replay_record(old, young)
    assert result.ok, result.message
    assert result.filled == ("Readings.doors", "Heat.level", "reading doors")
    unshaped = replay_record(structs.replace(old, shape={}), young)
    assert not unshaped.ok and "shows something else" in unshaped.message, "without its shape the digest does not fit"


def _refuted(claim: str) -> Expectation:
    return Expectation(claim, Status.REFUTED, because="it heats")
