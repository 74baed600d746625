"""Plan and run jobs: which jobs a run has, how each engine does them, in how many processes."""
