"""Settings of vector generation: the kinds of suites and the search effort."""

from __future__ import annotations

from dataclasses import dataclass

SUITES = ("conditions", "orbits", "covering", "boundary")
"""The kinds of suites, cheapest first."""


@dataclass(frozen=True)
class Settings:
    """The search effort for vectors.

    `examples` runs are drawn in each place from `seed`.  Targets that they miss are searched for, `max_steps` steps in
    each place, preferring runs of at most `longest` actions.
    """

    seed: int = 0
    examples: int = 100
    longest: int = 3
    max_steps: int = 8_000
