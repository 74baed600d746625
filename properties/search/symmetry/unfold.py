"""From the quotient back to the unreduced model: a run through picked states becomes a run that really is one.

Picked state `c` stands for an image `h·c` of it on the run; an action that leads on from `c` leads on from `h·c` as its
image under `h`.  Each step is taken with the model's own function and must arrive in the right orbit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.properties.search.found import AnySystem, Finding, ModelError, named
from evenhand.properties.search.rows.walk import successors_in
from evenhand.properties.search.steps import nth_action, number_of

if TYPE_CHECKING:
    from evenhand.properties.search.symmetry.walk import FoldedWalk

__all__ = ["acted", "unfolded"]


def unfolded(walk: FoldedWalk, chain: Sequence[int], row: int | None) -> Finding:
    """The run through these picked states, and the row's action after them.  Raises ModelError if it is none."""
    system, config = walk.system, walk.config
    place = -1 - walk.parents[chain[0]]
    state = list(system.initial(config))[place]
    # What leads from the picked state to where the run is, one element after the other.
    by = walk.folded.group.way(walk.shape.numbers(state))
    taken: list[int] = []
    for here, there in zip(chain, [*chain[1:], None], strict=True):
        if there is None and row is None:
            break
        picked = walk.state(here)
        first = int(walk.flat.first[row]) if there is None and row is not None else _first(walk, here, int(there or 0))
        action = nth_action(system, config, picked, offered(walk, picked, first))
        after = system.take(config, picked, action).after
        image = acted(walk, by, action)
        taken.append(number_of(system, config, state, image))
        state = system.take(config, state, image).after
        if there is None:
            break
        if _orbit(walk, state) != walk.words[there].tolist() or _orbit(walk, after) != walk.words[there].tolist():
            raise ModelError(
                f"{named(system)}: the image {image!r} of an action does not lead where the quotient says it leads; "
                "the licence is wrong, explore without it"
            )
        by = (*walk.folded.group.way(walk.shape.numbers(after)), *by)
    return Finding(walk.number, place, tuple(taken))


def acted(walk: FoldedWalk, by: Sequence[Any], action: Any) -> Any:
    """The image of an action under elements, one after the other."""
    for w in by:
        action = walk.quotient.action(w, walk.config, action)
    return action


def offered(walk: FoldedWalk, state: Any, number: int) -> int:
    """The number of an action among those on offer; rows of a `menu` know its number there."""
    system: AnySystem = walk.system
    if system.joint is not None or system.menu is None or system.allows is None:
        return number
    action = tuple(system.menu(walk.config, system.scope))[number]
    return number_of(system, walk.config, state, action)


def _orbit(walk: FoldedWalk, state: Any) -> list[int]:
    numbers = walk.folded.group.picked(np.asarray([walk.shape.numbers(state)], dtype=np.int64))
    return walk.shape.encode(numbers[0].tolist())


def _first(walk: FoldedWalk, here: int, there: int) -> int:
    """The number of the first action that leads from one picked state into the orbit of another."""
    target = walk.words[there].tolist()
    found = [
        first
        for first, _, words in successors_in(walk.flat, walk.words[here])
        if walk.shape.encode(
            walk.folded.group.picked(np.asarray([walk.shape.decoded(words)], dtype=np.int64))[0].tolist()
        )
        == target
    ]
    return min(found)
