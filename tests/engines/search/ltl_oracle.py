"""A second way to decide a formula on a graph, written from the textbook and sharing nothing with the product.

The declarative tableau of Lichtenstein and Pnueli: at each edge of a run it is guessed which next-formulas are true
there.  A vertex is a state with the guesses that the edge before made; an arc is an edge with guesses of its own that
make those before honest.  A part of this graph accepts if each until that is true in it is also kept in it.  Fairness
is no condition of the search here but a formula.

What is true on an edge under every guess is one array, with a place for each guess.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from evenhand.core import ltl
from evenhand.core.ltl import Atom, Constant, Formula, Implies, Negation, Next, Release, Until

Edge = tuple[Any, Any, Any]
"""State, action (None: the run has stopped), state after it."""

Truth: TypeAlias = NDArray[np.bool_]
"""Whether a formula is true, for each guess: bit `n` of the guess is what it says of the formula numbered `n`."""


def refuted(
    formula: Formula,
    starts: Sequence[Any],
    edges: Sequence[Edge],
    true: Callable[[Atom, Edge], bool],
) -> bool:
    """Return whether some infinite path of these edges from a start does not satisfy the formula."""
    parts = list(ltl.parts_of(formula))
    guessed = {one: bit for bit, one in enumerate(one for one in parts if isinstance(one, Next | Until | Release))}
    guesses = np.arange(1 << len(guessed))
    number = {place: at for at, place in enumerate(dict.fromkeys(place for edge in edges for place in edge[::2]))}
    values = [
        _values(parts, edge, {one: guesses >> bit & 1 == 1 for one, bit in guessed.items()}, true) for edge in edges
    ]
    value = {one: np.concatenate([known[one] | np.zeros_like(guesses, bool) for known in values]) for one in parts}
    # A guess is honest where it says what is true at the next position: an arc enters where its own truth was guessed.
    due = sum((_due(one, value).astype(int) << bit for one, bit in guessed.items()), np.zeros_like(value[formula], int))
    source = np.repeat([number[edge[0]] for edge in edges], len(guesses)) * len(guesses) + due
    target = np.repeat([number[edge[2]] for edge in edges], len(guesses)) * len(guesses) + np.tile(guesses, len(edges))

    begins = np.repeat([edge[0] in starts for edge in edges], len(guesses)) & ~value[formula]
    graph: nx.DiGraph[int] = nx.DiGraph(zip(source.tolist(), target.tolist(), strict=True))
    graph.add_edges_from((-1, place) for place in target[begins].tolist())
    if -1 not in graph:
        return False
    part = np.full(len(number) * len(guesses), -1)
    reached = graph.subgraph({-1, *nx.descendants(graph, -1)})
    for at, places in enumerate(nx.strongly_connected_components(reached)):
        part[[place for place in places if place >= 0]] = at
    inner = (part[source] == part[target]) & (part[source] >= 0)
    accepting = set(part[source[inner]].tolist())
    for one in parts:
        accepting &= set(part[source[inner & _kept(one, value)]].tolist())
    return bool(accepting)


def _due(one: Formula, value: Mapping[Formula, Truth]) -> Truth:
    """What must be true at the next position for the guess `one` to be true: the formula itself there."""
    return value[one.one] if isinstance(one, Next) else value[one]


def _values(
    parts: Sequence[Formula], edge: Edge, guessed: Mapping[Formula, Truth], true: Callable[[Atom, Edge], bool]
) -> dict[Formula, Truth]:
    known: dict[Formula, Truth] = {}
    for one in parts:
        match one:
            case Atom():
                known[one] = np.asarray(true(one, edge))
            case Constant(value):
                known[one] = np.asarray(value)
            case Negation(a):
                known[one] = ~known[a]
            case ltl.Both(a, b):
                known[one] = known[a] & known[b]
            case ltl.Either(a, b):
                known[one] = known[a] | known[b]
            case Implies(a, b):
                known[one] = known[b] | ~known[a]
            case Next():
                known[one] = guessed[one]
            case Until(a, b):
                known[one] = known[b] | (known[a] & guessed[one])
            case Release(a, b):
                known[one] = known[b] & (known[a] | guessed[one])
            case _:
                raise AssertionError(one)
    return known


def _kept(one: Formula, value: Mapping[Formula, Truth]) -> Truth:
    """Where an until is kept, or may be: it is false there, or its goal comes there."""
    match one:
        case Until(_, goal):
            return ~value[one] | value[goal]
        case Release(_, goal):  # false means that its denial, an until, waits for the goal to be false
            return value[one] | ~value[goal]
        case _:
            return np.ones_like(value[one])


def with_stops(states: Sequence[Any], edges: Sequence[Edge], *, anywhere: bool) -> Iterator[Edge]:
    """The edges with a stopped copy, `("stopped", s)`, of each state in which a run may stop."""
    yield from edges
    for state in states:
        if anywhere or not any(edge[0] == state for edge in edges):
            yield state, None, ("stopped", state)
            yield ("stopped", state), None, ("stopped", state)
