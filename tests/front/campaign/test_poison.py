"""Tasks that raise, hang, crash or eat memory end UNDECIDED with the reason, and all other tasks go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenhand.campaign.planfile import read_plan
from evenhand.campaign.scheduler import CampaignState, unfinished
from evenhand.campaign.store import Kept, opened, store_url
from evenhand.core.verdict import Status
from evenhand.processes.pool import ProcessLimits
from tests.front.campaign.plugins.toyring import POISONS
from tests.front.campaign.suite import written
from tests.front.conftest import Command

RUN = {"protocol": "ring", "engine": "explore", "claims": ["held"]}
RUNS = ({**RUN, "scope": {"poison": [0, 2, 3, 4]}}, {**RUN, "scope": {"poison": 1}, "seconds": 2})
"""The hanging task has a short time limit; no other task reaches its limit, however slow the machine."""
SAID = {
    "hangs": "it took longer than its limit of 2 seconds",
    "crashes": "its process ended with exit code -9, 3 times",
    "eats": "it needs more than its limit of 1500 MiB of memory (an error stopped explore at",
    "raises": "an error stopped explore at",
}


def test_each_poison_costs_its_own_task(cli: Command, tmp_path: Path) -> None:
    """The report, the status and the store name the task; the exit code of the run is that of an UNDECIDED."""
    plan = written(tmp_path, *RUNS, seconds=120, memory=1500)
    answer = cli("campaign", "run", str(plan), "--jobs", "2", "--json")
    assert answer.code == 3, answer.err
    verdicts: dict[str, Any] = {POISONS[v["scope"]["poison"]]: v for v in answer.json["verdicts"]}
    assert [name for name, v in verdicts.items() if v["status"] == "HOLDS"] == ["none"]
    for name, said in SAID.items():
        assert verdicts[name]["status"] == Status.UNDECIDED.value
        assert verdicts[name]["because"].startswith(said), verdicts[name]["because"]
    status = cli("campaign", "status", str(plan), "--json").json
    assert (status["done"], len(status["undecided"]), status["unfinished"]) == (1, 4, [])

    campaign = read_plan(plan, plan.read_bytes())
    store = opened(store_url("", plan), make=False)
    now = CampaignState(campaign, store)
    outcomes = [state.whole.outcome for state in now.states() if state.whole is not None]
    assert outcomes == ["done", "died", "memory", "error", "time"]
    again = [len(now.orders(unit, unfinished)) for unit in campaign.units]
    assert again == [0, 1, 0, 1, 0], "limits are believed, accidents are not"
    store.close()


@pytest.mark.parametrize(
    ("outcome", "then", "now", "again"),
    [
        ("done", ProcessLimits(1, 1), ProcessLimits(9, 9), False),
        ("time", ProcessLimits(1, 1), ProcessLimits(1, 9), False),
        ("time", ProcessLimits(1, 1), ProcessLimits(2, 1), True),
        ("time", ProcessLimits(1, 1), ProcessLimits(None, 1), True),
        ("memory", ProcessLimits(1, 8), ProcessLimits(9, 8), False),
        ("memory", ProcessLimits(1, 8), ProcessLimits(1, 9), True),
        ("memory", ProcessLimits(1, None), ProcessLimits(1, 9), False),
        ("died", ProcessLimits(), ProcessLimits(), True),
        ("error", ProcessLimits(), ProcessLimits(), True),
    ],
)
def test_what_is_repeated(outcome: str, then: ProcessLimits, now: ProcessLimits, again: bool) -> None:
    """Only results that may change are repeated."""
    kept = Kept("a", "i", outcome, {"seconds": then.seconds, "memory": then.memory}, None, 1.0)
    assert unfinished(kept, now) is again


def test_a_poisoned_piece_leaves_its_job_undecided(cli: Command, tmp_path: Path) -> None:
    """The job names the piece, and the other jobs are done."""
    slow = {**RUN, "scope": {"slow": 60_000}, "seconds": 2}
    plan = written(tmp_path, {**RUN, "scope": {"slow": 0}}, slow, seconds=120, parts=2)
    answer = cli("campaign", "run", str(plan), "--jobs", "2", "--json")
    assert answer.code == 3, answer.err
    one, other = answer.json["verdicts"]
    assert one["status"] == "HOLDS" and other["status"] == "UNDECIDED"
    assert other["because"] == "piece 1/2: it took longer than its limit of 2 seconds"
