"""`evenhand prove`: the theorems and invariants of a protocol, by SMT solvers."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import completion
from evenhand.cli.console import BadUse, counting, emit, guarded, say, terminal, usage
from evenhand.cli.options import JsonOut, Theorems
from evenhand.cli.output import finish, folder_for
from evenhand.cli.requests import bundle_named, content_of
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.registry import registered
from evenhand.core.text import inert
from evenhand.core.versions import versions
from evenhand.evidence.store import ready_folder, write_atomically
from evenhand.jobs.any_size import any_size_jobs
from evenhand.jobs.certifying import recalled_for
from evenhand.jobs.engines import run
from evenhand.jobs.plan import Job
from evenhand.jobs.proofrecords import Named, differences, named_in, records, write_proofs, write_queries
from evenhand.jobs.proving import finding_of, theorem_named, theorem_names
from evenhand.processes.collector import uncollected
from evenhand.report.proofs import print_proofs, timing_of
from evenhand.report.report import Report
from evenhand.smt.matrix import Cell, attempts, cells, counted, outside, table
from evenhand.smt.prove import prove as prove_theorem
from evenhand.smt.proved import Proved


@guarded
def prove(
    protocol: Annotated[
        str,
        typer.Argument(
            metavar="[PROTOCOL]",
            help="A protocol, or FILE.py:NAME; not needed with --check.",
            show_default=False,
            autocompletion=completion.protocols,
        ),
    ] = "",
    theorem: Theorems = None,
    smt2: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every query to this folder as SMT-LIB 2 text.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proof records to this file as canonical JSON.")
    ] = None,
    proofs: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep cvc5's own proofs in this folder; they are not checked.")
    ] = None,
    certificates: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Check the certificates in this folder in place of asking the solvers again."
        ),
    ] = None,
    check: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Prove again what a record file names, and compare every byte.")
    ] = None,
    matrix: Annotated[
        bool,
        typer.Option("--matrix", help="Only try every theorem on every mutant that its theory can express."),
    ] = False,
    as_json: JsonOut = False,
) -> int:
    """Prove the theorems of a protocol with SMT solvers.

    A system of your own (FILE.py:NAME) whose config lists its agents is read from its source, and its invariants are
    proved for any number of agents.  Also checks what each proof rests on.

    Exit codes: 0 all as expected (--matrix: every cell as registered); 1 an unexpected refutation, a cell that is not
    as registered, or a record that proving again does not reproduce; 2 bad use, or no solver installed; 3
    unexpectedly undecided; 130 interrupted, after printing what was proved; no file is written then.
    """
    files = bool(smt2 or record or proofs)
    if check is not None:
        if protocol or theorem or files or matrix or certificates:
            raise BadUse("--check reads from the file what to prove; it goes with --json and nothing else")
        return _check(check, as_json=as_json)
    if not protocol:
        raise BadUse("which protocol? `evenhand prove PROTOCOL`, or `evenhand prove --check FILE`")
    _check_options(protocol, certificates, matrix=matrix, files=files, proofs=proofs is not None)
    bundle = bundle_named(protocol)
    if bundle.own:
        if theorem or files or certificates or matrix:
            raise BadUse(f"{bundle.name} is a system of your own, of which `evenhand prove` takes --json alone")
        return _own(bundle, as_json=as_json)
    with usage():
        names = theorem_names(bundle.name)
        stated = [theorem_named(bundle.name, name) for name in dict.fromkeys(theorem or names)]
        folder = folder_for(smt2)
        kept = folder_for(proofs)
        if record is not None:
            ready_folder(record.parent)
    if matrix:
        return _matrix(bundle, {one.name for one in stated}, as_json=as_json)
    began = time.monotonic()
    results: list[Proved] = []
    interrupted = False
    try:
        with counting("prove", "theorem") as progress, uncollected(kept=True):
            for number, one in enumerate(stated, start=1):
                by = None if certificates is None else recalled_for(one, certificates)
                results.append(prove_theorem(one, bundle=bundle, keep_proofs=kept is not None, portfolio=by))
                progress(number, len(stated))
    except KeyboardInterrupt:
        interrupted, folder, kept, record = True, None, None, None
    left = tuple(Job(bundle.name, "prove", theorem=one.name).title for one in stated[len(results) :])
    findings = tuple(
        finding_of(bundle, result, Job(bundle.name, "prove", theorem=result.theorem.name).command) for result in results
    )
    _write(results, folder, kept, record)
    settings: dict[str, Json] = {"protocol": bundle.name, "theorems": [result.theorem.name for result in results]}
    timing = {"total": time.monotonic() - began, **timing_of(results)}
    report = Report(findings, settings, versions(), timing=timing, interrupted=interrupted, unfinished=left)
    if not as_json:
        systems = [bundle.model.systems[one.theorem.system].under(**one.theorem.readings) for one in results]
        print_proofs(terminal(), results, systems)
    return finish(report, {"theorems": [_theorem(result) for result in results]}, as_json=as_json)


def _own(bundle: Bundle, *, as_json: bool) -> int:
    """Prove the invariants of a user's own systems for any number of agents."""
    jobs = tuple(any_size_jobs(bundle))
    if not jobs:
        mend = "give one a config that lists its agents (docs/how-to/prove-any-number.md)"
        raise BadUse(
            f"no system of {bundle.name} says of what there may be any number; {mend}, or hand theorems to "
            "evenhand.verify(..., theorems=[...])"
        )
    began = time.monotonic()
    findings = tuple(finding for job in jobs for finding in run(bundle, job))
    settings: dict[str, Json] = {"protocol": bundle.name}
    report = Report(findings, settings, versions(), timing={"total": time.monotonic() - began})
    return finish(report, {}, as_json=as_json)


def _check_options(protocol: str, certificates: Path | None, *, matrix: bool, files: bool, proofs: bool) -> None:
    """Raise BadUse for options that contradict each other, and for certificates that are in no folder."""
    if matrix and files:
        raise BadUse("--matrix writes no texts, records or proofs; it goes with --theorem and --json")
    if certificates is None:
        return
    if not certificates.is_dir():
        raise BadUse(f"{certificates} is no folder; `evenhand certify {protocol} --out {certificates}` fills one")
    if matrix or proofs:
        raise BadUse("--certificates asks no solver, so there is nothing for --matrix or --proofs")


def _write(results: Sequence[Proved], folder: Path | None, kept: Path | None, record: Path | None) -> None:
    """Write queries, proofs and records to the paths that are given.  Raises BadUse."""
    with usage():
        if folder is not None:
            write_queries(folder, results)
        if kept is not None:
            write_proofs(kept, results)
        if record is not None:
            write_atomically(record, records(results))


def _matrix(bundle: Bundle, names: Collection[str], *, as_json: bool) -> int:
    """Try every theorem on every mutant; 1 if a cell is not as registered, 3 if no solver knows any such cell."""
    tried = [one for one in attempts(bundle.name) if one.theorem.name in names]
    if not tried:
        raise BadUse(f"no theorem of {bundle.name} among those asked for states a mutant; ask for others, or for all")
    found: list[Cell] = []
    with counting("matrix", "cell") as progress:
        for number, cell in enumerate(cells(tried, bundle), start=1):
            found.append(cell)
            if number == len(tried) or tried[number].theorem.name != cell.theorem:
                # A matrix takes minutes, so progress is printed after each theorem.
                own = [one for one in found if one.theorem == cell.theorem]
                say(f"matrix: {inert(cell.theorem)}: {counted(own)}")
            progress(number, len(tried))
    wrong = [cell for cell in found if cell.wrong]
    if as_json:
        entries: list[Json] = [
            {"theorem": c.theorem, "mutant": c.mutant, "outcome": c.outcome, "registered": c.registered} for c in found
        ]
        emit({"matrix": {"protocol": bundle.name, "ok": not wrong, "counted": counted(found), "cells": entries}})
    else:
        for line in table(found).splitlines():
            typer.echo(inert(line))
        typer.echo(counted(found))
        for mutant, reason in outside(bundle.name).items():
            typer.echo(inert(f"outside the theory: {mutant.name}, because {reason}"))
        for cell in wrong:
            said = f"{cell.theorem} on {cell.mutant}: registered as {cell.registered}, found {cell.outcome}"
            say(f"evenhand: {inert(said)}")
    if not wrong:
        return 0
    return 3 if all(cell.outcome == "unknown" for cell in wrong) else 1


def _check(file: Path, *, as_json: bool) -> int:
    """Prove again every theorem of a record file; 0 if that gives the same bytes, else 1."""
    words: list[str] = []

    def again(named: Named) -> Proved:
        with usage():
            bundle = registered(named.protocol)  # a file may not name code to be run
            stated = theorem_named(bundle.name, named.theorem)
        found = prove_theorem(stated, bundle=bundle, keep_proofs=named.kept)
        words.append(found.status.value)
        return found

    data = content_of(file)
    try:
        about = named_in(data)
        apart = differences(data, again)
    except ValueError as error:
        mend = "Record the proofs again with `evenhand prove PROTOCOL --record FILE`"
        raise BadUse(f"{file}: {error}. {mend}.") from error
    _report_check(file, about, words, apart, as_json=as_json)
    return 1 if apart else 0


def _report_check(
    file: Path, about: Sequence[Named], words: Sequence[str], apart: Sequence[str], *, as_json: bool
) -> None:
    if as_json:
        theorems: list[Json] = [
            {"protocol": named.protocol, "name": named.theorem, "verdict": word}
            for named, word in zip(about, words, strict=True)
        ]
        emit({"check": {"file": str(file), "ok": not apart, "differences": list(apart), "theorems": theorems}})
        return
    for named, word in zip(about, words, strict=True):
        typer.echo(f"proved again  {inert(named.protocol)} {inert(named.theorem)}: {word}")
    if not apart:
        typer.echo(f"ok  {inert(str(file))}: proving it again gives the same bytes")
        return
    say(f"evenhand: {file}: proving it again gives another record; do not rely on this one")
    for line in apart:
        say(f"  {line}")


def _theorem(result: Proved) -> dict[str, Json]:
    stated = result.theorem
    return {
        "name": stated.name,
        "claim": stated.claim.name,
        "sentence": stated.sentence,
        "scope": stated.scope,
        "expected": stated.expected.value,
        "verdict": result.status.value,
        "because": result.verdict.because,
        "conformance": "" if result.conformance is None else result.conformance.sentence,
        "record": result.digest,
        "proofs": result.record.get("proofs"),
        "mutants": {
            killed.mutation.mutant.name: {
                "expected": killed.mutation.expected,
                "as_declared": killed.as_declared,
                "verdict": killed.verdict.status.value,
            }
            for killed in result.mutants
        },
    }
