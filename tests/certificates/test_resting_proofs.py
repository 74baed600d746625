"""Proofs that rest on kept certificates: solvers need not prove again, and nothing that was changed is believed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.verdict import Status
from evenhand.jobs import certifying, proving
from evenhand.jobs.certifying import Certified, certify, folder_of, recheck
from evenhand.jobs.plan import Job
from evenhand.jobs.proof_cache import share_in
from evenhand.smt.certificates.recall import Recalled, digest_of
from evenhand.smt.logic import TRUE, Not
from evenhand.smt.portfolio import CHECKER, Answered, Portfolio, SolverAnswer
from evenhand.smt.prove import obligations, prove
from evenhand.smt.smtlib import Query, text
from evenhand.smt.solvers import Expected, SolverLimits
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Theory
from tests.certificates.tampering import queries_below
from tests.deep import rest_slow
from tests.models.grant import BUNDLE, THEOREM


class Mute(Portfolio):
    """Solvers that prove nothing; they give models as others do.  `asked` are the queries they were to prove."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Query] = []

    def ask(self, query: Query, *, expected: Expected, limits: SolverLimits | None = None) -> Answered:
        """Say nothing where a proof is expected."""
        if expected != "unsat":
            return super().ask(query, expected=expected, limits=limits)
        self.asked.append(query)
        return Answered("unknown", (SolverAnswer("mute", {}, "1", "unknown"),), text(query, numbered=True), query)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificates of the toy's theorem."""
    found = tmp_path_factory.mktemp("kept")
    made = list(certify(THEOREM, BUNDLE, found))
    assert made
    assert all(one.valid for one in made), made
    return found


def kept(folder: Path) -> dict[str, Mapping[str, Any]]:
    """The certificates by the names of their queries."""
    return {file.stem: json.loads(file.read_text("utf-8")) for file in queries_below(folder_of(folder, THEOREM))}


def test_a_run_rests_on_certificates(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked to prove anything, and the verdict names the checker instead of solvers and printer."""

    def named(_protocol: str) -> tuple[Theorem, ...]:
        return (THEOREM,)

    mute = Mute()
    monkeypatch.setattr(proving, "stated", named)
    monkeypatch.setattr(certifying, "shared", lambda: mute)
    with mute, share_in(tmp_path, folder):
        (found,) = proving.proved(BUNDLE, Job("toy", "prove", theorem=THEOREM.name))
    assert found.status is Status.HOLDS, found.because
    assert found.trusted_base == ("executable model", "theory toy with its axioms", "view and realise", CHECKER)
    assert not mute.asked


def changed(number: int, how: str) -> Theorem:
    """The toy's theorem with one axiom that says nothing, or the contrary."""
    axioms = list(THEOREM.theory.axioms)
    formula = TRUE if how == "dropped" else Not(axioms[number].formula)
    axioms[number] = replace(axioms[number], formula=formula)
    theory: Theory = replace(THEOREM.theory, axioms=tuple(axioms))
    return replace(THEOREM, theory=theory)


@pytest.mark.parametrize("how", ["dropped", "denied"])
@pytest.mark.parametrize("number", rest_slow(range(len(THEOREM.theory.axioms))))
def test_a_changed_axiom_is_not_believed(number: int, how: str, folder: Path) -> None:
    """A certificate that bears the digest of a query with another axiom proves it only if it never used the axiom."""
    theorem, certificates, axiom = changed(number, how), kept(folder), THEOREM.theory.axioms[number].name
    with Portfolio() as solvers:
        queries = {name: one.query for name, one in obligations(theorem, bundle=BUNDLE, portfolio=solvers)}
    forged = {digest_of(query): certificates[name] for name, query in queries.items() if name in certificates}
    used = {name for name, one in certificates.items() if axiom in (said for said, _ in one["assertions"])}
    mute = Mute()
    with mute:
        found = prove(theorem, bundle=BUNDLE, portfolio=Recalled(forged, mute))
        assert {name for name, query in queries.items() if query in mute.asked} >= used & set(queries)
        assert mute.asked or not used
    assert found.verdict.status is not Status.HOLDS or not used


def test_some_axioms_are_used(folder: Path) -> None:
    """And some are not, so that the tests above try both."""
    names = {axiom.name for axiom in THEOREM.theory.axioms}
    used = {name for one in kept(folder).values() for name, _ in one["assertions"]} & names
    assert used
    assert used < names


def test_another_reading_theorem_or_format_is_not_recalled(folder: Path, tmp_path: Path) -> None:
    """The digest ties them to the query, so that a certificate of the same query under another name is not taken."""
    assert all(one.valid for one in recheck(THEOREM, BUNDLE, folder))
    renamed = replace(THEOREM, name="another")
    source, target = (folder_of(tmp, one) for tmp, one in ((folder, THEOREM), (tmp_path, renamed)))
    target.mkdir(parents=True)
    for file in source.glob("*.json"):
        (target / file.name).write_bytes(file.read_bytes())
    results: list[Certified] = list(recheck(renamed, BUNDLE, tmp_path))
    assert {one.because for one in results} == {"there is no certificate of it", "it is of another theorem"}
