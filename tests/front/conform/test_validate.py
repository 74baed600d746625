"""Logs of production kernels: whole, with gaps, and wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.conform.adapters.wire import UNKNOWN
from evenhand.conform.checking.comparing import differences, normal
from evenhand.conform.checking.logs import BadLog, load_log
from evenhand.conform.checking.matching import explain
from evenhand.conform.checking.words import Dictionary, Reader
from evenhand.core.registry import find
from tests.front.conftest import Command

HEAD: dict[str, Any] = {"format": "evenhand/log", "version": 1, "protocol": "latch", "system": "latch"}


def act(verb: str, agent: int) -> dict[str, Any]:
    """Return an encoded action."""
    return {"$": "Act", "verb": verb, "agent": agent}


RUN: list[dict[str, Any]] = [
    {"action": act("take", 0), "shown": "taken"},
    {"action": act("take", 1), "shown": "refused"},
    {"action": act("leave", 0), "shown": "left"},
    {"action": act("take", 1), "shown": "taken"},
]


def written(folder: Path, *events: Any, head: Any = HEAD) -> Path:
    """Write a log file."""
    path = folder / "events.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in (head, *events)) + "\n", "utf-8")
    return path


def test_a_whole_log_is_explained_by_the_one_run(cli: Command, tmp_path: Path) -> None:
    """With everything recorded there is one candidate throughout."""
    answer = cli("validate", "latch", "--log", str(written(tmp_path, *RUN)), "--json")
    assert answer.code == 0
    report = answer.json
    assert (report["explained"], report["matched"], report["recorded"], report["candidates"]) == (True, 4, True, 1)
    assert report["failed"] is None and report["refuted"] == []


def test_the_first_event_that_nothing_explains(cli: Command, tmp_path: Path) -> None:
    """With the nearest outcome that the model allows there, and the claim that objects."""
    events = [*RUN[:1], {"action": act("take", 1), "shown": "taken"}, *RUN[2:]]
    answer = cli("validate", "latch", "--log", str(written(tmp_path, *events)), "--json")
    assert answer.code == 1
    failed = answer.json["failed"]
    assert (failed["event"], failed["line"], answer.json["matched"]) == (2, 3, 1)
    assert [near["shown"] for near in failed["nearest"]] == ["refused"]
    assert failed["nearest"][0]["differences"] == ["all of it: expected 'refused', shown 'taken'"]
    assert [one["claim"] for one in answer.json["refuted"]] == ["taken_when_free"]
    assert "no behaviour of the model explains" in cli("validate", "latch", "--log", str(tmp_path / "events.jsonl")).out


@pytest.mark.parametrize(
    "events",
    [
        [{"shown": one["shown"]} for one in RUN],
        [{"action": one["action"]} for one in RUN],
        [{"action": {"agent": one["action"]["agent"]}, "shown": one["shown"]} for one in RUN],
        [{"action": {**one["action"], "agent": UNKNOWN}, "shown": one["shown"]} for one in RUN],
        [{} for _ in RUN],
    ],
    ids=["no actions", "nothing shown", "no verbs", "unknown agents", "nothing but the number of steps"],
)
def test_gaps_are_searched(events: list[Any], tmp_path: Path) -> None:
    """Some run explains each log, and the log may be a record of that run."""
    found = explain(find("latch").model.systems["latch"], load_log(written(tmp_path, *events)))
    assert found.failed is None and found.trace is not None
    assert len(found.trace.steps) == len(RUN)
    for event, step in zip(events, found.trace.steps, strict=True):
        assert event.get("shown", step.shown) == step.shown


def test_a_log_with_gaps_can_still_be_impossible(tmp_path: Path) -> None:
    """Without actions: both agents cannot have taken it if none of them left in between."""
    events = [{"shown": "taken"}, {"action": {"verb": "take"}, "shown": "taken"}]
    found = explain(find("latch").model.systems["latch"], load_log(written(tmp_path, *events)))
    assert found.failed is not None and found.failed.line == 3
    assert found.whole and not found.recorded
    assert {near.step.shown for near in found.nearest} == {"refused"}


def test_readings_and_scopes_are_those_asked_for(cli: Command, tmp_path: Path) -> None:
    """The holder may take it again only under the other reading."""
    events = [{"action": act("take", 2), "shown": "taken"}] * 2
    path = str(written(tmp_path, *events, head={**HEAD, "scope": {"agents": 3}}))
    assert cli("validate", "latch", "--log", path).code == 1
    assert cli("validate", "latch", "--log", path, "--reading", "again=granted").code == 0


def test_what_is_no_log_is_said_once(cli: Command, tmp_path: Path) -> None:
    """Exit code 2 and one message for each mistake."""
    path = tmp_path / "events.jsonl"
    for content, reason in (
        ("", "nothing in it"),
        ("nonsense", "line 1"),
        (json.dumps({**HEAD, "version": 2}), "version"),
        (json.dumps({**HEAD, "protocol": "cud"}), "not of 'latch'"),
        (json.dumps({**HEAD, "system": "other"}), "there is: latch"),
        (json.dumps({**HEAD, "config": {"$": "Config", "agents": 9}}), "begins as recorded"),
        (json.dumps(HEAD) + "\n[1]", "line 2: no JSON object"),
        (json.dumps(HEAD) + '\n{"action": 0}', "line 2: 0 is no action of latch"),
        (json.dumps(HEAD) + '\n{"action": {"$": "State", "inside": []}}', "is no action of latch"),
        (
            json.dumps({**HEAD, "config": 0}) + '\n{"action": {"$": "Act", "verb": "take", "agent": 0}}',
            "begins as recorded",
        ),
    ):
        path.write_text(content, "utf-8")
        answer = cli("validate", "latch", "--log", str(path))
        assert answer.code == 2 and reason in answer.err, content
    assert cli("validate", "latch", "--log", str(tmp_path / "none")).code == 2
    with pytest.raises(BadLog, match="it is a folder"):
        load_log(tmp_path)


@pytest.mark.parametrize(
    ("head", "event", "said"),
    [
        ({}, {"acton": 1}, "line 2: unknown key 'acton'; did you mean 'action'?"),
        ({}, {"action": {"$unknown": True}, "show": 1}, "line 2: unknown key 'show'; did you mean 'shown'?"),
        ({"configs": {}}, {}, "line 1: unknown key 'configs'; did you mean 'config'?"),
    ],
)
def test_a_misspelt_key_is_no_gap(head: dict[str, Any], event: Any, said: str, cli: Command, tmp_path: Path) -> None:
    """Taken for not recorded it would be explained by any run; a key that is like none is ignored."""
    file = tmp_path / "log.jsonl"
    file.write_text(f"{json.dumps({**HEAD, **head})}\n{json.dumps(event)}\n", "utf-8")
    answer = cli("validate", "latch", "--log", str(file))
    assert answer.code == 2 and said in answer.err
    file.write_text(f"{json.dumps(HEAD)}\n{json.dumps({'time': 3})}\n", "utf-8")
    answer = cli("validate", "latch", "--log", str(file))
    assert answer.code == 0 and "a run of latch, perhaps not the only one" in answer.out


def test_what_was_not_recorded_differs_from_nothing() -> None:
    """Omitted fields, holes in arrays, members of sets in any order; a bool is no number."""
    value = {"$": "R", "a": [1, {"b": True}], "s": {"$set": ["x", "y"]}}
    partly: Any = ({"$": "R"}, {"a": [UNKNOWN, {}]}, UNKNOWN, {"s": {"$set": ["y", "x"]}})
    for same in partly:
        assert different(same, value) == [], same
    assert different({"a": [1]}, value) and different({"a": [1, {"b": 1}]}, value) and different({"c": 1}, value)
    assert different({"a": [2, {"b": False}]}, value) == ["a[0]", "a[1].b"]


def different(recorded: Any, value: Any) -> list[str]:
    """Return where a record differs from a value."""
    return [one.path for one in differences(value, normal(Reader(()).reading(recorded, value, Dictionary()).told))]


def test_a_log_of_cud_is_explained(cli: Command, tmp_path: Path) -> None:
    """A protocol with configurations: the log of a run of the model, first with its configuration, then without."""
    from evenhand.core.codec import encode
    from evenhand.core.trace import Scenario, replay

    system = find("cud").model.systems["free"]
    config = next(iter(system.all_configs()))
    (start,) = system.initial(config)
    action = next(one for one in system.enabled(config, start) if "WRITE" in str(one))
    trace = replay(system, Scenario(config, start, (action, action)))
    events = [{"action": encode(step.action), "shown": encode(step.shown)} for step in trace.steps]
    head = {**HEAD, "protocol": "cud", "system": "free", "config": encode(config)}
    assert cli("validate", "cud", "--log", str(written(tmp_path, *events, head=head))).code == 0
    del head["config"]
    assert cli("validate", "cud", "--log", str(written(tmp_path, *events, head=head))).code == 0
    del events[0]["action"]
    assert cli("validate", "cud", "--log", str(written(tmp_path, *events, head=head))).code == 0
    events[1]["shown"]["happened"]["collided"] = True
    answer = cli("validate", "cud", "--log", str(written(tmp_path, *events, head=head)), "--json")
    assert answer.code == 1 and answer.json["failed"]["event"] == 2
