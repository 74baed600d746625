"""The honest kernel with four independent defects planted, none of which hides another.

evenhand check cud --adapter four_defects:factory --system run --out findings
"""

from __future__ import annotations

from typing import Any

from honest_kernel import Kernel, supported

from evenhand.conform.adapters import Initial

__all__ = ["Broken", "factory"]

Json = Any


class Broken(Kernel):
    """One defect per method."""

    def vetoed(self, request: Json) -> bool:
        """First: a DENY binds its holder's friends only; in truth, nobody."""
        return False

    def interfere(self, one: Json, other: Json) -> bool:
        """Second: a reader is never in anybody's way."""
        return one["action_type"] == other["action_type"] == "WRITE" and super().interfere(one, other)

    def delivered(self, agent: str) -> list[tuple[str, str]]:
        """Third: one's own messages come back."""
        return self.mail

    def malformed(self, agent: str, request: Json) -> bool:
        """Fourth: whatever sender a request names is believed to be written by mistake, and let pass."""
        return super().malformed(agent, {**request, "agent_id": None})


def factory(initial: Initial) -> Kernel:
    """The adapter."""
    return Broken(supported(initial))
