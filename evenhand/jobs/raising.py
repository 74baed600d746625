"""Decide the other claims where one raises on a mutant: the one is UNDECIDED, and its verdict says what it met.

A claim may raise on what its author did not expect, such as a record of a mutant without one of its fields.  That says
nothing about the other claims.  On the reference a claim that raises is a mistake of its author, and ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Property
from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status, Verdict, verdict_on
from evenhand.evidence.replay import REFERENCE

Engine = Callable[[Sequence[Property]], Sequence[Verdict]]
"""Runs an engine on some claims, and gives one verdict for each in their order."""

RAISES = "it raises on what it meets"
"""How the reason of such a verdict begins."""


def decided(engine: Engine, claims: Sequence[Property], system: AnySystem, name: str) -> tuple[Verdict, ...]:
    """Return the verdicts of the engine called `name`; a claim that raises is left out, and the rest runs again.

    Claims that share a predicate that raises run again one by one.  Raises ModelError where the model raises, because
    then no claim can be decided, and for every claim that raises on the reference.
    """
    try:
        return tuple(engine(claims))
    except ModelError as error:
        raising = [claim for claim in claims if claim.name in error.claims]
        if not raising or system.variant == REFERENCE:
            raise
        if len(raising) == 1:
            why = f"{RAISES}: {error}"
            found = {raising[0].name: verdict_on(system, raising[0].name, name, Status.UNDECIDED, because=why)}
        else:
            found = {claim.name: decided(engine, [claim], system, name)[0] for claim in raising}
    others = [claim for claim in claims if claim.name not in found]
    if others:
        found |= {one.claim: one for one in decided(engine, others, system, name)}
    return tuple(found[claim.name] for claim in claims)
