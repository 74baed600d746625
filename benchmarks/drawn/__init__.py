"""Faults drawn from the source texts alone, before any claim was read, and what the claims say of them."""
