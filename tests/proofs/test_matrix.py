"""The kill matrix: each cell is found by a solver and a replay, and one that is not as registered is noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from evenhand.cli import app
from evenhand.proofs.matrix import Attempt, Cell, attempts, cells, table
from evenhand.proofs.registry import theorems
from evenhand.properties.registry import find

THEOREM = "no_veto_overridden"


def _tried(*mutants: str) -> list[Attempt]:
    return [one for one in attempts("cud") if one.theorem.name == THEOREM and one.mutant in mutants]


def _found(*tried: Attempt) -> list[Cell]:
    return list(cells(tried, find("cud")))


def test_a_kill_a_proof_and_a_mutant_that_is_not_spoken_of() -> None:
    """The three outcomes, and that they are what was registered."""
    found = {cell.mutant: cell for cell in _found(*_tried("veto_ignored", "open_world_allow", "token_tells_the_pass"))}
    assert found["veto_ignored"].outcome == "killed" and found["veto_ignored"].registered == "killed"
    assert found["open_world_allow"].registered == "spared" and not found["open_world_allow"].wrong
    assert found["token_tells_the_pass"].outcome == "not touched"
    assert not any(cell.wrong for cell in found.values())


def test_a_cell_that_is_not_as_registered_is_noticed() -> None:
    """Planted: a kill registered as a proof, a proof registered as a kill, a mutant whose words are the reference's."""
    (kill,) = _tried("veto_ignored")
    (spare,) = _tried("open_world_allow")
    theory = kill.theorem.theory
    honest = tuple(theory.meanings[one.name] for one in kill.definitions)
    planted = _found(
        replace(kill, registered="spared"), replace(spare, registered="killed"), replace(kill, definitions=honest)
    )
    assert [cell.wrong for cell in planted] == [True, True, True]
    assert [cell.outcome for cell in planted] == ["killed", "spared", "spared"]
    assert [line[-2:] for line in table(planted[:2]).splitlines() if line.endswith("!")] == ["X!", "o!"]


def test_a_countermodel_that_does_not_replay_kills_nothing() -> None:
    """Planted: the theory's mutant is set against another executable mutant, which does something else."""
    (kill,) = _tried("veto_ignored")
    (found,) = _found(replace(kill, mutant="token_tells_the_pass"))
    assert found.outcome == "not replayed" and found.wrong


def test_a_protocol_without_a_matrix_of_its_own_tries_what_its_theorems_state() -> None:
    """Every stated mutation is a cell, with what was stated of it; some mutants are tried on theorems beside."""
    stated = {(one.name, mutation.mutant) for one in theorems("apcm") for mutation in one.mutants}
    tried = attempts("apcm")
    assert {(one.theorem.name, one.mutant) for one in tried if one.registered} == stated
    assert any(not one.registered for one in tried)


def test_the_command_prints_the_table_and_refuses_what_it_does_not_do() -> None:
    """One theorem of few mutants; a record is no part of a matrix."""
    runner = CliRunner()
    shown = runner.invoke(app, ["prove", "apcm", "--matrix", "--record", "x.json"])
    assert shown.exit_code == 2
    shown = runner.invoke(app, ["prove", "cud", "--matrix", "--theorem", "no_outcome_unasked"])
    assert shown.exit_code == 0, shown.output
    assert "1 no_outcome_unasked" in shown.output and "not as registered" in shown.output


@pytest.mark.deep
@pytest.mark.parametrize("protocol", ["apcm", "conviction", "cud", "markspace", "sovereign"])
def test_the_whole_matrix_is_as_registered(protocol: str) -> None:
    """Every cell of every protocol."""
    found = list(cells(attempts(protocol), find(protocol)))
    assert found and not [cell for cell in found if cell.wrong]
