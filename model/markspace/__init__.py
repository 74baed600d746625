"""`markspace`: stigmergic coordination through marks, scopes, conflict policies, and a guard in three steps.

Start with `guard_vocabulary` and `guard` (permission to act), then `marks` and `space` (writing and visibility),
`strength` and `exact` (strength of marks), `layers_vocabulary` and `layers` (optional additions), `composing`. Section
and P-numbers are those of the source text.
"""

from __future__ import annotations

from evenhand.model.markspace.protocol import MARKSPACE

__all__ = ["PROTOCOL"]

PROTOCOL = MARKSPACE
"""The protocol, for the registry."""
