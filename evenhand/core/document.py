"""Documents that configure a protocol (a constitution, a policy), checked on their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evenhand.core.canonical import Json
from evenhand.core.lookup import Refused

Explore = Callable[..., Any]
"""The search that answers questions about a document: `evenhand.explore`."""


class DocumentRefused(Refused, ValueError):
    """A document that cannot be read; says where, why, and what to do."""


@dataclass(frozen=True)
class DocumentAnswer:
    """The answer to one question about a document; `bad` distinguishes a finding from a note.

    `witness` holds the encoded run that shows it; None if no run does.
    """

    claim: str
    sentence: str
    status: str
    bad: bool
    length: int = 0
    witness: Json = None


@dataclass(frozen=True)
class Checked:
    """The result of checking a document: its digest, and its answers in order."""

    protocol: str
    digest: str
    answers: tuple[DocumentAnswer, ...]
