"""The kit of slips: the corpus registers here, and the harness and the table use it.

A slip is a mistake that a reader of the README (or a language model) plausibly makes: a claim without its `all(...)`, a
misspelt keyword, a step that keeps a counter.  No unestablished claim may hold, and the result must be one clear
sentence that names the culprit.  Controls are right uses that look like slips, so that a harness that refuses
everything fails.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

evenhand: Any = importlib.import_module("evenhand")
"""The package as a user without type checker sees it: no slip is refused before it runs."""

MODULES = (
    "answers",
    "lookalikes",
    "kinds",
    "parts",
    "relations",
    "defining",
    "arguments",
    "asking",
    "states",
    "equality",
    "purity",
    "systems",
    "stepping",
    "raising",
    "raising_parts",
    "bounds",
    "liveness",
    "vacuity",
    "records",
    "joint",
    "engines",
    "drawing",
    "reports",
)
"""The modules of the corpus; each names one category."""

SECONDS = 10.0
"""Seconds that a slip may take, unless it says otherwise: each is a system of a few states."""


class TooLong(BaseException):
    """A slip that does not return.  It is no Exception, so that usual handlers do not swallow it."""


@dataclass(frozen=True)
class Slip:
    """A use of the package: `run` does all of it, `says` are patterns that must all occur in the answer.

    `refuted` allows a refutation as an honest answer as well: the claim is false if taken as written. `sampled` allows
    drawn runs to find nothing, as they do where a bound leaves the claim open.
    """

    category: str
    name: str
    sentence: str
    run: Callable[[], Any]
    says: tuple[str, ...] = ()
    refuted: bool = False
    sampled: bool = False
    right: bool = False
    seconds: float = SECONDS


CORPUS: dict[tuple[str, str], Slip] = {}
"""Every slip and control that was registered, by category and name."""

CATEGORIES: dict[str, str] = {}
"""The subject of each category: the first line of its module."""


def slip(
    category: str,
    *,
    says: str | Iterable[str],
    refuted: bool = False,
    sampled: bool = False,
    seconds: float = SECONDS,
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a mistake.  `says` are patterns that must all occur in the answer, in upper or lower case."""
    patterns = (says,) if isinstance(says, str) else tuple(says)
    return lambda run: _added(
        Slip(category, run.__name__, _sentence(run), run, patterns, refuted, sampled, seconds=seconds)
    )


def control(category: str, *, seconds: float = SECONDS) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a right use that looks like a mistake: it must hold."""
    return lambda run: _added(Slip(category, run.__name__, _sentence(run), run, right=True, seconds=seconds))


def _added(one: Slip) -> Callable[[], Any]:
    known = CORPUS.get((one.category, one.name))
    if known is not None and known.run.__code__.co_filename != one.run.__code__.co_filename:
        raise ValueError(f"two slips of {one.category} are called {one.name}")
    CORPUS[one.category, one.name] = one
    return one.run


def _sentence(run: Callable[[], Any]) -> str:
    if not run.__doc__:
        raise ValueError(f"{run.__name__} does not say what the user did wrong; write one line")
    return run.__doc__.strip().splitlines()[0]


def loaded() -> tuple[Slip, ...]:
    """Return the whole corpus, category by category."""
    for name in MODULES:
        module = importlib.import_module(f"tests.slips.{name}")
        CATEGORIES[name] = (module.__doc__ or "").splitlines()[0]
    return tuple(sorted(CORPUS.values(), key=lambda one: MODULES.index(one.category)))
