"""`sovereign`: the constitution-bound kernel (RSA-0, Phase X).

Every proposal passes five gates or is refused; one bundle wins by its hash; one warrant is issued, for one
request, in one cycle, once.  Section numbers are those of the source text.
"""

from __future__ import annotations

from evenhand.model.sovereign.protocol import SOVEREIGN

__all__ = ["PROTOCOL"]

PROTOCOL = SOVEREIGN
"""The protocol for the registry."""
