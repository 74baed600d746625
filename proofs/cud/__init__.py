"""Theorems about `cud`, coordination under deadlock: one epoch, for any number of agents, keys and authorities."""
