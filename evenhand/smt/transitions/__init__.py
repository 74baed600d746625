"""Transition systems over a theory: bounded runs, lassos, induction, inference of invariants."""
