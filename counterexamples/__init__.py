"""Refutations as files: the record format, the store, and a folder of fixtures per protocol."""
