"""`evenhand-check PATH…`: check certificates in files and folders.

Exit codes: 0 all are valid; 1 one is not; 2 a path cannot be read, there is no certificate, or no model to check one of
a search with.
"""

# SPDX-License-Identifier: MIT

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from evenhand_certificates import Invalid, check
from evenhand_certificates.errors import MOST_BYTES

SEARCH = "evenhand/search-certificate"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check every certificate below the paths; print a line each and a summary."""
    paths = list(sys.argv[1:] if arguments is None else arguments)
    if not paths or any(path in ("-h", "--help") for path in paths):
        print("usage: evenhand-check PATH…   a certificate, or a folder with certificates (*.json)")
        return 0 if paths else 2
    try:
        files = sorted({file for path in paths for file in _files(Path(path))})
        if not files:
            raise OSError("no certificate (*.json) is there; `evenhand certify` writes them")
    except OSError as error:
        print(f"evenhand-check: {error}", file=sys.stderr)
        return 2
    wrong = unchecked = 0
    for file in files:
        try:
            said = f"valid    {file}: {_checked(_read(file))}"
        except (Invalid, OSError) as error:
            wrong += 1
            said = f"INVALID  {file}: {error}"
        except ImportError as error:
            unchecked += 1
            said = f"NO MODEL {file}: a search is checked with evenhand's model and claims: {error}"
        print(said.encode("unicode_escape").decode() if not said.isprintable() else said)
    valid = len(files) - wrong - unchecked
    print(f"{len(files)} certificates: {valid} valid, {wrong} invalid{f', {unchecked} unchecked' * bool(unchecked)}.")
    return 1 if wrong else 2 if unchecked else 0


def _checked(certificate: Any) -> str:
    """What a valid certificate shows.  Raises Invalid, and ImportError where one of a search finds no model."""
    if isinstance(certificate, dict) and cast("dict[str, Any]", certificate).get("format") == SEARCH:
        from evenhand_certificates.searches import check_search  # it imports the model

        searched = check_search(certificate)
        return f"{len(searched.claims)} claims on {searched.states} states, {searched.steps} steps of {searched.place}"
    found = check(certificate)
    return f"{', '.join(found.assertions)} contradict; {found.steps} instances"


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise OSError(f"{path} does not exist")
    yield from path.rglob("*.json") if path.is_dir() else (path,)


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


if __name__ == "__main__":
    sys.exit(main())
