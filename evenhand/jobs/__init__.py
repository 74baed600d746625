"""One run: what is planned, what each engine does for it, in how many processes."""
