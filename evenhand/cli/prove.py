"""`evenhand prove`: the theorems of a protocol, by SMT solvers."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli.common import JsonOut, ProtocolName, Unknown, bundle_named, counting, finish, guarded, usage
from evenhand.counterexamples.store import write_atomically
from evenhand.model.canonical import Json, canonical_bytes
from evenhand.plan import Job
from evenhand.proofs.prove import Proved
from evenhand.proofs.prove import prove as prove_theorem
from evenhand.proofs.smt.portfolio import NoSolver
from evenhand.proving import finding_of, theorem_named, theorem_names
from evenhand.report.report import Report
from evenhand.report.store import ready_folder
from evenhand.versions import versions

__all__ = ["prove"]


@guarded
def prove(
    protocol: ProtocolName,
    theorem: Annotated[
        list[str] | None, typer.Option("--theorem", metavar="NAME", help="Only this theorem (repeatable).")
    ] = None,
    smt2: Annotated[Path | None, typer.Option(metavar="DIR", help="Write every query there as SMT-LIB 2 text.")] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proof records there, as canonical JSON.")
    ] = None,
    as_json: JsonOut = False,
) -> int:
    """Prove the theorems of a protocol, and check what each proof rests on.

    Exit code 3 where no solver is installed: the answer is not known.
    """
    bundle = bundle_named(protocol)
    with usage():
        names = theorem_names(bundle.name)
        stated = [theorem_named(bundle.name, name) for name in dict.fromkeys(theorem or names)]
        folder = ready_folder(smt2) if smt2 is not None else None
        if record is not None:
            ready_folder(record.parent)
    began = time.monotonic()
    results: list[Proved] = []
    try:
        with counting("prove") as progress:
            for number, one in enumerate(stated, start=1):
                results.append(prove_theorem(one, bundle=bundle))
                if progress is not None:
                    progress(number, len(stated))
    except NoSolver as error:
        raise Unknown(str(error)) from error
    findings = tuple(
        finding_of(bundle, result, Job(bundle.name, "prove", theorem=result.theorem.name).command) for result in results
    )
    with usage():
        if folder is not None:
            _write_queries(folder, results)
        if record is not None:
            records = [dict(result.record) for result in results]
            write_atomically(record, canonical_bytes({"format": "evenhand/proofs", "version": 1, "proofs": records}))
    settings = {"protocol": bundle.name, "theorems": [result.theorem.name for result in results]}
    report = Report(findings, settings, versions(), timing={"total": time.monotonic() - began})
    return finish(report, {"theorems": [_theorem(result) for result in results]}, as_json=as_json)


def _theorem(result: Proved) -> dict[str, Json]:
    stated = result.theorem
    return {
        "name": stated.name,
        "claim": stated.claim,
        "sentence": stated.sentence,
        "scope": stated.scope,
        "expected": stated.expected.value,
        "verdict": result.word.value,
        "because": result.verdict.because,
        "linked": "" if result.linked is None else result.linked.sentence,
        "record": result.digest,
        "mutants": {
            killed.mutation.mutant: {
                "expected": killed.mutation.expected,
                "as_declared": killed.as_declared,
                "verdict": killed.verdict.status.value,
            }
            for killed in result.mutants
        },
    }


def _write_queries(folder: Path, results: list[Proved]) -> None:
    for result in results:
        for name, answered in result.queries:
            file = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{result.theorem.name}.{name}")
            write_atomically(folder / f"{file}.smt2", answered.text.encode())
