"""The sixty-six properties with what is proved of each."""

from __future__ import annotations

from evenhand.core.verdict import Status
from evenhand.properties.markspace import CLAIMS
from evenhand.properties.markspace.table import Row, rows
from evenhand.smt.registry import stated


def sixty_six() -> tuple[Row, ...]:
    """Return the rows of the table, with the theorems of this package."""
    every = stated("markspace")
    return rows(
        CLAIMS.claims, {one.claim.name: "proved" if one.expected is Status.HOLDS else "refuted" for one in every}
    )
