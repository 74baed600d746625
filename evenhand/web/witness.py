"""A run that refutes or witnesses a claim, searched from the configuration that is walked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

from evenhand.core.property import Property
from evenhand.core.verdict import Evidence, Status
from evenhand.report.phrases import plural
from evenhand.search import Exploration, ModelError, explore
from evenhand.search.estimate import WIDE, widest_state
from evenhand.web.position import Position

MOST_STATES = 10_000
"""States of one configuration that the search for a claim's run looks at."""

MOST_STEPS = 60_000
"""Steps after which the search is not repeated with a larger bound."""

CONFIGS = 500
"""Other configurations of the scope that are searched if this one does not refute the claim."""


def led(place: Position, claim: Property) -> tuple[Position | None, str]:
    """Return the position whose run refutes the claim (or reaches its goal), or None, with a note.

    The search covers the configuration of the position, then others of its scope, all bounded; its evidence has been
    replayed.
    """
    system, config = place.system, place.scenario.config
    if system.joint is not None and widest_state(replace(system, configs=_only(config))) > WIDE:
        return None, f"{system.name} offers more than {WIDE:,} joint actions at once: too many to search from here."
    wide = max(1, sum(1 for _ in islice(system.enabled(config, place.scenario.start), MOST_STEPS)))
    word = "reaches it" if claim.existential else "refutes it"
    bound = max(2, min(MOST_STATES, MOST_STEPS // wide))
    try:
        here = explore(system, (claim,), configs=(config,), max_states=bound)
        while _worth(here) and bound < MOST_STATES:
            bound = min(MOST_STATES, 4 * bound)
            here = explore(system, (claim,), configs=(config,), max_states=bound)
        if (evidence := here.verdicts[0].evidence) is not None:
            return _found(place, claim, evidence), f"{claim.name}: this run {word}."
        few = max(1, min(CONFIGS, MOST_STEPS // (20 * wide)))
        others = tuple(islice((one for one in system.all_configs() if one != config), few))
        if others:
            there = explore(system, (claim,), configs=others, max_states=min(bound, 200))
            if (evidence := there.verdicts[0].evidence) is not None:
                note = f"{claim.name}: this run, of another configuration, {word}."
                return _found(place, claim, evidence), note
    except ModelError as error:
        return None, str(error)
    return None, _unfound(here, claim, len(others))


def _worth(found: Exploration) -> bool:
    """Return whether a larger bound may say more, for a bearable time."""
    return found.verdicts[0].evidence is None and not found.complete and found.transitions < MOST_STEPS


def _found(place: Position, claim: Property, evidence: Evidence) -> Position:
    return replace(place, evidence=evidence, claim=claim.name, origin="")


def _only(config: Any) -> Callable[[Any, Any], tuple[Any]]:
    def configs(_scope: Any, _readings: Any) -> tuple[Any]:
        return (config,)

    return configs


def _unfound(found: Exploration, claim: Property, others: int) -> str:
    """Return a note on the search of this configuration, and of the others only that nothing was found."""
    (verdict,) = found.verdicts
    looked = f"{plural(found.states, 'state')} of this configuration" + (" (all there are)" if found.complete else "")
    if claim.existential:
        note = "cannot be reached" if verdict.status is Status.REFUTED else "was not reached"
    elif verdict.status is Status.HOLDS:
        note = "holds"
    else:
        note = "was not refuted, which decides nothing,"
    because = f" ({verdict.because})" if verdict.because and verdict.status is Status.UNDECIDED else ""
    more = f" Nothing was met in {plural(others, 'other configuration')} either, looked at briefly." if others else ""
    return f"{claim.name} {note} in {looked}{because}.{more}"
