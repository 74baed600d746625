"""Theorems about `apcm`, the justification compiler: for any number of actions, preferences and collisions."""

from __future__ import annotations

from evenhand.proofs.apcm.justifying import PERMITTED
from evenhand.proofs.apcm.self_composition import TWINS
from evenhand.proofs.apcm.theorems import SINGLE

THEOREMS = (*SINGLE, *TWINS, PERMITTED)
"""The theorems about `apcm`."""
