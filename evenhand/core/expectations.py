"""Read and write expectations, registered before any run: claim, system, engine, readings, verdict and reason.

A protocol states them in Python (a tuple of `Expectation`) or as JSON beside its claims (`stated_in`);
`expectations_text` writes what `read_expectations` reads.  Unlisted claims are expected to hold.  An unexpected verdict
is a finding: it is reported, and never edited away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, cast

from evenhand.core.canonical import Json, parse
from evenhand.core.plan import Expectation
from evenhand.core.verdict import Status

__all__ = ["FORMAT", "expectations_text", "read_expectations", "stated_in"]

FORMAT = "evenhand/expectations"
VERSION = 1

_FIELDS = {"claim", "expected", "system", "engine", "readings", "because"}


def stated_in(package: str, name: str = "expected.json") -> tuple[Expectation, ...]:
    """Return the expectations in a file of a package.  Raises ValueError with the file's name."""
    try:
        return read_expectations((files(package) / name).read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{package}, {name}: {error}") from error


def read_expectations(text: str) -> tuple[Expectation, ...]:
    """Return the expectations of a file of the format `evenhand/expectations`.

    Raises ValueError that names the entry for another format, an unknown field or status, a missing reason, and two
    entries about the same verdict.
    """
    data = parse(text)
    head = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    if (head.get("format"), head.get("version")) != (FORMAT, VERSION):
        raise ValueError(f"not a file of the format {FORMAT}, version {VERSION}")
    entries = head.get("expectations")
    if not isinstance(entries, list):
        raise ValueError("`expectations` is no list")
    made: dict[str, Expectation] = {}
    for entry in cast("list[Any]", entries):
        one = _expectation(entry)
        place = json.dumps([one.claim, one.system, one.engine, one.readings], sort_keys=True)
        if place in made:
            raise ValueError(f"expectation {entry!r}: there are two about the same")
        made[place] = one
    return tuple(made.values())


def _expectation(entry: Any) -> Expectation:
    fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    if not fields.get("claim"):
        raise ValueError(f"expectation {entry!r} names no claim")
    unknown = sorted(set(fields) - _FIELDS)
    if unknown:
        raise ValueError(f"expectation {entry!r} has the unknown field {unknown[0]!r}")
    if not fields.get("because"):
        raise ValueError(f"expectation {entry!r} gives no reason; write one under `because`")
    if fields.get("expected") not in Status.__members__:
        raise ValueError(f"expectation {entry!r}: `expected` must be one of {', '.join(Status.__members__)}")
    return Expectation(
        claim=fields["claim"],
        expected=Status[fields["expected"]],
        system=fields.get("system", ""),
        engine=fields.get("engine", ""),
        readings=fields.get("readings"),
        because=fields["because"],
    )


def expectations_text(stated: Iterable[Expectation]) -> str:
    """Return the file of these expectations, without empty systems and engines.  Readings must be JSON values."""
    entries: list[dict[str, Json]] = []
    for one in stated:
        entry: dict[str, Json] = {"claim": one.claim, "expected": one.expected.name}
        entry |= {"system": one.system} if one.system else {}
        entry |= {"engine": one.engine} if one.engine else {}
        entry |= {"readings": dict(one.readings)} if one.readings is not None else {}
        entries.append({**entry, "because": one.because})
    return json.dumps({"format": FORMAT, "version": VERSION, "expectations": entries}, indent=2, ensure_ascii=False)
