"""Theorems about `apcm`, the justification compiler: for any number of actions, preferences and collisions."""

from __future__ import annotations

from evenhand.proofs.apcm.theorems import SINGLE
from evenhand.proofs.apcm.twins import TWINS

__all__ = ["THEOREMS"]

THEOREMS = (*SINGLE, *TWINS)
"""What `apcm` is proved to do."""
