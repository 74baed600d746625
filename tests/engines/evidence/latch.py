"""Runs of the toy latch for the tests of this folder: one of each kind of evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.plan import Expectation
from evenhand.core.property import Property, determined_by
from evenhand.core.system import AnyStep, System
from evenhand.core.trace import Lasso, Pair, Scenario
from evenhand.core.verdict import Evidence, Status
from evenhand.evidence.record import Record
from evenhand.evidence.replay import record_run
from tests.front.plugins.toylatch import BUNDLE, LATCH, Act, Config, Readings, State, one_inside, somebody_enters


@determined_by(
    "What an agent is told depends on what it asks for (false: also on who is inside).", key=lambda s: s.action
)
def told_by_asking(step: AnyStep) -> str:
    """A false claim: a pair of runs refutes it."""
    return str(step.shown)


LATCHES: Bundle = replace(
    BUNDLE,
    claims=(*BUNDLE.claims, told_by_asking),
    expected=(*BUNDLE.expected, Expectation("told_by_asking", Status.REFUTED, because="the latch may be taken")),
)
CONFIG = Config(2, Readings())
TAKE, OTHER = Act("take", 0), Act("take", 1)
TWO_INSIDE: Scenario[Any, Any, Any] = Scenario(CONFIG, State(), (TAKE, OTHER))
RUNS: dict[str, tuple[str, Property, Evidence]] = {
    "scenario": ("always_free", one_inside, TWO_INSIDE),
    "lasso": ("reference", somebody_enters, Lasso(CONFIG, State(), (), (Act("leave", 0),))),
    "pair": (
        "reference",
        told_by_asking,
        Pair(Scenario(CONFIG, State(), (TAKE,)), Scenario(CONFIG, State(), (OTHER, TAKE)), "told_by_asking"),
    ),
}
"""Kind of evidence to its variant, the claim that it refutes, and the run."""


def mutant(name: str) -> System[Any, Any, Any, Any, Any]:
    """Return the latch under a mutant's rules, or the reference."""
    rules = {one.name: one.rules for one in LATCHES.model.mutants}
    return LATCH if name == "reference" else replace(LATCH, rules=rules[name], variant=name)


def find_claim(name: str) -> Property:
    """Return the claim of that name."""
    return next(claim for claim in LATCHES.claims if claim.name == name)


def record(kind: str = "scenario") -> Record:
    """Return the record of the run of that kind."""
    variant, claim, evidence = RUNS[kind]
    return record_run(LATCHES, mutant(variant), claim, evidence, engine="explore", reproduce="evenhand explore latch")
