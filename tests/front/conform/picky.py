"""An adapter that takes one system of its protocol and no other."""

from __future__ import annotations

from evenhand.conform.adapters import Initial, Unsupported
from evenhand.conform.adapters.model import reference
from evenhand.core.kernel import Kernel


def conditions_alone(initial: Initial) -> Kernel:
    """The reference of one system."""
    if initial["system"] != "conditions":
        raise Unsupported("conditions alone")
    return reference(initial)
