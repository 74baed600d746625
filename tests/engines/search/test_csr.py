"""The plain graph algorithms give what scipy's give, number by number."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import numpy as np
import pytest

from evenhand.search import csr


def test_plain_algorithms_number_as_scipy_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """On random graphs with loops, parallel edges and nodes without any."""
    rng = np.random.default_rng(26)
    for _ in range(300):
        size, edges = int(rng.integers(1, 30)), int(rng.integers(0, 70))
        source, target = rng.integers(0, size, edges), rng.integers(0, size, edges)
        seeds = rng.random(size) < 0.2
        monkeypatch.setattr(csr, "_followed", 0)
        plain = csr.components(size, source, target), csr.ahead(size, source, target, seeds)
        assert csr._followed == 2 * (size + edges)
        monkeypatch.setattr(csr, "_followed", csr.PLAIN)
        scipys = csr.components(size, source, target), csr.ahead(size, source, target, seeds)
        for one, other in zip(plain, scipys, strict=True):
            assert one.dtype == other.dtype
            assert one.tolist() == other.tolist()
