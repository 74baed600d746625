"""Rows for symmetric search: the unmodified step becomes rows of bits.

`proxies` runs ordinary code on values not yet chosen, `watch` catches code that bypasses them, `shape` turns declared
domains into bits, `compiler` turns a configuration into tables of rows, `flat` makes arrays of them, and `plain` looks
them up.
"""
