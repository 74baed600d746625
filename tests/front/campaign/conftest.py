"""The protocol `ring` is installed while a test of campaigns runs."""

from __future__ import annotations

import pytest

from tests.front.campaign.suite import RING
from tests.front.conftest import PLUGINS, installed


@pytest.fixture(autouse=True)
def ring(latch: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the protocol `ring` beside `latch`."""
    installed(monkeypatch, RING, PLUGINS)
