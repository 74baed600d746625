"""`markspace`: stigmergic coordination through marks, scopes, conflict policies, and a guard in three steps.

Start reading at `guard_words` and `guard` (who may act), then `marks` and `space` (what is written and who sees it),
`strength` and `exact` (how strong it is), `layers_words` and `layers` (what a deployment may add), `composing`.
Section and P-numbers are those of the source text.
"""

from __future__ import annotations

from evenhand.model.markspace.protocol import MARKSPACE

__all__ = ["PROTOCOL"]

PROTOCOL = MARKSPACE
"""What the registry finds."""
