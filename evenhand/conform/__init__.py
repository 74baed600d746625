"""Other people's kernels: adapters, checks against model and claims, vectors, documents."""
