"""A second way to decide a formula on a graph, written from the textbook and sharing nothing with the product.

The declarative tableau of Lichtenstein and Pnueli: a node is an edge of the graph with a guess which next-formulas are
true there; an arrow keeps the guesses honest; a part of the graph accepts if each until that is true in it is also kept
in it.  Fairness is no condition of the search here but a formula.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import networkx as nx

from evenhand.core import ltl
from evenhand.core.ltl import Atom, Constant, Formula, Implies, Negation, Next, Release, Until

Edge = tuple[Any, Any, Any]
"""State, action (None: the run has stopped), state after it."""


def refuted(
    formula: Formula,
    starts: Sequence[Any],
    edges: Sequence[Edge],
    true: Callable[[Atom, Edge], bool],
) -> bool:
    """Return whether some infinite path of these edges from a start does not satisfy the formula."""
    parts = list(ltl.parts_of(formula))
    guesses = [one for one in parts if isinstance(one, Next | Until | Release)]
    nodes = [
        (edge, frozenset(one for one, said in zip(guesses, chosen, strict=True) if said))
        for edge in edges
        for chosen in product((False, True), repeat=len(guesses))
    ]
    value = {node: _values(parts, *node, true) for node in nodes}
    entered: dict[Any, list[Any]] = {}
    for there in nodes:
        due = frozenset(one for one in guesses if _due(one, value[there]))
        entered.setdefault((there[0][0], due), []).append(there)
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_nodes_from(nodes)
    for here in nodes:  # a guess is honest where it says what is true at the next position
        graph.add_edges_from((here, there) for there in entered.get((here[0][2], here[1]), ()))
    good = set()
    for part in nx.strongly_connected_components(graph):
        node = next(iter(part))
        if len(part) == 1 and not graph.has_edge(node, node):
            continue
        if all(_kept(one, part, value) for one in parts):
            good |= part
    reached = {node for node in nodes if node[0][0] in starts and not value[node][formula]}
    todo = list(reached)
    while todo:
        for there in graph.successors(todo.pop()):
            if there not in reached:
                reached.add(there)
                todo.append(there)
    return bool(reached & good)


def _due(one: Formula, there: Mapping[Formula, bool]) -> bool:
    """What must be true at the next position for the guess `one` to be true: the formula itself there."""
    return there[one.one] if isinstance(one, Next) else there[one]


def _values(
    parts: Sequence[Formula], edge: Edge, guessed: frozenset[Formula], true: Callable[[Atom, Edge], bool]
) -> dict[Formula, bool]:
    known: dict[Formula, bool] = {}
    for one in parts:
        match one:
            case Atom():
                known[one] = true(one, edge)
            case Constant(value):
                known[one] = value
            case Negation(a):
                known[one] = not known[a]
            case ltl.Both(a, b):
                known[one] = known[a] and known[b]
            case ltl.Either(a, b):
                known[one] = known[a] or known[b]
            case Implies(a, b):
                known[one] = known[b] or not known[a]
            case Next():
                known[one] = one in guessed
            case Until(a, b):
                known[one] = known[b] or (known[a] and one in guessed)
            case Release(a, b):
                known[one] = known[b] and (known[a] or one in guessed)
            case _:
                raise AssertionError(one)
    return known


def _kept(one: Formula, part: Any, value: Mapping[Any, Mapping[Formula, bool]]) -> bool:
    """Whether a run through all of a part keeps an until, or may: it is false somewhere, or its goal comes."""
    match one:
        case Until(_, goal):
            return any(not value[node][one] or value[node][goal] for node in part)
        case Release(_, goal):  # false means that its denial, an until, waits for the goal to be false
            return any(value[node][one] or not value[node][goal] for node in part)
        case _:
            return True


def with_stops(states: Sequence[Any], edges: Sequence[Edge], *, anywhere: bool) -> Iterator[Edge]:
    """The edges with a stopped copy, `("stopped", s)`, of each state in which a run may stop."""
    yield from edges
    for state in states:
        if anywhere or not any(edge[0] == state for edge in edges):
            yield state, None, ("stopped", state)
            yield ("stopped", state), None, ("stopped", state)
