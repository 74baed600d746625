"""Symmetric search finds the same as unreduced search: on random systems and on pinned scopes, down to each count."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evenhand.core import kinds
from evenhand.core.licence import Licence
from evenhand.core.property import Always, EachStep, Property, Reachable
from evenhand.core.trace import Lasso, Scenario
from evenhand.core.verdict import Status
from evenhand.evidence.judge import refutes
from evenhand.model.cud.free_system import FREE
from evenhand.search import explore
from evenhand.search.symmetric import multisets
from evenhand.search.symmetric.group import NoGroup
from evenhand.search.symmetric.method import Orbits
from tests.deep import rest_deep, rest_slow
from tests.engines.search.oracle import graphs_of, sizes
from tests.engines.search.symmetric.systems import TRADE, joint_hall, licence_of
from tests.models.random_systems import luck

PINNED = json.loads((Path(__file__).parents[3] / "oracles" / "pinned.json").read_text("utf-8"))
FREE_LICENCE = Licence("renaming", "free", "reference", "equivariance_of_free_agents", "sha256:00", FREE.readings)
MAKERS: dict[str, Callable[[int], Any]] = {
    "separated": joint_hall,
    "keeps": lambda seed: joint_hall(seed, keeps=True),
    "whole": lambda seed: replace(joint_hall(seed), separated=None),
}
"""Forty of each: 120 random systems."""


def claims(seed: int) -> tuple[Property, ...]:
    """Return a claim of each kind that every renaming preserves: it counts, and reads no name."""
    key = Random(f"trade {seed}").random()

    def known(state: Any) -> str:
        return f"{sorted(zip(state.marks, state.held or state.marks, strict=True))} {state.shared}"

    def steps(step: Any, chance: float) -> bool:
        return luck(f"{key} {chance} {known(step.before)} {known(step.after)}") < chance

    def wants(_config: Any, state: Any) -> bool:
        return luck(f"{known(state)} {key}") < 0.6

    def update(value: int, step: Any) -> int:
        return (2 * value + steps(step, 0.5)) % 4

    def ok(_config: Any, value: int) -> bool:
        return luck(f"{key} {value}") < 0.85

    return (
        Always(name="always", sentence="", check=lambda _c, s: luck(f"{key} {known(s)}") < 0.9),
        EachStep(name="each", sentence="", check=lambda s: steps(s, 0.95), when=lambda s: s.before.shared != 1),
        Reachable(name="reachable", sentence="", goal=lambda s: steps(s, 0.1)),
        kinds.DeadlockFree(name="dead", sentence="", wants=wants, completes=lambda s: steps(s, 0.15)),
        kinds.Monitor(name="monitor", sentence="", start=lambda _c: 0, update=update, ok=ok, when=lambda _c, v: v != 1),
        kinds.LeadsTo(name="leads", sentence="", trigger=lambda s: steps(s, 0.3), goal=lambda s: steps(s, 0.31)),
        kinds.LivelockFree(
            name="live", sentence="", attempts=lambda s: steps(s, 0.4), progress=lambda s: steps(s, 0.6)
        ),
        kinds.Eventually(name="ever", sentence="", goal=lambda s: steps(s, 0.55)),
    )


@pytest.mark.parametrize("kind", rest_slow(MAKERS))
@pytest.mark.parametrize("part", rest_deep(range(4)))
def test_random_systems(kind: str, part: int) -> None:
    """Counts of the full space against the oracle; verdicts, coverage and lengths against explicit search."""
    divided = violated = 0
    for seed in range(part * 10, part * 10 + 10):
        system = MAKERS[kind](seed)
        about = claims(seed)
        licence = licence_of(system)
        found, whole = explore(system, about, licence=licence), explore(system, about, method="explicit")
        divided += found.method == "symmetric"
        assert (found.states, found.transitions, found.edges, found.depth) == sizes(graphs_of(system)), system.name
        assert found.reach == whole.reach
        for claim, one, other in zip(about, found.verdicts, whole.verdicts, strict=True):
            where = f"{system.name} {claim.name}: {one} {other}"
            assert (one.status, one.coverage) == (other.status, other.coverage), where
            assert (one.evidence is None) == (other.evidence is None), where
            if isinstance(one.evidence, Scenario):
                assert isinstance(other.evidence, Scenario) and refutes(system, claim, one.evidence), where
                assert len(one.evidence.actions) == len(other.evidence.actions), where
            if isinstance(one.evidence, Lasso):
                assert isinstance(other.evidence, Lasso) and refutes(system, claim, one.evidence), where
        violated += sum(verdict.status is Status.REFUTED for verdict in found.verdicts)
    assert divided >= 5 and violated > 1, "agents of one kind are drawn often enough, and claims are refuted"


def test_a_loop_that_takes_several_turns() -> None:
    """Agents trade places on the way, so that images of a loop of orbits come back later than it ends."""
    system = joint_hall(16)
    leads = next(claim for claim in claims(16) if claim.name == "leads")
    found, whole = explore(system, [leads], licence=licence_of(system)), explore(system, [leads], method="explicit")
    one, other = found.verdicts[0].evidence, whole.verdicts[0].evidence
    assert isinstance(one, Lasso) and isinstance(other, Lasso) and refutes(system, leads, one)
    assert found.method == "symmetric" and len(one.loop) > len(other.loop)


@pytest.mark.parametrize("scope", PINNED["free_agent"]["counts"])
def test_pinned_scopes(scope: str) -> None:
    """The counts that two enumerators and Rumur agree on; the search falls back where all agents differ."""
    pinned = PINNED["free_agent"]["counts"][scope]
    agents, keys, values = map(int, scope.split(","))
    limit = Reachable(name="limit", sentence="", goal=lambda step: step.after.counter == 3)
    found = explore(FREE.at(agents=agents, keys=keys, values=values), [limit], licence=FREE_LICENCE)
    assert found.method == ("symmetric" if agents > 2 else "compiled")
    counted = {name: getattr(found, name) for name in ("states", "transitions", "edges", "depth")}
    assert counted | {"to_limit": found.reach["limit"]} == pinned


def test_keys_trade_places_too() -> None:
    """Two agents and five keys, of which the middle three are interchangeable; compiled search counts the same."""
    system = FREE.at(agents=2, keys=5, values=2)
    found, whole = explore(system, licence=FREE_LICENCE), explore(system, method="compiled")
    assert (found.method, whole.method) == ("symmetric", "compiled")
    for name in ("states", "transitions", "edges", "depth"):
        assert getattr(found, name) == getattr(whole, name), name


def _as_they_come(_picked: Any, _team: Any, kinds: Any, _fares: Any) -> Any:
    return kinds


def test_multisets_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members that fare alike stand side by side: fewer verdicts and rows, and the same counts."""
    system = FREE.at(agents=4, keys=2, values=2)
    (config,) = system.all_configs()
    found: list[tuple[int, ...]] = []
    for _ in range(2):
        walk: Any = Orbits(system, system.quotients[0]).search(config, 0)
        groups = sum(len(leaf.table.groups) for leaf in walk.learner.leaves.values())
        found.append(
            (walk.size, walk.transitions, walk.edge_count, groups, sum(len(one.first) for one in walk.learner.rows))
        )
        monkeypatch.setattr(multisets, "_side_by_side", _as_they_come)
    (*counts, groups, rows), (*others, more, longer) = found
    assert counts == others and groups < more and rows < longer


@pytest.mark.deep
def test_six_agents() -> None:
    """(6,3,2): 17.8 thousand million joint choices.  Transitions are a closed form: 11 ** remaining agents."""
    system = FREE.at(agents=6, keys=3, values=2)
    (config,) = system.all_configs()
    method = Orbits(system, system.quotients[0])
    found = explore(system, licence=FREE_LICENCE)
    walk = method.search(config, 0)
    left = [sum(mark != "EXITED" for mark in walk.state(sid).marks) for sid in range(walk.states)]
    assert found.transitions == sum(size * (11**n if n else 0) for size, n in zip(walk.sizes, left, strict=True))
    assert (found.method, found.states, found.complete) == ("symmetric", sum(walk.sizes), True)


def test_words_of_more_than_one_team() -> None:
    """The seeds above form teams and fall back from them; otherwise this file would compare too little."""
    teams = alone = 0
    for kind in ("separated", "keeps"):
        for seed in range(20):
            system = MAKERS[kind](seed)
            try:
                learner = Orbits(system, TRADE).search(next(iter(system.all_configs())), 0).learner
            except NoGroup as error:
                assert "interchangeable" in str(error), error
                continue
            teams += any(learner.teams.values())
            alone += bool(learner.alone)
    assert teams >= 5 and alone >= 5
