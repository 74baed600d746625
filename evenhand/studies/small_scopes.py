"""Find places that are searched completely in a moment, for studies that repeat many searches."""

from __future__ import annotations

from itertools import islice
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.system import Scope, System
from evenhand.search import explore
from evenhand.search.estimate import estimate

SMALL = 10_000
"""Estimated steps up to which a search is small enough to be repeated."""


PROBED = 16
"""Configurations up to which a search is tried although its estimate is too large."""


def small_places(bundle: Bundle) -> dict[str, Scope]:
    """Return for each system its largest scope whose search is small.

    Candidates are its own scope and those that mutants name; a system without one is left out.
    """
    found: dict[str, Scope] = {}
    for name, base in bundle.model.systems.items():
        sized = [(estimate(base.at(**dict(one))), one) for one in bundle.scopes_of(name)]
        fitting = [(about, one) for about, one in sized if about is not None and about <= SMALL]
        if fitting:
            found[name] = max(fitting, key=lambda pair: pair[0])[1]
    return found


def is_small(system: System[Any, Any, Any, Any, Any]) -> bool:
    """Return whether the whole search of a system takes at most `SMALL` steps.

    An estimate within the limit is trusted; otherwise a bounded search decides.
    """
    about = estimate(system)
    if about is not None and about <= SMALL:
        return True
    if about is None or sum(1 for _ in islice(system.all_configs(), PROBED + 1)) > PROBED:
        return False
    probe = explore(system, max_states=SMALL)
    return probe.complete and probe.transitions <= SMALL
