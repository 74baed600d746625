"""Theorems about `markspace`: strength over the reals, and the barrier, for any number of marks, agents and scopes."""
