"""One proof per theorem and run, shared by all callers: no proof outlives the run, a failed one gives no licence."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.canonical import Json
from evenhand.core.verdict import Status
from evenhand.jobs import proving
from evenhand.jobs.plan import Job
from evenhand.jobs.proof_cache import once, share_in
from evenhand.smt.licence import NotLicensed
from evenhand.smt.logic import FALSE
from evenhand.smt.prove import prove as honest
from evenhand.smt.proved import ProofStatus, Proved
from evenhand.smt.theorem import Stated, Theorem
from tests.models.grant import BUNDLE, THEOREM

Proofs = Callable[[Theorem], list[str]]


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> Proofs:
    """Let the toy state one theorem; each proof extends the returned list."""

    def state(theorem: Theorem) -> list[str]:
        made: list[str] = []

        def counted(stated: Stated, **more: Any) -> Proved:
            made.append(stated.name)
            return honest(stated, **more)

        def named(_protocol: str) -> tuple[Theorem, ...]:
            return (theorem,)

        monkeypatch.setattr(proving, "prove", counted)
        monkeypatch.setattr(proving, "theorems", named)
        monkeypatch.setattr(proving, "stated", named)
        return made

    return state


JOB = Job("toy", "prove", theorem="one_granted")


def test_a_job_and_a_licence_share_one_proof(proofs: Proofs, tmp_path: Path) -> None:
    """In either order, and the licence equals that of a proof of its own."""
    made = proofs(THEOREM)
    alone = proving.licence_for(BUNDLE, "grant", "names")
    assert made == ["one_granted"]
    with share_in(tmp_path):
        given = proving.licence_for(BUNDLE, "grant", "names")
        (finding,) = proving.proved(BUNDLE, JOB)
    assert made == ["one_granted"] * 2
    assert given == alone and finding.status is Status.HOLDS
    assert finding == proving.proved(BUNDLE, JOB)[0] and len(made) == 3, "outside a run nothing is kept"


def test_another_run_proves_anew(proofs: Proofs, tmp_path: Path) -> None:
    """Proofs of one run are not used in the next."""
    made = proofs(THEOREM)
    for run in ("one", "two"):
        (tmp_path / run).mkdir()
        with share_in(tmp_path / run):
            proving.proved(BUNDLE, JOB)
    assert len(made) == 2


def test_what_is_not_green_licenses_nobody(proofs: Proofs, tmp_path: Path) -> None:
    """In any order: a vacuous theorem refuses the first caller and the second alike."""
    proofs(replace(THEOREM, assumes=FALSE, needs=(), mutants=()))
    with share_in(tmp_path):
        for _ in range(2):
            with pytest.raises(NotLicensed, match=ProofStatus.VACUOUS.value):
                proving.licence_for(BUNDLE, "grant", "names")
        assert proving.proved(BUNDLE, JOB)[0].because.startswith("VACUOUS: ")


def _count(folder: Path, number: int) -> None:
    def make() -> dict[str, Json]:
        (folder / f"made-{number}").touch()
        return {"by": number}

    with share_in(folder):
        assert set(once("key", make)) == {"by"}


def test_processes_that_ask_at_once_wait_for_the_first(tmp_path: Path) -> None:
    """Of four at a time, one proves."""
    context = multiprocessing.get_context()
    processes = [context.Process(target=_count, args=(tmp_path, number)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert len(list(tmp_path.glob("made-*"))) == 1


def test_who_fails_leaves_the_next_to_try(tmp_path: Path) -> None:
    """An error is raised and not kept; a file with another key is ignored."""

    def fails() -> dict[str, Json]:
        raise MemoryError

    with share_in(tmp_path):
        with pytest.raises(MemoryError):
            once("key", fails)
        assert once("key", lambda: {"a": 1}) == {"a": 1} == once("key", fails)
        (file,) = tmp_path.glob("*.json")
        file.write_bytes(file.read_bytes().replace(b'"key":"key"', b'"key":"kez"'))
        assert once("key", lambda: {"a": 2}) == {"a": 2}
