"""Stigmergic coordination: marks, decay, trust, conflicts, scopes, and a guard in three steps."""
