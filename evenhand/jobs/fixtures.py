"""Refutations as files: record new ones, and turn a protocol's fixtures into findings of the engine `replay`.

The record format is in `evenhand.evidence.record`, the store in `evenhand.evidence.store`, the fixtures in
`evenhand.counterexamples`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenhand.core.bundle import Bundle, Phases
from evenhand.core.canonical import Json
from evenhand.core.names import is_name, within
from evenhand.core.own_file import GlobalName, file_and_name, names_file
from evenhand.core.property import Property
from evenhand.core.registry import folder
from evenhand.core.system import System
from evenhand.core.text import inert
from evenhand.core.verdict import Status, Verdict
from evenhand.evidence.finding import Finding
from evenhand.evidence.record import MutantVariant, Record, ReferenceVariant
from evenhand.evidence.replay import Replayed, record_run, replay_record
from evenhand.evidence.store import load
from evenhand.evidence.story import evidence_length, story_of

REPLAY = "replay"
"""The engine of findings that come from files."""
LIBRARIES = ("hypothesis", "z3-solver", "cvc5")


def _shipped() -> Path:
    return folder("counterexamples")


def fixture_files(protocol: str) -> tuple[Path, ...]:
    """Return the fixture files of a protocol, sorted by name; none for what is no name."""
    if not is_name(protocol):
        return ()
    folder = within(_shipped(), protocol, links=True)
    return tuple(sorted(folder.glob("*.json"))) if folder.is_dir() else ()


def vector_folder(protocol: str) -> Path | None:
    """Return the folder of the vectors that come with a protocol; None for what is no name."""
    return within(_shipped(), protocol, "vectors", links=True) if is_name(protocol) else None


def place_named(protocol: str) -> GlobalName | None:
    """Return the file and the global of a user's own system, from its name in commands; None for a protocol."""
    if not names_file(protocol):
        return None
    file, name = file_and_name(protocol)
    return GlobalName(Path(file), name)


def fixture_at(path: Path) -> Path:
    """Return `path`, or, without such a file, the fixture of this name (`PROTOCOL/NAME.json`) of evenhand.

    Reports name fixtures in this way, so that the command they print runs in any folder.
    """
    if len(path.parts) != 2 or not all(map(is_name, path.parts)) or path.exists():
        return path
    ours = within(_shipped(), *path.parts, links=True)
    return ours if ours.is_file() else path


def fixtures_of(protocol: str) -> tuple[tuple[str, Record], ...]:
    """Return the name and the record of each fixture.  Raises BadRecord for the first that cannot be used."""
    return tuple((f"{protocol}/{path.name}", load(path)) for path in fixture_files(protocol))


def replayed(bundle: Bundle) -> tuple[Finding, ...]:
    """Return the findings of all fixtures of a protocol.  Raises BadRecord for one that does not fit the model."""
    return tuple(
        found
        for name, record in fixtures_of(bundle.name)
        for found in replay_findings(name, record, replay_record(record, bundle, origin=name), bundle.phases)
    )


def replay_findings(name: str, record: Record, result: Replayed, phases: Phases | None = None) -> Iterator[Finding]:
    """Yield the findings of a replayed record: of its variant, and of the reference where it fails there too."""
    witnessed = record.outcome == "WITNESSED"
    does, does_not = (Status.HOLDS, Status.REFUTED) if witnessed else (Status.REFUTED, Status.HOLDS)
    status = does if result.refuted else does_not
    expected = does
    if result.regression:
        expected = Status.HOLDS
        status = status if result.ok or result.refuted else Status.UNDECIDED
    elif isinstance(record.variant, ReferenceVariant) and result.refuted and not result.ok:
        expected = does_not
    elif result.refuted and not result.ok and not result.reference_refuted:
        status = Status.UNDECIDED  # it fails as recorded, but shows something else
    found = Finding(
        protocol=record.protocol,
        claim=record.claim.name,
        sentence=record.claim.sentence,
        engine=REPLAY,
        system=record.system,
        variant=record.variant.name,
        status=status,
        expected=expected,
        stated="" if result.ok else "recorded so",
        because=inert(result.message),
        scope={**record.scope, "fixture": name},
        story=story_of(result.system, result.evidence, phases) if not result.regression or result.refuted else None,
        length=evidence_length(result.evidence),
        record=record.to_json(),
        command=shlex.join(["evenhand", "replay", name]),
    )
    yield found
    if isinstance(record.variant, MutantVariant) and result.reference_refuted:
        yield replace(found, variant="reference", status=does, expected=does_not)


def recorded(
    bundle: Bundle, system: System[Any, Any, Any, Any, Any], claim: Property, verdict: Verdict, again: str
) -> tuple[Json, str]:
    """Return the record of a refutation as JSON, or None and why there is none."""
    if verdict.evidence is None:
        return None, "there is no run to record"
    try:
        record = record_run(
            bundle, system, claim, verdict.evidence, engine=verdict.engine, reproduce=again, libraries=LIBRARIES
        )
    except ValueError as error:
        mend = "; name your own classes: evenhand.system(..., types=(Config, State, Action))" if bundle.own else ""
        return None, f"{error}{mend}"
    return record.to_json(), ""
