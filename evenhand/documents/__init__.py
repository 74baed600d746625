"""Documents that a protocol is configured by, checked for themselves: a constitution, a policy.

A module of this package that is called like a protocol offers `check_document(path) -> Checked`.  Nothing is listed by
hand.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.model.canonical import Json

__all__ = ["Answer", "Checked", "DocumentRefused", "checker_of"]


class DocumentRefused(ValueError):
    """A document that cannot be read as one; says where, why, and what to do."""


@dataclass(frozen=True)
class Answer:
    """One question about a document, and what was found: `bad` marks a finding, a note else.

    `witness` holds the encoded run that shows it, None where the answer is that nothing does.
    """

    claim: str
    sentence: str
    status: str
    bad: bool
    length: int = 0
    witness: Json = None


@dataclass(frozen=True)
class Checked:
    """What a document was found to be: its digest, its answers in order."""

    protocol: str
    digest: str
    answers: tuple[Answer, ...]


def checker_of(protocol: str) -> Callable[[Path], Checked]:
    """The checker of a protocol's documents.  Raises DocumentRefused where the protocol has none."""
    name = f"evenhand.documents.{protocol}"
    if not protocol.isidentifier() or importlib.util.find_spec(name) is None:
        raise DocumentRefused(f"protocol {protocol!r} is configured by no document; leave --constitution out")
    found: Any = importlib.import_module(name)
    made: Callable[[Path], Checked] = found.check_document
    return made
