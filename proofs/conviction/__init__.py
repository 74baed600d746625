"""Theorems about `conviction`, for any number of agents, proposals, stakes and ticks.

Start with `ledger` (how points change) and `invariants` (properties of all reachable states); `clock` proves that
every Issue ends.
"""

from __future__ import annotations

from evenhand.proofs.conviction.clock import ENDINGS
from evenhand.proofs.conviction.feedback import LAWFUL
from evenhand.proofs.conviction.finale import STAKES
from evenhand.proofs.conviction.moves import MOVED
from evenhand.proofs.conviction.one_purse import OWN_ORDERS
from evenhand.proofs.conviction.outsiders import DECIDED
from evenhand.proofs.conviction.purses import SAME_POINTS
from evenhand.proofs.conviction.renamed import NAMES
from evenhand.proofs.conviction.renamed_acts import NO_ACT
from evenhand.proofs.conviction.renamed_ticks import NO_TICK
from evenhand.proofs.conviction.saturating import SATURATED
from evenhand.proofs.conviction.stake_ticks import STAKE_TICKS
from evenhand.proofs.conviction.winners import WINNERS
from evenhand.smt.theorem import Theorem

THEOREMS: tuple[Theorem, ...] = (
    *ENDINGS,
    LAWFUL,
    MOVED,
    *STAKES,
    SATURATED,
    *STAKE_TICKS,
    SAME_POINTS,
    *OWN_ORDERS,
    *WINNERS,
    NAMES,
    NO_TICK,
    NO_ACT,
    DECIDED,
)
"""Theorems about single steps; `invariants` holds those about runs."""
