"""Pause the garbage collector: while a model is observed, or where all that is made is kept."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """Pause the garbage collector, also because its callbacks (Hypothesis has one) would be taken for the model."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
