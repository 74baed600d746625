"""Pause the garbage collector: while a model is observed, or where all that is made is kept."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected(*, kept: bool = False) -> Generator[None]:
    """Pause the garbage collector, also because its callbacks (Hypothesis has one) would be taken for the model.

    `kept`: what there is at the end stays, so that no later collection looks through it.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if kept:
            gc.freeze()
        if collecting:
            gc.enable()
