"""Theorems about `sovereign`: for any number of observations, candidates, citations and warrants."""

from __future__ import annotations

from evenhand.proofs.sovereign.executing import USES
from evenhand.proofs.sovereign.self_composition import TWINS
from evenhand.proofs.sovereign.sessions import PATIENCE
from evenhand.proofs.sovereign.theorems import SINGLE

THEOREMS = (*SINGLE, *TWINS, *USES, PATIENCE)
"""The theorems about `sovereign`."""
