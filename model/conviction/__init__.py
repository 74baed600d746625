"""`conviction`: the conviction-staking consensus.

Agents propose, comment, revise and stake points on proposals over several rounds; stake that stays weighs more, and
the heaviest proposal wins.  Section numbers are those of the source, with A or B before them where only one of its two
texts has the sentence.
"""

from __future__ import annotations

from evenhand.model.conviction.protocol import CONVICTION

__all__ = ["PROTOCOL"]

PROTOCOL = CONVICTION
"""What the registry finds."""
