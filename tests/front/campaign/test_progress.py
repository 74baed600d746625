"""The output of a campaign while it runs: events that follow a schema, rates, and an estimate without a promise."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from evenhand.campaign.events import Events
from evenhand.campaign.executor import Ending, Order
from evenhand.campaign.progress import Bar, Deadline, Pace
from evenhand.campaign.scheduler import CampaignState, Watch, schedule
from evenhand.campaign.store import opened, store_url
from evenhand.campaign.tasks import Task
from evenhand.cli.campaign import Log
from evenhand.jobs.plan import Job
from tests.front.campaign.suite import InThisProcess, campaign, written
from tests.front.conftest import ROOT, Command

SCHEMA = json.loads((ROOT / "evenhand/campaign/schema/events.json").read_text("utf-8"))
RUN = {"protocol": "ring", "engine": "explore", "scope": {"agents": [2, 3]}, "claims": ["held"]}


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the events of a file, each checked."""
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for one in found:
        jsonschema.validate(one, SCHEMA)
    return found


def test_events_follow_their_schema(cli: Command, tmp_path: Path) -> None:
    """The events are in order and cover every task; a second run adds that nothing was left."""
    plan, told = written(tmp_path, RUN, parts=2), tmp_path / "events.jsonl"
    for _ in range(2):
        assert cli("campaign", "run", str(plan), "--jobs", "2", "--events", str(told)).code == 0
    found = lines(told)
    kinds = [one["event"] for one in found]
    assert kinds[0] == "begun" and kinds.count("begun") == kinds.count("finished") == 2
    first = kinds.index("finished")
    begun, finished = found[0], found[first]
    assert (begun["jobs"], begun["tasks"], begun["reused"]) == (2, 4, 0)
    assert (finished["done"], finished["left"], finished["exit_code"]) == (2, 0, 0)
    assert sorted(kinds[1 : first - 1]) == ["ended"] * 6 + ["started"] * 6  # two pieces and their joining, twice
    assert kinds[first + 1 :] == ["begun", "progress", "finished"] and found[first + 1]["reused"] == 2
    for one in (one for one in found if one["event"] == "ended"):
        assert one["outcome"] == "done" and one["because"] == "" and one["task"].startswith("sha256:")


def test_the_schema_refuses_what_is_no_event() -> None:
    """One key too many; an unknown kind."""
    at = "2026-01-01T00:00:00+00:00"
    for wrong in ({"event": "begun"}, {"at": at, "event": "x"}, {"at": at, "event": "started", "task": "t"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA)


def order(name: str) -> Order:
    """Return a task."""
    return Order(Task(Job("ring", "explore", "ring", claims=(name,))), name)


def test_the_estimate_is_of_measured_times_alone(tmp_path: Path) -> None:
    """The larger of the sum divided by all workers and the longest task; unmeasured tasks are counted apart."""
    one, two, three = order("held"), order("everybody"), order("by_verb")
    durations = {one.task.identity: 60.0, two.task.identity: 30.0}
    pace = Pace(campaign(tmp_path, RUN), durations, workers=2)
    assert pace.estimate() is None
    for each in (one, two, three):
        pace.ordered(each)
    assert pace.estimate() == 60.0 and pace.measured == 2
    assert "at least 1 min 00 s more by earlier runs of 2 of 3, 1 never measured" in pace.lines()[0]
    pace.started(one)
    pace.ended(one, Ending("done", 61.0))
    assert pace.estimate() == 30.0 and pace.done == 1
    pace.ended(two, Ending("done", 1.0))
    assert pace.estimate() is None and "no task that is left was ever measured" in pace.lines()[0]


def test_what_is_shown_on_a_terminal_is_inert_and_leaves_no_thread(tmp_path: Path) -> None:
    """The terminal shows running and next tasks, and names from a plan have no effect on it."""
    out = io.StringIO()
    pace = Pace(campaign(tmp_path, RUN), {}, workers=1)
    hostile = Order(Task(Job("ring", "explore", "a\x1b[31mb")), "x")
    pace.ordered(hostile)
    pace.ordered(order("held"))
    with Bar(pace, Console(file=out, force_terminal=True, width=200)) as bar:
        for watch in (pace, bar):
            watch.started(hostile)
        bar.tick()
    assert "0 of 2 tasks" in out.getvalue() and "next: explore ring ring" in out.getvalue()
    assert "a\\u001b[31mb" in out.getvalue() and "a\x1b[31mb" not in out.getvalue()


def test_off_a_terminal_a_line_is_written_now_and_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first after some seconds, the next a minute later."""
    monkeypatch.setattr("evenhand.cli.console.FIRST_LINE", 0.0)
    log = Log(Pace(campaign(tmp_path, RUN), {}, workers=1))
    for _ in range(2):
        log.tick()
    assert capsys.readouterr().err.count("campaign: 0 of 0 tasks") == 1


def test_earlier_runs_are_what_is_measured(tmp_path: Path) -> None:
    """Times come from the store, whatever the sources were."""
    asked = campaign(tmp_path, RUN)
    store = opened(store_url("", tmp_path / "plan.json"), make=True)
    schedule(CampaignState(asked, store), InThisProcess(), Watch())
    found = store.durations(unit.whole.identity for unit in asked.units)
    assert len(found) == 2 and all(seconds > 0 for seconds in found.values())
    store.close()


def test_a_time_that_is_over_ends_the_run(cli: Command, tmp_path: Path) -> None:
    """As Ctrl-C does: finished work is reported, and resume goes on."""
    slow = {**RUN, "scope": {"agents": [2, 3], "slow": [1, 30_000]}}
    plan = written(tmp_path, slow)
    answer = cli("campaign", "run", str(plan), "--jobs", "2", "--stop-after", "3", "--json")
    assert answer.code == 130
    assert answer.json["interrupted"] and len(answer.json["unfinished"]) == 2 and len(answer.json["verdicts"]) == 2
    assert "ended early" in answer.err
    report = cli("campaign", "report", str(plan), "--json")
    assert report.code == 130 and report.json == answer.json
    short = written(tmp_path, {**RUN, "scope": {"agents": [2, 3], "slow": 1}}, name="short.json")
    resumed = cli("campaign", "run", str(short), "--store", str(tmp_path / "plan.store"), "--jobs", "1")
    assert resumed.code == 0 and "0 tasks now; of 2 jobs 2 done" in resumed.err


def test_watches_are_told_in_order(tmp_path: Path) -> None:
    """Every watch gets every event."""
    asked = campaign(tmp_path, RUN)
    pace = Pace(asked, {}, workers=1)
    told = Events(tmp_path / "e", pace, {"plan": "sha256:0", "resumed": False})
    store = opened(store_url("", tmp_path / "plan.json"), make=True)
    assert not schedule(CampaignState(asked, store), InThisProcess(), pace, told, Deadline(600))
    told.finished(done=2, undecided=0, left=0, exit_code=0)
    store.close()
    assert pace.done == 2 and not pace.left
    kinds = [one["event"] for one in lines(tmp_path / "e")]
    assert kinds == ["begun", *(["started", "ended"] * 2), "progress", "finished"]
