"""Executable semantics of the protocols: frozen dataclasses, pure functions, exact arithmetic.

Nothing here imports an engine.  `system` and `trace` hold the vocabulary every protocol is written
in; each protocol is one module or folder whose `PROTOCOL` the registry finds by walking this package.
"""
