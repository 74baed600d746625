"""Transition systems over a theory: bounded runs, lassos and induction."""
