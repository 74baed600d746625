"""The faulty kernels."""

from __future__ import annotations

from typing import Any

from evenhand.model.system import Mutant

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant[Any], ...] = ()
"""Every mutant."""
