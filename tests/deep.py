"""What the default run leaves to CI and `make slow`, and to `make deep`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest

__all__ = ["rest_deep", "rest_slow"]


def rest_deep(values: Iterable[Any], first: int = 1) -> list[Any]:
    """Return the values of a parameter, all but the `first` of them marked deep; a tuple is several parameters."""
    return _rest(values, first, pytest.mark.deep)


def rest_slow(values: Iterable[Any], first: int = 1) -> list[Any]:
    """Return the values of a parameter, all but the `first` of them marked slow; a tuple is several parameters."""
    return _rest(values, first, pytest.mark.slow)


def _rest(values: Iterable[Any], first: int, mark: pytest.MarkDecorator) -> list[Any]:
    return [value if place < first else _marked(value, mark) for place, value in enumerate(values)]


def _marked(value: Any, mark: pytest.MarkDecorator) -> Any:
    if hasattr(value, "marks") and hasattr(value, "values"):  # what `pytest.param` made: it may be marked already
        return pytest.param(*value.values, marks=[mark, *value.marks], id=value.id)
    return pytest.param(*cast("tuple[Any, ...]", value if isinstance(value, tuple) else (value,)), marks=mark)
