"""Theorems about `cud`, coordination under deadlock: one epoch, for any number of agents, keys and authorities."""

from __future__ import annotations

from evenhand.proofs.cud.theorems import THEOREMS

__all__ = ["THEOREMS"]
