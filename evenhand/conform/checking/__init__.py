"""Checking somebody's kernel: against the model, and by the claims."""
