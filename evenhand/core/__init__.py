"""The vocabulary that models, claims and engines share: systems, traces, properties, verdicts, canonical files.

No module here depends on an engine or on a protocol.
"""
