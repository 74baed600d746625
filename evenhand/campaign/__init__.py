"""Long runs: a plan in a file, results in a store, work in processes here or on a cluster, resumable at any moment."""
