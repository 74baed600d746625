"""The sixty-six properties with what is proved of each."""

from __future__ import annotations

from evenhand.core.verdict import Status
from evenhand.proofs.markspace import THEOREMS
from evenhand.proofs.markspace.invariants import INVARIANTS
from evenhand.properties.markspace import CLAIMS
from evenhand.properties.markspace.table import Row, rows


def sixty_six() -> tuple[Row, ...]:
    """Return the rows of the table, with the theorems of this package."""
    every = (*THEOREMS, *INVARIANTS)
    stated = {one.claim.name: "proved" if one.expected is Status.HOLDS else "refuted" for one in every}
    return rows(CLAIMS.claims, stated)
