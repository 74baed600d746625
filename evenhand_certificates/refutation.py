"""Refutations of clauses in the LRAT format: each step names the clauses that make it true.

A step adds a clause that follows by unit propagation: if all its literals are false, the named clauses in their order
have one literal left, which becomes true, and the last one has none.  The last step is the empty clause.
"""

# SPDX-License-Identifier: MIT
# What is read may be anything, so its parts have no known type until they are looked at.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from evenhand_certificates.clauses import Clause
from evenhand_certificates.errors import Invalid, Work


def check_refutation(clauses: Sequence[Clause], steps: Sequence[Any], work: Work) -> None:
    """Check that the steps `[clause, hints]` end in the empty clause.  Raises Invalid.

    Hints are places: of the clauses first, then of earlier steps.
    """
    known = list(clauses)
    for number, step in enumerate(steps):
        clause, hints = step if isinstance(step, list) and len(step) == 2 else (None, None)
        if not _integers(clause) or not _integers(hints):
            raise Invalid(f"step {number} of the refutation is not [clause, hints]")
        if not _follows(known, clause, hints, work):
            raise Invalid(f"step {number} of the refutation does not follow from the clauses it names")
        if not clause:
            return
        known.append(tuple(clause))
    raise Invalid("the refutation does not end in the empty clause")


def _integers(given: Any) -> TypeGuard[list[int]]:
    return isinstance(given, list) and all(type(item) is int for item in given)


def _follows(known: Sequence[Clause], clause: Sequence[int], hints: Sequence[int], work: Work) -> bool:
    false = set(clause)
    for hint in hints:
        if not 0 <= hint < len(known):
            return False
        work.spend(1 + len(known[hint]) // 4)
        left = {literal for literal in known[hint] if literal not in false}
        if not left:
            return True
        if len(left) > 1:
            return False
        false.add(-left.pop())
    return False
