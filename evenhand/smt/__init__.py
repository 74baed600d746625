"""Proofs by SMT solvers: first-order theories of a protocol, linked with its executable model."""
