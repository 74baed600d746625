"""Faults planted in judge, shrinker, machine and comparison, and the check that catches each.

| fault | caught by |
| --- | --- |
| the judge ignores fairness | a fair loop is told from an unfair one |
| the judge takes weak fairness for strong | passing over a waiting process is weakly fair |
| the judge takes strong fairness for weak | passing over a waiting process is not strongly fair |
| the judge does not look where a run begins | a state that nothing leads to refutes nothing |
| the judge lets anybody do anything | rejections that loop for ever starve nobody |
| the judge forgets the antecedent of steps | a claim about refusals says nothing about entries |
| the shrinker keeps whatever it proposes | what is shrunk still refutes |
| the shrinker cuts a lasso open | what is shrunk still refutes |
| the shrinker does not refit | honest runs stay honest and reach their minimum |
| the shrinker never lowers a choice | the smallest arbitration is one unit each |
| the machine believes its shrinker | what the machine reports replays |
| the machine forgets to move on | all states of a small system are seen |
| the machine skips its last rule | every rule is drawn |
| the machine ignores floors | an event below its floor decides nothing |
| the machine counts every antecedent as met | a claim about nothing is not decided |
| the machine stops watching after a refutation | two refuted claims are both reported |
| the machine forgets keys between runs | a value that depends on the run is found |
| the machine believes liveness by sampling | a promise is not kept by sampling |
| the machine does not change the file's data | data that hang on a file are found out |
| the machine does not compare what a file gives back | an action that a file changes is found out |
| the comparison sees no difference | a mutant is separated |
| the comparison runs the reference twice | a mutant is separated |
| the comparison calls a bound complete | a bound is no equality |

Each check passes on the engines as they are, and fails on the fault.
"""

# The replacements of private functions are untyped lambdas on purpose.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from evenhand.core import codec
from evenhand.core.generator import Event
from evenhand.core.property import EachStep, LeadsTo, Liveness, Property
from evenhand.core.system import System
from evenhand.core.trace import Lasso, Scenario, replay
from evenhand.core.verdict import Evidence, Status
from evenhand.evidence import judge as judging
from evenhand.evidence.shrink import Shrinker, shrink
from evenhand.machine import fuzz, fuzzing, ledger, watch
from evenhand.variants import separate as variants
from tests.deep import rest_slow
from tests.engines.machine.test_machine import ASK, ENTER, LEAVE, act, constant_of_the_run, drawing, two_lamps
from tests.models import counter, lock, naive
from tests.models.lock import Act

TOTAL = lock.lock(2)
CONFIG = next(iter(TOTAL.all_configs()))
START = next(iter(TOTAL.initial(CONFIG)))


def acts(words: str) -> tuple[Act, ...]:
    """Return actions; `ask0` means that p0 asks."""
    return tuple(Act(word[:-1], f"p{word[-1]}") for word in words.split())


def judged(claim: Property, evidence: Evidence, system: Any = TOTAL) -> bool:
    """Return the judge's answer, looked up anew so that a planted fault has its effect."""
    return judging.refutes(system, claim, evidence)


# Checks


def tells_fair_from_unfair() -> None:
    """Idling starves a process that could enter all the time."""
    idle = Lasso(CONFIG, START, acts("ask0"), acts("idle1"))
    assert judged(lock.enters(), idle)
    assert not judged(lock.enters("weak_p0"), idle)


def passing_over_is_weakly_fair() -> None:
    """Entering is on offer again and again, not all the time."""
    assert judged(lock.enters("weak_p0"), Lasso(CONFIG, START, acts("ask0"), acts("ask1 enter1 leave1")))


def passing_over_is_not_strongly_fair() -> None:
    """Strong fairness counts actions that are on offer again and again."""
    assert not judged(lock.enters("strong_p0"), Lasso(CONFIG, START, acts("ask0"), acts("ask1 enter1 leave1")))


def unreachable_states_refute_nothing() -> None:
    """Both are inside, but no run leads there."""
    assert not judged(lock.MUTUAL_EXCLUSION, Scenario(CONFIG, START.moved("p0", "in").moved("p1", "in")))


def rejections_starve_nobody() -> None:
    """`fly` is on no menu."""
    assert not judged(lock.enters(), Lasso(CONFIG, START, acts("ask0"), acts("fly1")))


def antecedents_count() -> None:
    """The claim is always false, and is about refusals only."""
    claim = EachStep(name="x", sentence="", check=lambda _s: False, when=lambda step: step.shown == "refused")
    assert not judged(claim, Scenario(CONFIG, START, acts("ask0 enter0")))
    assert judged(claim, Scenario(CONFIG, START, acts("ask0 ask1 enter0 enter1")))


def _shrunk(system: Any, claim: Property, evidence: Evidence) -> Evidence:
    return shrink(system, evidence, lambda less: judging.refutes(system, claim, less))


def shrunk_still_refutes() -> None:
    """A run and a lasso, judged by meanings written out here."""
    system = lock.lock(3, lock.CARELESS)
    random = Random(1)
    while True:
        scenario, steps = naive.random_run(system, random, 30)
        if any(len(step.after.inside()) > 1 for step in steps):
            break
    less = _shrunk(system, lock.MUTUAL_EXCLUSION, scenario)
    assert isinstance(less, Scenario)
    assert any(len(state.inside()) > 1 for state in replay(system, less).states)
    stem, loop = acts("ask1 enter1 ask0 idle0 leave1"), acts("ask1 idle0 enter1 idle1 leave1")
    lasso = _shrunk(TOTAL, lock.enters("weak_p0"), Lasso(CONFIG, START, stem, loop))
    assert isinstance(lasso, Lasso)
    trace = replay(TOTAL, lasso.unrolled)
    turn = list(trace.steps[len(lasso.stem) :])
    assert turn and trace.final == trace.states[len(lasso.stem)]
    assert naive.fair_by_definition(TOTAL, lasso.config, turn, lock.fair(lasso.config)["weak_p0"])
    assert trace.final.of("p0") == "waiting"
    assert all(state.of("p0") == "waiting" for state in trace.states[len(lasso.stem) :])


def _arbitration() -> Scenario[Any, Any, Any]:
    """Return three agents that ask for too much, shrunk."""
    system = counter.counter(3, 4, rules=counter.FIRST_COME)
    config = next(iter(system.all_configs()))
    scenario = Scenario(config, next(iter(system.initial(config))), ((("a0", 3), ("a1", 2), ("a2", 3)),))
    less = _shrunk(system, counter.NO_WINNER, scenario)
    assert isinstance(less, Scenario)
    return less


def honest_runs_stay_honest_and_small() -> None:
    """Three processes or agents, two needed; every remaining action is on offer."""
    less = _arbitration()
    assert [agent for agent, _ in less.actions[0]] == list(less.config.agents)
    system = lock.lock(3, lock.FAVOURS_FIRST)
    words = "ask2 idle2 enter2 leave2 ask1 ask2 idle1 enter1 ask0 leave1 enter2 idle0 enter0 leave0"
    config = next(iter(system.all_configs()))
    entered = _shrunk(system, lock.MUTUAL_EXCLUSION, Scenario(config, next(iter(system.initial(config))), acts(words)))
    assert isinstance(entered, Scenario)
    assert (len(entered.config.processes), len(entered.actions)) == (2, 4)
    assert all(system.is_enabled(step.config, step.before, step.action) for step in replay(system, entered).steps)


def smallest_arbitration() -> None:
    """One unit each for two agents."""
    assert [amount for _, amount in _arbitration().actions[0]] == [1, 1]


def reports_replay() -> None:
    """All evidence is a run on which the claim's own predicate is false."""
    system = lock.lock(3, lock.CARELESS)
    found = fuzz(system, (lock.MUTUAL_EXCLUSION,), examples=50)
    evidence = found.verdicts[0].evidence
    assert isinstance(evidence, Scenario)
    assert any(not lock.MUTUAL_EXCLUSION.check(evidence.config, state) for state in replay(system, evidence).states)


def all_states_are_seen() -> None:
    """As many as a plain search finds."""
    assert fuzz(lock.lock(3), examples=100).coverage["states"] == len(naive.reachable_states(lock.lock(3)))


def every_rule_is_drawn() -> None:
    """Including the last one."""
    found = fuzz(TOTAL, (), drawing(ASK, ENTER, LEAVE, act("fly", hostile=True)), examples=50)
    assert all(found.coverage[f"rule:{name}"] > 0 for name in ("ask", "enter", "leave", "fly"))


def floors_are_floors() -> None:
    """No claim holds in a run that misses a floor."""
    events = (Event("never", lambda _step: False, floor=1),)
    found = fuzz(TOTAL, (lock.MUTUAL_EXCLUSION,), drawing(ASK, ENTER, events=events), examples=20)
    assert found.verdicts[0].status is Status.UNDECIDED


def nothing_is_not_enough() -> None:
    """An antecedent that is never met."""
    claim = EachStep(name="x", sentence="", check=lambda _step: True, when=lambda _step: False)
    assert fuzz(TOTAL, (claim,), examples=20).verdicts[0].status is Status.UNDECIDED


def both_refutations_are_reported() -> None:
    """The late one (three entries) after the early one (two inside)."""
    found = fuzz(lock.lock(3, lock.CARELESS), (lock.MUTUAL_EXCLUSION, lock.AT_MOST_TWO_ENTRIES), examples=100)
    assert [one.status for one in found.verdicts] == [Status.REFUTED, Status.REFUTED]


def runs_are_compared() -> None:
    """Within one run the value is constant."""
    assert fuzz(two_lamps(), (constant_of_the_run(),), examples=20).verdicts[0].status is Status.REFUTED


def promises_need_more_than_samples() -> None:
    """Any number of satisfying runs leaves it open."""
    kept = LeadsTo(name="x", sentence="", trigger=lambda _step: True, goal=lambda _step: True)
    assert fuzz(TOTAL, (kept,), examples=20).verdicts[0].status is Status.UNDECIDED


@dataclass(frozen=True)
class Loose:
    """An action that shares data with a file: its words are the file's own list."""

    words: Any

    def __hash__(self) -> int:
        return hash(str(self.words))


def _loose() -> System[int, tuple[Any, ...], Loose, str, None]:
    return System(
        "loose",
        None,
        lambda _scope, _readings: (0,),
        lambda _config: ((),),
        lambda _rules, _config, _state, action: ((action,), "kept"),
        actions=lambda _config, _scope, _state: (Loose(["a"]), Loose(["b"])),
        types=(Loose,),
    )


def hanging_data_are_found_out() -> None:
    """A codec that passes on the file's own list, which then changes under the state."""

    def encode(value: Any) -> Any:
        return list(map(encode, value)) if isinstance(value, tuple) else {"words": list(value.words)}

    def decode(data: Any, *_types: type) -> Any:
        return Loose(data["words"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger, "encode", encode)
        patch.setattr(ledger, "decode", decode)
        found = fuzz(_loose(), examples=3, steps=3)
    assert any("changes the state" in finding for finding in found.findings)


def lossy_files_are_found_out() -> None:
    """A codec that returns another action; no claim holds then."""
    real = codec.decode

    def decode(data: Any, *types: type) -> Any:
        action = real(data, *types)
        return replace(action, process="p0") if isinstance(action, Act) else action

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger, "decode", decode)
        found = fuzz(TOTAL, (lock.MUTUAL_EXCLUSION,), examples=20)
    assert any("taken differently" in finding for finding in found.findings)
    assert found.verdicts[0].status is Status.UNDECIDED


def mutants_are_separated() -> None:
    """The jammed lock differs in its state first, and shows it one action later."""
    found = variants.separate(lock.lock(2), lock.lock(2, lock.JAMS, "jams"), examples=0)
    assert found.separated and found.length == 4


def a_bound_is_no_equality() -> None:
    """Three pairs of states of many."""
    copy = lock.lock(2, replace(lock.REFERENCE), "copy")
    assert not variants.separate(lock.lock(2), copy, max_states=3, examples=0).equal


# Faults


@dataclass(frozen=True)
class Fault:
    """A fault, how to plant it, and the check that must fail on it."""

    name: str
    plant: Callable[[pytest.MonkeyPatch], None]
    caught_by: Callable[[], None]


def judge_ignores_fairness(patch: pytest.MonkeyPatch) -> None:
    """No loop refutes anything."""
    patch.setattr(judging, "_breaks", lambda *_arguments: False)


def _of_kind(kind: str) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(patch: pytest.MonkeyPatch) -> None:
        real = judging._breaks  # pyright: ignore[reportPrivateUsage]
        patch.setattr(judging, "_breaks", lambda s, c, loop, fair: real(s, c, loop, replace(fair, kind=kind)))

    return plant


def judge_takes_any_start(patch: pytest.MonkeyPatch) -> None:
    """A run may begin anywhere."""
    patch.setattr(judging, "own_runs", lambda *_arguments: ())


def judge_lets_anybody_act(patch: pytest.MonkeyPatch) -> None:
    """Every action is on offer."""
    patch.setattr(judging, "_not_on_offer", lambda *_arguments: "")


def judge_forgets_antecedents(patch: pytest.MonkeyPatch) -> None:
    """Every claim is about every step."""
    real = judging._first  # pyright: ignore[reportPrivateUsage]
    patch.setattr(judging, "_first", lambda s, claim, run: real(s, replace(claim, when=lambda _step: True), run))


def shrinker_keeps_anything(patch: pytest.MonkeyPatch) -> None:
    """The first proposal is accepted unchecked."""

    def improve(self: Shrinker, proposals: Any) -> bool:
        best = next(iter(proposals), None)
        if best is None or self.left <= 0:
            return False
        self.best, self.left = best, self.left - 1
        return True

    patch.setattr(Shrinker, "_improve", improve)


def shrinker_cuts_lassos_open(patch: pytest.MonkeyPatch) -> None:
    """After shrinking, the loop loses its last action."""
    real = Shrinker.run

    def run(self: Shrinker) -> Evidence:
        best = real(self)
        return replace(best, loop=best.loop[:-1]) if isinstance(best, Lasso) else best

    patch.setattr(Shrinker, "run", run)


def shrinker_does_not_refit(patch: pytest.MonkeyPatch) -> None:
    """Actions stay as they are, on offer or not."""

    def refit(self: Shrinker, config: Any, state: Any, actions: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
        for action in actions:
            state = self.system.take(config, state, action).after
        return tuple(actions), state

    patch.setattr(Shrinker, "_refit", refit)


def shrinker_lowers_nothing(patch: pytest.MonkeyPatch) -> None:
    """Every menu is empty."""
    patch.setattr(Shrinker, "_lower", lambda *_arguments: iter(()))


def machine_believes_its_shrinker(patch: pytest.MonkeyPatch) -> None:
    """The shrinker is told that every run fails."""
    patch.setattr(ledger, "refutes", lambda *_arguments: True)


def machine_forgets_to_move(patch: pytest.MonkeyPatch) -> None:
    """Every action is taken in the initial state."""
    patch.setattr(watch.Run, "state", property(lambda run: run.start))


def machine_skips_a_rule(patch: pytest.MonkeyPatch) -> None:
    """The last one."""
    real = fuzzing.possible_rules
    patch.setattr(fuzzing, "possible_rules", lambda rules, *more: real(rules[:-1], *more))


def machine_ignores_floors(patch: pytest.MonkeyPatch) -> None:
    """No event is ever missing."""
    patch.setattr(ledger.Ledger, "below_floor", lambda _ledger: "")


def machine_counts_all_as_met(patch: pytest.MonkeyPatch) -> None:
    """Each antecedent counts as met."""

    def said(one: watch.Watch[Any], something: bool) -> bool:
        one.met += 1
        return something

    patch.setattr(watch.Watch, "said", said)


def machine_stops_watching(patch: pytest.MonkeyPatch) -> None:
    """It stops at the first refutation."""
    real = ledger.Ledger.watching

    def watching(book: ledger.Ledger, config: Any) -> list[watch.Watch[Any]]:
        return [] if any(one.evidence for one in book.watches) else real(book, config)

    patch.setattr(ledger.Ledger, "watching", watching)


def machine_forgets_keys(patch: pytest.MonkeyPatch) -> None:
    """Each run begins without known keys."""
    patch.setattr(watch.WatchKeys, "begin", lambda one, _run: one.first.clear())


def machine_believes_liveness(patch: pytest.MonkeyPatch) -> None:
    """Sampling decides every claim."""
    patch.setattr(Liveness, "sampled", True)


def machine_leaves_data_alone(patch: pytest.MonkeyPatch) -> None:
    """Data are not changed."""
    patch.setattr(ledger, "scramble", lambda _data: None)


def machine_compares_nothing(patch: pytest.MonkeyPatch) -> None:
    """Values do not go through a file."""
    patch.setattr(ledger.Ledger, "through_a_file", lambda _ledger, _step: None)


def comparison_sees_nothing(patch: pytest.MonkeyPatch) -> None:
    """All results agree."""
    agreeing = EachStep(name="x", sentence="", check=lambda _step: True)
    patch.setattr(variants, "_AGREE", agreeing)


def comparison_runs_the_reference_twice(patch: pytest.MonkeyPatch) -> None:
    """The variant's own state is not tracked: its steps always start in the reference's state."""
    real = variants.lockstep

    def lockstep(reference: Any, variant: Any) -> Any:
        both = real(reference, variant)
        return replace(both, step=lambda rules, config, state, act: both.step(rules, config, (state[0],) * 2, act))

    patch.setattr(variants, "lockstep", lockstep)


def comparison_forgets_its_bound(patch: pytest.MonkeyPatch) -> None:
    """A full table counts as a complete one."""
    search = variants._Search  # pyright: ignore[reportPrivateUsage]
    patch.setattr(search, "_room", lambda self: len(self.parents) < self.max_states)


FAULTS = (
    Fault("the judge ignores fairness", judge_ignores_fairness, tells_fair_from_unfair),
    Fault("the judge takes weak fairness for strong", _of_kind("strong"), passing_over_is_weakly_fair),
    Fault("the judge takes strong fairness for weak", _of_kind("weak"), passing_over_is_not_strongly_fair),
    Fault("the judge does not look where a run begins", judge_takes_any_start, unreachable_states_refute_nothing),
    Fault("the judge lets anybody do anything", judge_lets_anybody_act, rejections_starve_nobody),
    Fault("the judge forgets the antecedent of steps", judge_forgets_antecedents, antecedents_count),
    Fault("the shrinker keeps whatever it proposes", shrinker_keeps_anything, shrunk_still_refutes),
    Fault("the shrinker cuts a lasso open", shrinker_cuts_lassos_open, shrunk_still_refutes),
    Fault("the shrinker does not refit", shrinker_does_not_refit, honest_runs_stay_honest_and_small),
    Fault("the shrinker never lowers a choice", shrinker_lowers_nothing, smallest_arbitration),
    Fault("the machine believes its shrinker", machine_believes_its_shrinker, reports_replay),
    Fault("the machine forgets to move on", machine_forgets_to_move, all_states_are_seen),
    Fault("the machine skips its last rule", machine_skips_a_rule, every_rule_is_drawn),
    Fault("the machine ignores floors", machine_ignores_floors, floors_are_floors),
    Fault("the machine counts every antecedent as met", machine_counts_all_as_met, nothing_is_not_enough),
    Fault("the machine stops watching after a refutation", machine_stops_watching, both_refutations_are_reported),
    Fault("the machine forgets keys between runs", machine_forgets_keys, runs_are_compared),
    Fault("the machine believes liveness by sampling", machine_believes_liveness, promises_need_more_than_samples),
    Fault("the machine does not change the file's data", machine_leaves_data_alone, hanging_data_are_found_out),
    Fault("the machine does not compare what a file gives back", machine_compares_nothing, lossy_files_are_found_out),
    Fault("the comparison sees no difference", comparison_sees_nothing, mutants_are_separated),
    Fault("the comparison runs the reference twice", comparison_runs_the_reference_twice, mutants_are_separated),
    Fault("the comparison calls a bound complete", comparison_forgets_its_bound, a_bound_is_no_equality),
)

CHECKS = tuple(dict.fromkeys(fault.caught_by for fault in FAULTS))


def named(item: object) -> str:
    """Return the id of a parameter."""
    return item.name if isinstance(item, Fault) else getattr(item, "__name__", repr(item))


@pytest.mark.parametrize("check", rest_slow(CHECKS, 11), ids=named)
def test_the_engines_pass_the_check(check: Callable[[], None]) -> None:
    """Without a fault."""
    check()


@pytest.mark.parametrize("fault", rest_slow(FAULTS, 13), ids=named)
def test_the_fault_is_caught(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    """By an assertion of its check rather than a crash."""
    fault.plant(monkeypatch)
    with pytest.raises(AssertionError):
        fault.caught_by()


def test_the_table_above_is_the_table_below() -> None:
    """Every planted fault is listed, in order."""
    assert __doc__ is not None
    rows = [line.split("|")[1].strip() for line in __doc__.splitlines() if line.startswith("| the ")]
    assert rows == [fault.name for fault in FAULTS]
