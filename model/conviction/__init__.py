"""`conviction`: the conviction-staking consensus.

Agents propose, comment, revise and stake points on proposals over several rounds; older stake weighs more, and the
heaviest proposal wins.  Section numbers are those of the source; a prefix A or B marks a sentence that only one of its
two texts has.
"""

from __future__ import annotations

from evenhand.model.conviction.protocol import CONVICTION

__all__ = ["PROTOCOL"]

PROTOCOL = CONVICTION
"""The protocol as the registry finds it."""
