"""Look up what a person names, and refuse an unknown name with what else there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T")


class Refused(Exception):
    """What a person asked for cannot be had; the message names the culprit, the cause and the next step.

    The command line prints it in one line and ends with 2.
    """


class UnknownName(Refused, ValueError):
    """A name (scope field, reading, mutant, system) that does not exist; lists those that do, of many the near one."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(name.lower(), names, n=1, cutoff=0.66)
        begun = {one[: len(name)]: one for one in reversed(names) if len(name) > 2}  # people leave off the end
        near = near or [begun[one] for one in get_close_matches(name.lower(), begun, n=1, cutoff=0.8)]
        meant = f" (did you mean {near[0]}?)" if near else ""
        few = not near or len(names) <= 12
        there = f"there is: {', '.join(names) or 'none'}" if few else f"'?' in its place lists all {len(names)}"
        super().__init__(f"unknown {what} {name!r}{meant}; {there}")


def named(what: str, name: str, known: Mapping[str, T]) -> T:
    """Return what has this name.  Raises UnknownName."""
    if name not in known:
        raise UnknownName(what, name, known)
    return known[name]
