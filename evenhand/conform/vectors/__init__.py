"""Vectors: runs with their expected outcomes, for checking kernels."""
