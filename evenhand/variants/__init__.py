"""Compare readings, mutants and implementations with the reference: find the smallest scenario that separates two."""
