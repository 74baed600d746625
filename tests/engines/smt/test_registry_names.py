"""Theorems about what is not their protocol's are broken when they are loaded."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.bundle import ProtocolBroken
from evenhand.core.registry import find
from evenhand.smt.registry import invariants, stated, theorems
from evenhand.smt.theorem import Theorem
from tests.front.conftest import Command, cli

__all__ = ["cli"]

EVERY = theorems("cud")
FIRST = next(theorem for theorem in EVERY if theorem.mutants)
LICENSING = next(theorem for theorem in EVERY if theorem.quotient)
STRANGER = replace(FIRST.claim, name="stranger")
NAMED = "evenhand.proofs.cud"


def told(monkeypatch: pytest.MonkeyPatch, *theorems: Any) -> None:
    """Install these theorems for `cud`."""
    monkeypatch.setattr(f"{NAMED}.THEOREMS", theorems, raising=False)


def other(monkeypatch: pytest.MonkeyPatch, theorem: Theorem = FIRST, **more: Any) -> None:
    """Install all theorems, one of them with this change."""
    told(monkeypatch, *(replace(one, **more) if one is theorem else one for one in EVERY))


WRONG: list[tuple[Theorem, dict[str, Any], str]] = [
    (FIRST, {"claim": STRANGER}, "unknown claim 'stranger'; there is: "),
    (
        FIRST,
        {"system": "univers"},
        "unknown system 'univers' (did you mean universe?); there is: conditions, free, run, universe",
    ),
    (FIRST, {"protocol": "cu"}, "unknown protocol 'cu' (did you mean cud?); there is: "),
    (FIRST, {"readings": {"x": "y"}}, "unknown reading 'x'; there is: "),
    (
        FIRST,
        {"mutants": (replace(FIRST.mutants[0], mutant=find("apcm").model.mutants[0]),)},
        "unknown mutant 'rule_1_dropped'; there is: ",
    ),
    (LICENSING, {"quotient": "renamin"}, "unknown quotient 'renamin' (did you mean renaming?); there is: renaming"),
]


@pytest.mark.parametrize(("theorem", "wrong", "said"), WRONG, ids=[next(iter(wrong)) for _, wrong, _ in WRONG])
def test_a_theorem_about_what_is_not_there_is_broken(
    monkeypatch: pytest.MonkeyPatch, theorem: Theorem, wrong: dict[str, Any], said: str
) -> None:
    """The message has module, theorem and culprit."""
    other(monkeypatch, theorem, **wrong)
    with pytest.raises(ProtocolBroken, match=re.escape(f"{NAMED}: theorem {theorem.name}: {said}")) as caught:
        theorems("cud")
    assert "\n" not in str(caught.value)


def test_an_invariant_about_what_is_not_there_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Like a theorem."""
    first, *_ = invariants("cud")
    monkeypatch.setattr(f"{NAMED}.invariants.FAITHFUL", replace(first, claim=STRANGER))
    with pytest.raises(ProtocolBroken, match=rf"invariants: invariant {first.name}: unknown claim 'stranger'"):
        stated("cud")


def test_two_theorems_of_one_name_are_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second would never be proved."""
    told(monkeypatch, *EVERY, FIRST)
    with pytest.raises(ProtocolBroken, match=f"two theorems are called '{FIRST.name}'"):
        stated("cud")


def test_a_broken_theorem_is_one_sentence_and_exit_2(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything runs."""
    other(monkeypatch, claim=STRANGER)
    for words in (("verify", "cud", "--budget", "quick"), ("prove", "cud")):
        answer = cli(*words)
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.startswith(f"evenhand: {NAMED}: theorem {FIRST.name}: unknown claim 'stranger'; there is: ")
        assert answer.err.count("\n") == 1


def test_a_folder_s_theorems_are_found_in_its_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a public name or in a tuple, each once; what a private name holds is no theorem of the protocol."""
    known = theorems("apcm")
    first = known[0]
    place = "evenhand.proofs.apcm.theorems"
    monkeypatch.setattr(f"{place}._DRAFT", replace(first, name="draft"), raising=False)
    monkeypatch.setattr(f"{place}.TWICE", (first, first), raising=False)
    assert theorems("apcm") == known
    monkeypatch.setattr(f"{place}.MORE", (replace(first, name="more"),), raising=False)
    assert {one.name for one in theorems("apcm")} - {one.name for one in known} == {"more"}
    monkeypatch.setattr(f"{place}.MASK", replace(first, claim=STRANGER), raising=False)
    with pytest.raises(ProtocolBroken, match=re.escape(f"{place}: theorem {first.name}: unknown claim 'stranger'")):
        theorems("apcm")


def test_a_theorem_among_other_things_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found in lists, dictionaries and beside invariants; refused beside what is no theorem."""
    place = "evenhand.proofs.apcm.theorems"
    first, kept = theorems("apcm")[0], invariants("apcm")[0]
    held = [(replace(first, name="deep"),), {"x": replace(first, name="deeper")}, replace(kept, name="beside")]
    monkeypatch.setattr(f"{place}.HELD", held, raising=False)
    assert {"deep", "deeper"} <= {one.name for one in theorems("apcm")}
    assert "beside" in {one.name for one in invariants("apcm")}
    monkeypatch.setattr(f"{place}.HELD", (first, "a note"))
    for find_them in (theorems, invariants):
        with pytest.raises(ProtocolBroken, match=rf"{place}.HELD holds {first.name} beside what is no theorem"):
            find_them("apcm")
