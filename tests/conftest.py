"""Settings of the whole suite: Hypothesis draws the same examples in CI, and never by the clock."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

__all__: list[str] = []

settings.register_profile("local", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "local")
