"""Find places that are searched completely in a moment, for studies that repeat many searches."""

from __future__ import annotations

from itertools import islice
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.system import Scope, System, UnknownName
from evenhand.search import explore
from evenhand.search.estimate import estimate

__all__ = ["SMALL", "is_small", "named_scopes", "small_places"]

SMALL = 10_000
"""Estimated steps up to which a search is small enough to be repeated."""


PROBED = 16
"""Configurations up to which a search is tried although its estimate is too large."""


def small_places(bundle: Bundle, small: int = SMALL, *, system: str = "") -> dict[str, Scope]:
    """Return for each system (or for `system`) its largest scope whose search is small.

    Candidates are its own scope and those that mutants name; a system without one is left out.  Raises UnknownName for
    an unknown system.
    """
    systems = bundle.model.systems
    if system and system not in systems:
        raise UnknownName(f"system of {bundle.name}:", system, systems)
    found: dict[str, Scope] = {}
    for name, base in systems.items():
        if system not in ("", name):
            continue
        sized = [(estimate(base.at(**dict(one))), one) for one in named_scopes(bundle, name)]
        fitting = [(about, one) for about, one in sized if about is not None and about <= small]
        if fitting:
            found[name] = max(fitting, key=lambda pair: pair[0])[1]
    return found


def named_scopes(bundle: Bundle, system: str) -> tuple[Scope, ...]:
    """Return a system's own scope and those that its mutants name, each once."""
    base = bundle.model.systems[system]
    named = (base.at(**dict(mutant.scope)).scope for mutant in bundle.model.mutants if mutant.system == system)
    return tuple(dict.fromkeys((base.scope, *named)))


def is_small(system: System[Any, Any, Any, Any, Any], small: int = SMALL) -> bool:
    """Return whether the whole search of a system takes at most `small` steps.

    An estimate within the limit is trusted; otherwise a bounded search decides.
    """

    about = estimate(system)
    if about is not None and about <= small:
        return True
    if about is None or sum(1 for _ in islice(system.all_configs(), PROBED + 1)) > PROBED:
        return False
    probe = explore(system, max_states=small)
    return probe.complete and probe.transitions <= small
