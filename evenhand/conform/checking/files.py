"""Write a finding to disk: the record, a pytest file that repeats it, and the run as ITF."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.core.canonical import Json, canonical_bytes, digest
from evenhand.core.names import as_name
from evenhand.core.text import inert
from evenhand.evidence.itf import ITF, itf
from evenhand.evidence.store import write_atomically


def file_stem(finding: Mapping[str, Json]) -> str:
    """Return `claim--` and eight digits of the run's digest: equal for the same finding, found again."""
    claim = as_name(finding["claim"], 80).replace("-", "_")
    about = ("protocol", "system", "claim", "what", "run", *(("beside",) if "beside" in finding else ()))
    identity = digest({name: finding[name] for name in about})
    return f"{claim}--{identity.removeprefix('sha256:')[:8]}"


def save_finding(finding: Mapping[str, Json], folder: Path, kernel: str) -> Path:
    """Write the three files of a finding to `folder/PROTOCOL`; return the record's path.  Raises NotWritten."""
    stem = file_stem(finding)
    home = folder / as_name(finding["protocol"])
    record = home / f"{stem}.json"
    write_atomically(record, canonical_bytes(dict(finding)) + b"\n")
    write_atomically(home / f"{stem}{ITF}", canonical_bytes(_itf(finding)) + b"\n")
    write_atomically(home / f"test_{stem.replace('--', '_')}.py", test_file(finding, record.name, kernel).encode())
    return record


def test_file(finding: Mapping[str, Json], record: str, kernel: str) -> str:
    """Return a pytest file that fails while the kernel behaves as in the finding."""
    name = re.sub(r"\W", "_", finding["claim"])
    sentence = inert(finding["sentence"]).replace("\\", "\\\\").replace('"', "'")
    return f'''"""A kernel of {finding["protocol"]} and a run that shows it wrong; written by `evenhand check`."""

import os
from pathlib import Path

from evenhand.conform.checking.finding import recheck

KERNEL = os.environ.get("EVENHAND_KERNEL", {kernel!a})
"""What is asked: `package.module:factory`, or `command: ./kernel`."""


def test_{name}() -> None:
    """{sentence}"""
    recheck(Path(__file__).with_name({record!a}), KERNEL).raise_if_found()
'''


test_file.__test__ = False  # type: ignore[attr-defined]


def _itf(finding: Mapping[str, Json]) -> dict[str, Json]:
    """Actions, expected and received values: one ITF state for each step, after the start."""
    nothing: Json = None
    states: list[dict[str, Json]] = [{"action": nothing, "expected": nothing, "got": nothing}]
    for number, action in enumerate(finding["run"]["actions"]):
        got: Any = finding["got"][number] if number < len(finding["got"]) else nothing
        states.append({"action": action, "expected": finding["expected"][number], "got": got})
    meta = {"description": finding["sentence"], "protocol": finding["protocol"], "claim": finding["claim"]}
    return itf(states, meta)
