"""Find the smallest set of runs that separates everything: set cover, solved exactly as an integer program.

The solver proves the reported bound for this pool; a richer pool may need fewer runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array


class NoCover(ValueError):
    """A set cover that the solver could not finish, or that does not exist; says why."""


@dataclass(frozen=True)
class Cover:
    """The chosen columns, in order; `lower_bound` is proved by the solver, so equal numbers mean smallest."""

    chosen: tuple[int, ...]
    lower_bound: int

    @property
    def smallest(self) -> bool:
        """Whether this pool has no smaller cover."""
        return len(self.chosen) == self.lower_bound


def smallest_cover(sets: Sequence[frozenset[int]], costs: Sequence[int] | None = None) -> Cover:
    """Return the fewest of `sets` whose union is the union of all; of several, with least total cost.

    Raises NoCover if the solver gives up.  An empty union needs no sets.
    """
    elements = sorted(frozenset[int]().union(*sets))
    if not elements:
        return Cover((), 0)
    price = list(costs) if costs is not None else [1] * len(sets)
    kept = _undominated(sets, price)
    columns = [sets[place] for place in kept]
    fewest, bound = _solve(columns, elements, np.ones(len(columns)), None)
    cheapest, _ = _solve(columns, elements, np.array([price[place] for place in kept], float), len(fewest))
    chosen = tuple(sorted(kept[place] for place in cheapest))
    if frozenset[int]().union(*(sets[place] for place in chosen)) != frozenset(elements) or len(chosen) > len(fewest):
        raise NoCover("the solver's answer is no cover of the size it claims")  # verify the solver's answer
    return Cover(chosen, bound)


def _undominated(sets: Sequence[frozenset[int]], price: Sequence[int]) -> list[int]:
    """Indices of the sets that no other contains at the same price or less; of equal sets the first."""
    order = sorted(range(len(sets)), key=lambda place: (-len(sets[place]), price[place], place))
    kept: list[int] = []
    for place in order:
        if sets[place] and not any(sets[place] <= sets[other] and price[other] <= price[place] for other in kept):
            kept.append(place)
    return sorted(kept)


def _solve(
    columns: Sequence[frozenset[int]],
    elements: Sequence[int],
    cost: np.ndarray[tuple[int], np.dtype[np.float64]],
    most: int | None,
) -> tuple[list[int], int]:
    """Columns of a cheapest cover (of at most `most` columns), and the proved lower bound on its cost."""
    row: Mapping[int, int] = {element: number for number, element in enumerate(elements)}
    rows = [row[element] for column in columns for element in sorted(column)]
    cols = [number for number, column in enumerate(columns) for _ in column]
    matrix = csr_array((np.ones(len(rows)), (rows, cols)), shape=(len(elements), len(columns)))
    constraints = [LinearConstraint(matrix, lb=1)]
    if most is not None:
        constraints.append(LinearConstraint(np.ones((1, len(columns))), ub=most))
    found = milp(cost, integrality=np.ones(len(columns), np.int64), bounds=Bounds(0, 1), constraints=constraints)
    if found.x is None:
        raise NoCover(f"the set-cover solver gave no answer: {found.message}")
    chosen = [number for number, value in enumerate(found.x) if value > 0.5]
    return chosen, int(np.ceil(found.mip_dual_bound - 1e-6))
