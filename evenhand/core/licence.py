"""Permission to explore a quotient instead of the whole space.

`properties` defines the value, `proofs` makes it from a proved theorem, `evenhand` hands it over; the
explorer refuses a quotient without one.  A licence speaks of one system, one variant, one quotient and one
choice of readings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Licence"]


@dataclass(frozen=True)
class Licence:
    """That `theorem` was proved, for `system` under `variant` and `readings`, so that `quotient` may be used.

    `readings` is the record that the system's configurations carry, None where it has none.  `record` is the
    digest of the proof record it rests on.
    """

    quotient: str
    system: str
    variant: str
    theorem: str
    record: str
    readings: Any = None
