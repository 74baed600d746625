"""Compiled search: the unmodified step, compiled to rows of bits that one kernel runs for every model.

`placeholders` runs ordinary code on values not yet chosen, `watch` catches code that looks past them, `shape`
turns declared domains into bits, `compiler` turns a configuration into tables of rows, `kernel` runs them (numba,
or numpy with the same result), `walk` searches, and `check` compares what came out with the step itself.
"""
