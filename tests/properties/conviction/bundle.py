"""The protocol with its claims, put together without the registry."""

from __future__ import annotations

from evenhand.model.conviction.protocol import CONVICTION
from evenhand.properties.conviction import CLAIMS
from evenhand.properties.registry import Bundle

__all__ = ["BUNDLE"]

BUNDLE = Bundle(CONVICTION, CLAIMS.claims, CLAIMS.generators, CLAIMS.expected, CLAIMS.plans)
