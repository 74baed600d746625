"""Fixtures that the page loads and saves: those of evenhand, and one folder that the user named.

The page sends a name, never a path: nothing outside the two folders can be read.  Only records that replay are
written, each atomically.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import parse
from evenhand.core.names import NoName, as_name, is_name, within
from evenhand.core.property import Property
from evenhand.core.trace import replay
from evenhand.evidence.home import bundle_of, placed
from evenhand.evidence.record import BadRecord, Record
from evenhand.evidence.replay import record_run, replay_record
from evenhand.evidence.store import load, save
from evenhand.jobs.fixtures import LIBRARIES, fixture_files, place_named
from evenhand.web.claim_status import evidence_for
from evenhand.web.position import Position, of_record

ENGINE = "explorer"
"""The engine that a saved record names."""

CHOOSE = "Choose a fixture from the list"
"""The next step after a name that leads nowhere."""


@dataclass(frozen=True)
class Saved:
    """A file that was written: its path, and the result of its replay."""

    path: Path
    ok: bool
    message: str


@dataclass(frozen=True)
class Library:
    """The folders of fixtures; without a folder nothing is saved."""

    folder: Path | None = None

    def names(self, protocol: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the names of the fixtures of a protocol (by its model's name), grouped by folder."""
        shipped = tuple(f"shipped/{path.name}" for path in fixture_files(protocol))
        own: tuple[str, ...] = ()
        if self.folder is not None and (home := self.folder / as_name(protocol)).is_dir() and not home.is_symlink():
            found = sorted(home.glob("*.json"))
            own = tuple(f"saved/{path.name}" for path in found if _is_plain(path))
        return (("in your folder", own), ("of evenhand", shipped))

    def load(self, protocol: str, name: str) -> Position:
        """Return the fixture called `shipped/NAME` or `saved/NAME`.  Raises BadRecord."""
        where, _, file = name.partition("/")
        if where == "shipped":
            known = {path.name: path for path in fixture_files(protocol)}
            if file not in known:
                raise BadRecord("this fixture", f"evenhand has no fixture of {protocol:.80} with this name", CHOOSE)
            return place_of(known[file], name)
        if where != "saved" or self.folder is None:
            raise BadRecord("this fixture", f"there is no place {where!r:.80}", CHOOSE)
        return place_of(inside(self.folder, protocol, file), name)

    def save(self, place: Position, at: int, claim: Property) -> Saved:
        """Write the run, as far as it is walked, as a counterexample to the claim.

        Raises ValueError without a folder and for a run that is no evidence about the claim, BadRecord for a folder
        that
        leads out of itself, NotWritten.
        """
        if self.folder is None:
            raise ValueError("nothing can be saved: start `evenhand serve` with --out DIR, the folder for new fixtures")
        record = made_record(place, at, claim)
        folder = inside(self.folder, record.folder_name, record.file_name).parent
        path = save(placed(record, folder, place_named(place.bundle.name)), folder)
        result = replay_record(load(path), place.bundle, origin=str(path))
        return Saved(path, result.ok, result.message)


def inside(folder: Path, protocol: str, name: str) -> Path:
    """Return `folder/protocol/name`.

    Raises BadRecord for what is no name, for a name that does not end in `.json`, and for a link.
    """
    try:
        path = within(folder, protocol, name)
    except NoName as error:
        raise BadRecord("this fixture", str(error), CHOOSE) from error
    if path.suffix != ".json":
        raise BadRecord(name, "its name does not end in .json", CHOOSE)
    return path


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and is_name(path.name)


def made_record(place: Position, at: int, claim: Property) -> Record:
    """Return the record of the run up to step `at`.

    Raises ValueError for a run that neither refutes nor witnesses the claim, and for values without an encoding.
    """
    given = place.evidence if at == place.steps else None
    here = place.walked(place.scenario.actions[:at]).scenario
    evidence = evidence_for(place.system, claim, replay(place.system, here), given)
    if evidence is None:
        raise ValueError(
            f"nothing to save: up to step {at} this run does not refute {claim.name}. "
            "Walk on, or choose a claim that is false or met here"
        )
    return record_run(place.bundle, place.system, claim, evidence, engine=ENGINE, libraries=LIBRARIES)


def place_of(path: Path, origin: str) -> Position:
    """Return the run in a fixture file.  Raises BadRecord."""
    return _placed(load(path), origin, path)


def place_in(text: str, origin: str) -> Position:
    """Return the run in a fixture given as text.  Raises BadRecord."""
    try:
        content = parse(text)
    except BadRecord:
        raise
    except ValueError as error:
        raise BadRecord(
            origin, f"it is no JSON, or was cut short ({error!s:.120})", "Choose a file of evenhand's"
        ) from error
    return _placed(Record.from_json(content, origin), origin, None)


def _placed(record: Record, origin: str, file: Path | None) -> Position:
    try:
        bundle: Bundle = bundle_of(record, file, origin)
    except BadRecord:
        raise
    except ValueError as error:
        raise BadRecord(origin, str(error), "Install the protocol") from error
    return of_record(bundle, record, replay_record(record, bundle, origin=origin), origin)
