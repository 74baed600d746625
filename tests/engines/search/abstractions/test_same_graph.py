"""Quotients by shift and saturation, compared with the model up to a depth and with the same system without time.

`CHECKS` run again with a fault planted in the engine, and the right ones must notice.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from evenhand.core.property import Always, EachStep, Monitor, Reachable
from evenhand.core.trace import Lasso, Scenario
from evenhand.core.verdict import Status
from evenhand.evidence.judge import Judgement, refutes
from evenhand.search import Exploration, ModelError, engine, explore
from evenhand.search.abstraction import Mapped
from evenhand.search.bounds import Bounds
from evenhand.search.classes import Classes
from tests.engines.search.abstractions.systems import aged, claims_about, licences, timed

SEEDS = range(50)
DEPTH = 8
"""Steps of the bounded search of the model itself."""

FINITE = (Always, EachStep, Monitor, Reachable)


@cache
def reduced(seed: int) -> Exploration:
    """Return the search of classes."""
    system = timed(seed)
    return explore(system, claims_about(seed), licence=licences(system))


@cache
def untimed(seed: int) -> Exploration:
    """Return the search of the system without a clock."""
    return explore(aged(seed), claims_about(seed))


@cache
def bounded(seed: int) -> Exploration:
    """Return the search of the model itself, up to so many steps."""
    return explore(timed(seed), claims_about(seed)[:4], depth=DEPTH)


def same_sizes(seed: int) -> None:
    """Classes, steps, edges and depth are those of the system without a clock."""
    found, other = reduced(seed), untimed(seed)
    assert found.complete and found.classes and not other.classes
    for name in ("states", "transitions", "edges", "depth"):
        assert getattr(found, name) == getattr(other, name), (seed, name)


def same_verdicts(seed: int) -> None:
    """Decided verdicts are equal; only a loop may stay open, and then the system without a clock refutes the claim."""
    for claim, one, other in zip(claims_about(seed), reduced(seed).verdicts, untimed(seed).verdicts, strict=True):
        where = f"{seed} {claim.name}: {one.status} because {one.because!r}, {other.status}"
        assert one.coverage["met"] == other.coverage["met"], where
        if one.status is Status.UNDECIDED and other.status is Status.REFUTED:
            assert not isinstance(claim, FINITE) and one.coverage["violations"], where
            continue
        assert one.status is other.status, where


def evidence_is_the_models(seed: int) -> None:
    """All evidence refutes in the model with its clock, from its own start; a lasso really returns."""
    system, found = timed(seed), reduced(seed)
    for claim, verdict in zip(claims_about(seed), found.verdicts, strict=True):
        needs = verdict.status is (Status.HOLDS if isinstance(claim, Reachable) else Status.REFUTED)
        assert (verdict.evidence is not None) == needs, (seed, claim.name)
        if verdict.evidence is not None:
            assert refutes(system, claim, verdict.evidence), (seed, claim.name)


def agrees_with_the_model(seed: int) -> None:
    """Up to that depth the model has the same classes and results, at the same distance."""
    found, other = reduced(seed), bounded(seed)
    for claim, one, model in zip(claims_about(seed), found.verdicts, other.verdicts, strict=False):
        if isinstance(claim, FINITE):
            lengths = [len(v.evidence.actions) if isinstance(v.evidence, Scenario) else None for v in (one, model)]
            assert lengths[0] == lengths[1] or (lengths[1] is None and (lengths[0] or 0) > DEPTH), (seed, claim.name)


CHECKS: tuple[Callable[[int], None], ...] = (
    same_sizes,
    same_verdicts,
    evidence_is_the_models,
    agrees_with_the_model,
)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_random_timed_systems(check: Callable[[int], None]) -> None:
    """Fifty systems with a clock."""
    for seed in SEEDS:
        check(seed)


def test_the_random_systems_tell_something() -> None:
    """Every kind of claim is decided both ways, and loops are refuted as well as left open."""
    tells(SEEDS)


def tells(seeds: range) -> None:
    """Return the verdicts on the systems of these seeds."""
    said = Counter[tuple[str, str]]()
    for seed in seeds:
        for verdict in reduced(seed).verdicts:
            said[verdict.claim, verdict.status.name] += 1
            said["loop", "lasso"] += isinstance(verdict.evidence, Lasso)
            said["loop", "candidate"] += "closes among classes alone" in verdict.because
    for name in ("always", "each_step", "reachable", "monitor", "eventually", "leads_to", "livelock_free"):
        assert said[name, "HOLDS"] and said[name, "REFUTED"], (name, said)
    assert said["loop", "lasso"] > 5 and said["loop", "candidate"] > 5, said
    assert max(reduced(seed).states for seed in seeds) > 20


def test_the_report_counts_classes_and_says_so() -> None:
    """The report has no full-space count: scope, coverage and the reason for the method are about classes."""
    found = reduced(1)
    assert "one state of each class" in found.why_method
    for verdict in found.verdicts:
        assert verdict.scope["quotient"] == "shift+saturation"
        assert verdict.scope["counted"] == "classes of states; how many states share one is not known"
        assert verdict.coverage["classes"] == found.states and "states" not in verdict.coverage
        assert {"theorem shift theorem (sha256:00)", "theorem saturation theorem (sha256:00)"} <= set(
            verdict.trusted_base
        )
    plain = untimed(1).verdicts[0]
    assert "counted" not in plain.scope and "states" in plain.coverage


def test_one_map_alone_leaves_the_graph_open() -> None:
    """A shift leaves growing ages, a saturation leaves a running clock: neither graph is finite, and nothing holds."""
    system = timed(1)
    for licence in licences(system):
        found = explore(system, claims_about(1)[:1], licence=licence, depth=8)
        assert not found.complete
        assert found.verdicts[0].status is not Status.HOLDS


# Planted faults.


def no_map(patch: pytest.MonkeyPatch) -> None:
    """Search without the maps, up to a bound."""
    patch.setattr(Mapped, "searched", lambda classes: replace(classes.system))
    patch.setattr(engine, "Bounds", lambda _states, _depth, memory, spill: Bounds(200, None, memory, spill))


def one_map(patch: pytest.MonkeyPatch) -> None:
    """Take the last map twice and the first never."""
    real = Mapped.searched
    patch.setattr(Mapped, "searched", lambda classes: real(replace(classes, maps=(classes.maps[0], classes.maps[0]))))
    patch.setattr(engine, "Bounds", lambda _states, _depth, memory, spill: Bounds(200, None, memory, spill))


def images_as_evidence(patch: pytest.MonkeyPatch) -> None:
    """Take a loop of classes for a lasso."""

    def believed(_classes: Any, _claim: Any, run: Any, finding: Any) -> Any:
        stem, loop = len(finding.path), len(finding.loop)
        lasso = Lasso(run.config, run.start, run.actions[:stem], run.actions[stem : stem + loop])
        return lasso, Judgement(True, "believed")

    patch.setattr(Classes, "closed", believed)


def starts_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Search from one initial state only."""
    real = Mapped.searched

    def first(classes: Any) -> Any:
        made = real(classes)
        return replace(made, initial=lambda config: list(made.initial(config))[:1])

    patch.setattr(Mapped, "searched", first)


def loops_never(patch: pytest.MonkeyPatch) -> None:
    """Leave every loop open, however often it repeats."""
    real = Mapped.carried

    def open_loops(*args: Any, **more: Any) -> Any:
        evidence, judgement = real(*args, **more)
        return (None, Judgement(False, "open", decided=False)) if isinstance(evidence, Lasso) else (evidence, judgement)

    patch.setattr(Mapped, "carried", open_loops)


FAULTS: dict[Callable[[pytest.MonkeyPatch], None], str] = {
    no_map: "same_sizes",
    one_map: "same_sizes",
    images_as_evidence: "evidence_is_the_models",
    starts_forgotten: "same_sizes",
}


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_planted_faults_are_noticed(plant: Callable[[pytest.MonkeyPatch], None]) -> None:
    """The expected check fails on the fault and passes without it."""
    check = next(one for one in CHECKS if one.__name__ == FAULTS[plant])
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        reduced.cache_clear()
        with pytest.raises((AssertionError, ModelError)):
            for seed in range(8):
                check(seed)
    reduced.cache_clear()
    check(0)


@pytest.mark.slow
def test_leaving_every_loop_open_is_noticed() -> None:
    """The search must find lassos; the check of decided verdicts notices their absence."""
    with pytest.MonkeyPatch.context() as patch:
        loops_never(patch)
        reduced.cache_clear()
        with pytest.raises(AssertionError):
            tells(range(12))
    reduced.cache_clear()
