"""Planted arbiters, and honest kernels that look suspicious: `python -m benchmarks.arbiters`."""
