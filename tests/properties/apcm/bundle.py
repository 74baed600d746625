"""The protocol with its claims, put together without the registry."""

from __future__ import annotations

from evenhand.core.bundle import Bundle
from evenhand.model.apcm.protocol import APCM
from evenhand.properties.apcm import CLAIMS

BUNDLE = Bundle(APCM, CLAIMS.claims, CLAIMS.generators, plans=CLAIMS.plans)
