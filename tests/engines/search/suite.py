"""The soundness suite of the search: each check compares it with an independent computation.

Ordinary tests run the checks; `test_planted_faults` runs them again with a fault in the engine and demands that the
right ones fail.  A failing check raises AssertionError (or an error of the engine).
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

from evenhand.core.licence import Licence
from evenhand.core.property import (
    Always,
    Commute,
    DeadlockFree,
    DeterminedBy,
    EachStep,
    Eventually,
    LeadsTo,
    LivelockFree,
    Monitor,
    Property,
    Reachable,
    TwoRun,
)
from evenhand.core.system import AnySystem, Fairness, Separated, System
from evenhand.core.trace import Lasso, Scenario
from evenhand.core.verdict import Status, Verdict
from evenhand.evidence.judge import refutes
from evenhand.search import Exploration, LicenceMissing, ModelError, explore
from tests.engines.search.oracle import expected, graphs_of, sizes
from tests.models import lock, peterson, two_phase_commit
from tests.models.random_systems import SWAP, joint_system, luck, state_test, step_test, table_system

ANY_KERNEL = next(iter(joint_system(0).all_configs()))
LICENCE = Licence("swap", "joint_1", "reference", "equivariance", "sha256:00")


def claims_about(seed: int, *, looks_at_actions: bool = True) -> tuple[Property, ...]:
    """Return one or more random claims of each kind that the oracle decides."""
    random = Random(f"claims {seed}")

    def steps(chance: float) -> Callable[[Any], bool]:
        if looks_at_actions:
            return step_test(random, chance)
        key = random.random()
        return lambda step: luck(f"{key} {step.before} {step.after}") < chance

    fairness = tuple(name for name in ("f0", "f1", "f2") if random.random() < 0.5)
    start = random.choice((0, 1, 2))
    counts = steps(random.choice((0.0, 0.4)))
    return (
        Always(name="always", sentence="", check=state_test(random, 0.8), when=state_test(random, 0.8)),
        EachStep(name="each_step", sentence="", check=steps(0.85), when=steps(0.7)),
        Reachable(name="reachable", sentence="", goal=steps(0.15)),
        Monitor(
            name="monitor",
            sentence="",
            start=lambda _config: start,
            update=lambda value, step: (value + (1 if counts(step) else 0)) % 3,
            ok=lambda _config, value: value != 2,
            when=lambda _config, value: value != 1,
        ),
        DeadlockFree(name="deadlock_free", sentence="", wants=state_test(random, 0.5), completes=steps(0.3)),
        Eventually(name="eventually", sentence="", goal=steps(0.4), fairness=fairness),
        LeadsTo(name="leads_to", sentence="", trigger=steps(0.3), goal=steps(0.4), fairness=fairness),
        LivelockFree(name="livelock_free", sentence="", attempts=steps(0.4), progress=steps(0.4), fairness=fairness),
    )


def agrees_with_oracle(system: AnySystem, claims: tuple[Property, ...]) -> None:
    """Compare counts, verdicts, evidence and shortest lengths with the definitions."""
    found, graphs = explore(system, claims), graphs_of(system)
    assert (found.states, found.transitions, found.edges, found.depth) == sizes(graphs), system.name
    for claim, verdict in zip(claims, found.verdicts, strict=True):
        answer = expected(system, claim, graphs)
        where = f"{system.name} {claim.kind}: {verdict.status} because {verdict.because!r}, expected {answer}"
        if isinstance(claim, Reachable):
            assert verdict.status is (Status.HOLDS if answer.true else Status.REFUTED), where
            assert found.reach.get(claim.name) == answer.length, where
            assert verdict.coverage["witnesses"] == answer.violations, where
        elif not answer.true:
            assert verdict.status is Status.REFUTED, where
        else:
            assert verdict.status is (Status.UNDECIDED if verdict.coverage["met"] == 0 else Status.HOLDS), where
        if answer.met is not None:
            assert verdict.coverage["met"] == answer.met, where
        if answer.violations is not None and not isinstance(claim, Reachable):
            assert verdict.coverage["violations"] == answer.violations, where
        supported(system, claim, verdict, answer.length, where)


def supported(system: AnySystem, claim: Property, verdict: Verdict, length: int | None, where: str) -> None:
    """Check that a refutation (or a goal met) has evidence that the judge accepts, of the certain length if known."""
    needs = verdict.status is (Status.HOLDS if isinstance(claim, Reachable) else Status.REFUTED)
    assert (verdict.evidence is not None) == needs, where
    if verdict.evidence is None:
        return
    assert refutes(system, claim, verdict.evidence), where
    if length is not None:
        assert isinstance(verdict.evidence, Scenario), where
        assert len(verdict.evidence.actions) == length, where
    if isinstance(verdict.evidence, Lasso):
        assert isinstance(claim, Eventually | LeadsTo | LivelockFree), where


def random_graphs(seeds: range = range(80)) -> None:
    """Compare random systems of one or two graphs with the oracle."""
    for seed in seeds:
        system = table_system(seed, states=2 + seed % 5, tables=1 + seed % 2, dense=seed % 3 == 0)
        agrees_with_oracle(system, claims_about(seed))


def larger_graphs(seeds: range = range(30)) -> None:
    """Compare larger random graphs, with several paths to a state; the oracle is fast enough except for loops."""
    for seed in seeds:
        claims = claims_about(seed)[:5]
        agrees_with_oracle(table_system(500 + seed, states=18, tables=2), claims)


def known_sizes() -> None:
    """Two-phase commit: 288 and 8,832 states; 1,145 steps for three managers (TLC generates 1,146 with the start)."""
    found = explore(two_phase_commit.two_phase_commit(3), two_phase_commit.CLAIMS)
    assert (found.states, found.transitions) == (288, 1_145)
    assert [verdict.status for verdict in found.verdicts] == [Status.HOLDS] * len(two_phase_commit.CLAIMS)
    # All prepare and are heard, the manager commits, all obey: 3 + 3 + 1 + 3.
    assert found.reach == {"all_commit": 10}


def apart(claims: Iterable[Property]) -> tuple[Property, ...]:
    """Return the same claims under distinct names: verdicts are found by name."""
    return tuple(replace(claim, name=f"{claim.name}_{place}") for place, claim in enumerate(claims))


def peterson_facts() -> None:
    """Check textbook facts about Peterson's algorithm, and about three faulty variants."""
    about: tuple[Property, ...] = (
        peterson.EXCLUSION,
        peterson.NO_STUCK,
        peterson.NO_OVERTAKING_TWICE,
        peterson.enters(),
        peterson.enters("weak_0", "weak_1"),
        peterson.waits_in_vain(),
        peterson.waits_in_vain("weak_0", "weak_1"),
    )
    about = apart(about)
    holds, refuted, undecided = Status.HOLDS, Status.REFUTED, Status.UNDECIDED
    facts: Mapping[str, tuple[Any, list[Status]]] = {
        "reference": (peterson.REFERENCE, [holds, holds, holds, refuted, holds, refuted, holds]),
        "selfish": (peterson.SELFISH, [refuted, holds, refuted, refuted, refuted, refuted, holds]),
        "stubborn": (peterson.STUBBORN, [holds, refuted, undecided, refuted, refuted, refuted, refuted]),
    }
    for name, (rules, statuses) in facts.items():
        system = peterson.peterson(rules, name, spins=True)
        found = explore(system, about)
        assert [verdict.status for verdict in found.verdicts] == statuses, name
        for claim, verdict in zip(about, found.verdicts, strict=True):
            supported(system, claim, verdict, None, f"{name} {claim.name}")
        assert (found.states, found.transitions, found.edges, found.depth) == sizes(graphs_of(system)), name


def lock_pairs() -> None:
    """Check two-run claims on a lock where they hold and on one with a favourite."""
    about = (lock.BY_PLACE, lock.ANONYMOUS, lock.ASKS_COMMUTE, lock.ENTRIES_COMMUTE)
    honest, favours = lock.lock(2), lock.lock(2, lock.FAVOURS_FIRST, "favours_first")
    holds, refuted = Status.HOLDS, Status.REFUTED
    for system, statuses in ((honest, [holds, holds, holds, refuted]), (favours, [refuted, refuted, holds, refuted])):
        found = explore(system, about)
        assert [verdict.status for verdict in found.verdicts] == statuses
        for claim, verdict in zip(about, found.verdicts, strict=True):
            supported(system, claim, verdict, None, claim.name)


def lock_fairness() -> None:
    """Check that asking leads to getting under strong fairness (if the holder leaves), and not under less."""
    about: tuple[Property, ...] = (
        lock.enters(),
        lock.enters("weak_p0", "leave"),
        lock.enters("strong_p0"),
        lock.enters("strong_p0", "leave"),
        lock.NO_DEADLOCK,
    )
    about = apart(about)
    refuted, holds = Status.REFUTED, Status.HOLDS
    found = explore(lock.lock(2), about)
    assert [v.status for v in found.verdicts] == [refuted, refuted, refuted, holds, holds]
    for claim, verdict in zip(about, found.verdicts, strict=True):
        supported(lock.lock(2), claim, verdict, None, claim.name)
    sealed = explore(lock.lock(2, lock.SEALS, "seals"), (lock.NO_DEADLOCK,))
    assert [v.status for v in sealed.verdicts] == [refuted]


def what_is_left_is_fair() -> None:
    """A loop may avoid the states that offer the starved action: 0 loops alone, 1 offers a way out to 2."""
    moves = {0: {"stay": 0, "on": 1}, 1: {"back": 0, "out": 2}, 2: {"stay": 2}}
    system: AnySystem = System(
        name="ways_out",
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (0,),
        step=lambda _rules, _config, state, action: (moves[state].get(action, state), action),
        actions=lambda _config, _scope, state: tuple(moves[state]),
        fair=lambda _config: {"out": Fairness("strong", _goes_out), "stay": Fairness("strong", _stays)},
    )
    about = (
        Eventually(name="leaves", sentence="", goal=lambda step: step.after == 2, fairness=("out",)),
        Eventually(
            name="leaves_or_stays", sentence="", goal=lambda step: step.shown == "stay", fairness=("out", "stay")
        ),
    )
    found = explore(system, about)
    assert [verdict.status for verdict in found.verdicts] == [Status.REFUTED, Status.HOLDS]
    assert found.verdicts[0].evidence == Lasso(None, 0, (), ("stay",))


def _goes_out(_state: int, action: str) -> bool:
    return action == "out"


def _stays(state: int, action: str) -> bool:
    return state == 0 and action == "stay"


def pair_claims() -> tuple[Property, ...]:
    """Return claims about pairs of steps of `joint_system`: two true ones, two false ones."""
    return (
        DeterminedBy(
            name="by_everything",
            sentence="",
            key=lambda step: (step.config, step.before, step.action),
            value=lambda step: step.after,
            across=False,
        ),
        DeterminedBy(
            name="by_action",
            sentence="",
            key=lambda step: step.action,
            value=lambda step: step.after,
        ),
        DeterminedBy(name="blindly", sentence="", key=lambda step: step.before, value=lambda step: step.shown),
        Commute(
            name="commute",
            sentence="",
            pairs=lambda _config, _state, enabled: pairwise(enabled),
            same=lambda _config, one, two: one.after == two.after,
        ),
        TwoRun(
            name="exchange",
            sentence="",
            twins=lambda _config, _state, _action: (True,),
            config=lambda w, config: SWAP.config(w, config),
            state=lambda w, config, state: SWAP.state(w, config, state),
            other=lambda w, action: (SWAP.action(w, ANY_KERNEL, action),),
            agree=lambda _w, step, other: (
                other is not None and other.after == SWAP.state(True, step.config, step.after)
            ),
        ),
    )


def joint_claims(seed: int) -> tuple[Property, ...]:
    """Return random claims that read actions, random claims that do not, and two-run claims."""
    renamed = {"f0": "x_moves", "f1": "y_moves"}

    def fitted(claim: Property, prefix: str) -> Property:
        names = getattr(claim, "fairness", None)
        more: dict[str, Any] = {} if names is None else {"fairness": tuple(renamed[n] for n in names if n in renamed)}
        return replace(claim, name=prefix + claim.name, **more)

    seeing = tuple(fitted(claim, "seeing_") for claim in claims_about(seed))
    action_independent = tuple(fitted(claim, "blind_") for claim in claims_about(seed, looks_at_actions=False))
    return (*seeing, *action_independent, *pair_claims())


def same_but_for_method(one: Exploration, other: Exploration) -> None:
    """Check that two searches report the same, evidence included, except for the method's name."""
    for name in ("states", "transitions", "edges", "depth", "configs", "complete", "reach"):
        assert getattr(one, name) == getattr(other, name), name
    for left, right in zip(one.verdicts, other.verdicts, strict=True):
        assert replace(left, trusted_base=()) == replace(right, trusted_base=()), (left, right)


def methods_agree(seeds: range = range(3)) -> None:
    """Check that search from tables equals explicit search, to the last action; both have the oracle's counts."""
    for seed in seeds:
        system = joint_system(seed)
        claims = joint_claims(seed)
        plain, tables = explore(system, claims, method="explicit"), explore(system, claims, method="compiled")
        assert (plain.method, tables.method) == ("explicit", "compiled")
        same_but_for_method(plain, tables)
        graphs = graphs_of(system)
        assert (tables.states, tables.transitions, tables.edges, tables.depth) == sizes(graphs)
        for claim, verdict in zip(claims, tables.verdicts, strict=True):
            if isinstance(claim, Always | EachStep | Reachable | Monitor | DeadlockFree):
                answer = expected(system, claim, graphs)
                assert verdict.coverage.get("violations", verdict.coverage.get("witnesses")) == answer.violations
                supported(system, claim, verdict, answer.length, claim.name)


def cross_check_speaks() -> None:
    """Check that a `separated` that disagrees with the step is refused: a wrong judge, merge and apply."""
    system = joint_system(2)
    parts = system.separated
    assert parts is not None
    judge, merge, apply = parts.judge, parts.merge, parts.apply
    # Wrong for large requests, and right for the first action of every state: only samples can tell.
    wrong: dict[str, Separated[Any, Any, Any, Any, Any, Any]] = {
        "judge": replace(parts, judge=lambda r, c, k, agent, x: judge(r, c, k, agent, x) + (x == 3)),
        "merge": replace(
            parts, merge=lambda r, c, k, made: made if sum(w for _, w in made) >= 4 else merge(r, c, k, made)
        ),
        "apply": replace(
            parts,
            apply=lambda r, c, s, v: (s, "still") if sum(w for _, w in v) >= 2 else apply(r, c, s, v),
        ),
    }
    for name, separated in wrong.items():
        try:
            explore(replace(system, separated=separated), method="compiled")
        except ValueError as error:
            assert "goes elsewhere than its tables" in str(error) and system.name in str(error), name
        else:
            raise AssertionError(f"a wrong {name} was not noticed")


def licences() -> None:
    """Check that a quotient needs a licence; its counts are those of the full space."""
    system = joint_system(1)
    full = explore(system)
    reduced = explore(system, licence=LICENCE)
    assert reduced.searched < full.searched == full.configs
    for name in ("states", "transitions", "edges", "depth", "configs"):
        assert getattr(reduced, name) == getattr(full, name), name
    for variant, licence in (
        ("reference", None),
        ("mutant", LICENCE),
        ("reference", replace(LICENCE, system="joint_2")),
        ("reference", replace(LICENCE, quotient="other")),
        ("reference", replace(LICENCE, readings="others")),
    ):
        try:
            explore(replace(system, variant=variant), quotient="swap", licence=licence)
        except LicenceMissing:
            continue
        raise AssertionError(f"{variant} was searched under {licence}")


def closed_menus() -> None:
    """Check that an agent that offers less than its image is refused: representatives would not stand for orbits."""
    system = joint_system(1)
    joint = system.joint
    assert joint is not None

    def fewer(config: Any, scope: Any, state: Any, agent: str) -> Any:
        return [*joint.choices(config, scope, state, agent)][1 if agent == "y" else 0 :]

    try:
        explore(replace(system, joint=replace(joint, choices=fewer), separated=None), licence=LICENCE)
    except ModelError as error:
        assert "not closed" in str(error)
    else:
        raise AssertionError("a menu that is not closed was searched under a quotient")


def quotient_claims() -> None:
    """Check that a claim that a quotient does not preserve is not carried over."""
    system = joint_system(1)
    fixed = EachStep(name="fixed", sentence="", check=lambda step: len(step.after.held) == 2)
    favours = EachStep(name="favours", sentence="", check=lambda step: len(step.after.held) == 2, when=_x_first)
    across = DeterminedBy(
        name="across", sentence="", key=lambda step: (step.config, step.before, step.action), value=lambda s: s.after
    )
    found = explore(system, (fixed, favours, across), licence=LICENCE)
    assert [v.status for v in found.verdicts] == [Status.HOLDS, Status.UNDECIDED, Status.UNDECIDED]
    full = explore(system, (fixed,))
    assert found.verdicts[0].coverage == full.verdicts[0].coverage


def _x_first(step: Any) -> bool:
    return bool(step.action[0][1] > step.action[1][1])


def open_graphs() -> None:
    """Check that results beyond a bound are undecided with the reason; results so far are reported."""
    system = two_phase_commit.two_phase_commit(3)
    never = Always(name="never", sentence="", check=lambda _config, state: state.tm != "aborted")
    far = Reachable(name="far", sentence="", goal=lambda step: set(step.after.rms) == {"committed"})
    waits = Eventually(name="waits", sentence="", goal=lambda step: step.after.tm != "init")
    about = (*two_phase_commit.CLAIMS, never, far, waits)
    for bound, found in (
        ("max_states", explore(system, about, max_states=50)),
        ("depth", explore(system, about, depth=3)),
    ):
        assert not found.complete
        by_name = {verdict.claim: verdict for verdict in found.verdicts}
        assert by_name["never"].status is Status.REFUTED
        for name in ("consistent", "decisions_stay", "can_decide", "far", "waits"):
            assert by_name[name].status is Status.UNDECIDED, name
            assert bound in by_name[name].because
    closed = explore(system, about, max_states=288, depth=found_depth(system) + 1)
    assert closed.complete and closed.states == 288


def found_depth(system: AnySystem) -> int:
    """Return the depth at which the oracle's rings end."""
    return sizes(graphs_of(system))[3]


def vacuity() -> None:
    """Check that an antecedent never met, a claim that never applies, and a comparison of nothing do not hold."""
    system = table_system(4, states=6)
    nothing = lambda *_anything: False  # noqa: E731 - one predicate for every kind
    about: tuple[Property, ...] = (
        Always(name="always", sentence="", check=nothing, when=nothing),
        EachStep(name="each_step", sentence="", check=nothing, when=nothing),
        LeadsTo(name="leads_to", sentence="", trigger=nothing, goal=nothing),
        LivelockFree(name="livelock", sentence="", attempts=nothing, progress=nothing),
        DeadlockFree(name="deadlock", sentence="", wants=nothing, completes=nothing),
        Commute(name="commute", sentence="", pairs=lambda _c, _s, _e: (), same=nothing),
        DeterminedBy(name="alone", sentence="", key=lambda step: (step.before, step.action), value=lambda _s: 0),
        EachStep(name="nowhere", sentence="", check=lambda _step: True, applies=nothing),
    )
    for verdict in explore(system, about).verdicts:
        assert verdict.status is Status.UNDECIDED, verdict.claim
        assert verdict.because, verdict.claim


def parallel_edges() -> None:
    """Check that 256 differently labelled edges between the same two states stay edges for the graph algorithms."""
    names = [f"bit{bit}" for bit in range(8)]
    fair = {
        name: Fairness[int, int]("weak", lambda _state, action, bit=bit: bool(action >> bit & 1))  # type: ignore[misc]
        for bit, name in enumerate(names)
    }
    system: AnySystem = System(
        name="parallel",
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (0,),
        step=lambda _rules, _config, state, _action: (1 - state, "tick"),
        actions=lambda _config, _scope, _state: range(256),
        fair=lambda _config: fair,
    )
    never = Eventually(name="never", sentence="", goal=lambda step: step.shown == "tock", fairness=tuple(names))
    (verdict,) = explore(system, (never,)).verdicts
    assert verdict.status is Status.REFUTED
    assert isinstance(verdict.evidence, Lasso)
    # The loop satisfies all eight assumptions, or it is no evidence.
    assert all(any(action >> bit & 1 for action in verdict.evidence.loop) for bit in range(8))


CHECKS: Mapping[str, Callable[[], None]] = {
    check.__name__: check
    for check in (
        random_graphs,
        larger_graphs,
        known_sizes,
        peterson_facts,
        lock_fairness,
        what_is_left_is_fair,
        lock_pairs,
        methods_agree,
        cross_check_speaks,
        licences,
        closed_menus,
        quotient_claims,
        open_graphs,
        vacuity,
        parallel_edges,
    )
}
