"""`evenhand.verify`: check every claim of a system with every engine that can read it, in one call.

    assert evenhand.verify(lock, [mutual_exclusion]).holds

A system of your own needs no base class and no registration.  If a claim does not hold, standard error shows the report
(pytest prints it with the failing test): the shortest trace, step by step, and how to reproduce it.
"""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from msgspec import structs

from evenhand.core.answers import error_text, known_names, short, whole_number
from evenhand.core.bundle import Bundle
from evenhand.core.ending import ending_claim
from evenhand.core.generator import Generator
from evenhand.core.licence import Licence
from evenhand.core.own_file import place_of
from evenhand.core.property import Property, checked_claims
from evenhand.core.registry import find
from evenhand.core.system import AnySystem, Protocol, System
from evenhand.core.verdict import Status, runs
from evenhand.core.versions import versions
from evenhand.evidence.finding import Finding
from evenhand.evidence.home import placed
from evenhand.evidence.record import Record
from evenhand.evidence.replay import replay_record
from evenhand.evidence.store import NotWritten, is_record, load
from evenhand.evidence.store import save as save_record
from evenhand.jobs.any_size import PROVABLE, lists_agents
from evenhand.jobs.ending import RunsEnd, unmeant_end
from evenhand.jobs.engines import run, verdicts_of
from evenhand.jobs.findings import findings_of
from evenhand.jobs.fixtures import replay_findings
from evenhand.jobs.plan import ANY_SIZE, BOUNDS, Budget, Job, plan
from evenhand.jobs.proving import prove_all, theorem_names
from evenhand.report.report import Report

__all__ = ["BOUNDS", "VARIABLE", "verify"]

VARIABLE = "EVENHAND_BUDGET"
"""The environment variable with the budget of every `verify` that names none."""


class VerifyOptions(TypedDict, total=False):
    """How much of a system is checked; the budget sets what is left out (`BOUNDS` has the numbers).

    The search is exhaustive up to `max_states` (and `depth`).  Then `examples` random runs of at most `steps` actions
    are drawn from `seed` on: for the claims that the search left open, or for all if `examples` or a generator is given
    (0: none).  Under a `licence` (of `licence_by_search`) the search takes one state of each class.
    """

    max_states: int | None
    depth: int | None
    examples: int | None
    steps: int | None
    seed: int
    licence: Licence | None


def verify(
    subject: AnySystem | Bundle | str,
    claims: Property | Iterable[Property] = (),
    *,
    generator: Generator | None = None,
    theorems: Sequence[Any] = (),
    budget: str | None = None,
    save: str | Path | None = None,
    quiet: bool = False,
    **effort: Unpack[VerifyOptions],
) -> Report:
    """Check claims of a system, or everything about a protocol, and return the report.

    `subject` is a system (with `claims`), a protocol's name, or a `Bundle`.  A system is explored, then driven at
    random by `generator` or by its own actions; if its configuration lists its agents, claims are also proved for
    any number of them.  `VerifyOptions` describes `max_states`, `depth`, `examples`, `steps`,
    `seed` and `licence`.  `theorems` are proved.  A protocol is run as `evenhand verify` would under `budget`; ask its
    report for `as_expected`, since some claims are expected to be refuted.

    `budget` (`quick`, `standard`, `deep`) sets the numbers that are not given (see `BOUNDS`).  If it is None, `pytest
    --evenhand-budget` or the variable EVENHAND_BUDGET decides, else it is `standard`.

    With `save` the shortest refutation of each claim of a system is written to that folder, and those already there are
    replayed first (`types` of the system must name its classes).  If system and claim are globals of one Python file,
    `evenhand replay` and pytest replay the files as well.  Unless `quiet`, a report that does not hold (or is not as
    expected) is printed to standard error.

    Raises ModelError for a system or claim that breaks its contract, UnknownName for an unknown protocol, TypeError or
    ValueError for invalid claims, BadRecord for a saved refutation that no longer fits the system, NotWritten if `save`
    cannot be written to.
    """
    known_names("verify", effort, VerifyOptions)
    chosen = _budget(budget)
    for name, least in (("max_states", 1), ("depth", 0), ("examples", 0), ("steps", 1)):
        number = effort.get(name)
        if number is not None:
            whole_number(name, number, least)
    whole_number("seed", effort.get("seed", 0))
    if not isinstance(quiet, bool):
        raise TypeError(f"quiet is True or False, not {short(quiet)}")
    licence = _licence(effort.get("licence"), subject)
    if generator is not None and not isinstance(generator, Generator):
        raise TypeError(f"generator is a Generator of rules that draw actions, not {short(generator)}")
    if isinstance(subject, System):
        asked = effort.get("examples") is not None or generator is not None
        jobs = _jobs(subject, chosen, effort)
        if chosen is not Budget.quick and lists_agents(subject):
            jobs.append(Job(subject.name, "prove", subject.name, theorem=ANY_SIZE, seed=effort.get("seed", 0)))
        report = _system(subject, _checked(claims, subject), jobs, asked, generator, theorems, _folder(save), licence)
        for note in () if quiet else report.notes:
            warnings.warn(note, RunsEnd, stacklevel=2)
    else:
        if not isinstance(subject, str | Bundle):
            checked_claims(subject, claims)  # raises, because it is no system
        if claims:
            raise ValueError(f"the claims of protocol {subject!r} come with it; claims of your own need a system")
        report = _protocol(find(subject) if isinstance(subject, str) else subject, chosen, effort.get("seed", 0))
    if not quiet and not (report.holds if isinstance(subject, System) else report.as_expected):
        print(report, file=sys.stderr)
    return report


def _licence(given: Any, subject: Any) -> Licence | None:
    """Raises TypeError for what is no licence, ValueError for one beside a protocol."""
    if given is not None and not isinstance(given, Licence):
        raise TypeError(f"licence is a Licence that licence_by_search gave, not {short(given)}")
    if given is not None and not isinstance(subject, System):
        raise ValueError("a licence is for a system of your own; the plans of a protocol name its quotients")
    return given


def _jobs(system: AnySystem, budget: Budget, effort: VerifyOptions) -> list[Job]:
    """The search and, unless `examples` is 0, the random runs."""
    bounds = BOUNDS[budget]
    most, examples = effort.get("max_states") or bounds.max_states, effort.get("examples")
    jobs = [Job(system.name, "explore", system.name, max_states=most, depth=effort.get("depth"))]
    if examples is None:
        examples = bounds.examples
    if examples:
        steps, seed = effort.get("steps") or bounds.steps, effort.get("seed", 0)
        jobs.append(Job(system.name, "fuzz", system.name, examples=examples, steps=steps, seed=seed))
    return jobs


def _budget(given: str | None) -> Budget:
    written = os.environ.get(VARIABLE, "standard") if given is None else given
    if not isinstance(written, str) or written not in set(Budget):
        source = VARIABLE if given is None else "budget"
        raise ValueError(f"{source}: {written!r} is no budget; there is: {', '.join(Budget)}")
    return Budget(written)


def _checked(claims: Any, system: AnySystem) -> tuple[Property, ...]:
    found = checked_claims(system, claims)
    for claim in found:
        if claim.systems and system.name not in claim.systems:
            others = ", ".join(claim.systems)
            raise ValueError(f"claim {claim.name!r} is about {others}, not about {system.label}; correct its `systems`")
    if not found:
        raise ValueError(f"{system.label}: no claims to check; pass at least one")
    mine = (system.name,)  # a claim about several systems is checked in this one alone
    return tuple(replace(claim, systems=mine) if set(claim.systems) - {*mine} else claim for claim in found)


def _folder(save: Any) -> Path | None:
    """The folder for saved refutations.  Raises TypeError, or NotWritten if it cannot be a folder."""
    if save is None:
        return None
    if not isinstance(save, str | Path) or not str(save):
        raise TypeError(f"save is the path of a folder, not {short(save)}")
    folder = Path(save)
    try:
        if "\0" in str(folder):
            raise ValueError("a null character")
        if folder.exists() and not folder.is_dir():
            raise NotWritten(f"{folder}: it is a file, and refutations are saved in a folder. Name another.")
    except (OSError, ValueError) as error:
        if isinstance(error, NotWritten):
            raise
        raise NotWritten(
            f"{short(str(folder), 80)}: nothing can be saved there, for no folder has such a name ({error_text(error)})"
        ) from error
    return folder


def _system(
    system: AnySystem,
    claims: tuple[Property, ...],
    jobs: Sequence[Job],
    drawn: bool,
    generator: Generator | None,
    theorems: Sequence[Any],
    save: Path | None,
    licence: Licence | None,
) -> Report:
    ending = ending_claim(system)
    if ending is not None:
        claims = (*claims, ending)
    generators = () if generator is None else (replace(generator, system=system.name),)
    bundle = Bundle(Protocol(system.name, system.name, "", {system.name: system}), claims, generators, own=True)
    remembered = tuple(_remembered(bundle, save)) if save is not None else ()
    found: list[Finding] = []
    for job in jobs:
        if job.theorem == ANY_SIZE:
            job = replace(job, claims=tuple(one.name for one in claims if isinstance(one, PROVABLE)))
            if not job.claims:
                continue
        if job.engine == "fuzz" and not drawn:
            open_ = tuple(finding.claim for finding in found if finding.status is Status.UNDECIDED)
            if not open_:
                continue
            job = replace(job, claims=open_)
        verdicts = verdicts_of(bundle, job, system, licences=() if licence is None else (licence,))
        found += findings_of(bundle, job, system, verdicts, keep=save is not None)
    kept = _keep_shortest(bundle, found, save) if save is not None else {}
    found = [
        replace(finding, command=_again(system, finding, kept.get(finding.claim, ""))) if finding.command else finding
        for finding in found
    ]
    if theorems:
        found += prove_all(bundle, theorems)
    notes = tuple(filter(None, [unmeant_end(system)]))
    return Report((*remembered, *found), {"system": system.name, "seed": jobs[-1].seed}, versions(), notes)


def _keep_shortest(bundle: Bundle, findings: Sequence[Finding], folder: Path) -> dict[str, str]:
    """Save the shortest encodable refutation of each claim; by claim, where it is and how it replays."""
    best: dict[str, Finding] = {}
    for finding in findings:
        known = best.get(finding.claim)
        if finding.record is not None and (known is None or (finding.length or 0) < (known.length or 0)):
            best[finding.claim] = finding
    return {claim: _kept(bundle, finding, folder) for claim, finding in best.items()}


def _kept(bundle: Bundle, finding: Finding, folder: Path) -> str:
    """Save one refutation, with the place of its system if others can find it; return a note."""
    claim = next(one for one in bundle.claims if one.name == finding.claim)
    place = place_of(bundle.model.systems[finding.system], claim)
    record = placed(Record.from_json(finding.record), folder, place)
    path = save_record(structs.replace(record, reproduce=_test()), folder)
    if record.own and record.own.file:
        return f"saved in {path}, which is replayed first from now on; {shlex.join(['evenhand', 'show', str(path)])}"
    why = (
        f"{finding.system} and {finding.claim} are not both globals of one Python file; make them so"
        if place is None
        else f"{place.file.name} and the folder are not both inside the working directory; run in the project's folder"
    )
    return (
        f"saved in {path}, which is replayed first from now on, and only by this verify(..., save=...): {why}, and "
        "`evenhand replay` and pytest find the system too"
    )


def _test() -> str:
    """The command that runs this test again; empty outside a test of pytest."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    return shlex.join(["pytest", test]) if test else ""


def _remembered(bundle: Bundle, folder: Path) -> Iterator[Finding]:
    """Replay the saved refutations of this system: none may refute any more."""
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        if is_record(path) and (record := load(path)).protocol == bundle.name:
            result = replay_record(record, bundle, origin=str(path))
            for finding in replay_findings(path.name, record, result):
                yield replace(finding, expected=Status.HOLDS, command=f"saved in {path}")


def _protocol(bundle: Bundle, budget: Budget, seed: int) -> Report:
    jobs = plan(bundle, budget, seed=seed, theorems=theorem_names(bundle.name))
    found = tuple(finding for job in jobs for finding in run(bundle, job))
    return Report(found, {"protocols": [bundle.name], "budget": budget.value, "seed": seed}, versions())


def _again(system: AnySystem, finding: Finding, kept: str) -> str:
    """How to reproduce a refutation in a test file: the test itself, and the run as Python."""
    lines = [_test()]
    for scenario in runs(finding.evidence) if finding.evidence is not None else ():
        written = f"{scenario.config!r}, {scenario.start!r}, {scenario.actions!r}"
        text = f"evenhand.replay(system, evenhand.Scenario({written}))"
        if " at 0x" not in text:
            lines.append(text)
    return "\n".join(filter(None, [*lines, kept]))
