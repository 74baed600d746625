"""Claims about single steps, evaluated along with the step itself: one label for each row.

A label says which claims the steps meet and violate that a row stands for.  For a row of several joint actions claims
are evaluated without the action; one that reads it needs a lower method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeGuard

from evenhand.core.property import Property, Reachable, Safety
from evenhand.search.action_independent import ActionNeeded, action_independent_step, make_step, was_touched


class LooksAtAction(Exception):
    """A claim reads the joint actions that a row merges."""


def about_steps(claim: Property) -> bool:
    """Return whether a claim is decided state by state and step by step."""
    return isinstance(claim, Reachable) or (isinstance(claim, Safety) and claim.reads != "histories")


def about_states(claim: Property) -> TypeGuard[Safety]:
    """Return whether a claim is decided state by state."""
    return isinstance(claim, Safety) and claim.reads == "states"


class Labeller:
    """A numbering of what steps say of claims: bits 2k and 2k+1 mean met and violated of step claim k."""

    def __init__(self, claims: Sequence[Property], config: Any) -> None:
        self.claims = [c for c in claims if about_steps(c) and not about_states(c) and c.applies(config)]
        self.numbers: dict[int, int] = {0: 0} if not self else {}

    def __bool__(self) -> bool:
        """Return whether any claim has to be evaluated."""
        return bool(self.claims)

    @property
    def sets(self) -> list[int]:
        """The bits of each label."""
        return list(self.numbers)

    def label(self, config: Any, before: Any, action: tuple[Any] | None, shown: Any, after: Any) -> int:
        """Return the label of a step; `action` is in a tuple, and None for a merged row."""
        if not self:
            return 0
        bits = 0

        def ask(name: str, question: Callable[[Any], Any]) -> Any:
            step: Any
            if action is None:
                step = action_independent_step(config, before, shown, after)
            else:
                step = make_step(config, before, action[0], shown, after)
            try:
                answer = question(step)
            except ActionNeeded:
                raise LooksAtAction(f"claim {name!r} reads actions that a row merges") from None
            if action is None and was_touched(step):
                raise LooksAtAction(f"claim {name!r} reads actions that a row merges")
            return answer

        for place, claim in enumerate(self.claims):
            met, violated = ask(claim.name, partial(_said, claim))
            bits |= (met << 2 * place) | (violated << 2 * place + 1)
        return self.numbers.setdefault(bits, len(self.numbers))


def _said(claim: Property, step: Any) -> tuple[bool, bool]:
    if isinstance(claim, Reachable):
        return True, bool(claim.goal(step))
    assert isinstance(claim, Safety)
    when, check = claim.tests
    if not when(step):
        return False, False
    return True, not check(step)
