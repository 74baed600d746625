"""Split the configurations: search one part of n, or run the same work in several processes, with the same result.

Results are folded in the order of the configurations, whichever process made them.  Workers are forked, so that a model
made of lambdas needs no serialising: numbers go in, tallies of numbers come out (and, for claims that compare steps
across configurations, the keys and values seen).
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from typing import TypeAlias

from evenhand.core.property import Property
from evenhand.processes.pool import in_order
from evenhand.search.totals import Result

CHUNKS = 8
"""Portions for each process: enough that no process waits long for the last one."""

Numbers: TypeAlias = Sequence[tuple[int, int]]
"""Configurations by number, each with the weight of its orbit."""

Part: TypeAlias = tuple[int, int]
"""Part k of n of the configurations, counted from 1."""


class NoSuchPart(ValueError):
    """The configurations do not have the part that was requested."""


def portion(kept: Numbers, part: Part) -> tuple[tuple[int, int], ...]:
    """Return every n-th configuration from the k-th on.  Raises NoSuchPart for a part that does not exist."""
    first, parts = part
    if not 1 <= first <= parts <= len(kept):
        raise NoSuchPart(
            f"part {first}/{parts} of {len(kept)} configurations: it is k/n with 1 <= k <= n <= {len(kept)}"
        )
    return tuple(kept[first - 1 :: parts])


def elsewhere(claim: Property, part: Part) -> str:
    """Return why a claim without violation here is not decided; empty where no other part can violate it.

    A safety claim holds on the configurations explored; in others a goal may be met, or compared values may differ.
    """
    if claim.existential or claim.across_configurations:
        return f"part {part[0]}/{part[1]} of the configurations decides nothing about the others"
    return ""


def in_processes(
    jobs: int,
    kept: Numbers,
    one: Callable[[int, Callable[[int, int], None] | None], Result],
    nothing: Result,
    progress: Callable[[int, int], None] | None,
) -> Result:
    """Return the weighted sum of `one(number)` over the kept configurations (number, weight), in their order."""

    def portion(numbers: Numbers, tell: Callable[[int, int], None] | None = None) -> Result:
        part = nothing
        for number, weight in numbers:
            part = part.plus(one(number, _offset(tell, part)).times(weight))
            if tell is not None:
                tell(part.states, part.transitions)
        return part

    if jobs <= 1 or len(kept) < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return portion(kept, progress)
    total = nothing
    size = -(-len(kept) // (jobs * CHUNKS))
    portions = [kept[start : start + size] for start in range(0, len(kept), size)]

    def add(part: Result) -> None:
        nonlocal total
        total = total.plus(part)
        if progress is not None:
            progress(total.states, total.transitions)

    in_order(lambda number: portion(portions[number]), len(portions), workers=jobs, each=add)
    return total


def _offset(progress: Callable[[int, int], None] | None, total: Result) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda states, steps: progress(total.states + states, total.transitions + steps)
