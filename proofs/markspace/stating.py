"""Theorems and invariants of this protocol."""

from __future__ import annotations

from functools import partial

from evenhand.smt.theorem import Theorem
from evenhand.smt.transitions.invariant import Invariant

theorem = partial(Theorem, protocol="markspace")
invariant = partial(Invariant, protocol="markspace")
