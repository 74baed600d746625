"""How vectors are made: which suites there are, and how hard runs are looked for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SUITES", "Settings"]

SUITES = ("orbits", "covering", "boundary")
"""The kinds of suites, cheapest first."""


@dataclass(frozen=True)
class Settings:
    """How hard vectors are looked for.

    `examples` runs are drawn in each place from `seed`; what they do not separate is searched for, `max_steps` steps in
    each place, for runs of at most `longest` actions if there are such.
    """

    seed: int = 0
    examples: int = 100
    longest: int = 3
    max_steps: int = 8_000
