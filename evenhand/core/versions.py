"""The versions of software that every report and record names."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

__version__ = "0.1.0"

RELEVANT = ("hypothesis", "numpy", "scipy", "z3-solver", "cvc5")
"""Packages whose version can change a verdict or the way to it."""


def versions() -> dict[str, str]:
    """Return the versions of evenhand, Python and every relevant package; `absent` for one not installed."""
    found = {"evenhand": __version__, "python": platform.python_version()}
    for name in RELEVANT:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found
