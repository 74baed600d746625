"""Proofs by SMT solvers: first-order theories of a protocol, compared with its executable model."""
