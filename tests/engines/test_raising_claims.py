"""A claim that raises on a mutant is UNDECIDED and says what it met; the other claims are decided as without it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest
from hypothesis import strategies as st

import evenhand
from evenhand import ModelError, explore, fuzz
from evenhand.core.bundle import Bundle
from evenhand.core.generator import Event, Generator, Rule
from evenhand.core.system import Protocol, Scope, System
from evenhand.core.verdict import Status
from evenhand.jobs.engines import verdicts_of
from evenhand.jobs.plan import Job
from evenhand.jobs.raising import decided


@dataclass(frozen=True)
class Config:
    """How far it counts."""

    most: int = 3


COUNTING: System[Config, int, str, tuple[tuple[str, int], ...], None] = System(
    name="counting",
    rules=None,
    configs=lambda _scope, _readings: (Config(),),
    initial=lambda _config: (0,),
    step=lambda _rules, config, state, _action: (state + 1, () if state + 1 == config.most else (("amount", 1),)),
    actions=lambda config, _scope, state: ("more",) if state < config.most else (),
    scope=Scope(),
    types=(Config,),
    variant="forgetful",
)
"""Its last record lacks its field; the reference has it."""


@evenhand.each_step("Every record has its amount.")
def amounts_are_one(step: Any) -> Any:
    """Raises IndexError for a record without a field."""
    return step.shown[0][1] == 1


@evenhand.leads_to("Whoever is at one gets to three.", trigger=lambda step: step.shown[0][1] == 1)
def arrives(step: Any) -> Any:
    """Its antecedent raises."""
    return step.after == 3


@evenhand.always("It never gets beyond two.")
def stays_low(state: int) -> bool:
    """Refuted."""
    return state < 3


@evenhand.always("It never falls below zero.")
def stays_high(state: int) -> bool:
    """Holds."""
    return state >= 0


CLAIMS = (amounts_are_one, stays_low, arrives, stays_high)
BUNDLE = Bundle(Protocol("counting", "Counting", "1", {"counting": COUNTING}), claims=CLAIMS)


@pytest.mark.parametrize("engine", ["explore", "fuzz"])
def test_one_raises_and_the_others_are_decided(engine: Literal["explore", "fuzz"]) -> None:
    """The verdicts of the others are those of a run without it."""
    job = Job("counting", engine, "counting", examples=20, steps=5)
    found = {one.claim: one for one in verdicts_of(BUNDLE, job, COUNTING)}
    assert found["stays_low"].status is Status.REFUTED
    assert found["stays_high"].status is Status.HOLDS
    for name in ("amounts_are_one", "arrives"):
        assert found[name].status is Status.UNDECIDED
        assert "raises on what it meets" in found[name].because and "IndexError" in found[name].because
    alone = verdicts_of(replace(BUNDLE, claims=(stays_low, stays_high)), job, COUNTING)
    assert [(one.claim, one.status) for one in alone] == [
        (name, found[name].status) for name in ("stays_low", "stays_high")
    ]


def test_on_the_reference_it_ends_the_run() -> None:
    """It is a mistake of the claim, which nothing else should hide."""
    with pytest.raises(ModelError, match="amounts_are_one"):
        verdicts_of(BUNDLE, Job("counting", "explore", "counting"), replace(COUNTING, variant="reference"))


def test_the_engines_themselves_name_the_claim() -> None:
    """What is caught above is this error, which says which claim it was."""
    with pytest.raises(ModelError) as caught:
        explore(COUNTING, [stays_high, amounts_are_one])
    assert caught.value.claims == ("amounts_are_one",)
    with pytest.raises(ModelError) as caught:
        fuzz(COUNTING, [stays_high, amounts_are_one], examples=5, steps=5)
    assert caught.value.claims == ("amounts_are_one",)


def test_a_step_that_raises_decides_nothing() -> None:
    """It is no claim's fault, and is not taken for one."""

    def fails(_rules: object, _config: Config, _state: int, _action: str) -> tuple[int, tuple[()]]:
        raise KeyError("amount")

    broken = replace(COUNTING, step=fails)
    with pytest.raises(ModelError, match="KeyError"):
        decided(lambda asked: explore(broken, asked).verdicts, CLAIMS, broken, "explore")


def test_an_event_that_raises_was_not_seen() -> None:
    """On a mutant its floor leaves claims open, and what is refuted stays so; on the reference it ends the run."""
    event = Event("an amount of one", lambda step: step.shown[0][1] == 1, 1_000)
    more = Rule("more", lambda _draw, _config, _scope, _state: "more")
    events = Generator("counting", lambda _scope, _readings: st.just(Config()), (more,), (event,))
    found = {one.claim: one for one in fuzz(COUNTING, [stays_low, stays_high], events, examples=5, steps=5).verdicts}
    assert found["stays_low"].status is Status.REFUTED
    assert found["stays_high"].status is Status.UNDECIDED and "an amount of one" in found["stays_high"].because
    with pytest.raises(ModelError, match="the event 'an amount of one' raised IndexError"):
        fuzz(replace(COUNTING, variant="reference"), [stays_high], events, examples=5, steps=5)
