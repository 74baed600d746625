"""The folder that a run writes to, checked before anything runs; the store writes the files themselves."""

from __future__ import annotations

import tempfile
from pathlib import Path


class NotWritable(ValueError):
    """A folder or file that cannot be written; the message says which and why."""


def ready_folder(path: Path) -> Path:
    """Return `path` as a folder that can be written to, made where missing.  Raises NotWritable."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path, prefix=".evenhand-"):
            pass
    except OSError as error:
        raise NotWritable(f"cannot write to {path}: {error.strerror or error}; choose another folder") from error
    return path
