"""Every mutant differs from the reference or is registered as equivalent; the listed claims kill their mutants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from evenhand.core.kinds import Safety
from evenhand.core.system import Mutant, Step, System
from evenhand.core.verdict import Status
from evenhand.model.apcm.systems import RUN, ApcmSystem
from evenhand.model.apcm.vocabulary import EMPTY, MAINTAIN, REVISE, Act, Artifact, Config, Select, Shown, State
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


def with_step(system: ApcmSystem, wrong: Callable[[State, State, Shown], tuple[State, Shown]]) -> ApcmSystem:
    """Return the system whose steps are changed: from state before, state after and record to the last two."""

    def changed(rules: Any, config: Config, state: State, action: Act) -> tuple[State, Shown]:
        return wrong(state, *system.step(rules, config, state, action))

    return replace(system, step=changed, variant="wrong_step")


Wrong = Callable[[State, State, Shown], tuple[State, Shown]]
OTHER = Artifact(frozenset(), frozenset(), frozenset())


def shows(when: Callable[[Shown], bool], **wrong: Any) -> Wrong:
    """Return what records some steps wrongly."""
    return lambda _before, after, shown: (after, replace(shown, **wrong) if when(shown) else shown)


def leads(when: Callable[[Shown], bool], **wrong: Any) -> Wrong:
    """Return what leaves another state after some steps."""
    return lambda _before, after, shown: (replace(after, **wrong) if when(shown) else after, shown)


@pytest.mark.parametrize(
    ("system", "claim", "wrong"),
    [
        ("run", "submissions_arrive_unchanged", shows(lambda one: one.artifact is not None, artifact=OTHER)),
        ("run", "submissions_arrive_unchanged", shows(lambda one: one.fields is not None, artifact=None)),
        (
            "universe",
            "only_malformed_artifacts_go_unread",
            shows(lambda one: one.fields is not None, fields=None, mode=""),
        ),
        ("universe", "only_malformed_artifacts_go_unread", shows(lambda one: one.fields is None, mode=REVISE)),
        ("universe", "nothing_is_compiled_without_a_compiler", shows(lambda one: bool(one.invalid), revision=True)),
        ("conditions", "nothing_is_compiled_without_a_compiler", shows(lambda one: bool(one.permitted), fields=EMPTY)),
        ("run", "submissions_execute_nothing", shows(lambda one: one.kind == "submit", selected="a1")),
        ("run", "submissions_execute_nothing", shows(lambda one: one.kind == "submit", selected_violates=("P1",))),
        ("run", "rejections_say_why_and_nothing_else", shows(lambda one: one.kind == "select", rejected="late")),
        ("run", "masks_wait_for_a_selection", leads(lambda one: bool(one.offered), permitted=())),
        ("run", "masks_wait_for_a_selection", leads(lambda one: bool(one.offered), over="DONE")),
        ("universe", "invalid_runs_end_where_they_stand", leads(lambda one: bool(one.invalid), place=1)),
        ("run", "selectors_choose_as_named", shows(lambda one: not one.permitted, offered=("a1",))),
        ("run", "precedent_is_kept_as_read", leads(lambda one: one.kind == "select", previous=None)),
        ("universe", "every_step_moves_on_by_one", leads(lambda one: one.halt, over="INVALID_RUN")),
    ],
)
def test_a_claim_about_what_a_step_leaves_is_false_of_another(system: str, claim: str, wrong: Wrong) -> None:
    """Every step of a few configurations: true of each as it is, and false of one as it is changed."""
    (asked,) = (one for one in BUNDLE.claims_of(system) if one.name == claim)
    assert isinstance(asked, Safety)
    right = BUNDLE.model.systems[system]
    told = [
        (asked.at(config, None, right.take(config, state, action)), asked.at(config, None, other))
        for config, state, action, other in steps_of(right, with_step(right, wrong))
    ]
    assert True in {one for one, _ in told} and False not in {one for one, _ in told}
    assert False in {one for _, one in told}


def steps_of(right: ApcmSystem, wrong: ApcmSystem) -> Iterator[tuple[Config, State, Act, Step[Any, Any, Any, Any]]]:
    """The first hundred steps of every other configuration, breadth first, and each as `wrong` takes it."""
    for config in islice(right.all_configs(), 0, None, 2):
        states = list(right.initial(config))
        for state in states:
            for action in islice(right.enabled(config, state), 100):
                yield config, state, action, wrong.take(config, state, action)
                if len(states) < 4:
                    states.append(right.take(config, state, action).after)


def test_a_rejection_without_a_reason_or_with_a_result_is_told() -> None:
    """No system offers what would be rejected, so the step is taken here."""
    (claim,) = (one for one in BUNDLE.claims_of("run") if one.name == "rejections_say_why_and_nothing_else")
    assert isinstance(claim, Safety)
    config = next(iter(RUN.all_configs()))
    step = RUN.take(config, next(iter(RUN.initial(config))), Select("a1"))
    assert step.shown.kind == "rejected" and claim.at(config, None, step) is True
    for wrong in ({"rejected": ""}, {"halt": True}, {"selected": "a1"}):
        assert claim.at(config, None, replace(step, shown=replace(step.shown, **wrong))) is False
