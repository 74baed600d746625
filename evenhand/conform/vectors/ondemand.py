"""Generate suites that are too large to keep, and compare them with a frozen digest.

`NAME.sha256` in a folder of vectors stands for `NAME.json`: the digest of the whole file, byte by byte, in the form
that `sha256sum` checks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from evenhand.conform.vectors.making import generate
from evenhand.conform.vectors.settings import Settings
from evenhand.core.bundle import Bundle
from evenhand.core.files import text_of
from evenhand.evidence.record import BadRecord
from evenhand.evidence.vector import Suite


def pinned(folder: Path, suite: str) -> str:
    """Return the digest that a folder keeps in place of a suite; empty if it keeps none.

    Raises BadRecord for a file without such a digest.
    """
    path = folder / f"{suite}.sha256"
    if not path.is_file() or (folder / f"{suite}.json").exists():
        return ""
    digest, _, name = text_of(path).strip().partition("  ")
    if name != f"{suite}.json" or len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise BadRecord(str(path), f"it is no digest of {suite}.json", f"Freeze it again with --suite {suite}")
    return digest


def frozen_line(suite: Suite) -> str:
    """Return the content of the file that freezes a suite."""
    return f"{_digest(suite)}  {suite.file_name}\n"


def on_demand(bundle: Bundle, suite: str, folder: Path, progress: Callable[[str], None]) -> Suite:
    """Generate a suite with default settings.  Raises BadRecord if it differs from the frozen digest in the folder."""
    wanted = pinned(folder, suite)
    (made,) = generate(bundle, (suite,), Settings(), progress)
    if (got := _digest(made)) != wanted:
        raise BadRecord(
            str(folder / f"{suite}.sha256"),
            f"the suite as generated now is not as frozen: {got[:12]}…, not {wanted[:12]}…",
            f"If the model was to change, freeze it again with --suite {suite}",
        )
    return made


def _digest(suite: Suite) -> str:
    return hashlib.sha256(suite.to_bytes()).hexdigest()
