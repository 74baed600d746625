"""The protocol with its claims, put together without the registry."""

from __future__ import annotations

from evenhand.core.bundle import Bundle
from evenhand.model.conviction.protocol import CONVICTION
from evenhand.properties.conviction import CLAIMS

BUNDLE = Bundle(CONVICTION, CLAIMS.claims, CLAIMS.generators, plans=CLAIMS.plans)
