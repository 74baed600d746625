"""A session replays from its log alone, bit by bit, under every hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.core.canonical import canonical_text, parse
from evenhand.model.sovereign.conditions import CONDITIONS, cycles
from evenhand.model.sovereign.menus import TREE
from evenhand.model.sovereign.replaylog import Diverged, log_lines, replay_log
from evenhand.model.sovereign.sessions import run
from evenhand.model.sovereign.state import Config

ROOT = Path(__file__).parents[3]
PROGRAM = """
from evenhand.model.sovereign.conditions import CONDITIONS, cycles
from evenhand.model.sovereign.menus import TREE
from evenhand.model.sovereign.replaylog import log_lines, replay_log
from evenhand.model.sovereign.sessions import run
from evenhand.model.sovereign.state import Config
import hashlib
count = {count}
mixed = [one for part in zip(*(cycles(name, "random", count // 10) for name in CONDITIONS)) for one in part]
ran = run(Config(tree=TREE, most_refusals=0), mixed)
assert len(ran.steps) == count, len(ran.steps)
lines = list(log_lines(Config(tree=TREE, most_refusals=0), ran.steps))
replayed = replay_log(lines)
assert replayed.cycles == count and replayed.final == ran.steps[-1].after
print(hashlib.sha256("\\n".join(lines).encode()).hexdigest(), replayed.digest)
"""


def logged_under(seed: int, count: int) -> str:
    """Return the digests of a session's log and of its replay, in a fresh interpreter under a hash seed."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(count=count)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_session_is_bit_identical_under_two_hash_seeds() -> None:
    """A hundred cycles of all ten conditions, mixed."""
    assert len({logged_under(seed, 100) for seed in (0, 1)}) == 1


@pytest.mark.deep
def test_a_thousand_cycles_are_bit_identical_under_five_hash_seeds() -> None:
    assert len({logged_under(seed, 1_000) for seed in (0, 1, 2, 3, 12_345)}) == 1


def _lines() -> list[str]:
    config = Config(tree=TREE, condition="B")
    return list(log_lines(config, run(config, cycles("B", "seed", 8)).steps))


def test_a_log_that_was_touched_does_not_replay() -> None:
    """A line dropped, a word changed, a decision changed, another constitution."""
    lines = _lines()
    assert replay_log(lines).cycles == 8
    with pytest.raises(Diverged, match="follow"):
        replay_log([*lines[:2], *lines[3:]])
    with pytest.raises(Diverged, match="not what was logged"):
        replay_log([lines[0], lines[1].replace("because", "becausE")])
    changed = parse(lines[0])
    changed["constitution"] = "sha256:" + "0" * 64
    with pytest.raises(Diverged, match="constitution"):
        replay_log([canonical_text(changed), *lines[1:]])
    with pytest.raises(Diverged, match="no JSON"):
        replay_log([lines[0], "{"])


def test_every_condition_replays() -> None:
    """A to E and L-A to L-E, from the log alone."""
    assert len(CONDITIONS) == 10
    for name in CONDITIONS:
        config = Config(tree=TREE, condition=name)
        ran = run(config, cycles(name, "seed", 20))
        assert replay_log(log_lines(config, ran.steps)).final == ran.steps[-1].after
