"""Dispatch a document to its protocol's checker: `check_document` in the module `document` beside the claims."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

from evenhand.core.document import Checked, DocumentRefused
from evenhand.search import explore


def check_document(protocol: str, path: Path) -> Checked:
    """Return the checks of a document.  Raises DocumentRefused if it is invalid, or if the protocol takes none."""
    name = f"evenhand.properties.{protocol}.document"
    there = protocol.isidentifier() and importlib.util.find_spec(f"evenhand.properties.{protocol}") is not None
    if not there or importlib.util.find_spec(name) is None:
        raise DocumentRefused(f"protocol {protocol!r} is configured by no document; leave --constitution out")
    found: Any = importlib.import_module(name)
    made: Checked = found.check_document(path, explore)
    return made
