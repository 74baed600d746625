"""Planted arbiters and honest kernels that look suspicious, examined as a user does: `python -m benchmarks.arbiters`."""
