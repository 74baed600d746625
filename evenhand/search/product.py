"""Short runs of a graph that an automaton accepts: those that go round in a fair part of the product of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evenhand.core.ltl import Atom
from evenhand.search.automaton import Automaton
from evenhand.search.csr import Flags, Ints, Out, spread, way_back
from evenhand.search.lasso import Edges, Need, fair_loop, fair_parts

STOPS = -1
"""The number of the action of a step that a run takes where it has stopped."""

EFFORT, ENTRIES = 400_000, 32
"""Edges, and entries of one part, that the search for a short loop may visit."""

Run: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...]]
"""A run: its initial state, the actions of its stem, those of its loop (none for a run that ends)."""


@dataclass(frozen=True)
class Words:
    """The runs of a graph as words: the atoms that are true on each edge, and the fairness that is assumed.

    A run that has stopped goes round in a copy of its last state, by steps with the action `STOPS`.
    """

    edges: Edges
    true: dict[Atom, Flags]
    needs: tuple[Need, ...]


def accepted(words: Words, accepts: Automaton) -> Run | None:
    """Return a short fair run that the automaton accepts; None if there is none."""
    product, needs, by = _product(words, accepts, np.flatnonzero(accepts.lasting).tolist())
    if not fair_parts(product, accepts.lasting[by], needs):
        return None  # which is the usual result, and most of the product was not needed
    product, needs, by = _product(words, accepts, range(len(accepts.transitions)))
    return _nearest(product, fair_parts(product, accepts.lasting[by], needs), needs, words.edges.action)


def _product(words: Words, accepts: Automaton, some: Sequence[int]) -> tuple[Edges, list[Need], Ints]:
    """The product with some transitions: its edges, with those of the graph for actions, needs, and transitions."""
    edges, size, frame = words.edges, words.edges.size, accepts.edges
    chosen: list[Ints] = []
    for one in (accepts.transitions[number] for number in some):
        fits = np.ones(len(edges.source), dtype=np.bool_)
        for atom in one.true:
            fits &= words.true[atom]
        for atom in one.false:
            fits &= ~words.true[atom]
        chosen.append(np.flatnonzero(fits))
    edge = np.concatenate([np.zeros(0, dtype=np.int64), *chosen])
    by = np.repeat(np.asarray(some, dtype=np.int64), [len(fitting) for fitting in chosen])
    source = edges.source[edge] + size * frame.source[by]
    order = np.argsort(source, kind="stable")
    edge, by, source = edge[order], by[order], source[order]
    product = Edges(size * accepts.size, edges.initials, source, edges.target[edge] + size * frame.target[by], edge)
    needs = [Need(need.kind, need.served[edge], np.tile(need.on_offer, accepts.size)) for need in words.needs]
    nowhere = np.zeros(product.size, dtype=np.bool_)
    return product, [*needs, *(Need(need.kind, need.served[by], nowhere) for need in accepts.needs)], by


def _nearest(product: Edges, parts: Sequence[Ints], needs: Sequence[Need], action: Ints) -> Run | None:
    """The shortest run found that goes round in one of these parts; of equally long ones one that ends.

    `action` has the actions of the edges of the graph.
    """
    part_of = np.full(product.size, -1, dtype=np.int64)
    part_of[product.source[np.concatenate(parts)]] = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    left = [EFFORT] * len(parts)
    best: tuple[int, bool, Run] | None = None
    levels = spread(Out(product.size, product.source), product.target, np.arange(product.initials))
    for far, (_, new, via) in enumerate(levels):
        if best is not None and best[:2] <= (far - 1, False):
            break  # only a step that stops does not count
        for entry in np.sort(new[part_of[new] >= 0]).tolist():
            if best is not None and best[:2] <= (far - 1, False):
                break
            number = int(part_of[entry])
            if left[number] <= 0:
                continue
            left[number] -= max(len(parts[number]), EFFORT // ENTRIES)
            stem = way_back(via, product.source, entry)
            loop = product.action[fair_loop(product, parts[number], entry, needs)].tolist()
            start, stem = int(product.source[stem[0]]) if stem else entry, product.action[stem].tolist()
            while stem and stem[-1] == loop[-1]:  # the automaton entered its loop after the run did
                loop.insert(0, loop.pop())
                stem.pop()
            taken, again = (tuple(one for one in action[way].tolist() if one != STOPS) for way in (stem, loop))
            length = len(taken) + len(again), bool(again)
            if best is None or length < best[:2]:
                best = *length, (start, taken, again)
    return None if best is None else best[2]
