"""The protocol with its claims, put together without the registry."""

from __future__ import annotations

from evenhand.core.bundle import Bundle
from evenhand.model.markspace.protocol import MARKSPACE
from evenhand.properties.markspace import CLAIMS

BUNDLE = Bundle(MARKSPACE, CLAIMS.claims, CLAIMS.generators, plans=CLAIMS.plans)
