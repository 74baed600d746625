"""One folder of counterexamples per protocol, as JSON files."""
