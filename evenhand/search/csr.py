"""Graph algorithms on arrays, the harder ones taken from scipy, with the types of this package.

A graph is two integer arrays, `source` and `target`, one entry for each edge, over the nodes 0 … size-1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
"""Integers: nodes, or numbers of edges."""

Flags: TypeAlias = NDArray[np.bool_]
"""One truth value for each node or edge."""

LEVELS = 2_000
"""Distances from the seeds that are looked at one after the other, without scipy."""

SEED, UNSEEN = -1, -2
"""What stands in place of the edge by which a node was found."""


class Out:
    """Some edges by their source: `some` (default: all) are numbers of edges in increasing order of their source."""

    def __init__(self, size: int, source: Ints, some: Ints | None = None) -> None:
        self.size = size
        self.some: Ints = np.arange(len(source)) if some is None else some
        self.first: Ints = np.searchsorted(source[self.some], np.arange(size + 1))

    def of(self, nodes: Ints) -> Ints:
        """Return the edges that leave these nodes, node by node."""
        many = self.first[nodes + 1] - self.first[nodes]
        place = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
        found: Ints = self.some[place + np.repeat(self.first[nodes], many)]
        return found


def spread(out: Out, target: Ints, seeds: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Search breadth-first: yield for each distance the edges just looked at, the new nodes, and `via`.

    `via` is one array for the whole search: the edge by which each node was found, `SEED` or `UNSEEN`.
    """
    via = np.full(out.size, UNSEEN, dtype=np.int64)
    via[seeds] = SEED
    edge, new = np.zeros(0, dtype=np.int64), seeds
    while True:
        yield edge, new, via
        if not len(new):
            return
        edge = out.of(new)
        fresh = edge[via[target[edge]] == UNSEEN]
        via[target[fresh[::-1]]] = fresh[::-1]  # of several edges to one node the first remains
        new = target[fresh[via[target[fresh]] == fresh]]


def way_back(via: Ints, source: Ints, node: int) -> list[int]:
    """Return the edges by which a search found a node, from its seed on."""
    way: list[int] = []
    while via[node] >= 0:
        way.append(int(via[node]))
        node = int(source[way[-1]])
    return way[::-1]


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
    found, beyond = seeds.copy(), np.flatnonzero(~seeds[target])
    out = Out(size, source, beyond[np.argsort(source[beyond], kind="stable")])
    for far, (_, new, _) in enumerate(spread(out, target, np.flatnonzero(seeds))):
        found[new] = True
        if far == LEVELS:
            return _far_ahead(size, source, target, found)
    return found


def _far_ahead(size: int, source: Ints, target: Ints, seeds: Flags) -> Flags:
    starts = np.flatnonzero(seeds)
    # An extra node with an edge to every seed turns many searches into one.
    matrix = _matrix(size + 1, np.concatenate([source, np.full(len(starts), size)]), np.concatenate([target, starts]))
    order = _sparse().csgraph.breadth_first_order(matrix, size, directed=True, return_predecessors=False)
    found = np.zeros(size + 1, dtype=np.bool_)
    found[order] = True
    return found[:size]
