"""The protocol `ring` is installed while a test of campaigns runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from evenhand.properties import registry
from tests.evenhand.campaign.suite import RING

__all__: list[str] = []


@pytest.fixture(autouse=True)
def ring(latch: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Beside `latch`."""
    monkeypatch.setattr(sys, "path", [str(RING), *sys.path])
    registry.rescan()
    yield
    registry.rescan()
