"""The rules of rankings: where the premise is true of every step, search finds no lasso and no deadlock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from evenhand import explore
from evenhand.core.kinds import Always, DeadlockFree, EachStep, Eventually, LeadsTo, LivelockFree, Property
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.verdict import Status
from evenhand.smt.cases import cases
from evenhand.smt.ranking import Ranking
from tests.models.random_systems import table_system

Steps = list[AnyStep]


def reachable(system: AnySystem) -> Steps:
    """Return every step from a reachable state."""
    (config,) = system.all_configs()
    waiting = list(system.initial(config))
    seen, steps = set(waiting), list[AnyStep]()
    while waiting:
        state = waiting.pop()
        for action in system.enabled(config, state):
            steps.append(system.take(config, state, action))
            if steps[-1].after not in seen:
                seen.add(steps[-1].after)
                waiting.append(steps[-1].after)
    return steps


def guessed(draw: Random, system: AnySystem) -> tuple[Property, Ranking]:
    """Return a claim about a random graph of four states, and a guess how to rank it."""
    states = range(4)
    ranks = {state: draw.randrange(4) for state in states}
    owed = {state for state in states if draw.random() < 0.7}
    (config,) = system.all_configs()
    fair = sorted(system.fair(config))
    helper = {state: draw.choice(fair) for state in states}
    if draw.random() < 0.5:
        helper = dict.fromkeys(states, helper[0])
    acts = {state: draw.choice(list(system.enabled(config, state)) or ["d"]) for state in states}
    raised = {(state, action) for state in states for action in "abcd" if draw.random() < 0.4}
    served = {(state, action) for state in states for action in "abcd" if draw.random() < 0.3}

    def raises(step: AnyStep) -> bool:
        return (step.before, step.action) in raised

    def serves(step: AnyStep) -> bool:
        return (step.before, step.action) in served

    def ranking(helps: Callable[[Any, Any], Any] | None = None) -> Ranking:
        return Ranking(rank=lambda _config, s: ranks[s], owes=lambda _config, s: s in owed, helps=helps)

    about: dict[str, Any] = {"name": "guessed", "sentence": "A guess."}
    match draw.randrange(3):
        case 0:
            return LivelockFree(**about, attempts=raises, progress=serves), ranking()
        case 1:
            served_later = LeadsTo(**about, trigger=raises, goal=serves, fairness=tuple(fair))
            return served_later, ranking(lambda _config, s: helper[s])
        case _:
            able = DeadlockFree(**about, wants=lambda _config, s: s in owed, completes=serves)
            return able, ranking(lambda _config, s: acts[s])


def tried(seeds: range) -> Iterator[tuple[Property, Ranking, AnySystem, Steps, Status]]:
    """Yield guesses with the steps of their graphs and the verdict of search."""
    for seed in seeds:
        system = table_system(seed, 4)
        (config,) = system.all_configs()
        if any(next(iter(system.enabled(config, start)), None) is None for start in system.initial(config)):
            continue  # a run without any step is none of a ranking's
        claim, ranking = guessed(Random(seed), system)
        yield claim, ranking, system, reachable(system), explore(system, [claim]).verdicts[0].status


def kept(premise: EachStep, steps: Steps) -> bool:
    """Return whether the premise is true of every step of a run."""
    return all(premise.check(step) for step in steps if premise.when(step))


def test_what_a_ranking_proves_no_search_refutes() -> None:
    """Of 600 guesses; each rule proves some of its claims, and search refutes others of the same kind."""
    proved, refuted = dict[str, int](), dict[str, int]()
    for claim, ranking, system, steps, status in tried(range(600)):
        if kept(ranking.premise(claim, system), steps):
            assert status is not Status.REFUTED, (claim.kind, system)
            proved[claim.kind] = proved.get(claim.kind, 0) + bool(steps)
        elif status is Status.REFUTED:
            refuted[claim.kind] = refuted.get(claim.kind, 0) + 1
    assert all(proved.get(kind, 0) > 3 for kind in ("livelock_free", "leads_to", "deadlock_free")), proved
    assert all(refuted.get(kind, 0) > 3 for kind in ("livelock_free", "leads_to", "deadlock_free")), refuted


def _never_strict(self: Ranking, step: AnyStep, **_strictly: bool) -> bool:
    return self.rank(step.config, step.after) <= self.rank(step.config, step.before)


def _not_ranked(_self: Ranking, _step: AnyStep, **_strictly: bool) -> bool:
    return True


def _always_on_offer(*_asked: Any) -> bool:
    return True


@pytest.mark.parametrize(
    ("place", "wrong"),
    [("Ranking._falls", _never_strict), ("Ranking._falls", _not_ranked), ("_offers", _always_on_offer)],
    ids=["never strictly", "no rank", "whatever is on offer"],
)
def test_a_weaker_rule_proves_what_search_refutes(
    monkeypatch: pytest.MonkeyPatch, place: str, wrong: Callable[..., bool]
) -> None:
    """Planted: the test above finds each of these rules unsound."""
    monkeypatch.setattr(f"evenhand.smt.ranking.{place}", wrong)
    assert any(
        status is Status.REFUTED and kept(ranking.premise(claim, system), steps)
        for claim, ranking, system, steps, status in tried(range(600))
    )


@pytest.mark.parametrize(
    "claim",
    [
        Always(name="one", sentence="One.", check=lambda _config, _state: True),
        Eventually(name="one", sentence="One.", goal=lambda _step: True),
        LeadsTo(name="one", sentence="One.", trigger=lambda _step: True, goal=lambda _step: True),
    ],
    ids=lambda claim: claim.kind,
)
def test_no_rule_is_no_proof(claim: Property) -> None:
    """A safety claim, one that owes from the start, and one for which nothing helps."""
    with pytest.raises(TypeError, match="no rule of rankings proves claim one"):
        Ranking(rank=lambda _config, _state: 0).premise(claim, table_system(0))


def test_a_claim_about_whole_runs_needs_a_ranking() -> None:
    """Conformance reads steps; the message says what is missing."""
    claim = Eventually(name="one", sentence="One.", goal=lambda _step: True)
    with pytest.raises(TypeError, match="and with a `ranking` claims about whole"):
        next(cases(table_system(0), claim, ()))
