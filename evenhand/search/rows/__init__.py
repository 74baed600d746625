"""Rows for symmetric search: the unmodified step becomes rows of bits.

`proxies` runs ordinary code on values not yet chosen, `watch` catches code that bypasses them, `shape` turns declared
domains into bits, `compiler` turns a configuration into tables of rows, `flat` makes arrays of them, `plain` looks them
up, and `walk` is what a search over them gives.
"""
