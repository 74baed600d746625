"""The expectations of this protocol: claim, reading, verdict, registered before any run.

They live in `expected.json`, with the reason for each that is not a plain HOLDS; what is not listed is expected to
hold.  A surprise is a finding: it is reported, and never edited away.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any, cast

from evenhand.model.canonical import parse
from evenhand.properties.registry import Expectation
from evenhand.properties.verdict import Status

__all__ = ["EXPECTED", "read_expectations"]

_FIELDS = {"claim", "expected", "system", "engine", "readings", "because"}


def read_expectations(text: str) -> tuple[Expectation, ...]:
    """The expectations of a file of the format `evenhand/expectations`.

    Raises ValueError that names the entry: another format, an unknown field or status, an entry without a reason.
    """
    data = parse(text)
    head = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    if (head.get("format"), head.get("version")) != ("evenhand/expectations", 1):
        raise ValueError("not a file of the format evenhand/expectations, version 1")
    return tuple(_expectation(entry) for entry in head["expectations"])


def _expectation(entry: dict[str, Any]) -> Expectation:
    unknown = sorted(set(entry) - _FIELDS)
    if unknown:
        raise ValueError(f"expectation {entry!r} has the unknown field {unknown[0]!r}")
    if not entry.get("because"):
        raise ValueError(f"expectation {entry!r} gives no reason; write one under `because`")
    if entry.get("expected") not in Status.__members__:
        raise ValueError(f"expectation {entry!r}: `expected` must be one of {', '.join(Status.__members__)}")
    return Expectation(
        claim=entry["claim"],
        expected=Status[entry["expected"]],
        system=entry.get("system", ""),
        engine=entry.get("engine", ""),
        readings=entry.get("readings"),
        because=entry["because"],
    )


EXPECTED = read_expectations((files("evenhand.properties.cud") / "expected.json").read_text("utf-8"))
"""What was registered."""
