"""Check an external kernel: against the model, and by the claims."""
