"""The status of claims: the page and the judge agree, on fixtures of every protocol and on drawn runs."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

import evenhand
from evenhand.core import ltl
from evenhand.core.property import DeadlockFree, DeterminedBy, Property, Reachable
from evenhand.core.registry import find, protocols
from evenhand.core.trace import Lasso, Scenario, Trace, replay
from evenhand.core.verdict import runs
from evenhand.evidence.judge import refutes
from evenhand.evidence.replay import replay_record
from evenhand.evidence.store import load
from evenhand.jobs.fixtures import fixture_files
from evenhand.web import claim_status
from evenhand.web.claim_status import Truth, evidence_for, standings
from evenhand.web.position import opened

PROTOCOLS = [bundle.name for bundle in protocols()]
FINAL = (Truth.FALSE, Truth.MET)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("most", [8, pytest.param(1_000, marks=pytest.mark.deep)], ids=["some", "all"])
def test_a_fixture_is_seen_where_it_ends(protocol: str, most: int) -> None:
    """For every claim with a fixture (by default for some): its run makes the claim false (or met), and refutes it."""
    bundle = find(protocol)
    seen: dict[str, Truth] = {}
    for path in fixture_files(protocol):
        name = path.name
        if name.partition("--")[0] in seen or len(seen) >= most:
            continue
        record = load(path)
        result = replay_record(record, bundle, origin=name)
        trace = replay(result.system, runs(result.evidence)[0])
        (said,) = standings(result.system, (result.claim,), trace)
        if isinstance(result.claim, DeterminedBy):  # compares two runs of the search: one run cannot show it
            continue
        seen[record.claim.name] = said.truth
        assert said.truth in FINAL, f"{name}: {said}"
        found = evidence_for(result.system, result.claim, trace, result.evidence)
        assert found is not None and refutes(result.system, result.claim, found), name
    assert len(seen) > 3
    assert Truth.FALSE in seen.values()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_drawn_runs_are_judged_as_the_judge_does(protocol: str) -> None:
    """At every step of a run of each system: final exactly if there is evidence; claims differ in their notes."""
    bundle = find(protocol)
    said: set[Truth] = set()
    for number, name in enumerate(bundle.model.systems):
        place = opened(bundle, name)
        draw = random.Random(number)
        trace: Trace[Any, Any, Any, Any] = Trace(place.scenario, ())
        for _ in range(4):
            config = trace.scenario.config
            offered = list(islice(place.system.enabled(config, trace.final), 60))
            if not offered:
                break
            again = trace.scenario.actions[-1:] if draw.random() < 0.3 else ()  # perhaps no longer on offer
            actions = (*trace.scenario.actions, *(again or (draw.choice(offered),)))
            trace = replay(place.system, Scenario(config, trace.scenario.start, actions))
        for one in standings(place.system, bundle.claims_of(name), trace):
            said.add(one.truth)
            assert "cannot be told" not in one.note, one
            if isinstance(one.claim, DeterminedBy):
                continue
            if isinstance(one.claim, DeadlockFree) and one.truth is not Truth.FALSE:
                continue  # the judge looks further ahead than the page, which then says that it does not know
            evidence = evidence_for(place.system, one.claim, trace)
            assert (one.truth in FINAL) == (evidence is not None), (name, one, evidence)
            assert (one.truth is Truth.MET) <= (isinstance(one.claim, Reachable) or one.claim.kind == "eventually")
    assert {Truth.TRUE, Truth.SILENT} < said


def test_a_fault_in_the_page_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded fault: without a search for loops a livelock is not seen."""
    (file,) = (path for path in fixture_files("cud") if path.name.startswith("livelock_free--reference"))
    result = replay_record(load(file))
    assert isinstance(result.evidence, Lasso)
    trace = replay(result.system, result.evidence.unrolled)

    def none(_trace: Trace[Any, Any, Any, Any]) -> Iterator[Lasso[Any, Any, Any]]:
        return iter(())

    monkeypatch.setattr(claim_status, "_loops", none)
    (said,) = standings(result.system, (result.claim,), trace)
    assert said.truth not in FINAL


def test_a_claim_that_raises_is_told() -> None:
    """It is listed, and the other claims keep their status."""
    place = opened(find("latch"))

    def breaks(_config: object) -> bool:
        raise RuntimeError("no idea")

    broken = Property(name="broken", sentence="It breaks.", applies=breaks)
    first, *others = standings(place.system, (broken, *place.bundle.claims_of("latch")), Trace(place.scenario, ()))
    assert "RuntimeError: no idea" in first.note and first.truth is Truth.WAITING
    assert len(others) == len(place.bundle.claims_of("latch"))


def lamp() -> Any:
    """A lamp that is switched, may stay as it is, and may break for ever."""
    steps = {"off": {"switch": "on", "stay": "off"}, "on": {"switch": "off", "stay": "on", "break": "dark"}, "dark": {}}
    fair: Any = {"switches": evenhand.Fairness("weak", lambda _at, action: action == "switch")}
    return evenhand.system(
        "lamp", initial=["off"], actions=lambda at: [*steps[at]], step=lambda at, action: steps[at][action], fair=fair
    )


ON = ltl.state(lambda at: at == "on")
SWITCHED = ltl.step(lambda step: step.action == "switch")


@pytest.mark.parametrize(
    ("formula", "actions", "truth", "words"),
    [
        (ltl.G(ltl.F(ON)), (), Truth.WAITING, "what comes decides"),
        (ltl.G(ltl.F(ON)), ("stay",), Truth.FALSE, "fair loop of 1"),
        (ltl.G(ltl.F(ON)), ("switch", "switch"), Truth.WAITING, "what comes decides"),
        (ltl.G(ltl.F(ON)), ("switch", "break"), Truth.FALSE, "stops after 2"),
        (ltl.F(ON), ("switch",), Truth.TRUE, "true of every run"),
        (ltl.G(~ON), ("switch",), Truth.WAITING, "false of every run"),
        (SWITCHED, (), Truth.WAITING, "what comes decides"),
        (SWITCHED, ("switch",), Truth.TRUE, "true of every run"),
        (ltl.X(ON), ("switch",), Truth.TRUE, "true of every run"),
        (ltl.X(ltl.X(ON)), ("switch",), Truth.WAITING, "what comes decides"),
        (ltl.U(~ON, SWITCHED), ("switch",), Truth.TRUE, "true of every run"),
    ],
)
def test_a_formula_has_a_status(formula: Any, actions: tuple[str, ...], truth: Truth, words: str) -> None:
    """By loops and ends as the judge says; else by what is known whatever comes."""
    claim = evenhand.temporal("It is so.", name="formula")(lambda: formula)
    (said,) = standings(lamp(), (claim,), replay(lamp(), Scenario(None, "off", actions)))
    assert (said.truth, words in said.note) == (truth, True), said


def test_a_fair_loop_is_needed() -> None:
    """A lamp that stays off for ever is excused by the fairness that it lacks."""
    recurs = ltl.G(ltl.F(ON))
    claim = evenhand.temporal("It is on again and again.", name="formula", fairness=("switches",))(lambda: recurs)
    (said,) = standings(lamp(), (claim,), replay(lamp(), Scenario(None, "off", ("stay",))))
    assert said.truth is Truth.WAITING


@pytest.mark.parametrize("seed", range(60))
def test_what_is_known_whatever_comes_is_true_of_what_comes(seed: int) -> None:
    """A random formula and word: each way of going on that repeats for ever agrees with what was known before."""
    draw = random.Random(seed)
    atoms: list[Any] = [ltl.state(lambda at: bool(at)), ltl.step(lambda step: bool(step))]
    formula, length = drawn(draw, atoms, 6), draw.randint(1, 4)
    word = {atom: [draw.random() < 0.5 for _ in range(8)] for atom in atoms}
    known = ltl.so_far(formula, {atom: word[atom][:length] for atom in atoms}, length)
    for _ in range(40):
        end = draw.randint(length, 8)
        on = {atom: [*word[atom][:length], *(draw.random() < 0.5 for _ in range(end - length))] for atom in atoms}
        assert known in (None, ltl.truths(formula, on, end, draw.randrange(end))[0]), formula
    settled = [ltl.so_far(drawn(random.Random(one), atoms, 6), word, 8) for one in range(60)]
    assert settled.count(None) < 50 and {True, False} <= set(settled)


def drawn(draw: random.Random, atoms: list[Any], size: int) -> Any:
    """A random formula."""
    if size <= 1:
        return draw.choice([*atoms, ltl.TRUE, ltl.FALSE])
    kind: Any = draw.choice((ltl.Negation, ltl.X, ltl.F, ltl.G, ltl.U, ltl.R, ltl.W, ltl.Both, ltl.Either, ltl.Implies))
    if kind in (ltl.Negation, ltl.X, ltl.F, ltl.G):
        return kind(drawn(draw, atoms, size - 1))
    left = draw.randint(1, size - 1)
    return kind(drawn(draw, atoms, left), drawn(draw, atoms, size - left))
