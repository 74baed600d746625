"""The two graph algorithms taken from scipy, with the types this package needs.

A graph is two integer arrays, `source` and `target`, one entry for each edge, over the nodes 0 … size-1.

scipy is loaded by the first call: that takes a quarter of a second, and most searches ask nothing of it.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph, csr_array

__all__ = ["Flags", "Ints", "ahead", "components"]

Ints: TypeAlias = NDArray[np.int64]
"""Whole numbers: nodes, or numbers of edges."""

Flags: TypeAlias = NDArray[np.bool_]
"""One truth value for each node or edge."""


def _matrix(size: int, source: Ints, target: Ints) -> Any:
    # Parallel edges must be added up (scipy does not come to an end on a matrix that holds an entry twice), and the
    # entries must not be able to wrap round to 0.
    ones = np.ones(len(source), dtype=np.float64)
    return csr_array((ones, (source, target)), shape=(size, size))


def components(size: int, source: Ints, target: Ints) -> Ints:
    """The number of each node's strongly connected component."""
    _, found = csgraph.connected_components(_matrix(size, source, target), directed=True, connection="strong")
    return cast("Ints", found.astype(np.int64))


def ahead(size: int, source: Ints, target: Ints, seeds: Flags) -> Flags:
    """The nodes that can be reached from the seeds, the seeds included."""
    starts = np.flatnonzero(seeds)
    # One node more, with an edge to every seed, makes one search of many.
    matrix = _matrix(size + 1, np.concatenate([source, np.full(len(starts), size)]), np.concatenate([target, starts]))
    order = csgraph.breadth_first_order(matrix, size, directed=True, return_predecessors=False)
    found = np.zeros(size + 1, dtype=np.bool_)
    found[order] = True
    return found[:size]
