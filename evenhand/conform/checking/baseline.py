"""Findings that are known already: a folder of records, or an earlier report, whose findings are not told again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from msgspec import to_builtins

from evenhand.conform.checking.duties import DISAGREES, FORMAT
from evenhand.conform.checking.finding import load_finding
from evenhand.evidence.itf import ITF
from evenhand.evidence.known import BadBaseline, Known, KnownFindings, known_in

GIVE = "Give a folder of records or a report of `check --json`."
AGAIN = "Check the kernel again to record it anew."
MOST = 100_000
"""Files and folders in the folder of a baseline, at most."""


def identity(finding: Mapping[str, Any]) -> Known:
    """Return what makes a finding the same as another: the same thing differs, and the same claim heads it.

    If no claim but the model's own answer heads it, nothing more and nothing less may differ: any difference has that
    head, so a known wrong label must not hide a wrong decision that shows it too.
    """
    kinds, what = frozenset(finding["kinds"]), f"{finding['protocol']} {finding['what']}"
    if finding["claim"] == DISAGREES:
        what = f"{what}: {', '.join(sorted(kinds))}"
    return what, finding["claim"], kinds, frozenset(finding["alike"])


def load_baseline(path: Path | None) -> KnownFindings:
    """Return the findings in a folder of records, in one record, or in what `evenhand check --json` printed.

    Raises BadRecord for a record of a finding that is broken, and BadBaseline for anything else.
    """
    if path is None:
        return KnownFindings()
    return known_in(sorted(_records(path)) if path.is_dir() else [path], _read, GIVE, AGAIN)


def _records(folder: Path) -> Iterator[Path]:
    """Yield the records in a folder and below; a tree too large for a baseline, such as a whole disk, is an error."""
    met = 0
    for place, folders, files in os.walk(folder):
        met += len(folders) + len(files)
        if met > MOST:
            raise BadBaseline(f"{folder}: it holds more than {MOST:,} files and folders. {GIVE}")
        yield from (Path(place, name) for name in files if name.endswith(".json") and not name.endswith(ITF))


def _read(path: Path, made: Mapping[str, Any]) -> Iterable[Known] | None:
    if made.get("format") == FORMAT:
        return [identity(to_builtins(load_finding(path)))]
    if made.get("format") != "evenhand/check" or not isinstance(made.get("findings"), list):
        return None
    return map(identity, cast("list[Mapping[str, Any]]", made["findings"]))
