"""Every mutant differs from the reference or is registered as equivalent; the listed claims kill their mutants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.system import Mutant, System
from evenhand.core.verdict import Status
from evenhand.model.apcm.systems import RUN, ApcmSystem
from evenhand.model.apcm.vocabulary import EMPTY, MAINTAIN, REVISE, Act, Config, Shown, State
from evenhand.search import explore
from evenhand.variants.separate import separate
from tests.deep import rest_slow
from tests.properties.apcm.bundle import BUNDLE

MUTANTS = {mutant.name: mutant for mutant in BUNDLE.model.mutants}


def pair(mutant: Mutant[Any]) -> tuple[System[Any, Any, Any, Any, Any], System[Any, Any, Any, Any, Any]]:
    """Return the reference and the mutant, where the mutant shows."""
    variant = mutant.of(BUNDLE.model.systems)
    return replace(variant, rules=BUNDLE.model.systems[mutant.system].rules, variant="reference"), variant


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_shows_or_is_equivalent(name: str) -> None:
    """By observations alone; the scenario is short."""
    mutant = MUTANTS[name]
    found = separate(*pair(mutant), examples=0)
    if mutant.expected == "equivalent":
        assert found.equal and mutant.reason
    else:
        assert found.separated and found.length is not None and found.length <= 4


def kills(name: str) -> list[str]:
    """Return the claims that hold on the reference and are refuted on the mutant."""
    reference, variant = pair(MUTANTS[name])
    claims = BUNDLE.claims_of(variant.name)
    true = {v.claim for v in explore(reference, claims).verdicts if v.status is Status.HOLDS}
    return [v.claim for v in explore(variant, claims).verdicts if v.status is Status.REFUTED and v.claim in true]


@pytest.mark.parametrize(
    ("name", "claim"),
    rest_slow(
        [
            ("rule_1_dropped", "mask_forbids_exactly_rule_1"),
            ("necessity_of_the_claimed_action", "authorised_violations_unavoidable"),
            ("maintain_exempt", "maintain_changes_no_field"),
            ("fail_fast", "errors_are_exactly_the_broken_rules"),
            ("errors_by_section", "errors_are_ranked"),
            ("generator_counts_steps", "generator_sees_only_its_inputs"),
        ]
    ),
)
def test_a_claim_kills_a_mutant(name: str, claim: str) -> None:
    """The claim about the rule that the mutant breaks."""
    assert claim in kills(name)


@pytest.mark.deep
@pytest.mark.parametrize("name", MUTANTS)
def test_every_mutant_has_the_fate_it_states(name: str) -> None:
    """Killed by some claim, or by none and equivalent."""
    assert bool(kills(name)) == (MUTANTS[name].expected == "killed")


def test_there_are_enough_of_them() -> None:
    """At least fifteen, with distinct names, and no unexplained survivor."""
    assert len(MUTANTS) == len(BUNDLE.model.mutants) >= 15
    assert all(mutant.reason for mutant in MUTANTS.values() if mutant.expected != "killed")


def with_record(system: ApcmSystem, wrong: Callable[[Shown], Shown]) -> ApcmSystem:
    """Return the system whose steps are recorded wrongly; what they do is right."""

    def recorded(rules: Any, config: Config, state: State, action: Act) -> tuple[State, Shown]:
        after, shown = system.step(rules, config, state, action)
        return after, wrong(shown)

    return replace(system, step=recorded, variant="wrong_record")


def executed(**wrong: Any) -> Callable[[Shown], Shown]:
    """Return what records executions wrongly."""
    return lambda shown: replace(shown, **wrong) if shown.kind == "select" else shown


def read(**wrong: Any) -> Callable[[Shown], Shown]:
    """Return what records artefacts that can be read wrongly."""
    return lambda shown: replace(shown, **wrong) if shown.fields is not None else shown


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("executions_record_what_they_violate", executed(selected_violates=())),
        ("executions_record_what_they_violate", executed(selected_violates=("P1",))),
        ("executions_record_what_they_violate", executed(selected="")),
        ("executions_record_what_they_violate", executed(permitted=("a1",))),
        ("fields_are_as_written", read(mode="")),
        ("fields_are_as_written", read(mode=MAINTAIN)),
        ("fields_are_as_written", read(mode=REVISE)),
        ("fields_are_as_written", read(fields=EMPTY)),
    ],
)
def test_a_claim_about_records_is_false_of_a_wrong_one(claim: str, wrong: Callable[[Shown], Shown]) -> None:
    """Of the same runs with the right record it is true, and something was there to be true of."""
    claims = [one for one in BUNDLE.claims_of("run") if one.name == claim]
    (right,) = explore(RUN, claims).verdicts
    (verdict,) = explore(with_record(RUN, wrong), claims).verdicts
    assert right.status is Status.HOLDS and not right.because
    assert verdict.status is Status.REFUTED
