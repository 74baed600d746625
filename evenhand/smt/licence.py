"""Licences: a proved equivariance allows the explorer to visit one state of each orbit.

A licence needs a theorem that HOLDS, and covers the reference only, because a mutant's fault may break the symmetry.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.licence import Licence
from evenhand.smt.proved import Proved
from evenhand.smt.theorem import Theorem


class NotLicensed(ValueError):
    """A theorem that is not proved, or that names no quotient."""


def licence(proved: Proved, readings: Any) -> Licence:
    """Return the licence that a proved theorem gives, for the reference variant of its system under `readings`.

    `readings` are those of the system on which conformance was checked.  Raises NotLicensed for a theorem that does not
    hold or names no quotient.
    """
    theorem = proved.theorem
    if not isinstance(theorem, Theorem) or not theorem.quotient:
        raise NotLicensed(f"theorem {theorem.name} names no quotient, so it licenses none")
    if not proved.green:
        raise NotLicensed(
            f"theorem {theorem.name} is {proved.status.value}, so it licenses nothing: {proved.verdict.because}"
        )
    return Licence(theorem.quotient, theorem.system, "reference", theorem.name, proved.digest, readings)
