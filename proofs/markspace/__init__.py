"""Theorems about `markspace`: strength over the reals, and the barrier, for any number of marks, agents and scopes."""

from __future__ import annotations

from evenhand.proofs.markspace.access import ACCESS
from evenhand.proofs.markspace.barrier import BARRIERS
from evenhand.proofs.markspace.batches import BATCHES
from evenhand.proofs.markspace.budgets import SPENDING
from evenhand.proofs.markspace.clocked import CLOCKS
from evenhand.proofs.markspace.composed import COMPOSITIONS
from evenhand.proofs.markspace.crossing import CROSSED
from evenhand.proofs.markspace.deciding import DECISIONS
from evenhand.proofs.markspace.delivering import DELIVERIES
from evenhand.proofs.markspace.escalating import ESCALATIONS
from evenhand.proofs.markspace.layering import LAYERINGS
from evenhand.proofs.markspace.leaking import APART
from evenhand.proofs.markspace.levels import LEVELS
from evenhand.proofs.markspace.lives import LIFETIMES
from evenhand.proofs.markspace.piling import PILED
from evenhand.proofs.markspace.policies import POLICIES
from evenhand.proofs.markspace.renamed import RENAMINGS
from evenhand.proofs.markspace.resolving import RESOLUTIONS
from evenhand.proofs.markspace.scopes import HIERARCHIES
from evenhand.proofs.markspace.strengths import STRENGTHS
from evenhand.proofs.markspace.superseding import SUPERSESSIONS
from evenhand.proofs.markspace.waiting import WAITINGS
from evenhand.proofs.markspace.watching import WATCHES

THEOREMS = (
    *STRENGTHS,
    *LIFETIMES,
    *HIERARCHIES,
    *ACCESS,
    APART,
    CROSSED,
    *RESOLUTIONS,
    *SUPERSESSIONS,
    *BARRIERS,
    *ESCALATIONS,
    *SPENDING,
    *LAYERINGS,
    *WATCHES,
    *DECISIONS,
    *POLICIES,
    *BATCHES,
    *COMPOSITIONS,
    *DELIVERIES,
    *CLOCKS,
    *WAITINGS,
    PILED,
    *RENAMINGS,
    *LEVELS,
)
"""The theorems about `markspace`."""
