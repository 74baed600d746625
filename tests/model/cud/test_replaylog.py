"""The log alone reconstructs the run, bit for bit, under any hash seed; an incomplete log is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from evenhand.core.canonical import canonical_bytes
from evenhand.core.codec import encode
from evenhand.model.cud.conditions import Condition, conditions, play
from evenhand.model.cud.mutants import MUTANTS
from evenhand.model.cud.replaylog import LogBroken, after, read_log, rebuild, write_log
from evenhand.model.cud.run_system import RUN
from evenhand.model.cud.step import initial
from evenhand.model.cud.vocabulary import Effect

SEEDS = ("0", "1", "4242")

PROGRAM = """
import hashlib
from evenhand.model.cud.conditions import conditions, play
from evenhand.model.cud.replaylog import write_log
for one in conditions():
    for case in one.cases:
        config = one.under(case)
        text = write_log(config, [step.shown for step in play(config, one.rules).steps])
        print(one.name, hashlib.sha256(text.encode()).hexdigest())
"""


def ids(one: Condition) -> str:
    """Return the condition's name."""
    return one.name


@pytest.mark.parametrize("one", conditions(), ids=ids)
def test_the_written_log_rebuilds_every_state(one: Condition) -> None:
    """Through the file and back; bytes are compared, so that 1 and true stay different."""
    for case in one.cases:
        trace = play(one.under(case), one.rules)
        config, log = read_log(write_log(one.under(case), [step.shown for step in trace.steps]))
        assert config == one.under(case)
        assert canonical_bytes(encode(rebuild(config, log))) == canonical_bytes(encode(trace.states))


def test_every_epoch_of_free_agents_is_rebuilt() -> None:
    """Every reachable step over two agents and one key, messages, exits and faults included, and after the end."""
    system = RUN.at(keys=1)
    for config in system.all_configs():
        states = dict.fromkeys(system.initial(config))
        queue = list(states)
        for state in queue:
            for action in system.enabled(config, state):
                taken = system.take(config, state, action)
                assert after(config, state, taken.shown) == taken.after
                if taken.after not in states:
                    states[taken.after] = None
                    queue.append(taken.after)
            if not list(system.enabled(config, state)):
                first = next(system.enabled(config, initial(config)[0]))
                assert after(config, state, system.take(config, state, first).shown) == state


@pytest.mark.parametrize("name", ["veto_ignored", "read_writes", "tie_break_by_name", "forged_sender_accepted"])
def test_a_faulty_kernels_run_is_rebuilt_too(name: str) -> None:
    """No rule is evaluated, so the kernel need not be honest."""
    rules = {one.name: one for one in MUTANTS}[name].rules
    for one in conditions():
        trace = play(one.config, rules)
        assert rebuild(one.config, [step.shown for step in trace.steps]) == trace.states


def test_the_same_bytes_under_any_hash_seed() -> None:
    """Three interpreters, three seeds, one output."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in SEEDS
    ]
    assert runs[0] and runs.count(runs[0]) == len(SEEDS)


def test_a_log_that_lacks_something_is_refused() -> None:
    """A missing epoch, a missing token, a change of an absent value."""
    trace = play({one.name: one for one in conditions()}["G"].config)
    config, (first, second) = trace.scenario.config, [step.shown for step in trace.steps]
    wrong = Effect(first.effects[0].key, first.effects[0].after, first.effects[0].before)
    for log, message in (
        ([replace(first, tokens=first.tokens[:1]), second], "epoch 0: the log does not say"),
        ([replace(first, effects=(wrong,)), second], "epoch 0: the log changes resource_A"),
        ([first, replace(second, exits=())], "epoch 1: the log does not say"),
        ([second, first], "epoch 1: the log does not say"),
    ):
        with pytest.raises(LogBroken, match=message):
            rebuild(config, log)
    assert rebuild(config, [replace(first, effects=())]) != trace.states[:2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1"),
        ("[]\n", "line 1"),
        ('{"format":"evenhand/cud-log","version":2,"config":null}\n', "no header of evenhand/cud-log version 1"),
        ('{"format":"evenhand/cud-log","version":1,"config":null}\n', "no configuration"),
    ],
)
def test_a_file_that_is_no_log_is_refused(text: str, message: str) -> None:
    """One message that names the line."""
    with pytest.raises(LogBroken, match=message):
        read_log(text)


def test_a_broken_line_is_named() -> None:
    """A truncated line, or a line that is no epoch."""
    trace = play(conditions()[0].config)
    text = write_log(trace.scenario.config, [step.shown for step in trace.steps])
    with pytest.raises(LogBroken, match="line 2"):
        read_log(text[:-10])
    with pytest.raises(LogBroken, match="line 3: no epoch"):
        read_log(f"{text}1\n")
