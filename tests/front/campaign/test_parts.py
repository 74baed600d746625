"""A split job gives the result of the whole job, and a campaign gives the result of `verify`, byte for byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.campaign.scheduler import CampaignState, Watch, schedule
from evenhand.campaign.store import opened, store_url
from evenhand.campaign.tasks import Task, job_from_json, job_to_json, split
from evenhand.core.registry import find
from evenhand.core.relations import DeterminedBy
from evenhand.jobs.plan import Job
from evenhand.report.campaign import report_of
from evenhand.report.report import Report
from evenhand.search.totals import Result
from tests.front.campaign.suite import InThisProcess, campaign, made_in, without_clock, written
from tests.front.conftest import Command

WHOLE = {"protocol": "ring", "engine": "explore", "scope": {"agents": [3, 4]}}
CUD = {"protocol": "cud", "engine": "explore", "system": "conditions", "max_states": 4000}


def found(folder: Path, *runs: dict[str, Any], executor: InThisProcess | None = None, **more: Any) -> Report:
    """Return the report of a campaign that runs in this process."""
    folder.mkdir()
    asked = campaign(folder, *runs, **more)
    store = opened(store_url("", folder / "plan.json"), make=True)
    now = CampaignState(asked, store)
    schedule(now, executor or InThisProcess(), Watch())
    report = report_of(CampaignState(asked, store))
    store.close()
    return report


@pytest.mark.parametrize("parts", [2, 3, 50])
def test_the_parts_of_a_search_make_the_same_report(tmp_path: Path, parts: int) -> None:
    """Compare verdicts, counts, coverage, evidence and records, with a lasso and claims that only the whole decides."""
    whole = found(tmp_path / "whole", WHOLE)
    executor = InThisProcess()
    pieces = found(tmp_path / "pieces", WHOLE, parts=parts, executor=executor)
    assert pieces.findings == whole.findings
    assert without_clock(pieces.to_json()) == without_clock(whole.to_json())
    assert {f.claim for f in whole.refuted} == {"second_is_quick", "by_verb", "comes_round"}
    assert len(executor.done) == 2 * 2 + min(parts, 3) + min(parts, 4)  # pieces, comparison, joining


def test_a_part_of_cud_makes_the_whole(tmp_path: Path) -> None:
    """A slice of a shipped protocol, with its readings written and read back."""
    claims = [claim.name for claim in find("cud").claims_of("conditions")][:12]
    names = [*dict.fromkeys(["verdict_determined", *claims])]
    run = {**CUD, "claims": names}
    assert found(tmp_path / "a", run).findings == found(tmp_path / "b", {**run, "parts": 5}).findings


@pytest.mark.deep
def test_a_quotient_in_parts_makes_the_whole(tmp_path: Path) -> None:
    """With the licence of a theorem that is proved for it, and with the counts of the full space."""
    run: dict[str, Any] = {"protocol": "cud", "engine": "explore", "system": "universe", "quotient": "renaming"}
    run |= {"claims": ["no_winner", "order_independence"], "scope": {"agents": 2, "keys": 1}}
    whole = found(tmp_path / "a", run).findings
    assert found(tmp_path / "b", run, parts=3).findings == whole
    assert all(finding.scope["quotient"] == "renaming" for finding in whole)


def test_a_fault_in_the_joining_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost part changes the report."""
    whole = found(tmp_path / "whole", WHOLE)
    honest = Result.from_json

    def forgets(made: Any) -> Result:
        return replace(honest(made), states=0)

    monkeypatch.setattr(Result, "from_json", staticmethod(forgets))
    assert found(tmp_path / "pieces", WHOLE, parts=3).findings != whole.findings


def test_a_fault_in_the_splitting_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims that compare across configurations would wrongly hold if they were split."""
    whole = found(tmp_path / "whole", WHOLE)
    monkeypatch.setattr(DeterminedBy, "across_configurations", False)
    report = found(tmp_path / "pieces", WHOLE, parts=3)
    assert [f.status for f in report.findings] != [f.status for f in whole.findings]


def test_what_is_left_whole() -> None:
    """A single configuration, another engine, a job that is already a part, a job that a budget may decline."""
    ring = find("ring")
    assert len(split(ring, Job("ring", "explore", "ring"), 2)) == 3
    for job in (
        Job("ring", "fuzz", "ring"),
        Job("ring", "explore", "ring", part="1/2"),
        Job("ring", "explore", "ring", finishable=10),
        Job("ring", "explore", "ring", scope=(("agents", 1),)),
        Job("ring", "explore", "ring", claims=("by_verb",)),
    ):
        assert split(ring, job, 2) == (), job
    assert split(ring, Job("ring", "explore", "ring"), 1) == ()
    assert split(find("latch"), Job("latch", "explore", "latch"), 4) == ()


def test_a_job_goes_through_json() -> None:
    """Readings and sizes survive too, and the identity depends on the job alone."""
    job = Job("latch", "explore", "latch", scope=(("agents", 3),), readings=(("again", "granted"),), claims=("taken",))
    assert job_from_json(job_to_json(job)) == job
    assert Task(job, joins=3).identity == Task(job).identity != Task(job, part="1/3").identity
    assert Task.from_json(Task(job, "1/3").to_json()) == Task(job, "1/3")


@pytest.mark.slow
def test_a_campaign_is_what_verify_says(cli: Command, tmp_path: Path) -> None:
    """Equal byte by byte, counterexamples included, for any number of processes and parts."""
    words = ("ring", "latch", "--budget", "quick", "--seed", "3")
    assert cli("verify", *words, "--jobs", "1", "--out", str(tmp_path / "verify")).code == 0
    plan = tmp_path / "plan.yaml"
    assert cli("campaign", "plan", *words, "--parts", "2", "--to", str(plan)).code == 0
    answer = cli("campaign", "run", str(plan), "--jobs", "2", "--out", str(tmp_path / "run"))
    assert answer.code == 0, answer.err
    assert made_in(tmp_path / "run") == made_in(tmp_path / "verify")
    assert len(made_in(tmp_path / "run")) > 4


def test_protocols_take_turns(tmp_path: Path) -> None:
    """A run that ends early has checked something of each protocol."""
    executor = InThisProcess()
    rings = ({**WHOLE, "scope": {"agents": agents}} for agents in (3, 4))
    found(tmp_path / "all", *rings, {"protocol": "latch", "engine": "explore"}, executor=executor)
    assert [title.split()[1] for title in executor.done] == ["ring", "latch", "ring"]


def test_seeds_are_runs_of_their_own(tmp_path: Path) -> None:
    """Each seed gives the run of `fuzz --seed`."""
    run = {"protocol": "ring", "engine": "fuzz", "seed": 5, "seeds": 3, "examples": 5, "claims": ["held"]}
    report = found(tmp_path / "seeds", run)
    assert [f.scope["seed"] for f in report.findings] == [5, 6, 7]
    alone = found(tmp_path / "alone", {**run, "seed": 6, "seeds": 1})
    assert alone.findings == report.findings[1:2]


def test_plans_that_name_a_job_twice_do_it_once(tmp_path: Path) -> None:
    """For example by an entry of its own and by a product."""
    asked = campaign(tmp_path, WHOLE, WHOLE, {**WHOLE, "scope": {"agents": 4}})
    assert len(asked.units) == 2
    assert written(tmp_path, WHOLE).is_file()
