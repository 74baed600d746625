"""The classes of a run, from its trace: honest kernels pass, each injection is found, every run has one class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.atoms import Atom
from evenhand.core.codec import decode, encode
from evenhand.core.property import Monitor
from evenhand.core.system import Step, reading_values
from evenhand.core.verdict import Status
from evenhand.model.cud.classify import (
    PASS,
    TERMINAL_CLASSES,
    Tally,
    breaches,
    classify,
    deadlocked,
    finish,
    start,
    update,
)
from evenhand.model.cud.conditions import CONDITIONS, condition, conditions, play
from evenhand.model.cud.kernel import REFERENCE, SCOPE_VIOLATION
from evenhand.model.cud.mutants import mutant
from evenhand.model.cud.mutants.declare import RELAXED_FROM
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.run_system import RUN
from evenhand.model.cud.step import ended
from evenhand.model.cud.vocabulary import (
    DONE,
    FAILURE,
    FAULT,
    TYPES,
    Config,
    Effect,
    Epoch,
    Message,
    Plan,
    Script,
    Shown,
    State,
)
from evenhand.search import explore

ARBITRATION = "IX2_FAIL/IMPLICIT_ARBITRATION"
INJECTIONS = ("hidden_priority", "tie_break_by_action_id", "resolver_rewrites", "relaxed_after_k")
CHECKS = reading_values(Readings())["scope_check"]


def layout_of_e(check: str) -> Config:
    """Return condition E's layout, run for k + 2 epochs."""
    return replace(condition("E").config, epochs=RELAXED_FROM + 2, readings=Readings(scope_check=check))


# F17.


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", INJECTIONS)
def test_each_injection_of_f17_is_implicit_arbitration(name: str, check: str) -> None:
    """Hidden priority, tie-break, conflict resolution, relaxation over time."""
    config = layout_of_e(check)
    assert classify(config, play(config, mutant(name).rules).steps).kernel == ARBITRATION


@pytest.mark.parametrize("check", CHECKS)
def test_no_honest_kernel_is(check: str) -> None:
    """Under every reading of `scope_check` the reference passes on E's layout."""
    config = layout_of_e(check)
    found = classify(config, play(config).steps)
    assert (found.kernel, found.kernel_classes) == (PASS, ())


def test_relaxation_is_not_there_before_its_time() -> None:
    """k epochs of the relaxing kernel show no fault: the classifier reads the trace and nothing else."""
    config = replace(layout_of_e("snapshot_diff_only"), epochs=RELAXED_FROM)
    assert classify(config, play(config, mutant("relaxed_after_k").rules).steps).kernel == PASS


@pytest.mark.parametrize(
    ("name", "kernel"), [("veto_lapses_after_k", ARBITRATION), ("veto_ignored", "IX2_FAIL/VETO_OVERRIDDEN")]
)
def test_a_veto_that_lapses_is_told_from_one_that_is_ignored(name: str, kernel: str) -> None:
    """F17's relaxation of admissibility: the request that was refused passes later (condition D repeats one)."""
    found = classify(condition("D").config, play(condition("D").config, mutant(name).rules).steps)
    assert found.kernel == kernel
    assert "IX2_FAIL/VETO_OVERRIDDEN" in found.kernel_classes


def test_a_trace_that_went_through_a_file_is_classified_alike() -> None:
    """No function of the kernel survives the file, so the classifier uses none."""
    config = layout_of_e("snapshot_diff_only")
    trace = play(config, mutant("tie_break_by_action_id").rules)
    rows = [encode((one.config, one.before, one.action, one.shown, one.after)) for one in trace.steps]
    steps = [Step(c, b, a, shown, after) for c, b, a, shown, after in (decode(row, *TYPES) for row in rows)]
    assert classify(config, steps) == classify(config, trace.steps)
    assert classify(config, steps).kernel == ARBITRATION


@pytest.mark.parametrize("check", CHECKS)
def test_every_step_of_an_honest_kernel_passes(check: str) -> None:
    """Every reachable step over two agents and one key, hostile ones included."""
    system = RUN.at(keys=1, epochs=1).under(scope_check=check)
    claim = Monitor(
        name="passes",
        sentence="The honest kernel passes.",
        start=start,
        update=update,
        ok=lambda _config, tally: not tally.breaches,
    )
    (verdict,) = explore(system, [claim]).verdicts
    assert verdict.status == Status.HOLDS
    (verdict,) = explore(replace(system, rules=mutant("tie_break_by_name").rules), [claim]).verdicts
    assert verdict.status == Status.REFUTED


# Tampering: the classifier reads every part of an observation.

Tamper = Callable[[Step[Config, State, Epoch, Shown]], Step[Config, State, Epoch, Shown]]


def showing(**changed: Any) -> Tamper:
    """Return the step with other observations."""
    return lambda one: replace(one, shown=replace(one.shown, **changed))


def logging(agent: int, **changed: Any) -> Tamper:
    """Return the step with another log entry."""

    def tamper(one: Step[Config, State, Epoch, Shown]) -> Step[Config, State, Epoch, Shown]:
        log = list(one.shown.log)
        log[agent] = replace(log[agent], **changed)
        return replace(one, shown=replace(one.shown, log=tuple(log)))

    return tamper


def ending(**changed: Any) -> Tamper:
    """Return the step with another state after it."""
    return lambda one: replace(one, after=replace(one.after, **changed))


LOCKED = Atom("str", "locked_by_agent_1")
TAMPERED: dict[str, tuple[str, Tamper]] = {
    "a winner among colliders": (ARBITRATION, logging(0, verdict="ADMITTED")),
    "a fault that is none": ("IX2_FAIL/STRUCTURE_BREACH", logging(0, verdict="STRUCTURE", fault="MALFORMED_REQUEST")),
    "another id": ("IX2_FAIL/STRUCTURE_BREACH", logging(0, action_id="agent_1:7:0")),
    "refused in the wrong pass": ("IX2_FAIL/OVER_REFUSAL", logging(0, verdict="PASS_ONE")),
    "a key that nobody wrote": (
        "IX2_FAIL/SCOPE_BREACH",
        ending(world=(("resource_A", LOCKED), ("resource_B", LOCKED))),
    ),
    "a receipt": ("IX2_FAIL/BLINDNESS_BREACH", showing(receipts=(("agent_1", "agent_2"),))),
    "a token of its own": ("IX2_FAIL/BLINDNESS_BREACH", showing(tokens=(("agent_1", "BLOCKED"), ("agent_2", FAILURE)))),
    "refused, and told of a fault": (
        "IX2_FAIL/BLINDNESS_BREACH",
        showing(tokens=(("agent_1", FAULT), ("agent_2", FAILURE))),
    ),
    "an outcome in the log alone": ("IX2_FAIL/TOKEN_BREACH", logging(0, outcome=DONE)),
    "a message from nowhere": ("IX2_FAIL/CHANNEL_BREACH", showing(sent=(Message("agent_1", 0, "{}"),))),
    "nothing seen": ("IX2_FAIL/CHANNEL_BREACH", showing(seen=())),
    "an effect that was none": ("IX2_FAIL/DRIFT", showing(effects=(Effect("resource_A", LOCKED, LOCKED),))),
    "a rejection that was none": ("IX2_FAIL/DRIFT", showing(rejected=(("agent_3", "unknown agent"),))),
    "an exit that was none": ("IX2_FAIL/DRIFT", showing(exits=("agent_1",))),
    "a mailbox of its own": ("IX2_FAIL/DRIFT", ending(mailbox=(("agent_1", "{}"),))),
    "an epoch too many": ("IX2_FAIL/DRIFT", ending(epoch=5)),
    "a log that is silent": ("IX2_FAIL/TOKEN_BREACH", showing(log=())),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_with_a_collision_is_noticed(name: str) -> None:
    """One changed field of condition B's first epoch; the class that the change deserves comes first."""
    kind, tamper = TAMPERED[name]
    honest = play(condition("B").config).steps[0]
    assert breaches(honest) == ()
    assert breaches(tamper(honest))[0] == kind


def test_tampering_with_an_execution_is_noticed() -> None:
    """An innocent agent called a violator, and a step after the end that has an effect."""
    honest = play(condition("A").config).steps[0]
    blamed = logging(0, fault=SCOPE_VIOLATION, outcome=FAULT)(honest)
    assert "IX2_FAIL/SCOPE_BREACH" in breaches(blamed)
    late = CONDITIONS.take(honest.config, honest.after, honest.action)
    assert ended(honest.config, honest.after) and breaches(late) == ()
    assert breaches(replace(late, after=replace(late.after, epoch=7))) == ("IX2_FAIL/DRIFT",)


# Terminal classes.


def test_every_finished_run_has_exactly_one_class() -> None:
    """All runs of two agents over one key and two epochs; all classes possible in two epochs occur."""
    system = RUN.at(keys=1)
    met: set[str] = set()
    for config in system.all_configs():
        nodes = dict.fromkeys((state, start(config)) for state in system.initial(config))
        queue = list(nodes)
        for state, tally in queue:
            if ended(config, state):
                met.add(finish(config, tally).terminal)
            for action in system.enabled(config, state):
                taken = system.take(config, state, action)
                node = (taken.after, update(tally, taken))
                if node not in nodes:
                    nodes[node] = None
                    queue.append(node)
    assert met <= set(TERMINAL_CLASSES)
    assert met == set(TERMINAL_CLASSES) - {"STATE_LIVELOCK"}


def test_classification_does_not_stop_a_run() -> None:
    """A livelock that ends stays one: the class is latched, and the run continues to its last epoch."""
    b = condition("B").config
    on = replace(b, epochs=5, strategies=(b.strategies[0], Script((*(Plan("WRITE", "resource_A"),) * 3, Plan("NONE")))))
    trace = play(on)
    found = classify(on, trace.steps)
    assert len(trace.steps) == 5 and trace.steps[3].shown.tokens[0] == ("agent_1", DONE)
    assert (found.terminal, found.since) == ("STATE_LIVELOCK", 2)


def test_two_collisions_and_a_pause_are_no_livelock() -> None:
    """N = 3 in a row, not in total (FQ34)."""
    write, pause = Plan("WRITE", "resource_A"), Plan("NONE")
    script = Script((write, write, pause, write, write))
    config = replace(condition("B").config, epochs=5, strategies=(script, script))
    assert classify(config, play(config).steps).terminal == "INVALID_RUN/NONTERMINATING_CONDITION"


def test_a_later_request_undoes_an_earlier_deadlock_flag() -> None:
    """The requests of a run are its action space, at whatever epoch they come."""
    script = Script((Plan("WRITE", "resource_A"), Plan("WRITE", "resource_B")))
    config = replace(condition("deadlock-space-earlier").config, strategies=(script, Script((Plan("NONE"),))))
    steps = play(config).steps
    first = update(start(config), steps[0])
    assert deadlocked(config, first) == (True,)
    assert deadlocked(config, update(first, steps[1])) == (False, False)


def test_free_agents_have_every_well_formed_action() -> None:
    """Without strategies only the grammar is preregistered, so an unused capability is an alternative."""
    config = condition("deadlock-space-unused").config
    steps = play(config).steps
    free = replace(config, strategies=())
    assert classify(config, steps).deadlocked == (True, True)
    assert classify(free, [replace(one, config=free) for one in steps]).deadlocked == (False, False)
    ours = config.authorities
    later = tuple(replace(one, authority_id=f"{one.authority_id}-LATER", epoch=3) for one in ours)
    more = replace(free, authorities=(*ours, *later))  # what is not in force yet cannot be cited, and need not be
    assert classify(more, [replace(one, config=more) for one in steps]).deadlocked == (False, False)


def test_a_tally_without_epochs_stays_finite() -> None:
    """If epochs are not counted, a monitor must not count them either."""
    config = replace(condition("B").config, epochs=None)
    state = CONDITIONS.step(
        REFERENCE, config, State(config.world, play(condition("B").config).final.agents), Epoch(())
    )[0]
    tally, seen = start(config), set[Tally]()
    for _ in range(10):
        taken = CONDITIONS.take(config, state, next(CONDITIONS.enabled(config, state)))
        state, tally = taken.after, update(tally, taken)
        seen.add(tally)
    assert finish(config, tally).terminal == "STATE_LIVELOCK" and finish(config, tally).since is None
    assert len(seen) == 3


@pytest.mark.parametrize("one", conditions(), ids=lambda one: one.name)
def test_no_class_depends_on_how_agents_were_listed(one: Any) -> None:
    """Reversed submission gives the same classes under the default reading."""
    trace = play(one.config)
    state, steps = trace.scenario.start, list[Any]()
    for action in trace.scenario.actions:
        steps.append(CONDITIONS.take(one.config, state, Epoch(action.choices[::-1])))
        state = steps[-1].after
    assert classify(one.config, steps) == classify(one.config, trace.steps)
