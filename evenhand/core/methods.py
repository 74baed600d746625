"""Names of the methods of search, which options, plans and engines share."""

from __future__ import annotations

from enum import StrEnum


class MethodName(StrEnum):
    """A method of search; the reference comes first."""

    explicit = "explicit"
    compiled = "compiled"
    symmetric = "symmetric"
