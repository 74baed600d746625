"""Theorems about `conviction`, for any number of agents, proposals, stakes and ticks.

Start with `ledger` (how points change) and `invariants` (properties of all reachable states); `clock` proves that
every Issue ends.
"""
