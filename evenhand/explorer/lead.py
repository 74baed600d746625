"""A claim chooses: the run that refutes it (or witnesses it), searched from the configuration that is walked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

from evenhand.explorer.place import Place
from evenhand.properties.property import Property, Reachable
from evenhand.properties.search import ModelError, explore
from evenhand.properties.search.estimate import WIDE, widest_state
from evenhand.properties.verdict import Status, Verdict
from evenhand.report.readable import plural

__all__ = ["MOST_STATES", "led"]

MOST_STATES = 20_000
"""States that the search for a claim's run looks at."""

MOST_STEPS = 60_000
"""Steps that it takes, about: a state that offers many actions counts for more."""


def led(place: Place, claim: Property) -> tuple[Place | None, str]:
    """The place whose run refutes the claim (or reaches its goal), or None; and what is known now, in words.

    Searched is the configuration of the place, bounded; what is found has been replayed by the search.
    """
    system, config = place.system, place.scenario.config
    if system.joint is not None and widest_state(replace(system, configs=_only(config))) > WIDE:
        return None, f"{system.name} offers more than {WIDE:,} joint actions at once: too many to search from here."
    wide = sum(1 for _ in islice(system.enabled(config, place.scenario.start), MOST_STEPS))
    bound = max(2, min(MOST_STATES, MOST_STEPS // max(1, wide)))
    try:
        found = explore(system, (claim,), configs=(config,), max_states=bound)
    except ModelError as error:
        return None, str(error)
    (verdict,) = found.verdicts
    if verdict.evidence is None:
        return None, _unfound(verdict, claim, found.states, found.complete)
    word = "reaches it" if isinstance(claim, Reachable) else "refutes it"
    return replace(place, evidence=verdict.evidence, claim=claim.name, origin=""), f"{claim.name}: this run {word}."


def _only(config: Any) -> Callable[[Any, Any], tuple[Any]]:
    """The configurations, were this one all there are."""

    def configs(_scope: Any, _readings: Any) -> tuple[Any]:
        return (config,)

    return configs


def _unfound(verdict: Verdict, claim: Property, states: int, complete: bool) -> str:
    looked = f"{plural(states, 'state')} of this configuration" + (" (all there are)" if complete else "")
    if isinstance(claim, Reachable):
        told = "cannot be reached" if verdict.status is Status.REFUTED else "was not reached"
    elif verdict.status is Status.HOLDS:
        told = "holds"
    else:
        told = "was not refuted, which decides nothing"
    because = f" ({verdict.because})" if verdict.because and verdict.status is Status.UNDECIDED else ""
    return f"{claim.name} {told} in {looked}{because}."
