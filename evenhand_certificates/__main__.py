"""`evenhand-check PATH…`: check certificates in files and folders.

Exit codes: 0 all are valid; 1 one is not; 2 a path cannot be read, there is no certificate, or no model to check one of
a search with.
"""

# SPDX-License-Identifier: MIT

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from pathlib import Path

from evenhand_certificates import Invalid
from evenhand_certificates.files import check_file, files_below


def main(arguments: Sequence[str] | None = None) -> int:
    """Check every certificate below the paths; print a line each and a summary."""
    paths = list(sys.argv[1:] if arguments is None else arguments)
    if not paths or any(path in ("-h", "--help") for path in paths):
        print("usage: evenhand-check PATH…   a certificate, or a folder with certificates (*.json)")
        return 0 if paths else 2
    try:
        files = sorted({file for path in paths for file in files_below(Path(path))})
        if not files:
            raise OSError("no certificate (*.json) is there; `evenhand certify` writes them")
    except OSError as error:
        print(f"evenhand-check: {error}", file=sys.stderr)
        return 2
    gc.set_threshold(1_000_000)  # what a walk keeps, it keeps to its end: to look for garbage often finds none
    wrong = unchecked = 0
    for file in files:
        try:
            said = f"valid    {file}: {check_file(file):.2000}"
        except (Invalid, OSError) as error:
            wrong += 1
            said = f"INVALID  {file}: {error!s:.2000}"
        except ImportError as error:
            unchecked += 1
            said = f"NO MODEL {file}: a search is checked with evenhand's model and claims: {error}"
        print(said.encode("unicode_escape").decode() if not said.isprintable() else said)
    valid = len(files) - wrong - unchecked
    print(f"{len(files)} certificates: {valid} valid, {wrong} invalid{f', {unchecked} unchecked' * bool(unchecked)}.")
    return 1 if wrong else 2 if unchecked else 0


if __name__ == "__main__":
    sys.exit(main())
