"""Certificates of a protocol's theorems as files: made, and checked again without a solver.

A file is `PROTOCOL/THEOREM/QUERY.json`, a certificate of one query, or `PROTOCOL/THEOREM/NAME.whole.json`: the theorem,
and how those certificates add up to it.  `evenhand_certificates` reads both; `about` says what they are about.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json, canonical_bytes, object_in, parse
from evenhand.core.files import content_of
from evenhand.core.versions import __version__
from evenhand.evidence.store import write_atomically
from evenhand.smt.certificates import theorems
from evenhand.smt.certificates.certify import certificate
from evenhand.smt.certificates.instances import NotFound
from evenhand.smt.certificates.recall import Recalled
from evenhand.smt.portfolio import Answered, Portfolio, shared
from evenhand.smt.prove import obligations
from evenhand.smt.solvers import Z3, SolverLimits
from evenhand.smt.theorem import Stated
from evenhand_certificates import Invalid
from evenhand_certificates.check import FORMAT
from evenhand_certificates.errors import MOST_BYTES
from evenhand_certificates.files import check_file


@dataclass(frozen=True)
class Certified:
    """One query of a theorem: whether a valid certificate is there, else the reason."""

    theorem: str
    query: str
    valid: bool
    because: str = ""


def certify(stated: Stated, bundle: Bundle, folder: Path) -> Iterator[Certified]:
    """Have a certificate of each query of a theorem below `folder`: a valid one stays, others are made.

    Raises NoSolver, OSError where a file cannot be written, and ImportError without the package python-sat.
    """
    recalled = recalled_for(stated, folder)
    for name, answered in obligations(stated, bundle=bundle, portfolio=recalled):
        because = ""
        if answered.status != "unsat":
            because = f"not proved: {answered.because}"
        elif recalled.digest(answered.query) not in recalled.checked:
            try:
                made = certificate(_core(answered), searching(), SolverLimits())
            except NotFound as error:
                because = f"proved, no certificate: {error}"
            else:
                about = {**_about(stated, name), "asked": recalled.digest(answered.query)}
                write_atomically(folder_of(folder, stated) / f"{name}.json", canonical_bytes({**made, "about": about}))
        yield Certified(stated.name, name, not because, because)
    for name, whole in _wholes(stated):
        write_atomically(folder_of(folder, stated) / f"{name}.json", whole)
        yield _put_together(stated, name, folder)


def recalled_for(stated: Stated, folder: Path) -> Recalled:
    """Return a portfolio that answers by the certificates of a theorem where it can, and else asks the solvers."""
    return Recalled(_kept(folder_of(folder, stated)), shared(), tied(stated))


def recheck(stated: Stated, bundle: Bundle, folder: Path) -> Iterator[Certified]:
    """Check the certificates of a theorem against the theorem as it stands, without a solver."""
    recalled = Recalled(_kept(folder_of(folder, stated)), about=tied(stated))
    for name, answered in obligations(stated, bundle=bundle, portfolio=recalled):
        because = "" if answered.status == "unsat" else answered.answers[0].because
        yield Certified(stated.name, name, not because, because)
    for name, whole in _wholes(stated):
        try:
            kept = content_of(folder_of(folder, stated) / f"{name}.json", MOST_BYTES)
        except ValueError as error:
            yield Certified(stated.name, name, False, f"there is no file that can be read: {error}")
        else:
            same = kept == whole
            yield (
                _put_together(stated, name, folder)
                if same
                else Certified(stated.name, name, False, "it is of another theorem")
            )


def _wholes(stated: Stated) -> Iterator[tuple[str, bytes]]:
    """The theorem, and it again for each mutant declared as proved: names and contents of their files."""
    for name, told in theorems.told(stated):
        yield f"{name}.whole", canonical_bytes({**told, "about": _about(stated, name)})


def _put_together(stated: Stated, name: str, folder: Path) -> Certified:
    """Whether the certificates in a folder add up to the theorem in this file."""
    try:
        check_file(folder_of(folder, stated) / f"{name}.json")
    except (Invalid, OSError) as error:
        return Certified(stated.name, name, False, f"its certificates do not add up to it: {error}")
    return Certified(stated.name, name, True)


def folder_of(folder: Path, stated: Stated) -> Path:
    """Return the folder of a theorem's certificates."""
    return folder / stated.protocol / stated.name


@cache
def searching() -> Portfolio:
    """Return the solver that is asked for instances and weights."""
    found = Portfolio((Z3,))
    atexit.register(found.close)
    return found


def _core(answered: Answered) -> Any:
    """The query with the assertions of the smallest core alone."""
    cores = [answer.core for answer in answered.answers if answer.core]
    core = min(cores, key=len, default=tuple(name for name, _ in answered.query.assertions))
    return replace(answered.query, assertions=tuple(one for one in answered.query.assertions if one[0] in core))


def tied(stated: Stated) -> dict[str, Json]:
    """Return what the digest of a certificate ties to its query."""
    return {
        "protocol": stated.protocol,
        "theorem": stated.name,
        "readings": {name: str(value) for name, value in sorted(stated.readings.items())},
    }


def _about(stated: Stated, query: str) -> dict[str, Json]:
    """What a certificate says for a reader; of these only what is tied is compared."""
    said: dict[str, Json] = {"sentence": stated.sentence, "source": stated.source, "query": query}
    return {**tied(stated), **said, "evenhand": __version__}


def _kept(folder: Path) -> dict[str, Mapping[str, Json]]:
    """The certificates in a folder by the digests of their queries; what is none is left out."""
    found: dict[str, Mapping[str, Json]] = {}
    for file in sorted(folder.glob("*.json")):
        try:
            made = object_in(parse(content_of(file, MOST_BYTES)))
        except ValueError:
            continue
        asked = object_in(made.get("about")).get("asked")
        if made.get("format") == FORMAT and isinstance(asked, str):
            found[asked] = made
    return found
