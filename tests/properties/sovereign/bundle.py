"""The protocol with its claims, put together without the registry."""

from __future__ import annotations

from evenhand.core.bundle import Bundle
from evenhand.model.sovereign.protocol import SOVEREIGN
from evenhand.properties.sovereign import CLAIMS

BUNDLE = Bundle(SOVEREIGN, CLAIMS.claims, CLAIMS.generators, plans=CLAIMS.plans)
"""Every claim, generator, expectation and plan of `sovereign`."""
