"""What the default run leaves to `make deep`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest

__all__ = ["rest_deep"]


def rest_deep(values: Iterable[Any], first: int = 1) -> list[Any]:
    """Return the values of a parameter, all but the `first` of them marked deep; a tuple is several parameters."""
    marked: list[Any] = []
    for place, value in enumerate(values):
        several = cast("tuple[Any, ...]", value if isinstance(value, tuple) else (value,))
        marked.append(value if place < first else pytest.param(*several, marks=pytest.mark.deep))
    return marked
