"""Permission to explore a quotient instead of the whole state space.

This module defines the value, `smt` makes it from a proved theorem, and the explorer refuses a quotient without one.  A
licence is about one system, one variant, one quotient and one choice of readings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Licence:
    """Permission to use `quotient`: `theorem` is proved for `system` under `variant` and `readings`.

    `readings` is the record that the system's configurations carry, None if it has none.  `record` is the digest of the
    proof record.

    A licence by search has compared every state of one system: `theorem` says so, `searched` is that system, and
    `claims` are those that it speaks of.
    """

    quotient: str
    system: str
    variant: str
    theorem: str
    record: str
    readings: Any = None
    searched: Any = field(default=None, compare=False)
    claims: tuple[Any, ...] = field(default=(), compare=False)
