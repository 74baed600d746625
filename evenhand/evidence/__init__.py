"""Handle counterexamples: judge, shrink, replay, record and store them."""
