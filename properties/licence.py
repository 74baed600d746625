"""Permission to explore a quotient instead of the whole space.

`properties` defines the value, `proofs` makes it from a proved theorem, `evenhand` hands it over; the
explorer refuses a quotient without one.  A licence speaks of one system, one variant and one quotient.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Licence"]


@dataclass(frozen=True)
class Licence:
    """That `theorem` was proved, for `system` under `variant`, so that `quotient` may be used.

    `record` is the digest of the proof record it rests on.
    """

    quotient: str
    system: str
    variant: str
    theorem: str
    record: str
