"""Transition systems over a theory: bounded runs, lassos, induction and inference of invariants."""
