"""Unbounded and bounded proofs: theories, theorems, and their link to the executable model."""
