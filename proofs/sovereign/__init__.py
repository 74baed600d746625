"""Theorems about `sovereign`: for any number of observations, candidates, citations and warrants."""
