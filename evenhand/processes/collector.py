"""Pause the garbage collector, or have it work seldom: where a model is observed, or most that is made is kept."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

SELDOM = 50_000
"""New objects, less those that are gone, after which the youngest are looked through."""


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


@contextmanager
def seldom_collected() -> Generator[None]:
    """Have the garbage collector leave alone what there is, and look through new objects seldom, until the end."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
