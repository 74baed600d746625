"""What decides in `cud`: the claims that answer."""

from __future__ import annotations

from evenhand.core.profile import Aspect, ProfileQuestion

__all__ = ["PROFILE"]

PROFILE = (
    ProfileQuestion(Aspect.POSITION, "order_independence"),
    ProfileQuestion(Aspect.NAME, "equivariance"),
    ProfileQuestion(Aspect.TIME, "epoch_independence"),
    ProfileQuestion(Aspect.VALUE, "value_independence"),
    ProfileQuestion(Aspect.HISTORY, "history_independence"),
    ProfileQuestion(Aspect.DEADLOCK, "deadlock_free"),
    ProfileQuestion(Aspect.LIVELOCK, "livelock_free"),
)
"""Confidence is nothing that this kernel knows; what a request declares is its content, and decides by the text."""
