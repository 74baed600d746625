"""What a slip is: the corpus registers here, the harness and the table go through it.

A slip is something that a person (or a language model) plausibly writes who has read the README: a claim that forgets
its `all(...)`, a misspelt keyword, a step that keeps a counter.  Nothing that was not established may come out green,
and what comes out must be one clear sentence that names the culprit.  Controls are right uses that look like slips, so
that nobody passes by refusing everything.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

evenhand: Any = importlib.import_module("evenhand")
"""The package as somebody uses it who runs no type checker: nothing of a slip is refused before it runs."""

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
"""What a slip may take, unless it says otherwise: each is a system of a few states."""


class TooLong(BaseException):
    """A slip that does not come back.  No Exception: nothing between here and the harness swallows it by habit."""


@dataclass(frozen=True)
class Slip:
    """A use of the package: `run` does all of it, `says` are patterns that the answer must show, each of them.

    `refuted` tells that a refutation is an honest answer as well: the claim is false where it is taken as written.
    `sampled` tells that drawn runs may find nothing, as they do where a bound is what leaves the claim open.
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
"""What each category is about: the first line of its module."""


def slip(
    category: str,
    *,
    says: str | Iterable[str],
    refuted: bool = False,
    sampled: bool = False,
    seconds: float = SECONDS,
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a mistake.  `says` is what a user must be told: patterns, each of which is to be found, in any case."""
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
    """The whole corpus, category by category."""
    for name in MODULES:
        module = importlib.import_module(f"tests.slips.{name}")
        CATEGORIES[name] = (module.__doc__ or "").splitlines()[0]
    return tuple(sorted(CORPUS.values(), key=lambda one: MODULES.index(one.category)))
