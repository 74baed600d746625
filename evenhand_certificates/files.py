"""Certificates in files: read within limits, and checked by their format."""

# SPDX-License-Identifier: MIT

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from evenhand_certificates import theorems
from evenhand_certificates.check import check
from evenhand_certificates.errors import MOST_BYTES, Invalid

SEARCH = "evenhand/search-certificate"


def check_file(file: Path) -> str:
    """Return what a valid certificate shows.

    Raises Invalid, OSError where a file cannot be read, and ImportError where one of a search finds no model.
    """
    certificate = _read(file)
    told = cast("dict[str, Any]", certificate).get("format") if isinstance(certificate, dict) else None
    if told == SEARCH:
        from evenhand_certificates.searches import check_search  # it imports the model

        searched = check_search(certificate)
        return f"{len(searched.claims)} claims on {searched.states} states, {searched.steps} steps of {searched.place}"
    if told == theorems.FORMAT:
        axioms, lines = theorems.check_theorem(certificate, lambda name: _read(_beside(file, name)))
        return f"a theorem of {axioms} axioms, by {lines} certificates beside it"
    found = check(certificate)
    return f"{', '.join(found.assertions)} contradict; {found.steps} instances"


def files_below(path: Path) -> Iterator[Path]:
    """Yield a file, or the certificates in a folder.  Raises OSError where there is neither."""
    if not path.exists():
        raise OSError(f"{path} does not exist")
    yield from path.rglob("*.json") if path.is_dir() else (path,)


def _beside(file: Path, name: str) -> Path:
    """A file in the same folder.  Raises Invalid for a path that leads out of it."""
    if "\0" in name or name != os.path.basename(name) or name in ("", ".", ".."):
        raise Invalid(f"{name!r:.80} is no name of a file beside it")
    return file.with_name(name)


def _read(file: Path) -> Any:
    """A JSON file within the limits.  Raises Invalid and OSError."""
    with open(file, "rb", opener=_without_waiting) as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise Invalid("not a regular file")
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Invalid(f"more than {MOST_BYTES} bytes")
    try:
        return json.loads(data, parse_float=_no_number, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"not JSON of integers and texts: {error}") from error


def _no_number(text: str) -> Any:
    raise ValueError(f"{text:.20} is no integer")


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
