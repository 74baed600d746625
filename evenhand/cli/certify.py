"""`evenhand certify`: certificates of theorems and searches, for a checker that trusts no solver and no engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli.console import BadUse, counting, emit, guarded, terminal, usage
from evenhand.cli.options import JsonOut, ProtocolNames, Theorems
from evenhand.cli.output import folder_for
from evenhand.cli.requests import bundles_named
from evenhand.core.bundle import Bundle
from evenhand.core.text import inert
from evenhand.jobs.certifying import Certified, recheck
from evenhand.jobs.certifying import certify as certify_theorem
from evenhand.jobs.certifying_searches import CertifiedSearch, certify_search, planned_searches, recheck_search
from evenhand.jobs.proving import theorem_named, theorem_names
from evenhand.report.phrases import plural
from evenhand.report.table import print_lines
from evenhand.smt.theorem import Stated


@guarded
def certify(
    protocol: ProtocolNames = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder of the certificates; valid ones are kept.")
    ] = Path("certificates"),
    theorem: Theorems = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Check the certificates in the folder against the theorems; ask no solver."),
    ] = False,
    searches: Annotated[
        bool,
        typer.Option("--searches", help="Certificates of the searches of the standard budget instead of theorems."),
    ] = False,
    as_json: JsonOut = False,
) -> int:
    """Write certificates that a small program checks.

    `evenhand-check DIR` checks those of theorems with the standard library of Python alone, those of searches with the
    protocol's model and claims.  Exit codes: 0 every query of a proof (every claim that a search decides to hold) has a
    valid certificate; 1 with --check: one has none; 2 bad use, or no solver is installed; 3 one could not be made; 130
    interrupted, after writing what was made.
    """
    with usage():
        if searches and theorem:
            raise BadUse("--searches is about searches; leave --theorem out")
        bundles = bundles_named(protocol or [])
        chosen = list(_chosen(bundles, theorem or []))
        if check and not any(out.rglob("*.json")):
            raise BadUse(f"{out} is no folder of certificates; `evenhand certify --out {out}` writes one")
        folder = out if check else folder_for(out) or out
    if searches:
        return _searches(bundles, folder, check=check, as_json=as_json)
    found: list[tuple[str, Certified]] = []
    with counting("certify", "theorem") as progress:
        for number, (bundle, stated) in enumerate(chosen, start=1):
            made = recheck(stated, bundle, folder) if check else certify_theorem(stated, bundle, folder)
            with usage():
                found += [(bundle.name, one) for one in made]
            progress(number, len(chosen))
    missing = [(name, one) for name, one in found if not one.valid]
    if as_json:
        emit({"certificates": [{"protocol": name, **asdict(one)} for name, one in found], "folder": str(out)})
    else:
        print_lines(terminal(), _lines(found, out, checked=check))
    return 0 if not missing else 1 if check else 3


def _searches(bundles: Sequence[Bundle], folder: Path, *, check: bool, as_json: bool) -> int:
    """Certify or check the planned searches of protocols."""
    jobs = [(bundle, job) for bundle in bundles for job in planned_searches(bundle)]
    act = recheck_search if check else certify_search
    found: list[tuple[str, CertifiedSearch]] = []
    with counting("certify", "job") as progress:
        for number, (bundle, job) in enumerate(jobs, start=1):
            with usage():
                found.append((bundle.name, act(bundle, job, folder)))
            progress(number, len(jobs))
    if as_json:
        emit(
            {
                "searches": [{"protocol": name, **asdict(one), "valid": one.valid} for name, one in found],
                "folder": str(folder),
            }
        )
    else:
        lines = [inert(f"{one.search}: {one.because}") for _, one in found if one.because]
        for bundle in bundles:
            own = [one for name, one in found if name == bundle.name]
            lines.append(
                f"{bundle.name}: {sum(one.valid for one in own)} of {len(own)} searches with a "
                f"certificate of all that holds, {sum(one.certified for one in own)} claims certified"
            )
        print_lines(terminal(), lines)
    return 0 if all(one.valid for _, one in found) else 1 if check else 3


def _chosen(bundles: Sequence[Bundle], names: Sequence[str]) -> Iterator[tuple[Bundle, Stated]]:
    """The theorems of these names, or all.  Raises BadUse for a file, UnknownName for a name of none."""
    known = {bundle.name: theorem_names(bundle.name) for bundle in bundles if not bundle.own}
    for bundle in bundles:
        if bundle.own:
            raise BadUse(f"{bundle.name} states no theorems; hand them to evenhand.verify(..., theorems=[...])")
    for name in names:
        if not any(name in own for own in known.values()):
            theorem_named(bundles[0].name, name)
    for bundle in bundles:
        for name in known[bundle.name]:
            if not names or name in names:
                yield bundle, theorem_named(bundle.name, name)


def _lines(found: list[tuple[str, Certified]], folder: Path, *, checked: bool) -> list[str]:
    if not found:
        return ["no theorems."]
    lines = [inert(f"{name} {one.theorem} {one.query}: {one.because}") for name, one in found if not one.valid]
    for name in dict.fromkeys(name for name, _ in found):
        own = [one for other, one in found if other == name]
        theorems = {one.theorem for one in own}
        whole = theorems - {one.theorem for one in own if not one.valid}
        lines.append(
            f"{name}: {len(whole)} of {plural(len(theorems), 'theorem')} with a certificate of every query, "
            f"{sum(one.valid for one in own)} of {plural(len(own), 'certificate')} "
            + ("valid" if checked else "written or kept")
        )
    if not checked:
        lines.append(f"Check them with: evenhand-check {folder}")
    return lines
