"""Theorems about `sovereign`: for any number of observations, candidates, citations and warrants."""

from __future__ import annotations

from evenhand.proofs.sovereign.executing import USES
from evenhand.proofs.sovereign.theorems import SINGLE
from evenhand.proofs.sovereign.twins import TWINS

__all__ = ["THEOREMS"]

THEOREMS = (*SINGLE, *TWINS, *USES)
"""What `sovereign` is proved to do."""
