"""evenhand: verify kernels in which several agents act without an arbiter."""
