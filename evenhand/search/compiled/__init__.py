"""Compiled search: the unmodified step becomes rows of bits that one kernel runs for every model.

`proxies` runs ordinary code on values not yet chosen, `watch` catches code that bypasses them, `shape` turns declared
domains into bits, `compiler` turns a configuration into tables of rows, `kernel` runs them (numba, or numpy with the
same result), `walk` searches, and `check` compares rows with the step itself.
"""
