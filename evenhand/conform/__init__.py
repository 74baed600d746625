"""Conformance of external kernels: adapters, checks against model and claims, vectors, documents."""
