"""Theorems about `markspace`: for any number of instants, warnings and marks."""

from __future__ import annotations

from evenhand.proofs.markspace.strengths import STRENGTHS

__all__ = ["THEOREMS"]

THEOREMS = (*STRENGTHS,)
"""What `markspace` is proved to do."""
