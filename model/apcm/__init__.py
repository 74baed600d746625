"""`apcm`: the justification compiler (RSA-PoC v1.0).

An agent may violate a preference only if its artefact authorises that and a deterministic compiler can show, from
the environment's action-preference consequence map, that the violation is necessary.  Section numbers are those of
the source text.
"""

from __future__ import annotations

from evenhand.model.apcm.protocol import APCM

__all__ = ["PROTOCOL"]

PROTOCOL = APCM
"""The protocol for the registry."""
