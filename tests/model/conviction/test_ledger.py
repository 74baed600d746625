"""The public ledger: numbered without gaps, dated, complete, free of credentials, the same under any hash seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

from evenhand.core.trace import Scenario, Trace, replay
from evenhand.model.conviction.ledger import json_lines, proposal_records, records
from evenhand.model.conviction.protocol import CONVICTION
from evenhand.model.conviction.texts import Text
from evenhand.model.conviction.vocabulary import (
    Act,
    Config,
    MoveStake,
    Propose,
    Revise,
    Shown,
    SignalReady,
    State,
    Tick,
)


def run() -> Trace[Config, State, Act, Shown]:
    """Run one Issue of `issue`: a proposal, a revision out of the stake, a move, a winner."""
    system = CONVICTION.systems["issue"].at(cycles=1, budget=2, texts=2)
    config = next(iter(system.all_configs()))
    actions = (
        Tick(),
        Propose("agent_1", "key 1", Text("a")),
        Tick(),
        SignalReady("agent_1", "key 2"),
        Tick(),
        Revise("agent_1", "key 1", Text("a", "b")),
        Tick(),
        Tick(),
        MoveStake("agent_2", "key 2", "agent_2", "agent_1", 1),
        Tick(),
        Tick(),
    )
    return replay(system, Scenario(config, next(iter(system.initial(config))), actions))


def test_records_are_numbered_and_dated() -> None:
    """13.1: a deterministic sequence number; ticks do not fall."""
    found = list(records(run().steps))
    assert [one["sequence"] for one in found] == list(range(len(found)))
    ticks = [one["tick"] for one in found]
    assert ticks == sorted(ticks) and ticks[0] == 1 and ticks[-1] == 7
    assert {
        "Finalize",
        "StakeBurned",
        "Burn",
        "Revision",
        "Withdrawn",
        "Moved",
        "KickOut",
        "Rejected",
        "Published",
    } <= {one["kind"] for one in found}


def test_proposals_have_the_fields_of_8_3() -> None:
    """Author, Issue, revision number, stake and ticks, worked out by hand from the run above."""
    mine, yours = proposal_records(run().steps)
    assert mine == {
        "proposal": "agent_1",
        "author": "agent_1",
        "parent_issue": "issue_1",
        "revision": 1,
        "created_tick": 1,
        "last_updated_tick": 3,
        "current_stake": 2,
    }
    assert (yours["created_tick"], yours["revision"], yours["current_stake"]) == (2, 0, 1)


def test_no_credential_is_published() -> None:
    """18.4."""
    text = json_lines(records(run().steps))
    assert "key 1" not in text and "key of the" not in text


PROGRAM = """
import hashlib
from evenhand.model.conviction.ledger import json_lines, records
from tests.model.conviction.test_ledger import run
print(hashlib.sha256(json_lines(records(run().steps)).encode()).hexdigest())
"""


def test_the_same_bytes_under_any_hash_seed() -> None:
    """Three processes and this one."""
    mine = hashlib.sha256(json_lines(records(run().steps)).encode()).hexdigest()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        said = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=60
        )
        assert said.stdout.strip() == mine
