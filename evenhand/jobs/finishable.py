"""Whether a search can be finished: an estimate of its size, and a short search that decides."""

from __future__ import annotations

from itertools import islice

from evenhand.core.system import AnySystem
from evenhand.search import estimate, explore
from evenhand.search.estimate import widest_state

PROBED = 20_000
"""States of each configuration that are explored before a search counts as too large."""


def steps_beyond(system: AnySystem, limit: int) -> str:
    """Return the size of the search of `system` in words if it exceeds `limit` steps, else an empty string.

    An estimate from a few states can be far too high, so a search of some thousand states decides; also for a system
    that declares abstractions, because its search may have no end.  Steps count as long as they are taken one by one:
    what compiled search has finished is not too large.
    """
    about = estimate(system)
    if about is None:
        return "more configurations than can be counted"
    if about <= limit and not system.abstractions:
        return ""
    few = sum(1 for _ in islice(system.all_configs(), 100)) < 100
    probe = explore(system, max_states=PROBED) if few and widest_state(system) <= limit else None
    if probe is not None and probe.complete and (probe.transitions <= limit or probe.method == "compiled"):
        return ""
    if probe is not None and probe.complete:
        return f"{probe.transitions:,} steps"
    if about > limit or probe is None:
        return f"about {about:,} steps"
    maps = " or ".join(one.name for one in system.abstractions)
    return f"more than {probe.transitions:,} steps and perhaps no end, which a quotient ({maps}) may have"
