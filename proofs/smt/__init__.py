"""The solver side of the proofs: a small first-order logic, its readers, and two solvers kept apart."""
