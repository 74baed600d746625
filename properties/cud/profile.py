"""What decides in `cud`: the claims that answer."""

from __future__ import annotations

from evenhand.properties.profile import Asked, Aspect

__all__ = ["PROFILE"]

PROFILE = (
    Asked(Aspect.POSITION, "order_independence"),
    Asked(Aspect.NAME, "equivariance"),
    Asked(Aspect.TIME, "epoch_independence"),
    Asked(Aspect.VALUE, "value_independence"),
    Asked(Aspect.HISTORY, "history_independence"),
    Asked(Aspect.DEADLOCK, "deadlock_free"),
    Asked(Aspect.LIVELOCK, "livelock_free"),
)
"""Confidence is nothing that this kernel knows; what a request declares is its content, and decides by the text."""
