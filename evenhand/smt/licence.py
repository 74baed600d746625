"""Licences: a proved equivariance is what allows the explorer to look at one state of each orbit.

Without a green theorem there is no licence, and a licence never speaks of a mutant: the faults one hunts for
are often the very ones that break the symmetry.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.licence import Licence
from evenhand.smt.proved import Proved
from evenhand.smt.theorem import Theorem

__all__ = ["NotLicensed", "licence"]


class NotLicensed(ValueError):
    """A theorem that is not proved, or that licenses nothing; says which."""


def licence(proved: Proved, readings: Any) -> Licence:
    """The licence that a green theorem gives, for the reference variant of its own system under `readings`.

    These are the readings of the system on which the theorem was linked to its claim.

    Raises NotLicensed for a theorem that is not green or names no quotient.
    """
    theorem = proved.theorem
    if not isinstance(theorem, Theorem) or not theorem.quotient:
        raise NotLicensed(f"theorem {theorem.name} names no quotient, so it licenses none")
    if not proved.green:
        raise NotLicensed(
            f"theorem {theorem.name} is {proved.status.value}, so it licenses nothing: {proved.verdict.because}"
        )
    return Licence(theorem.quotient, theorem.system, "reference", theorem.name, proved.digest, readings)
