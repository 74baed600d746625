"""The kill matrix: a solver and a replay decide each cell, and a deviation from the registered result is noticed."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evenhand.cli import app
from evenhand.core.registry import find
from evenhand.model.apcm.mutants import rules
from evenhand.model.conviction.mutants import play
from evenhand.model.cud.mutants import reporting
from evenhand.proofs.cud.concretisation import left
from evenhand.smt.logic import FALSE, And, Formula, Not
from evenhand.smt.matrix import Attempt, Cell, attempts, cells, counted, grafted, table, touched
from evenhand.smt.portfolio import Answered, Portfolio
from evenhand.smt.registry import theorems
from evenhand.smt.smtlib import Query, text
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Lemma
from evenhand.smt.theory import Theory

PROTOCOLS = ("apcm", "conviction", "cud", "markspace", "sovereign")
COUNTED = PROTOCOLS
"""The protocols with their matrix on the page: each matrix was run to its end."""
PAGE = Path(__file__).parents[3] / "docs/explanation/proofs.md"
THEOREM = "no_veto_overridden"


@cache
def _all(protocol: str) -> tuple[Attempt, ...]:
    return attempts(protocol)


def _tried(*mutants: str) -> list[Attempt]:
    return [one for one in _all("cud") if one.theorem.name == THEOREM and one.mutant.name in mutants]


def _found(*tried: Attempt) -> list[Cell]:
    return list(cells(tried, find("cud")))


@pytest.mark.slow
def test_a_kill_a_proof_and_a_mutant_that_is_not_spoken_of() -> None:
    """The three outcomes, as registered."""
    found = {cell.mutant: cell for cell in _found(*_tried("veto_ignored", "open_world_allow", "token_tells_the_pass"))}
    assert found["veto_ignored"].outcome == "killed" and found["veto_ignored"].registered == "killed"
    assert found["open_world_allow"].registered == "survives" and not found["open_world_allow"].wrong
    assert found["token_tells_the_pass"].outcome == "not touched"
    assert not any(cell.wrong for cell in found.values())


def test_a_cell_that_is_not_as_registered_is_noticed() -> None:
    """Planted: a kill registered as a proof, a proof registered as a kill, a mutant with the reference's words."""
    (kill,) = _tried("veto_ignored")
    (spare,) = _tried("open_world_allow")
    theory = kill.theorem.theory
    honest = tuple(theory.meanings[one.name] for one in kill.definitions)
    planted = _found(
        replace(kill, registered="survives"), replace(spare, registered="killed"), replace(kill, definitions=honest)
    )
    assert [cell.wrong for cell in planted] == [True, True, True]
    assert [cell.outcome for cell in planted] == ["killed", "survives", "survives"]
    assert [line[-2:] for line in table(planted[:2]).splitlines() if line.endswith("!")] == ["X!", "o!"]


def test_a_countermodel_that_does_not_replay_kills_nothing() -> None:
    """Planted: the theory's mutant is compared with a different executable mutant."""
    (kill,) = _tried("veto_ignored")
    (found,) = _found(replace(kill, mutant=reporting.token_tells_the_pass))
    assert found.outcome == "not replayed" and found.wrong


def _cell(theorem: str, mutant: str) -> Attempt:
    (found,) = [one for one in _all("cud") if (one.theorem.name, one.mutant.name) == (theorem, mutant)]
    return found


def _nothing_small(_theory: Theory, _claim: Formula, _portfolio: Portfolio) -> tuple[None, None]:
    return None, None


def _nothing(_structure: Structure) -> None:
    return None


def test_a_lemma_proves_a_part_only_where_the_mutant_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: an unsatisfiable lemma, from which every part follows; it is no lemma, and the kill stands."""
    spared = _cell("value_independence", "orphan_reclaimed")
    asked: list[str] = []
    honest = Portfolio.ask

    def counted(self: Portfolio, query: Query, **more: Any) -> Answered:
        asked.append(query.assertions[-1][0] if len(query.assertions) == len(spared.theorem.theory.axioms) + 1 else "")
        return honest(self, query, **more)

    monkeypatch.setattr(Portfolio, "ask", counted)
    assert [cell.outcome for cell in _found(spared)] == ["survives"]
    assert asked and len([one for one in asked if one]) == len(spared.theorem.lemmas) - 1, (
        "no part was asked about bare"
    )
    (kill,) = _tried("veto_ignored")
    monkeypatch.setattr("evenhand.smt.matrix.small_model", _nothing_small)
    wrong = replace(kill, theorem=replace(kill.theorem, lemmas=(Lemma("anything", FALSE),)))
    assert [cell.outcome for cell in _found(wrong)] == ["killed"]


def test_a_pair_of_runs_is_made_of_both_epochs() -> None:
    """Planted: both runs made of the first epoch, as for a claim that makes the second itself."""
    kill = _cell("verdict_determined", "most_refused_wins")
    once = replace(kill, theorem=replace(kill.theorem, realise=left()))
    assert [cell.outcome for cell in _found(kill, once)] == ["killed", "not replayed"]


def test_free_agents_who_favour_a_name_lose_their_symmetry() -> None:
    """The licence of the graph's quotient; planted: a structure gives no run."""
    kill = _cell("equivariance_of_free_agents", "tie_break_by_name")
    assert isinstance(kill.theorem.goal, And)
    unmade = replace(kill, theorem=replace(kill.theorem, goal=kill.theorem.goal.parts[0], realise=_nothing))
    assert [cell.outcome for cell in _found(kill, unmade)] == ["killed", "not replayed"]


def test_a_veto_that_says_more_than_its_twin_does_not_replay() -> None:
    """Planted: in the theory any agent may make the second DENY, in the claim only the harness."""
    spared = _cell("token_blindness", "deny_binds_its_holder")
    theory = spared.theorem.theory
    (axiom,) = [one for one in theory.axioms if one.name == "one_veto_more"]
    assert isinstance(axiom.formula, And)
    loose = replace(axiom, formula=And(axiom.formula.parts[:-1]))
    axioms = tuple(loose if one is axiom else one for one in theory.axioms)
    wrong = replace(spared, theorem=replace(spared.theorem, theory=replace(theory, axioms=axioms)))
    assert [cell.outcome for cell in _found(spared, wrong)] == ["survives", "not replayed"]


def test_a_protocol_without_a_matrix_of_its_own_tries_what_its_theorems_state() -> None:
    """Every stated mutation is a cell with its expected result; some mutants are also tried on other theorems."""
    stated = {(one.name, mutation.mutant) for one in theorems("apcm") for mutation in one.mutants}
    tried = _all("apcm")
    assert {(one.theorem.name, one.mutant) for one in tried if one.registered} == stated
    assert any(not one.registered for one in tried)


def test_an_axiom_that_speaks_of_what_was_changed_touches_every_part() -> None:
    """Once a real mistake: a theorem without the word, in a theory whose axioms have it."""
    (kill,) = [
        one
        for one in _all("conviction")
        if one.mutant is play.silent_agents_hang_a_phase and one.theorem.name == "every_tick_comes_closer"
    ]
    theory = kill.theorem.theory
    free = replace(kill.theorem, theory=replace(theory, axioms=()))
    assert touched(replace(kill, theorem=free)) == () != touched(kill) == kill.theorem.parts
    (found,) = cells([kill], find("conviction"))
    assert (found.outcome, found.registered) == ("killed", "killed")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_not_touched_would_be_asked_as_of_the_reference(protocol: str) -> None:
    """The text is the same to the byte; most parts marked as touched really are."""
    same = {True: 0, False: 0}
    every = _all(protocol)
    spared = [one for one in every if len(touched(one)) < len(one.theorem.parts)]
    for one in (*every[:: -(-len(every) // 25)], *spared[:3]):
        theory, parts = one.theorem.theory, touched(one)
        mutated = theory.redefined(one.definitions)
        for part in one.theorem.parts:
            alike = text(mutated.query(("goal", Not(part)))) == text(theory.query(("goal", Not(part))))
            assert alike or part in parts, (one.theorem.name, one.mutant.name)
            same[alike] += 1
    assert same[False] and same[True]


def test_a_fault_is_grafted_on_rules_of_a_systems_own() -> None:
    """The repaired rules of `apcm` stay repaired under a fault; planted: otherwise nothing replays."""
    model = find("apcm").model
    usual, repaired = model.systems["universe"].rules, model.systems["repaired"].rules
    faulty = rules.rule_1_dropped.rules
    found = grafted(repaired, usual, faulty)
    assert (found.pair_fits, found.forbidden) == (repaired.pair_fits, faulty.forbidden)
    assert usual.pair_fits is not repaired.pair_fits and usual.forbidden is not faulty.forbidden
    assert grafted(usual, usual, faulty) is faulty and grafted("other", usual, faulty) is faulty
    (tried,) = [
        one
        for one in _all("apcm")
        if (one.theorem.name, one.mutant.name) == ("permitted_keeps_what_is_required_repaired", "rule_1_dropped")
    ]
    (cell,) = cells([tried], find("apcm"))
    assert cell.outcome == "killed"


def test_counts() -> None:
    """Return the numbers on a page about a matrix, from its cells."""
    found = [
        Cell("one", "a", "killed", "killed"),
        Cell("one", "b", "survives", "killed"),
        Cell("two", "a", "not touched", "survives"),
        Cell("two", "b", "unknown"),
    ]
    assert counted(found) == (
        "4 cells: 1 killed, 1 survives, 1 not touched, 0 not replayed, 1 unknown; 3 registered, 1 of them otherwise"
    )


def _stated(protocol: str) -> str:
    """Return the numbers on the page about a protocol's matrix."""
    found = re.findall(rf"^    {protocol} +([0-9,]+ cells: .*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(found) == 1, f"{PAGE.name} has {len(found)} lines about the matrix of {protocol}"
    return str(found[0])


@pytest.mark.parametrize("protocol", COUNTED)
def test_the_page_counts_the_cells_there_are(protocol: str) -> None:
    """The numbers of cells, of untouched and of registered ones, which are known before any solver runs."""
    tried, said = _all(protocol), _stated(protocol)
    for number, what in (
        (len(tried), "cells:"),
        (sum(not touched(one) for one in tried), "not touched"),
        (sum(bool(one.registered) for one in tried), "registered"),
    ):
        assert re.search(rf"(^| ){number:,} {what}", said), f"{number:,} {what}: the page says {said}"


@pytest.mark.slow
def test_the_command_prints_the_table_and_refuses_what_it_does_not_do() -> None:
    """One theorem with few mutants; a record is no part of a matrix."""
    runner = CliRunner()
    shown = runner.invoke(app, ["prove", "apcm", "--matrix", "--record", "x.json"])
    assert shown.exit_code == 2
    shown = runner.invoke(app, ["prove", "cud", "--matrix", "--theorem", "no_outcome_unasked"])
    assert shown.exit_code == 0, shown.output
    assert "1 no_outcome_unasked" in shown.output and "not as registered" in shown.output
    assert "matrix: no_outcome_unasked: 56 cells: 0 killed, 0 survives, 56 not touched" in shown.output


@pytest.mark.deep
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_whole_matrix_is_as_registered(protocol: str) -> None:
    """Every cell of every protocol; the page has the results."""
    found = list(cells(_all(protocol), find(protocol)))
    assert found and not [cell for cell in found if cell.wrong]
    assert protocol not in COUNTED or counted(found) == _stated(protocol)
