"""Refutations as files, on the side that reads and writes them: the fixtures of a protocol, and new ones.

The record format and the store live in `evenhand.counterexamples`; here a run's refutations become files
and the files there are become findings of the engine `replay`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import evenhand.counterexamples
from evenhand.counterexamples.record import Record
from evenhand.counterexamples.replay import Replayed, record_run, replay_record
from evenhand.counterexamples.store import load, save
from evenhand.model.canonical import Json
from evenhand.model.system import System
from evenhand.properties.property import Property
from evenhand.properties.refutes import refutes
from evenhand.properties.registry import Bundle, Phases
from evenhand.properties.shrink import shrink
from evenhand.properties.verdict import Evidence, Status, Verdict
from evenhand.report.finding import Finding
from evenhand.report.report import Report
from evenhand.report.text import inert
from evenhand.report.trace import evidence_length, story_of

if TYPE_CHECKING:
    from evenhand.mutants import MutantRow

__all__ = [
    "LIBRARIES",
    "fixture_at",
    "fixture_files",
    "fixtures_of",
    "mutant_fixture",
    "recorded",
    "replay_findings",
    "replayed",
    "saved",
]

REPLAY = "replay"
"""The engine of findings that come from files."""
LIBRARIES = ("hypothesis", "z3-solver", "cvc5")


def _shipped() -> Path:
    return Path(evenhand.counterexamples.__path__[0])


def fixture_files(protocol: str) -> tuple[Path, ...]:
    """The fixture files of a protocol, by name."""
    folder = _shipped() / protocol
    return tuple(sorted(folder.rglob("*.json"))) if folder.is_dir() else ()


def fixture_at(path: Path) -> Path:
    """`path`, or the fixture of this name (`PROTOCOL/NAME.json`) that comes with evenhand if there is no such file.

    Reports name fixtures in this way, so that the command they print runs in any folder.
    """
    ours = _shipped() / path
    return ours if not path.exists() and ours.is_file() else path


def fixtures_of(protocol: str) -> tuple[tuple[str, Record], ...]:
    """The name and the record of each fixture.  Raises BadRecord for the first that cannot be used."""
    return tuple((f"{protocol}/{path.name}", load(path)) for path in fixture_files(protocol))


def replayed(bundle: Bundle) -> tuple[Finding, ...]:
    """A finding for every fixture of a protocol.  Raises BadRecord for one that does not fit the model."""
    return tuple(
        found
        for name, record in fixtures_of(bundle.name)
        for found in replay_findings(name, record, replay_record(record, bundle, origin=name), bundle.phases)
    )


def replay_findings(name: str, record: Record, result: Replayed, phases: Phases | None = None) -> Iterator[Finding]:
    """What replaying a record says: of the variant it names, and of the reference where it fails there too."""
    witnessed = record.outcome == "WITNESSED"
    does, does_not = (Status.HOLDS, Status.REFUTED) if witnessed else (Status.REFUTED, Status.HOLDS)
    status = does if result.refuted else does_not
    expected = does
    if record.variant_kind == "reference" and result.refuted and not result.ok:
        expected = does_not
    elif result.refuted and not result.ok and not result.reference_refuted:
        status = Status.UNDECIDED  # it fails as it did, but shows something else
    found = Finding(
        protocol=record.protocol,
        claim=record.claim,
        sentence=record.sentence,
        engine=REPLAY,
        system=record.system,
        variant=record.variant,
        status=status,
        expected=expected,
        stated="" if result.ok else "recorded so",
        because=inert(result.message),
        scope={**dict(record.scope), "fixture": name},
        story=story_of(result.system, result.evidence, phases),
        length=evidence_length(result.evidence),
        record=record.to_json(),
        command=f"evenhand replay {name}",
    )
    yield found
    if record.variant_kind == "mutant" and result.reference_refuted:
        yield replace(found, variant="reference", status=does, expected=does_not)


def recorded(
    bundle: Bundle, system: System[Any, Any, Any, Any, Any], claim: Property, verdict: Verdict, again: str
) -> tuple[Json, str]:
    """The record of a refutation as JSON, or None and why its values cannot be written down."""
    if verdict.evidence is None:
        return None, "there is no run to record"
    try:
        record = record_run(
            bundle, system, claim, verdict.evidence, engine=verdict.engine, reproduce=again, libraries=LIBRARIES
        )
    except ValueError as error:
        return None, str(error)
    return record.to_json(), ""


def saved(folder: Path, report: Report) -> Report:
    """Write every refutation that is no fixture yet to `folder`; the report then names the files, relative to it.

    Raises NotWritten when a file cannot be made.
    """
    return replace(report, findings=tuple(_saved(folder, report.findings)))


def _saved(folder: Path, findings: Iterable[Finding]) -> Iterator[Finding]:
    known: dict[str, set[str]] = {}
    for finding in findings:
        if finding.record is None or finding.engine == REPLAY:
            yield finding
            continue
        record = Record.from_json(finding.record)
        there = known.setdefault(record.protocol, {path.name for path in fixture_files(record.protocol)})
        if record.file_name in there:
            yield finding
            continue
        path = save(record, folder / record.protocol)
        yield replace(finding, fixture=f"{record.protocol}/{path.name}")


def mutant_fixture(bundle: Bundle, row: MutantRow, folder: Path) -> Path | None:
    """Write one shrunk counterexample of a killed mutant to `folder/PROTOCOL`; None where none can be.

    Of its kills, the shortest whose run refutes the mutant and not the reference.  Raises NotWritten.
    """
    kills = [kill for kill in row.kills if kill.record is not None]
    for kill in sorted(kills, key=lambda kill: kill.length or 0):
        record = Record.from_json(kill.record)
        if replay_record(record, bundle).ok:
            return save(_shrunk(bundle, record), folder / bundle.name)
    return None


def _shrunk(bundle: Bundle, record: Record) -> Record:
    """The record of a smaller run that still tells the mutant from the reference."""
    result = replay_record(record, bundle)
    variant, claim = result.system, result.claim
    reference = replace(variant, rules=bundle.model.systems[record.system].rules, variant="reference")

    def tells(evidence: Evidence) -> bool:
        return refutes(variant, claim, evidence) and not refutes(reference, claim, evidence)

    small = shrink(variant, result.evidence, tells)
    made = record_run(
        bundle,
        variant,
        claim,
        small,
        engine=str(record.provenance.get("engine", "")),
        reproduce=record.reproduce,
        libraries=LIBRARIES,
    )
    return made if replay_record(made, bundle).ok else record
