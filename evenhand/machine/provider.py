"""Where the machine's randomness comes from: Hypothesis' own generator, without its guesses.

Hypothesis likes to draw constants that it reads in the source of whatever modules happen to be loaded, so
that the same seed draws other runs under pytest than on the command line, and others again once installed.
The backend here draws from the seed alone: same source, same versions, same runs.  It also generates every
example from scratch, at full length, where the default one mutates and shortens earlier ones.
"""

from __future__ import annotations

from typing import Any

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

__all__ = ["BACKEND", "SeedOnly"]

BACKEND = "evenhand"
"""The name under which Hypothesis' settings know this backend."""


class SeedOnly(HypothesisProvider):
    """Hypothesis' provider, except that no constant is taken from loaded modules."""

    def _maybe_draw_constant(self, *_args: Any, **_options: Any) -> None:
        return None


AVAILABLE_PROVIDERS.setdefault(BACKEND, f"{__name__}.{SeedOnly.__name__}")
