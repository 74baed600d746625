"""Readings, mutants and implementations beside the reference: the smallest scenario that tells two of them apart."""
