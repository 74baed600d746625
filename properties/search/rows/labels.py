"""Claims about single steps, asked along with the step itself: one label for each row.

A label says which predicates hold of the steps that a row stands for.  A row that stands for several joint
actions shows the predicates a step without an action; who looks at it sends the claim to tier 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.properties.property import Always, EachStep, Property, Reachable
from evenhand.properties.search.blind import ActionNeeded, blind_step, make_step, was_touched

__all__ = ["Labeller", "LooksAtAction", "speaks_of"]


class LooksAtAction(Exception):
    """A claim looks at the joint actions that a row merges."""


def speaks_of(claim: Property) -> bool:
    """Whether this tier can answer a claim of that kind."""
    return isinstance(claim, Always | EachStep | Reachable)


class Labeller:
    """Numbers the sets of predicates that steps satisfy: bits 2k and 2k+1 say met and violated of step claim k."""

    def __init__(self, claims: Sequence[Property], config: Any) -> None:
        self.claims = [c for c in claims if isinstance(c, EachStep | Reachable) and c.applies(config)]
        self.numbers: dict[int, int] = {0: 0} if not self.claims else {}

    @property
    def sets(self) -> list[int]:
        """The bits of each label."""
        return list(self.numbers)

    def label(self, config: Any, before: Any, action: tuple[Any] | None, shown: Any, after: Any) -> int:
        """The label of a step (its action in a tuple, None for a merged one)."""
        if not self.claims:
            return 0
        bits = 0
        step: Any
        for place, claim in enumerate(self.claims):
            if action is None:
                step = blind_step(config, before, shown, after)
            else:
                step = make_step(config, before, action[0], shown, after)
            try:
                met, violated = _said(claim, step)
            except ActionNeeded:
                raise LooksAtAction(f"claim {claim.name!r} looks at the actions that a row merges") from None
            if action is None and was_touched(step):
                raise LooksAtAction(f"claim {claim.name!r} looks at the actions that a row merges")
            bits |= (met << 2 * place) | (violated << 2 * place + 1)
        return self.numbers.setdefault(bits, len(self.numbers))


def _said(claim: EachStep | Reachable, step: Any) -> tuple[bool, bool]:
    if isinstance(claim, Reachable):
        return True, bool(claim.goal(step))
    if not claim.when(step):
        return False, False
    return True, not claim.check(step)
