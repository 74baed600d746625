"""The guide: it takes the rarest of what was drawn, draws nothing of its own, and can be turned off without a trace."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st

from benchmarks.guided import cover
from evenhand.core.answers import ModelError
from evenhand.core.generator import Draw, Event, Generator, Rule
from evenhand.core.property import Always, Reachable
from evenhand.core.system import Step, System
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Status
from evenhand.evidence.judge import refutes
from evenhand.machine import fuzz
from evenhand.machine.guide import Guide

WIDE = 60
"""Steps in a row to the far end of the stair."""

Stair = System[None, int, str, str, None]


def stair(jump: int = 0) -> Stair:
    """Up one stair, down to the start, or stay; `jump` is the stair from which a step up leads to 99."""

    def step(_rules: None, _config: None, state: int, action: str) -> tuple[int, str]:
        if action == "up":
            return (99, "flown") if state == jump > 0 else (min(state + 1, WIDE), "up")
        return (0, "fell") if action == "down" else (state, "stayed")

    def actions(_config: None, _scope: Any, _state: int) -> tuple[str, ...]:
        return ("up", "down", "stay")

    return System(
        name="stair",
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (0,),
        step=step,
        actions=actions,
        types=(),
    )


def up(step: Any) -> bool:
    """An event."""
    return bool(step.shown == "up")


def _any(draw: Draw, _config: Any, _scope: Any, _state: Any) -> str:
    return draw(st.sampled_from(("stay", "stay", "stay", "down", "up")))


GENERATOR = Generator("stair", lambda _scope, _readings: st.none(), (Rule("any", _any),), (Event("up", up, 1),))


def low(_config: Any, state: int) -> bool:
    """A claim."""
    return state < 99


def sixth(step: Any) -> bool:
    """A goal."""
    return bool(step.after == 6)


LOW = Always(name="low", sentence="Nobody flies.", source="S1", check=low)
HIGH = Reachable(name="high", sentence="Somebody comes to the sixth stair.", source="S2", goal=sixth)


def taken(before: int, action: str, after: int) -> Step[Any, Any, Any, Any]:
    """A step of the stair."""
    return Step(None, before, action, {"up": "up", "down": "fell", "stay": "stayed"}[action], after)


def test_a_new_transition_then_a_rare_change_then_a_rare_transition() -> None:
    """The order of what is rare."""
    guide = Guide((Event("up", up, 0),))
    one, two = taken(0, "up", 1), taken(0, "stay", 0)
    assert guide.rarity(None, one) == guide.rarity(None, two) == (0, 0, 0)
    now = guide.took(None, one)
    assert now == (True,)
    assert guide.rarity(None, two) < guide.rarity(None, one)  # it is new
    guide.took(None, two)
    guide.took(None, two)
    assert guide.rarity(None, one) < guide.rarity(None, two)  # both known: its change came once
    assert guide.rarity((True,), one) < guide.rarity(None, one)  # after another class it is another change
    plain = Guide()  # no events: one class, and transitions alone decide
    for _ in range(3):
        plain.took(None, two)
    plain.took(None, one)
    assert plain.rarity((), one) < plain.rarity((), two)


def covered(guided: bool) -> int:
    """States of the stair that 20 examples of a seed pass, over some seeds."""
    return sum(cover(stair(), GENERATOR, examples=20, seed=seed, guided=guided).states for seed in range(4))


def steered(pick: Callable[[Guide, Hashable, Any], tuple[int, ...]], monkeypatch: pytest.MonkeyPatch) -> int:
    """The same with another notion of what is rare."""
    with monkeypatch.context() as patch:
        patch.setattr(Guide, "rarity", pick)
        return covered(True)


def test_it_climbs_where_chance_falls_and_a_planted_steering_fault_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Upside down it prefers what was seen most, blind it takes the first drawn: both climb less."""
    honest, plain = covered(True), covered(False)
    assert honest > 1.3 * plain
    real = Guide.rarity

    def upside_down(guide: Guide, before: Hashable, step: Any) -> tuple[int, ...]:
        return tuple(-number for number in real(guide, before, step))

    def blind(_guide: Guide, _before: Hashable, _step: Any) -> tuple[int, ...]:
        return (0,)

    assert steered(upside_down, monkeypatch) < plain
    assert steered(blind, monkeypatch) < 1.2 * plain


def test_what_is_only_tried_is_no_step() -> None:
    """Steps, examples and events are counted as ever; verdicts say that they are of a guided run."""
    plain, guided = (fuzz(stair(), (HIGH,), GENERATOR, examples=30, guided=one) for one in (False, True))
    assert plain.steps == guided.steps == 600 and plain.examples == guided.examples == 30
    assert "looked" not in plain.coverage and guided.coverage["looked"] > 1_200
    assert guided.coverage["rule:any"] == guided.steps and guided.coverage["event:up"] <= guided.steps
    assert guided.verdicts[0].scope["guided"] is True and "guided" not in plain.verdicts[0].scope


def test_what_it_finds_replays_and_is_small() -> None:
    """A refutation of a guided run is judged and shrunk like any other."""
    found = fuzz(stair(jump=5), (LOW,), GENERATOR, examples=60, guided=True)
    (verdict,) = found.verdicts
    assert verdict.status is Status.REFUTED and isinstance(verdict.evidence, Scenario)
    assert refutes(stair(jump=5), LOW, verdict.evidence) and verdict.evidence.actions == ("up",) * 6


@pytest.mark.parametrize("stair_", [2, 6])
def test_a_step_that_raises_is_reported_where_it_is_taken(stair_: int) -> None:
    """Not where it was only tried: the note names state, action and rule.

    High up, Hypothesis draws the failing example again and comes elsewhere, since the guide has learnt; no matter.
    """

    def broken(_rules: None, _config: None, state: int, action: str) -> tuple[int, str]:
        if action == "up" and state == stair_:
            raise ZeroDivisionError("a stair is missing")
        return stair().step(_rules, _config, state, action)

    with pytest.raises(ModelError, match="ZeroDivisionError") as raised:
        fuzz(replace(stair(), step=broken), (), GENERATOR, examples=60, guided=True)
    notes = "\n".join(raised.value.__notes__)
    assert "drawn by rule 'any'" in notes and f"state {stair_}, action 'up'" in notes


def test_a_system_without_a_generator_is_guided_by_its_transitions() -> None:
    """Whatever is on offer."""
    found = fuzz(stair(), (HIGH,), examples=40, guided=True)
    assert found.verdicts[0].status is Status.HOLDS and found.coverage["looked"]


SAME = """
from evenhand.jobs.engines import run
from evenhand.jobs.plan import Job
from evenhand.core.registry import find
job = Job("cud", "fuzz", "free", examples=12, seed=3, guided=True)
print(job.command)
print([finding.to_json() for finding in run(find("cud"), job)])
"""


def test_the_same_seed_gives_the_same_run_under_any_hash_seed() -> None:
    """Findings, counts and evidence, by the command that reproduces them."""
    made = [
        subprocess.run(
            [sys.executable, "-c", SAME],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert made[0] == made[1] and "--seed 3 --guided" in made[0]
