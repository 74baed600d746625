"""Unbounded and bounded proofs: theories, theorems, and their conformance with the executable model."""
