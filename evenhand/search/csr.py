"""Two graph algorithms: of scipy for large graphs, plain ones with equal results for the first small ones.

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


PLAIN = 300_000
"""Edges and nodes that this process follows in Python, which takes about as long as to import scipy."""

_followed = 0


def _is_small(size: int, edges: Ints) -> bool:
    global _followed
    _followed += size + len(edges)
    return _followed <= PLAIN


def _successors(size: int, source: Ints, target: Ints) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(size)]
    for one, other in zip(source.tolist(), target.tolist(), strict=True):
        found[one].append(other)
    return found


def _sparse() -> Any:
    from scipy import sparse

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
    if _is_small(size, source):
        return np.asarray(_components(_successors(size, source, target)), dtype=np.int64)
    _, found = _sparse().csgraph.connected_components(_matrix(size, source, target), directed=True, connection="strong")
    return cast("Ints", found.astype(np.int64))


def _components(left: list[list[int]]) -> list[int]:
    """Tarjan's algorithm, which numbers as scipy does if it follows the largest successor first; uses `left` up."""
    size = len(left)
    found, order, low = [-1] * size, [-1] * size, [0] * size
    kept, met, number = list[int](), 0, 0
    for root in range(size):
        path = [root] if order[root] < 0 else []
        while path:
            node = path[-1]
            if order[node] < 0:
                order[node] = low[node] = met
                met += 1
                kept.append(node)
                left[node].sort()
            if left[node]:
                there = left[node].pop()
                if order[there] < 0:
                    path.append(there)
                elif found[there] < 0:
                    low[node] = min(low[node], order[there])
                continue
            path.pop()
            if path:
                low[path[-1]] = min(low[path[-1]], low[node])
            if low[node] == order[node]:
                while found[node] < 0:
                    found[kept.pop()] = number
                number += 1
    return found


def ahead(size: int, source: Ints, target: Ints, seeds: Flags) -> Flags:
    """Return the nodes that are reachable from the seeds, the seeds included."""
    starts = np.flatnonzero(seeds)
    if _is_small(size, source):
        return _ahead(_successors(size, source, target), starts.tolist())
    # An extra node with an edge to every seed turns many searches into one.
    matrix = _matrix(size + 1, np.concatenate([source, np.full(len(starts), size)]), np.concatenate([target, starts]))
    order = _sparse().csgraph.breadth_first_order(matrix, size, directed=True, return_predecessors=False)
    found = np.zeros(size + 1, dtype=np.bool_)
    found[order] = True
    return found[:size]


def _ahead(successors: list[list[int]], queue: list[int]) -> Flags:
    found = np.zeros(len(successors), dtype=np.bool_)
    known = set(queue)
    for node in queue:
        found[node] = True
        new = set(successors[node]) - known
        known |= new
        queue += new
    return found
