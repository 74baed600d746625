"""The words that models, claims and engines share: systems, traces, properties, verdicts, canonical files.

Nothing here knows an engine or a protocol.
"""
