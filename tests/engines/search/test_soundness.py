"""The search against known answers, the definitions, its own other method, and models that break their contract."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from evenhand.core.lookup import UnknownName
from evenhand.core.property import Always, DeterminedBy, EachStep, Eventually, Monitor, Property
from evenhand.core.system import AnySystem, Separated, System
from evenhand.core.verdict import Status
from evenhand.search import ModelError, estimate, explore
from tests.deep import rest_slow
from tests.engines.search.oracle import graph_of, sizes
from tests.engines.search.suite import (
    CHECKS,
    LICENCE,
    agrees_with_oracle,
    claims_about,
    joint_claims,
    methods_agree,
    same_but_for_method,
)
from tests.models import counter, lock, peterson, two_phase_commit
from tests.models.random_systems import joint_system, table_system


@pytest.mark.parametrize("check", rest_slow(CHECKS.values(), 6), ids=CHECKS.keys())
def test_check(check: Callable[[], None]) -> None:
    """One check of the suite passes."""
    check()


@pytest.mark.parametrize("first", rest_slow(range(0, 200, 25), 3))
def test_200_random_systems_against_the_oracle(first: int) -> None:
    """Counts, verdicts, evidence and shortest lengths are those of the definitions."""
    for seed in range(first, first + 25):
        system = table_system(1_000 + seed, states=2 + seed % 5, tables=1 + seed % 3, dense=seed % 2 == 0)
        agrees_with_oracle(system, claims_about(seed))


def test_random_systems_give_every_answer_often() -> None:
    """A random suite in which everything holds, or nothing is fair, would prove nothing."""
    seen: dict[tuple[str, str, str], int] = {}
    for seed in range(120):
        for claim, verdict in zip(
            claims_about(seed), explore(table_system(seed), claims_about(seed)).verdicts, strict=True
        ):
            key = (claim.kind, verdict.status.value, type(verdict.evidence).__name__)
            seen[key] = seen.get(key, 0) + 1
    for kind in ("always", "each_step", "monitor", "deadlock_free", "reachable"):
        assert seen.get((kind, "REFUTED", "NoneType" if kind == "reachable" else "Scenario"), 0) >= 10, (kind, seen)
        assert seen.get((kind, "HOLDS", "Scenario" if kind == "reachable" else "NoneType"), 0) >= 10, (kind, seen)
    for kind in ("eventually", "leads_to"):
        assert seen.get((kind, "REFUTED", "Scenario"), 0) >= 10, (kind, seen)
    for kind in ("eventually", "leads_to", "livelock_free"):
        assert seen.get((kind, "REFUTED", "Lasso"), 0) >= 5, (kind, seen)
        assert seen.get((kind, "HOLDS", "NoneType"), 0) >= 10, (kind, seen)


@pytest.mark.deep
def test_two_phase_commit_with_five_managers() -> None:
    """The published size, and every claim holds in it."""
    found = explore(two_phase_commit.two_phase_commit(5), two_phase_commit.CLAIMS)
    assert found.states == 8_832
    assert all(verdict.holds for verdict in found.verdicts)


def test_size_with_five_managers() -> None:
    """The published size: 8,832 states."""
    assert explore(two_phase_commit.two_phase_commit(5)).states == two_phase_commit.KNOWN_SIZES[5]


def test_hasty_commit_is_refuted_by_a_shortest_run() -> None:
    """A manager that commits one vote early is caught in the fewest actions."""
    system = two_phase_commit.two_phase_commit(3, two_phase_commit.HASTY, "hasty")
    verdict = explore(system, two_phase_commit.CLAIMS).verdicts[0]
    assert verdict.status is Status.REFUTED and verdict.variant == "hasty"
    # Two prepare and are heard, the manager commits, one obeys, the third gives up.
    assert verdict.evidence is not None and len(verdict.evidence.actions) == 7  # type: ignore[union-attr]


@pytest.mark.deep
def test_methods_agree_on_more_systems() -> None:
    """Search from tables gives what explicit search gives, on many more systems."""
    methods_agree(range(3, 30))


@pytest.mark.parametrize("licence", [None, LICENCE], ids=["full", "quotient"])
def test_processes_change_nothing(licence: Any) -> None:
    """Two processes find the same as one, with and without a quotient."""
    system = joint_system(1, kernels=4)
    claims = joint_claims(1)
    one, two = (explore(system, claims, jobs=jobs, licence=licence) for jobs in (1, 2))
    same_but_for_method(one, two)
    assert one.searched == two.searched


def test_processes_report_errors_like_one() -> None:
    """An error in another process is the same error."""
    system = joint_system(1, kernels=8)
    broken = EachStep(name="broken", sentence="", check=lambda step: step.shown.nothing)
    for jobs in (1, 2):
        with pytest.raises(ModelError, match=r"claim 'broken': .* raised AttributeError"):
            explore(system, (broken,), jobs=jobs)


def test_a_claim_that_looks_at_actions_sees_each_of_them_once() -> None:
    """A claim that reads actions gets every joint choice, as many as the full product."""
    system = joint_system(3, kernels=1)
    seen: list[tuple[Any, Any]] = []

    note = seen.append  # a method passed as a function is not read, so that a test can observe it

    def look(step: Any) -> bool:
        if step.shown == "moved":
            note((step.config, (step.before, step.action)))
        return True

    found = explore(system, (EachStep(name="looks", sentence="", check=look),))
    steps = [s for c in system.all_configs() for s in graph_of(system, c).steps if s.shown == "moved"]
    assert found.method == "explicit"
    assert sorted(map(repr, seen)) == sorted(repr((s.config, (s.before, s.action))) for s in steps)


def test_a_claim_that_swallows_the_look_is_an_error() -> None:
    """Tables cannot tell whether it asks for the action, so they are refused."""

    def swallows(step: Any) -> bool:
        try:
            return bool(step.action)
        except BaseException:
            return True

    with pytest.raises(ValueError, match="swallows"):
        explore(joint_system(3), (EachStep(name="swallows", sentence="", check=swallows),), method="compiled")


def test_monitor_is_asked_about_a_start_that_is_met_again() -> None:
    """The start is no step, but a step back to it is."""
    anything: AnySystem = table_system(0)
    ring = replace(anything, initial=lambda _c: (0,), step=lambda _r, _c, s, _a: (1 - s, 0))
    ring = replace(ring, actions=lambda _c, _s, _state: ("a",), configs=lambda _s, _r: (None,))
    back = Monitor(
        name="never_back",
        sentence="",
        start=lambda _c: "home",
        update=lambda _v, step: "home" if step.after == 0 else "away",
        ok=lambda _c, value: value == "away",
    )
    (verdict,) = explore(ring, (back,)).verdicts
    assert verdict.status is Status.REFUTED
    assert verdict.evidence is not None and len(verdict.evidence.actions) == 2  # type: ignore[union-attr]


def test_monitors_that_never_close_are_undecided_under_a_bound() -> None:
    """A history that counts for ever ends at the bound, undecided."""
    counts = Monitor(
        name="counts", sentence="", start=lambda _c: 0, update=lambda v, _s: v + 1, ok=lambda _c, v: v < 10**9
    )
    found = explore(lock.lock(2), (counts,), max_states=100)
    assert found.complete
    assert found.verdicts[0].status is Status.UNDECIDED
    assert "100 histories" in found.verdicts[0].because


def test_determined_across_configurations_names_both() -> None:
    """A claim across configurations compares their steps; one within them does not."""
    system = joint_system(5)
    by_action = DeterminedBy(name="by_action", sentence="", key=lambda s: s.action, value=lambda s: s.after)
    (verdict,) = explore(system, (by_action,)).verdicts
    assert verdict.status is Status.REFUTED
    (within,) = explore(system, (replace(by_action, across=False),)).verdicts
    assert within.coverage["keys"] >= verdict.coverage["keys"]


def test_claims_that_apply_to_some_configurations_are_counted_there() -> None:
    """`applies` is evaluated for every configuration."""
    system = joint_system(1)
    first, *_ = system.all_configs()
    (some,) = explore(
        system, (Always(name="some", sentence="", check=lambda _c, _s: True, applies=lambda c: c == first),)
    ).verdicts
    assert 0 < some.coverage["configs"] < explore(system).configs


def test_unknown_fairness_is_an_error_before_the_search() -> None:
    """A misspelt assumption is refused."""
    claim = Eventually(name="hopes", sentence="", goal=lambda _step: False, fairness=("nobody",))
    with pytest.raises(UnknownName, match=r"claim 'hopes'.*weak_0"):
        explore(peterson.peterson(), (claim,))


@pytest.mark.parametrize("bound", [{"max_states": 0}, {"depth": -1}, {"jobs": 0}, {"method": "memo"}])
def test_senseless_arguments_are_errors(bound: dict[str, int]) -> None:
    """The message names the argument."""
    with pytest.raises(ValueError, match=next(iter(bound))):
        explore(lock.lock(2), **bound)  # type: ignore[arg-type]


def test_a_configuration_without_start_is_an_error() -> None:
    """Beside other configurations the missing start would go unnoticed."""
    system = replace(lock.lock(2), initial=lambda _config: ())
    with pytest.raises(ModelError, match=r"`initial` of configuration .* gives no state"):
        explore(system, (lock.somebody_in(), lock.enters(), lock.MUTUAL_EXCLUSION))


# Models that break their contract.


def broken(step: Callable[..., Any], start: Any = 0) -> AnySystem:
    """Return a system of one step function, and the actions `fine` and `bad`."""
    return System(
        name="broken",
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (start() if callable(start) else start,),
        step=step,
        actions=lambda _config, _scope, _state: ("fine", "bad"),
    )


@dataclass(unsafe_hash=True)
class Box:
    """A state that can be changed in place; `noted` does not take part in the hash."""

    content: int = 0
    noted: list[int] = field(default_factory=list[int], hash=False)


def raises(_rules: Any, _config: Any, state: int, action: str) -> tuple[int, str]:
    """Raises instead of refusing."""
    if action == "bad":
        raise KeyError("lost")
    return state, "ok"


def unhashable(_rules: Any, _config: Any, state: Any, action: str) -> tuple[Any, str]:
    """Returns a list as state."""
    return ([state], "list") if action == "bad" else (state, "ok")


def mutates(_rules: Any, _config: Any, state: Box, action: str) -> tuple[Box, str]:
    """Changes a field that the hash depends on."""
    if action == "bad":
        state.content += 1
    return Box(0), "ok"


def notes(_rules: Any, _config: Any, state: Box, action: str) -> tuple[Box, str]:
    """Changes a field that the hash does not depend on."""
    if action == "bad":
        state.noted.append(1)
    return Box(state.content), "ok"


def forgets(_rules: Any, _config: Any, _state: int, action: str) -> Any:
    """Shows nothing."""
    return 7 if action == "bad" else (0, "ok")


@pytest.mark.parametrize(
    ("step", "start", "words"),
    [
        (raises, 0, r"step of action 'bad' .* raised KeyError"),
        (unhashable, 0, r"action 'bad' cannot be hashed"),
        (mutates, Box, r"action 'bad' changes the state it is given"),
        (notes, Box, r"action 'bad' changes the state it is given"),
        (forgets, 0, r"step of action 'bad' .* returned 7 \(int\), no pair"),
        (lambda *_all: (0, "ok"), [], r"initial state number 0 cannot be hashed"),
    ],
)
def test_broken_models_are_named(step: Callable[..., Any], start: Any, words: str) -> None:
    """The message names the system, the action and the fault."""
    with pytest.raises(ModelError, match=r"system 'broken'.*" + words):
        explore(broken(step, start))


def test_a_step_that_is_no_function_is_named() -> None:
    """A step with a different result the second time is refused."""
    calls: Iterator[int] = iter(range(10**6))
    with pytest.raises(ModelError, match="uses the iterator `calls`"):
        explore(broken(lambda _r, _c, _s, _a: (0, next(calls))))
    call = calls.__next__  # its code cannot be read, so the step itself is run again
    with pytest.raises(ModelError, match="a function of rules"):
        explore(broken(lambda _r, _c, _s, _a: (0, call())))


def shrinking_menu(_config: Any, _scope: Any, state: Any, _agent: str) -> range:
    """Yield fewer choices once x holds something."""
    return range(2 if state.held[0][1] else 4)


def test_reads_that_forgets_the_menu_loses_nothing() -> None:
    """Joint choices are judged for each menu, whatever the key says."""
    system: AnySystem = joint_system(2)
    assert system.separated is not None and system.joint is not None
    menus = replace(system.joint, choices=shrinking_menu)
    careless: Separated[Any, Any, Any, Any, Any, Any] = replace(system.separated, reads=lambda _r, _c, _s: 0)
    system = replace(system, joint=menus, separated=careless)
    plain, tables = (explore(system, method=method) for method in ("explicit", "compiled"))
    assert tables.method == "compiled"
    same_but_for_method(plain, tables)


# The interfaces around the search.


def weights(graph: Any) -> Iterator[int]:
    """Return how many steps each edge of an exported graph stands for."""
    return (weight for _, _, weight in graph.edges(data="weight"))


def test_networkx_graph_is_the_explored_one() -> None:
    """Nodes, edges and weights add up to the counts, and every action leads where its edge does."""
    system = joint_system(2)
    found = explore(system)
    graphs = [found.to_networkx(number) for number in range(found.configs)]
    assert sum(graph.number_of_nodes() for graph in graphs) == found.states
    assert sum(graph.number_of_edges() for graph in graphs) == found.edges
    assert sum(weight for graph in graphs for weight in weights(graph)) == found.transitions
    for config, graph in zip(system.all_configs(), graphs, strict=True):
        edges: Any = graph.edges(data="action")
        for before, after, action in edges:
            assert system.take(config, before, action).after == after


@pytest.mark.slow
def test_estimate_is_exact_for_what_closes_and_never_far_too_low_for_products() -> None:
    """The product of the parts is of the right order where parts are independent."""
    small = counter.counter(2)
    assert estimate(small) == explore(small).transitions
    large = counter.counter(2, budget=40, most=5)
    steps = explore(large).transitions
    guess = estimate(large)
    assert guess is not None and guess >= steps / 50


def test_progress_is_told_and_ends_with_the_totals() -> None:
    """The numbers never fall, and the last ones are the totals."""
    told: list[tuple[int, int]] = []
    found = explore(two_phase_commit.two_phase_commit(3), progress=lambda states, steps: told.append((states, steps)))
    assert told[-1] == (found.states, found.transitions)
    assert told == sorted(told)


def test_some_configurations_only() -> None:
    """`configs=` replaces those of the scope."""
    system = joint_system(1)
    first, *_ = system.all_configs()
    found = explore(system, configs=(first,))
    assert found.configs == 1
    assert (found.states, found.transitions) == sizes([graph_of(system, first)])[:2]


def test_verdicts_say_where_they_hold() -> None:
    """Engine, assumptions, completeness and trusted base."""
    (verdict,) = explore(peterson.peterson(spins=True), (peterson.enters("weak_0", "weak_1"),)).verdicts
    assert verdict.holds and verdict.engine == "explore"
    assert verdict.scope["fairness"] == ["weak_0", "weak_1"] and verdict.scope["complete"] is True
    assert verdict.coverage["steps serving weak_0"] > 0
    assert "the executable model" in verdict.trusted_base


SCRIPT = """
from evenhand.search import explore
from tests.models import peterson
from tests.models.random_systems import joint_system
from tests.models.two_phase_commit import CLAIMS, two_phase_commit
from tests.engines.search.suite import joint_claims
print(explore(two_phase_commit(3), CLAIMS).verdicts[2].evidence.actions)
print(explore(joint_system(1, kernels=1), joint_claims(1), jobs=2).verdicts)
print(explore(peterson.peterson(peterson.STUBBORN), (peterson.enters(),)).verdicts)
"""


@pytest.mark.slow
def test_hash_seeds_change_nothing() -> None:
    """Same input, same output, whatever the order of hashes."""
    outputs: set[str] = set()
    for seed in ("0", "1", "4242"):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join([".", *sys.path])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        outputs.add(run.stdout)
    assert len(outputs) == 1


def test_a_property_of_no_known_kind_is_an_error() -> None:
    """A kind that the search does not know is not skipped."""
    with pytest.raises(ValueError, match="kind property"):
        explore(lock.lock(2), (Property(name="vague", sentence=""),))
