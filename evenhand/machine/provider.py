"""A Hypothesis backend that draws from the seed alone.

By default Hypothesis draws constants from the source of the loaded modules, so that one seed draws different runs under
pytest, on the command line and once installed.  This backend gives the same runs for the same source and versions.  It
also generates every example from scratch, at full length, where the default one mutates and shortens earlier ones.
"""

from __future__ import annotations

from typing import Any

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

BACKEND = "evenhand"
"""The name under which Hypothesis' settings know this backend."""


class SeedOnly(HypothesisProvider):
    """Hypothesis' provider, without constants from loaded modules."""

    def _maybe_draw_constant(self, *_args: Any, **_options: Any) -> None:
        return None


AVAILABLE_PROVIDERS.setdefault(BACKEND, f"{__name__}.{SeedOnly.__name__}")
