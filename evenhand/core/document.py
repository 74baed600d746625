"""Documents that a protocol is configured by, checked for themselves: a constitution, a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evenhand.core.canonical import Json

__all__ = ["Checked", "DocumentAnswer", "DocumentRefused", "Explore"]

Explore = Callable[..., Any]
"""The search that answers the questions about a document: `evenhand.explore`."""


class DocumentRefused(ValueError):
    """A document that cannot be read as one; says where, why, and what to do."""


@dataclass(frozen=True)
class DocumentAnswer:
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
    answers: tuple[DocumentAnswer, ...]
