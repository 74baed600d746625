"""A part of the configurations: which ones it has, and which claims it cannot decide for the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from evenhand.core.property import Property

Part: TypeAlias = tuple[int, int]
"""Part k of n of the configurations, counted from 1."""


class NoSuchPart(ValueError):
    """The configurations do not have the part that was requested."""


def portion(kept: Sequence[tuple[int, int]], part: Part) -> tuple[tuple[int, int], ...]:
    """Return every n-th configuration from the k-th on.  Raises NoSuchPart for a part that does not exist."""
    first, parts = part
    if not 1 <= first <= parts <= len(kept):
        raise NoSuchPart(
            f"part {first}/{parts} of {len(kept)} configurations: it is k/n with 1 <= k <= n <= {len(kept)}"
        )
    return tuple(kept[first - 1 :: parts])


def elsewhere(claim: Property, part: Part) -> str:
    """Return why a claim without violation here is not decided; empty where no other part can violate it.

    A safety claim holds on the configurations explored; in others a goal may be met, or compared values may differ.
    """
    if claim.existential or claim.across_configurations:
        return f"part {part[0]}/{part[1]} of the configurations decides nothing about the others"
    return ""
