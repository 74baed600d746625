"""Compare many runs: kill matrices, sensitivity to readings, growth with size, arbitration profiles."""
