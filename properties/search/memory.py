"""How much memory this process holds, for searches that are told to stay below a bound."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

__all__ = ["resident"]

_STATM = Path("/proc/self/statm")


def resident() -> int:
    """Bytes resident now; where the system does not say, the most there ever were."""
    try:
        return int(_STATM.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
