"""The two graph algorithms, the harder one taken from scipy, with the types of this package.

A graph is two integer arrays, `source` and `target`, one entry for each edge, over the nodes 0 … size-1.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
"""Integers: nodes, or numbers of edges."""

Flags: TypeAlias = NDArray[np.bool_]
"""One truth value for each node or edge."""


LEVELS = 2_000
"""Distances from the seeds that are looked at one after the other, without scipy."""


def _sparse() -> Any:
    from scipy import sparse  # it takes 0.2 s to import, and only loops and the deepest graphs need it

    return sparse


def _matrix(size: int, source: Ints, target: Ints) -> Any:
    # Parallel edges must be added up (scipy does not terminate on a matrix that holds an entry twice), and as floats
    # the sums cannot wrap round to 0.
    ones = np.ones(len(source), dtype=np.float64)
    return _sparse().csr_array((ones, (source, target)), shape=(size, size))


def components(size: int, source: Ints, target: Ints) -> Ints:
    """Return the number of each node's strongly connected component; no edge leads to a larger one.

    Scipy does not promise this order; the ranks of certificates need it, and every certificate is checked.
    """
    _, found = _sparse().csgraph.connected_components(_matrix(size, source, target), directed=True, connection="strong")
    return cast("Ints", found.astype(np.int64))


def ahead(size: int, source: Ints, target: Ints, seeds: Flags) -> Flags:
    """Return the nodes that are reachable from the seeds, the seeds included."""
    found, new, beyond = seeds.copy(), np.flatnonzero(seeds), ~seeds[target]
    source, target = source[beyond], target[beyond]
    targets, degrees = target[np.argsort(source, kind="stable")], np.bincount(source, minlength=size)
    begins = np.cumsum(degrees) - degrees
    for _ in range(LEVELS):
        if not len(new):
            return found
        many = degrees[new]
        places = np.arange(int(many.sum())) + np.repeat(begins[new] - (np.cumsum(many) - many), many)
        there = targets[places]
        new = np.unique(there[~found[there]])
        found[new] = True
    return _far_ahead(size, source, target, found)


def _far_ahead(size: int, source: Ints, target: Ints, seeds: Flags) -> Flags:
    starts = np.flatnonzero(seeds)
    # An extra node with an edge to every seed turns many searches into one.
    matrix = _matrix(size + 1, np.concatenate([source, np.full(len(starts), size)]), np.concatenate([target, starts]))
    order = _sparse().csgraph.breadth_first_order(matrix, size, directed=True, return_predecessors=False)
    found = np.zeros(size + 1, dtype=np.bool_)
    found[order] = True
    return found[:size]
