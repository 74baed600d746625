"""A part of the configurations: which ones it has, and what it cannot say of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from evenhand.core.property import DeterminedBy, Property, Reachable

__all__ = ["NoSuchPart", "Part", "elsewhere", "portion"]

Part: TypeAlias = tuple[int, int]
"""The k-th of n parts of the configurations, counted from 1."""


class NoSuchPart(ValueError):
    """A part that the configurations do not have."""


def portion(kept: Sequence[tuple[int, int]], part: Part) -> tuple[tuple[int, int], ...]:
    """Each n-th configuration from the k-th on.  Raises NoSuchPart."""
    first, parts = part
    if not 1 <= first <= parts <= len(kept):
        raise NoSuchPart(
            f"part {first}/{parts} of {len(kept)} configurations: it is k/n with 1 <= k <= n <= {len(kept)}"
        )
    return tuple(kept[first - 1 :: parts])


def elsewhere(claim: Property, part: Part) -> str:
    """Why a claim that nothing violates here is not decided; empty where no other part can speak against it.

    A safety claim holds of the configurations that were explored; a goal, or what two configurations have to agree
    on, may be met or broken in those that were not.
    """
    if isinstance(claim, Reachable) or (isinstance(claim, DeterminedBy) and claim.across):
        return f"part {part[0]}/{part[1]} of the configurations says nothing of the others"
    return ""
