"""Write one shrunk counterexample of a killed mutant to a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evenhand.core.bundle import Bundle
from evenhand.core.verdict import Evidence
from evenhand.evidence.home import placed
from evenhand.evidence.judge import refutes
from evenhand.evidence.record import Record
from evenhand.evidence.replay import record_run, replay_record
from evenhand.evidence.shrink import shrink
from evenhand.evidence.store import save
from evenhand.jobs.fixtures import LIBRARIES, place_named
from evenhand.studies.mutants import MutantRow


def mutant_fixture(bundle: Bundle, row: MutantRow, folder: Path) -> Path | None:
    """Write one shrunk counterexample of a killed mutant to `folder/PROTOCOL`; return its path, None without one.

    The shortest kill whose run refutes the mutant and not the reference is taken.  Raises NotWritten.
    """
    kills = [kill for kill in row.kills if kill.record is not None]
    for kill in sorted(kills, key=lambda kill: kill.length or 0):
        record = Record.from_json(kill.record)
        if replay_record(record, bundle).ok:
            home = folder / record.folder_name
            return save(placed(_shrunk(bundle, record), home, place_named(bundle.name)), home)
    return None


def _shrunk(bundle: Bundle, record: Record) -> Record:
    """The record of a smaller run that still separates the mutant from the reference."""
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
        engine=record.provenance.engine,
        reproduce=record.reproduce,
        libraries=LIBRARIES,
    )
    return made if replay_record(made, bundle).ok else record
