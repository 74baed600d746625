"""The judge, kind by kind: which evidence refutes, which does not, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from evenhand.core.ending import has_ended
from evenhand.core.lookup import UnknownName
from evenhand.core.property import (
    Always,
    DeadlockFree,
    DeterminedBy,
    EachStep,
    Eventually,
    LeadsTo,
    Monitor,
    Reachable,
    TwoRun,
)
from evenhand.core.system import Scope
from evenhand.core.trace import Lasso, Pair, Scenario, replay_lasso
from evenhand.core.verdict import Evidence
from evenhand.evidence.judge import first_refuted_step, judge, refutes, restate, unserved
from evenhand.evidence.second_runs import refuting_pair
from tests.models import counter, lock, naive
from tests.models.lock import Act


def run(system: lock.LockSystem, *words: str) -> Scenario[Any, Any, Any]:
    """Return a scenario from words like `ask0`, `enter1`."""
    config = next(iter(system.all_configs()))
    start = next(iter(system.initial(config)))
    return Scenario(config, start, acts(*words))


def acts(*words: str) -> tuple[Act, ...]:
    """Return actions; `ask0` means that p0 asks."""
    return tuple(Act(word[:-1], f"p{word[-1]}") for word in words)


def lasso(system: lock.LockSystem, stem: str, loop: str) -> Lasso[Any, Any, Any]:
    """Return a lasso from two lines of words."""
    start = run(system)
    return Lasso(start.config, start.start, acts(*stem.split()), acts(*loop.split()))


BOTH_IN = ("ask0", "ask1", "enter0", "enter1")
REFERENCE = lock.lock()
CARELESS = lock.lock(rules=lock.CARELESS, variant="careless")
SEALS = lock.lock(rules=lock.SEALS, variant="seals")


def test_an_invariant_is_refuted_only_where_the_model_breaks_it() -> None:
    """The same actions refute the careless lock and not the reference."""
    assert refutes(CARELESS, lock.MUTUAL_EXCLUSION, run(CARELESS, *BOTH_IN))
    assert not refutes(REFERENCE, lock.MUTUAL_EXCLUSION, run(REFERENCE, *BOTH_IN))
    assert not refutes(CARELESS, lock.MUTUAL_EXCLUSION, run(CARELESS, *BOTH_IN[:3]))


def test_an_invariant_may_be_false_at_the_start() -> None:
    """A run may have zero actions."""
    somebody_in = Always(name="x", sentence="", check=lambda _config, state: bool(state.inside()))
    silent = Always(name="x", sentence="", check=somebody_in.check, when=lambda _config, _state: False)
    assert first_refuted_step(REFERENCE, somebody_in, run(REFERENCE)) == 0
    assert not refutes(REFERENCE, silent, run(REFERENCE))


def test_where_a_claim_is_first_false() -> None:
    """States after the first false one do not matter."""
    longer = run(CARELESS, *BOTH_IN, "idle0", "leave1")
    assert first_refuted_step(CARELESS, lock.MUTUAL_EXCLUSION, longer) == 4
    assert first_refuted_step(REFERENCE, lock.MUTUAL_EXCLUSION, longer) is None


def test_a_claim_about_steps_speaks_only_where_its_antecedent_does() -> None:
    """A claim that is always false is refuted by a refusal only."""
    false_of_all = EachStep(name="x", sentence="", when=lock.REFUSALS_CHANGE_NOTHING.when, check=lambda _step: False)
    assert not refutes(REFERENCE, false_of_all, run(REFERENCE, "ask0", "enter0"))
    assert first_refuted_step(REFERENCE, false_of_all, run(REFERENCE, *BOTH_IN)) == 4


def test_a_claim_is_not_judged_where_it_is_not_made() -> None:
    """`applies` is false for two processes."""
    elsewhere = Always(
        name="x",
        sentence="",
        check=lock.MUTUAL_EXCLUSION.check,
        applies=lambda config: len(config.processes) > 2,
    )
    assert not refutes(CARELESS, elsewhere, run(CARELESS, *BOTH_IN))


def test_a_monitor_remembers() -> None:
    """The third entry is the eighth action."""
    thrice = ("ask0", "enter0", "leave0") * 3
    assert first_refuted_step(REFERENCE, lock.AT_MOST_TWO_ENTRIES, run(REFERENCE, *thrice)) == 8
    assert not refutes(REFERENCE, lock.AT_MOST_TWO_ENTRIES, run(REFERENCE, *thrice[:6]))
    talks = lock.AT_MOST_TWO_ENTRIES
    silent = Monitor(
        name="x", sentence="", start=talks.start, update=talks.update, ok=talks.ok, when=lambda _config, _count: False
    )
    assert not refutes(REFERENCE, silent, run(REFERENCE, *thrice))


def test_a_goal_is_witnessed() -> None:
    """For `Reachable`, refuting is witnessing."""
    assert first_refuted_step(REFERENCE, lock.SOMEBODY_ENTERS, run(REFERENCE, "ask1", "enter1")) == 2
    assert not refutes(REFERENCE, lock.SOMEBODY_ENTERS, run(REFERENCE, "ask1"))


def test_hostile_actions_break_invariants_but_witness_nothing() -> None:
    """`fly` is never on offer: a claim about steps must hold for it, and a goal is not reached by it."""
    flies = Reachable(name="x", sentence="", goal=lambda step: step.shown == "refused")
    hostile = run(REFERENCE, "fly0")
    assert not refutes(REFERENCE, flies, hostile)
    assert "not on offer" in judge(REFERENCE, flies, hostile).reason
    never_refused = EachStep(name="x", sentence="", check=lambda step: step.shown != "refused")
    assert refutes(REFERENCE, never_refused, hostile)


def test_a_run_begins_in_an_initial_state_of_its_configuration() -> None:
    """A violating state that no run reaches is no counterexample."""
    scenario = run(CARELESS)
    inside = replace(scenario, start=scenario.start.moved("p0", "in").moved("p1", "in"))
    assert not refutes(CARELESS, lock.MUTUAL_EXCLUSION, inside)
    assert "initial" in judge(CARELESS, lock.MUTUAL_EXCLUSION, inside).reason


@pytest.mark.parametrize(
    ("fairness", "starves"),
    [((), True), (("weak_p0",), True), (("weak_p0", "leave"), True), (("strong_p0",), False), (("strong_p1",), True)],
)
def test_whoever_waits_is_passed_over_unless_fairness_is_strong(fairness: tuple[str, ...], starves: bool) -> None:
    """The textbook difference: entering is on offer again and again, but not all the time."""
    overtaken = lasso(REFERENCE, "ask0", "ask1 enter1 leave1")
    assert refutes(REFERENCE, lock.enters(*fairness), overtaken) is starves


@pytest.mark.parametrize(("fairness", "starves"), [((), True), (("weak_p0",), False), (("strong_p0",), False)])
def test_idling_is_unfair_to_whoever_could_always_enter(fairness: tuple[str, ...], starves: bool) -> None:
    """Here entering is on offer all the time, so weak fairness is enough."""
    idle = lasso(REFERENCE, "ask0", "idle1")
    assert refutes(REFERENCE, lock.enters(*fairness), idle) is starves
    assert refutes(REFERENCE, lock.somebody_in(*fairness), idle) is starves


def test_fairness_agrees_with_its_definition_on_random_loops() -> None:
    """Against the infinite run, written out for five turns."""
    random, said = Random(2), {True: 0, False: 0}
    for _ in range(400):
        scenario, steps = naive.random_run(lock.lock(3), random, 12)
        states = [scenario.start, *(step.after for step in steps)]
        entry = states.index(states[-1])
        if entry < len(steps):
            assumptions = lock.fair(scenario.config)
            for name, fairness in assumptions.items():
                broken = unserved(lock.lock(3), scenario.config, steps[entry:], [name])
                fair = naive.fair_by_definition(lock.lock(3), scenario.config, steps[entry:], fairness)
                assert (broken == ()) is fair, (name, steps[entry:])
                said[fair] += 1
    assert min(said.values()) > 100


def test_promises_agree_with_what_two_thousand_random_lassos_do_in_three_turns() -> None:
    """A goal that answers a trigger of the first two turns comes within one further turn, or never."""
    system, random, said = lock.lock(2), Random(3), {True: 0, False: 0}
    for _ in range(2000):
        scenario, steps = naive.random_run(system, random, random.randrange(1, 9))
        states = [scenario.start, *(step.after for step in steps)]
        entry = states.index(states[-1])
        if entry == len(steps):
            continue
        stem, loop = scenario.actions[:entry], scenario.actions[entry:]
        turns = steps + steps[entry:] * 2
        claim = lock.enters()
        asked = [i for i, step in enumerate(turns[: len(steps)]) if claim.trigger(step)]
        kept = all(any(claim.goal(step) for step in turns[i:]) for i in asked)
        found = Lasso(scenario.config, scenario.start, stem, loop)
        assert refutes(system, claim, found) is not kept
        said[kept] += 1
    assert min(said.values()) > 100


def test_a_lasso_that_does_not_close_or_loops_over_nothing_refutes_nothing() -> None:
    """It is no run."""
    open_end = lasso(REFERENCE, "ask0", "ask1")
    assert not refutes(REFERENCE, lock.enters(), open_end)
    assert "another state" in judge(REFERENCE, lock.enters(), open_end).reason
    assert not refutes(REFERENCE, lock.enters(), lasso(REFERENCE, "ask0", ""))


def test_repeating_what_nobody_may_do_starves_nobody() -> None:
    """Rejections loop for ever, and are the fault of no agent."""
    assert not refutes(REFERENCE, lock.enters(), lasso(REFERENCE, "ask0", "fly1"))
    assert not refutes(REFERENCE, lock.no_livelock(), lasso(REFERENCE, "", "enter1"))


def test_a_livelock_attempts_and_never_progresses() -> None:
    """Knocking at a taken door is a livelock; idling and entering are not."""
    knocking = lasso(REFERENCE, "ask0 ask1 enter0", "enter1")
    assert refutes(REFERENCE, lock.no_livelock(), knocking)
    assert refutes(REFERENCE, lock.no_livelock("strong_p1"), knocking)
    assert not refutes(REFERENCE, lock.no_livelock("leave"), knocking)
    assert not refutes(REFERENCE, lock.no_livelock(), lasso(REFERENCE, "", "idle0"))
    assert not refutes(REFERENCE, lock.no_livelock(), lasso(REFERENCE, "", "ask0 enter0 leave0"))


def test_an_unknown_fairness_assumption_is_not_decided() -> None:
    """The result is neither a refutation nor an acquittal."""
    idle = lasso(REFERENCE, "ask0", "idle1")
    judgement = judge(REFERENCE, lock.enters("fancy"), idle)
    assert not judgement.refutes
    assert not judgement.decided
    with pytest.raises(UnknownName, match="fancy"):
        unserved(REFERENCE, idle.config, replay_lasso(REFERENCE, idle)[1], ["fancy"])


def ends_after(system: lock.LockSystem, verbs: set[str]) -> lock.LockSystem:
    """Return the system with only some verbs on offer, so that runs end."""

    def offered(config: lock.Config, scope: Scope, state: lock.State) -> Iterator[Act]:
        return (act for act in lock.actions(config, scope, state) if act.verb in verbs)

    return replace(system, actions=offered)


def test_a_run_that_ends_breaks_the_promises_it_has_not_kept() -> None:
    """Fairness has no effect if no action is on offer."""
    system = ends_after(lock.lock(1), {"ask"})
    asked = run(system, "ask0")
    assert has_ended(system, asked.config, asked.start.moved("p0", "waiting"))
    assert refutes(system, lock.enters(), asked)
    assert refutes(system, lock.somebody_in("strong_p0"), asked)
    assert not refutes(system, lock.enters(), run(system)), "the run can go on"
    fine = ends_after(lock.lock(1), {"ask", "enter"})
    assert not refutes(fine, lock.enters(), run(fine, "ask0"))
    assert not refutes(fine, lock.enters(), run(fine, "ask0", "enter0"))


def test_a_deadlock_is_a_wish_that_no_continuation_grants() -> None:
    """Ticks that change the state do not end a deadlock."""
    sealed = run(SEALS, "ask0", "enter0", "leave0", "ask1")
    assert refutes(SEALS, lock.NO_DEADLOCK, sealed)
    assert not refutes(REFERENCE, lock.NO_DEADLOCK, sealed)
    assert not refutes(SEALS, lock.NO_DEADLOCK, run(SEALS, "ask0", "enter0", "leave0")), "nobody wants"


def test_a_deadlock_search_that_does_not_close_is_not_decided() -> None:
    """Two states are not enough to decide."""
    sealed = run(lock.lock(4, lock.SEALS), "ask0", "enter0", "leave0", "ask1")
    judgement = judge(lock.lock(4, lock.SEALS), lock.NO_DEADLOCK, sealed, limit=2)
    assert (judgement.refutes, judgement.decided) == (False, False)
    assert judge(lock.lock(4, lock.SEALS), lock.NO_DEADLOCK, sealed).refutes


def test_what_depends_on_nothing_else() -> None:
    """Equal keys, different values, both in the antecedent."""
    first = lock.lock(rules=lock.FAVOURS_FIRST, variant="favours_first")
    let_in, kept_out = run(first, "ask0", "ask1", "enter1", "enter0"), run(first, "ask0", "ask1", "enter0", "enter1")
    pair = Pair(let_in, kept_out, "same key")
    assert refutes(first, lock.BY_PLACE, pair)
    assert not refutes(REFERENCE, lock.BY_PLACE, pair)
    silent = DeterminedBy(
        name="x", sentence="", key=lock.BY_PLACE.key, value=lock.BY_PLACE.value, when=lambda _step: False
    )
    assert not refutes(first, silent, pair)
    assert not refutes(first, lock.BY_PLACE, Pair(let_in, run(first, "ask0"), "other key"))
    assert not refutes(first, lock.BY_PLACE, Pair(let_in, run(first), "no step"))


def test_two_configurations_are_compared_only_by_claims_across_them() -> None:
    """`across` allows it."""
    system = counter.counter(1, budget=3)
    config = next(iter(system.all_configs()))
    start = next(iter(system.initial(config)))
    small = replace(config, budget=1)
    pair = Pair(Scenario(config, start, ((("a0", 2),),)), Scenario(small, start, ((("a0", 2),),)), "")
    same_asked = DeterminedBy(name="x", sentence="", key=lambda step: step.action, value=lambda step: step.shown)
    assert refutes(system, same_asked, pair)
    assert not refutes(system, replace(same_asked, across=False), pair)


def test_two_orders_of_two_actions() -> None:
    """Entering does not commute where the first one wins."""
    past = acts("ask0", "ask1")
    one, two = acts("enter0", "enter1")
    scenario = run(REFERENCE)
    left = replace(scenario, actions=(*past, one, two))
    right = replace(scenario, actions=(*past, two, one))
    assert refutes(REFERENCE, lock.ENTRIES_COMMUTE, Pair(left, right, ""))
    assert not refutes(CARELESS, lock.ENTRIES_COMMUTE, Pair(left, right, ""))
    assert not refutes(REFERENCE, lock.ASKS_COMMUTE, Pair(left, right, "")), "the claim picks other pairs"
    assert not refutes(REFERENCE, lock.ENTRIES_COMMUTE, Pair(left, left, "")), "not exchanged"
    assert not refutes(REFERENCE, lock.ENTRIES_COMMUTE, Pair(replace(left, actions=(one,)), right, ""))


def test_a_twin_is_computed_and_never_believed() -> None:
    """The right run is for display; the judge computes its own."""
    first = lock.lock(rules=lock.FAVOURS_FIRST, variant="favours_first")
    left = run(first, "ask0", "ask1", "enter1", "enter0")
    pair = refuting_pair(first, lock.ANONYMOUS, left)
    assert pair is not None
    assert refutes(first, lock.ANONYMOUS, pair)
    assert pair.right.actions == acts("enter1")
    nonsense = replace(pair, right=run(first))
    assert refutes(first, lock.ANONYMOUS, nonsense), "the right run is computed, not believed"
    assert restate(first, lock.ANONYMOUS, nonsense) == pair
    assert refuting_pair(REFERENCE, lock.ANONYMOUS, left) is None
    assert not refutes(REFERENCE, lock.ANONYMOUS, pair)


def test_the_twin_of_an_initial_state_is_initial() -> None:
    """Unless the claim waives it."""
    shifted = TwoRun(
        name="x",
        sentence="",
        twins=lock.ANONYMOUS.twins,
        config=lock.ANONYMOUS.config,
        state=lambda _w, _config, state: state.moved("p0", "in"),
        other=lock.ANONYMOUS.other,
        agree=lambda _w, _step, _other: True,
    )
    pair = Pair(run(REFERENCE, "ask0"), run(REFERENCE), "")
    assert refutes(REFERENCE, shifted, pair)
    assert not refutes(REFERENCE, replace(shifted, starts=False), pair)


def test_a_purged_action_has_no_second_step() -> None:
    """The claim gets None."""
    purged = TwoRun(
        name="x",
        sentence="",
        twins=lock.ANONYMOUS.twins,
        config=lock.ANONYMOUS.config,
        state=lock.ANONYMOUS.state,
        other=lambda _w, _act: (),
        agree=lambda _w, _step, other: other is not None,
    )
    assert refutes(REFERENCE, purged, Pair(run(REFERENCE, "ask0"), run(REFERENCE), ""))


@pytest.mark.parametrize(
    "evidence", [Pair(run(REFERENCE), run(REFERENCE), ""), lasso(REFERENCE, "", "idle0")], ids=["pair", "lasso"]
)
def test_evidence_of_another_kind_says_nothing(evidence: Evidence) -> None:
    """An invariant has no lassos."""
    assert "cannot refute a claim" in judge(CARELESS, lock.MUTUAL_EXCLUSION, evidence).reason
    assert first_refuted_step(CARELESS, lock.MUTUAL_EXCLUSION, evidence) is None


def test_liveness_kinds_without_fairness_are_the_hardest() -> None:
    """Adding fairness can only remove refutations."""
    claims: list[Eventually | LeadsTo] = [lock.enters(), lock.somebody_in()]
    for found, _ in naive.all_lassos(lock.lock(2), 3):
        for claim in claims:
            for name in lock.fair(found.config):
                if refutes(lock.lock(2), replace(claim, fairness=(name,)), found):
                    assert refutes(lock.lock(2), claim, found)


def test_deadlock_free_needs_a_run_of_the_system() -> None:
    """Hostile actions lead to no deadlock."""
    claim = DeadlockFree(name="x", sentence="", wants=lambda _config, _state: True, completes=lambda _step: False)
    assert refutes(REFERENCE, claim, run(REFERENCE))
    assert not refutes(REFERENCE, claim, run(REFERENCE, "fly0"))
