"""The state machine: its coverage, its limits, and that its results repeat."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.stateful import run_state_machine_as_test

from evenhand.core.answers import ModelError
from evenhand.core.generator import Draw, Event, Generator, Rule
from evenhand.core.property import Always, DeterminedBy, EachStep, LeadsTo, Property, Reachable
from evenhand.core.system import Scope, System
from evenhand.core.trace import Lasso, Pair, Scenario
from evenhand.core.verdict import Status, Verdict
from evenhand.evidence.judge import refutes
from evenhand.machine import Fuzzing, Refuted, fuzz, machine
from tests.models import counter, lock, naive
from tests.models.lock import Act

CLAIMS: tuple[Property, ...] = (
    lock.MUTUAL_EXCLUSION,
    lock.REFUSALS_CHANGE_NOTHING,
    lock.SOMEBODY_ENTERS,
    lock.NOBODY_FLIES,
    lock.AT_MOST_TWO_ENTRIES,
    lock.BY_PLACE,
    lock.ANONYMOUS,
    lock.ASKS_COMMUTE,
    lock.ENTRIES_COMMUTE,
    lock.enters("weak_p0"),
    lock.no_livelock(),
    lock.NO_DEADLOCK,
)


def verdict(found: Fuzzing, claim: Property) -> Verdict:
    """Return the verdict on a claim."""
    return next(one for one in found.verdicts if one.claim == claim.name)


def statuses(found: Fuzzing) -> dict[str, str]:
    """Return the status of each claim by name."""
    return {one.claim: one.status.name for one in found.verdicts}


def drawing(*rules: Rule, events: tuple[Event, ...] = (), system: str = "lock") -> Generator:
    """Return a generator for two processes."""
    return Generator(system, lambda _scope, _readings: st.just(lock.Config(("p0", "p1"))), rules, events)


def act(verb: str, *, hostile: bool = False) -> Rule:
    """Return a rule that draws a process for one verb, where the verb is on offer (anywhere, if hostile)."""

    def here(config: lock.Config, state: lock.State) -> list[str]:
        return [p for p in config.processes if hostile or state.of(p) == lock.FROM.get(verb)]

    def draw(drawn: Draw, config: lock.Config, _scope: Scope, state: lock.State) -> Act:
        return Act(verb, drawn(st.sampled_from(here(config, state))))

    return Rule(verb, draw, lambda config, state: bool(here(config, state)), hostile)


def of_configs(*configs: lock.Config) -> lock.LockSystem:
    """Return the lock under these configurations."""

    def these(_scope: Scope, _readings: Any) -> tuple[lock.Config, ...]:
        return configs

    return replace(lock.lock(2), configs=these)


def two_lamps() -> System[int, int, str, int, None]:
    """Return a lamp that is on or off for the whole run."""
    return System(
        "two_lamps",
        None,
        lambda _scope, _readings: (0,),
        lambda _config: (0, 1),
        lambda _rules, _config, state, _action: (state, state),
        actions=lambda _config, _scope, _state: ("look",),
    )


def constant_of_the_run() -> DeterminedBy:
    """A claim that the observation depends on the action alone: true within each run, false across runs."""
    return DeterminedBy(name="x", sentence="", key=lambda step: step.action, value=lambda step: step.shown)


ASK, ENTER, LEAVE = act("ask"), act("enter"), act("leave")


@pytest.fixture(scope="module", name="reference")
def _reference() -> Fuzzing:
    return fuzz(lock.lock(3), CLAIMS, examples=100)


@pytest.mark.slow
def test_every_kind_of_claim_gets_its_verdict(reference: Fuzzing) -> None:
    """True claims hold, false ones are refuted, and claims that sampling cannot decide stay undecided."""
    assert statuses(reference) == {
        "mutual_exclusion": "HOLDS",
        "refusals_change_nothing": "HOLDS",
        "somebody_enters": "HOLDS",
        "nobody_flies": "UNDECIDED",
        "at_most_two_entries": "REFUTED",
        "by_place": "HOLDS",
        "anonymous": "HOLDS",
        "asks_commute": "HOLDS",
        "entries_commute": "REFUTED",
        "p0_enters": "REFUTED",
        "no_livelock": "REFUTED",
        "no_deadlock": "UNDECIDED",
    }


@pytest.mark.slow
def test_a_claim_alone_is_judged_on_the_same_runs() -> None:
    """The verdict, its evidence and its counts: the command that reproduces a refutation names one claim."""
    together = fuzz(lock.lock(3), CLAIMS, examples=25)
    assert set(statuses(together).values()) == {"HOLDS", "REFUTED", "UNDECIDED"}
    for claim in CLAIMS:
        alone = fuzz(lock.lock(3), (claim,), examples=25)
        assert verdict(alone, claim) == verdict(together, claim)


def test_a_small_system_is_covered_completely(reference: Fuzzing) -> None:
    """As many states as a plain search finds: 20."""
    assert reference.coverage["states"] == len(naive.reachable_states(lock.lock(3))) == 20


def test_numbers_asked_for_are_numbers_run(reference: Fuzzing) -> None:
    """100 examples of 20 steps, each drawn by the only rule."""
    assert (reference.examples, reference.steps) == (100, 2000)
    assert reference.coverage["rule:anything_on_offer"] == 2000
    assert reference.verdicts[0].scope == {"processes": 3, "examples": 100, "steps": 20, "seed": 0}
    assert reference.verdicts[0].engine == "fuzz"


def test_all_evidence_replays_and_is_as_small_as_it_gets(reference: Fuzzing) -> None:
    """By kind: a run, a pair of orders, two lassos."""
    for claim in CLAIMS:
        evidence = verdict(reference, claim).evidence
        assert evidence is None or refutes(lock.lock(3), claim, evidence)
    monitor = verdict(reference, lock.AT_MOST_TWO_ENTRIES).evidence
    orders = verdict(reference, lock.ENTRIES_COMMUTE).evidence
    starved = verdict(reference, lock.enters()).evidence
    witness = verdict(reference, lock.SOMEBODY_ENTERS).evidence
    assert isinstance(monitor, Scenario) and len(monitor.actions) == 8
    assert isinstance(orders, Pair) and len(orders.left.actions) == 4
    assert isinstance(starved, Lasso) and len(starved.stem) + len(starved.loop) == 4
    assert isinstance(witness, Scenario) and len(witness.actions) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "refuted"),
    [
        (lock.CARELESS, {"mutual_exclusion"}),
        (lock.FAVOURS_FIRST, {"mutual_exclusion", "by_place", "anonymous"}),
        (lock.SEALS, {"by_place", "no_deadlock"}),
    ],
    ids=["careless", "favours_first", "seals"],
)
def test_a_mutant_is_refuted_by_the_claims_that_it_breaks(rules: lock.Rules, refuted: set[str]) -> None:
    """Several at once: a refuted claim hides no other."""
    system = lock.lock(3, rules)
    found = fuzz(system, CLAIMS, examples=80)
    assert {name for name, status in statuses(found).items() if status == "REFUTED"} >= refuted
    for claim in CLAIMS:
        one = verdict(found, claim)
        assert (one.status is Status.REFUTED) <= (one.evidence is not None)
        assert one.evidence is None or refutes(system, claim, one.evidence)


def test_joint_actions_are_drawn_per_agent() -> None:
    """Forty agents have 5**40 joint actions, which are never listed."""
    system = counter.counter(40, budget=60, rules=counter.FIRST_COME, variant="first_come")
    found = fuzz(system, (counter.WITHIN_BUDGET, counter.NO_WINNER), examples=5, steps=5)
    assert statuses(found) == {"within_budget": "HOLDS", "no_winner": "REFUTED"}


def test_the_smallest_arbitration() -> None:
    """Two agents and one unit."""
    found = fuzz(counter.counter(3, 4, rules=counter.FIRST_COME), (counter.NO_WINNER,), examples=40)
    evidence = verdict(found, counter.NO_WINNER).evidence
    assert isinstance(evidence, Scenario)
    assert (len(evidence.config.agents), evidence.config.budget, len(evidence.actions)) == (2, 1, 1)


def test_an_antecedent_that_was_never_met_proves_nothing() -> None:
    """The careless lock refuses no process, so claims about refusals are vacuous."""
    found = verdict(fuzz(lock.lock(3, lock.CARELESS), CLAIMS, examples=20), lock.REFUSALS_CHANGE_NOTHING)
    assert (found.status, found.coverage["met"], found.coverage["unmet"]) == (Status.UNDECIDED, 0, 400)
    assert "antecedent was never met in 400 steps" in found.because


def test_keys_that_never_come_again_prove_nothing() -> None:
    """A claim whose key has every field compares nothing."""
    unique = DeterminedBy(
        name="x", sentence="", key=lambda step: (step.before, step.action), value=lambda step: step.shown
    )
    found = verdict(fuzz(lock.lock(3), (unique,), examples=50), unique)
    assert (found.status, found.coverage["met"]) == (Status.UNDECIDED, 0)


@pytest.mark.slow
def test_an_event_below_its_floor_leaves_everything_undecided_but_what_was_refuted() -> None:
    """The sentence names the event, the count and the floor."""
    rare = Event("three_inside", lambda step: len(step.after.inside()) == 3, floor=7)
    often = Event("entries", lambda step: step.shown == "in", floor=100)
    generator = drawing(ASK, ENTER, LEAVE, events=(often, rare))
    found = fuzz(lock.lock(2), CLAIMS, generator, examples=60)
    assert found.coverage["event:entries"] > 100
    assert found.coverage["event:three_inside"] == 0
    assert set(statuses(found).values()) == {"UNDECIDED", "REFUTED", "HOLDS"}
    assert [one.claim for one in found.verdicts if one.holds] == ["somebody_enters"], "it was witnessed"
    for one in found.verdicts:
        if one.status is Status.UNDECIDED:
            assert one.because == "the event 'three_inside' was seen 0 times, below its floor of 7"
    seen = fuzz(lock.lock(2), (lock.MUTUAL_EXCLUSION,), drawing(ASK, ENTER, LEAVE, events=(often,)), examples=60)
    assert seen.verdicts[0].holds


def test_every_rule_is_drawn_and_counted() -> None:
    """Rules are drawn where possible; the hostile one is possible anywhere, and the step accepts its actions."""
    generator = drawing(ASK, ENTER, LEAVE, act("fly", hostile=True))
    found = fuzz(lock.lock(2), CLAIMS, generator, examples=60)
    drawn = {name: found.coverage[f"rule:{name}"] for name in ("ask", "enter", "leave", "fly")}
    assert min(drawn.values()) > 60
    assert sum(drawn.values()) == found.steps
    assert verdict(found, lock.REFUSALS_CHANGE_NOTHING).coverage["met"] >= drawn["fly"]
    assert not verdict(found, lock.NOBODY_FLIES).holds


def test_a_goal_reached_by_hostile_actions_alone_is_not_reached() -> None:
    """Otherwise a machine that may do anything would show that a dead system is alive."""
    refused = Reachable(name="somebody_is_refused", sentence="", goal=lambda step: step.shown == "refused")
    found = fuzz(lock.lock(2), (refused,), drawing(act("fly", hostile=True)), examples=20)
    assert found.coverage["met:somebody_is_refused"] == found.steps > 0
    assert verdict(found, refused).status is Status.UNDECIDED


def test_a_run_that_ends_begins_again() -> None:
    """Two processes that only ask are done after two actions; the steps go on in new runs."""
    found = fuzz(lock.lock(2), CLAIMS, drawing(ASK), examples=10, steps=20)
    assert found.examples == 10
    assert (found.steps, found.coverage["runs"]) == (200, 100), "two actions each, and no draw is lost"


def test_a_run_that_ends_too_early_refutes_a_promise() -> None:
    """After asking no action is on offer, and no process has entered."""

    def only_asking(config: lock.Config, scope: Scope, state: lock.State) -> Iterator[Act]:
        return (action for action in lock.actions(config, scope, state) if action.verb == "ask")

    system = replace(lock.lock(2), actions=only_asking)
    found = verdict(fuzz(system, (lock.enters(),), examples=20), lock.enters())
    assert found.status is Status.REFUTED
    assert isinstance(found.evidence, Scenario)
    assert found.evidence.actions == (Act("ask", "p0"),)


def test_a_claim_that_is_made_nowhere_is_not_decided() -> None:
    """It applies to configurations that are never drawn, or to another system."""
    nowhere = Always(name="x", sentence="", check=lambda _config, _state: True, applies=lambda _config: False)
    elsewhere = Always(name="y", sentence="", check=lambda _config, _state: False, systems=("other",))
    found = fuzz(lock.lock(2), (nowhere, elsewhere), examples=5)
    assert statuses(found) == {"x": "UNDECIDED", "y": "UNDECIDED"}
    assert "none of the configurations" in found.verdicts[0].because
    assert "does not speak of system lock" in found.verdicts[1].because


def test_nothing_to_draw_is_not_decided() -> None:
    """An empty scope does not pass."""
    found = fuzz(of_configs(), CLAIMS, examples=5)
    assert set(statuses(found).values()) == {"UNDECIDED"}
    assert found.examples == 0


def test_a_promise_of_one_configuration_is_counted_only_there() -> None:
    """`applies` silences a claim even where it would be false."""
    small = Always(name="x", sentence="", check=lambda _c, _s: False, applies=lambda config: len(config.processes) < 3)
    system = of_configs(lock.Config(("p0", "p1", "p2")))
    assert verdict(fuzz(system, (small,), examples=5), small).status is Status.UNDECIDED


def test_ctrl_c_leaves_what_was_found_so_far() -> None:
    """The tenth example is interrupted: refutations stay, and otherwise only witnessed claims hold."""

    def progress(done: int, _asked: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    found = fuzz(lock.lock(3, lock.CARELESS), CLAIMS, examples=500, steps=40, progress=progress)
    assert found.interrupted
    assert found.examples == 10
    assert verdict(found, lock.MUTUAL_EXCLUSION).status is Status.REFUTED
    assert verdict(found, lock.SOMEBODY_ENTERS).holds
    waiting = verdict(found, lock.ASKS_COMMUTE)
    assert (waiting.status, waiting.because) == (Status.UNDECIDED, "interrupted after 10 of 500 examples")


class Alarm(BaseException):
    """The time is over."""


@pytest.mark.parametrize("struck", [KeyboardInterrupt, Alarm])
def test_what_strikes_while_hypothesis_begins_is_not_hidden(
    struck: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hypothesis asserts about its runner, which does not exist yet; that is no fault of evenhand."""

    def strike(_state: object) -> None:
        raise struck

    monkeypatch.setattr("hypothesis.core.StateForActualGivenExecution.run_engine", strike)
    if struck is KeyboardInterrupt:
        assert fuzz(lock.lock(2), CLAIMS, examples=5).interrupted
    else:
        with pytest.raises(Alarm):
            fuzz(lock.lock(2), CLAIMS, examples=5)


@pytest.mark.parametrize("struck", [KeyboardInterrupt, Alarm])
def test_what_strikes_within_hypothesis_is_not_hidden(
    struck: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two lines that belong together: Hypothesis then ends a span that has ended already."""
    usual = ConjectureData.stop_span
    strikes = iter([True])

    def strike(data: ConjectureData, *, discard: bool = False) -> None:
        usual(data, discard=discard)
        if next(strikes, False):
            data.depth += 1
            raise struck

    monkeypatch.setattr(ConjectureData, "stop_span", strike)
    if struck is KeyboardInterrupt:
        assert fuzz(lock.lock(2), CLAIMS, examples=5).interrupted
    else:
        with pytest.raises(Alarm):
            fuzz(lock.lock(2), CLAIMS, examples=5)


def test_progress_is_told() -> None:
    """Once per example, with the requested number."""
    told: list[tuple[int, int]] = []
    fuzz(lock.lock(2), CLAIMS, examples=7, steps=3, progress=lambda done, asked: told.append((done, asked)))
    assert told == [(done, 7) for done in range(1, 8)]


@pytest.mark.parametrize("wrong", [{"examples": 0}, {"steps": 0}])
def test_bad_numbers_are_named(wrong: dict[str, int]) -> None:
    """At least one of each."""
    numbers: Any = wrong
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be at least 1"):
        fuzz(lock.lock(2), CLAIMS, **numbers)


def test_a_generator_of_another_system_is_refused() -> None:
    """It would draw actions that this system does not know."""
    with pytest.raises(ValueError, match="'counter', not for 'lock'"):
        fuzz(lock.lock(2), CLAIMS, drawing(ASK, system="counter"))


def test_what_the_model_raises_comes_with_the_step() -> None:
    """A step that raises is the model's fault; the note names the place."""

    def broken(rules: lock.Rules, config: lock.Config, state: lock.State, action: Act) -> tuple[lock.State, str]:
        if action.verb == "leave":
            raise ZeroDivisionError("in the model")
        return lock.step(rules, config, state, action)

    with pytest.raises(ModelError, match="raised ZeroDivisionError: in the model") as raised:
        fuzz(replace(lock.lock(2), step=broken), CLAIMS, examples=50)
    assert any("Act(verb='leave'" in note for note in raised.value.__notes__)


@pytest.mark.slow
def test_same_seed_same_bytes_under_any_hash_seed() -> None:
    """Three processes with three hash seeds print the same; another seed prints something else."""
    program = (
        "from tests.models import lock\n"
        "from tests.engines.machine.test_machine import CLAIMS\n"
        "from evenhand.machine import fuzz\n"
        "for seed in (0, 0, 1):\n"
        "    found = fuzz(lock.lock(3, lock.FAVOURS_FIRST), CLAIMS, examples=8, seed=seed)\n"
        "    print(vars(found))\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(number), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for number in (0, 1, 2)
    }
    assert len(printed) == 1
    first, second, other = printed.pop().splitlines()
    assert first == second
    assert first != other.replace("'seed': 1", "'seed': 0").replace("seed=1", "seed=0")


def test_runs_do_not_depend_on_what_else_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis draws constants from the source of loaded modules; this machine does not."""
    before = fuzz(counter.counter(3, 50, 40), (counter.CAN_FILL,), examples=20)
    constants = "hypothesis.internal.conjecture.providers._get_local_constants"

    def unexpected() -> None:
        raise AssertionError("asked for constants")

    monkeypatch.setattr(constants, unexpected)
    assert fuzz(counter.counter(3, 50, 40), (counter.CAN_FILL,), examples=20) == before


def test_a_machine_for_a_test_file_raises_at_the_refuting_step() -> None:
    """Hypothesis finds, shrinks and prints; the reference passes."""
    few = settings(max_examples=100, stateful_step_count=12, database=None, derandomize=True, phases=(Phase.generate,))
    safe: tuple[Property, ...] = (lock.MUTUAL_EXCLUSION, lock.SOMEBODY_ENTERS, lock.REFUSALS_CHANGE_NOTHING)
    run_state_machine_as_test(machine(lock.lock(2), safe), settings=few)
    with pytest.raises(Refuted, match="At most one process is inside"):
        run_state_machine_as_test(machine(lock.lock(2, lock.CARELESS), safe), settings=few)


def test_a_value_that_depends_on_the_run_is_found_across_runs() -> None:
    """Within one run the value never changes; only two runs together refute."""
    claim = constant_of_the_run()
    found = verdict(fuzz(two_lamps(), (claim,), examples=10), claim)
    assert found.status is Status.REFUTED
    assert isinstance(found.evidence, Pair)
    assert [found.evidence.left.start, found.evidence.right.start] in ([0, 1], [1, 0])


def test_liveness_never_holds_by_sampling() -> None:
    """A true liveness claim stays undecided, with the reason."""
    kept = LeadsTo(name="x", sentence="", trigger=lambda step: step.shown == "in", goal=lambda step: True)
    found = verdict(fuzz(lock.lock(2), (kept,), examples=20), kept)
    assert found.status is Status.UNDECIDED
    assert "not decided by sampling" in found.because


def test_a_violation_at_the_start_needs_no_step() -> None:
    """Zero actions refute."""
    claim = Always(name="x", sentence="", check=lambda _config, state: bool(state.inside()))
    found = verdict(fuzz(lock.lock(2), (claim,), examples=3), claim)
    assert isinstance(found.evidence, Scenario) and found.evidence.actions == ()


def test_a_step_that_changes_its_mind_is_no_refutation() -> None:
    """A run that does not replay is UNDECIDED with the reason: the model is not a function."""
    mood = iter(range(10**6)).__next__  # its code cannot be read

    def moody(_rules: None, _config: int, state: int, _action: str) -> tuple[int, int]:
        return state, mood()

    system: System[int, int, str, int, None] = System(
        "moody", None, lambda _s, _r: (0,), lambda _c: (0,), moody, actions=lambda _c, _s, _t: ("look",)
    )
    early = EachStep(name="x", sentence="", check=lambda step: step.shown > 5)
    found = verdict(fuzz(system, (early,), examples=3), early)
    assert found.status is Status.UNDECIDED
    assert "does not replay" in found.because


def test_a_coverage_mapping_has_its_keys_in_order(reference: Fuzzing) -> None:
    """Reports print it as it is."""
    assert list(reference.coverage) == sorted(reference.coverage)
