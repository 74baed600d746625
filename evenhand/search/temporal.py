"""Decide claims in temporal logic on the closed graph of one configuration.

A run that breaks a claim is a run of the product of the graph with an automaton of the claim's denial: a fair loop
there is a lasso of the system.  The graph first gets a second copy of each state in which a run may stop; such a run
goes round in the copy for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.core.fairness import assumed
from evenhand.core.ltl import TRUE, Atom, Formula, Negation, atoms_of
from evenhand.core.temporal import AboutRuns, Temporal, without_consequences
from evenhand.search.automaton import Automaton, TooLarge, automaton
from evenhand.search.csr import Flags, Ints
from evenhand.search.lasso import Edges, Need, nearest_run
from evenhand.search.liveness import Labels, RunGraph, Taken, decide, fair_parts, need_of
from evenhand.search.walk import Walk
from evenhand.search.witness import Tally

CUT = "no run inside the constraint breaks it, and the constraint lets some go on unseen"
"""The doubt about a claim about whole runs, some of which were not followed to their end."""

STOPS = -1
"""The number of the action of a step that a stopped run takes."""

NOTHING_BREAKS_IT = "every run whatsoever keeps it: the formula is true of all words"


@dataclass(frozen=True)
class Word:
    """The graph with the copies of its states: what is true on each edge, and the fairness that is assumed."""

    edges: Edges
    true: dict[Atom, Flags]
    needs: tuple[Need, ...]


def decided(claim: AboutRuns | Temporal, labels: Labels, walk: Walk) -> Tally:
    """Return the tally of a claim about whole runs after an explicit search."""
    if isinstance(claim, Temporal):
        tally = decide_temporal(claim, labels.says[claim.name], labels.graph(walk))
    else:
        tally = decide(claim, labels.graph(walk))
    if tally.finding is None and labels.system.constrained and labels.edges(walk).cut:
        return replace(tally, doubts=(CUT, *tally.doubts))
    return tally


def decide_temporal(claim: Temporal, formula: Formula, graph: RunGraph) -> Tally:
    """Decide one claim on the graph of one configuration; on an open graph only count."""
    if graph.walk.open:
        return Tally(1, graph.walk.transitions, graph.walk.transitions)
    try:
        against = automaton(Negation(formula))
        premise = without_consequences(formula)
        unmet = None if premise is None else automaton(Negation(premise))
    except TooLarge as error:
        return Tally(1, 0, 0, doubts=(str(error),))
    named = {name: Taken(one) for name, one in assumed(graph.fair, claim.fairness).items()}
    more = {f"steps serving {name}": graph.count(taken) for name, taken in named.items()}
    word = _word(claim, formula, graph, list(named.values()))
    initials = word.edges.initials
    found = _run(word, against)
    if found is not None:
        start, path, loop = found
        taken = tuple(action for action in path if action != STOPS)
        finding = graph.walk.run_of(start, taken, () if STOPS in loop else loop)
        return Tally(1, initials, initials, 1, finding, more=more)
    doubts = (NOTHING_BREAKS_IT,) if not against.transitions else ()
    if _run(word, automaton(TRUE)) is None:
        doubts = (*doubts, "no run at all satisfies the fairness it assumes")
    met = initials if unmet is None or _run(word, unmet) is not None else 0
    return Tally(1, initials, met, 0, None, doubts, more)


def _word(claim: Temporal, formula: Formula, graph: RunGraph, fairness: Sequence[Taken]) -> Word:
    """The graph with a copy of each state in which a run may stop; copy `s` has number `size + s`."""
    edges = graph.edges()
    size = edges.size
    stops = np.setdiff1d(np.arange(size), edges.cut) if claim.stutter else np.flatnonzero(edges.ends)
    source = np.concatenate([edges.source, stops, size + stops])
    target = np.concatenate([edges.target, size + stops, size + stops])
    action = np.concatenate([edges.action, np.full(2 * len(stops), STOPS, dtype=np.int64)])
    never = np.zeros(2 * len(stops), dtype=np.bool_)
    true: dict[Atom, Flags] = {}
    for atom in atoms_of(formula):
        if atom.of == "state":
            flags = np.zeros(size, dtype=np.bool_)
            flags[np.asarray(graph.wanting(atom.test), dtype=np.int64)] = True
            true[atom] = flags[source % size]
        else:
            true[atom] = np.concatenate([graph.where(atom.test), never])
    needs: list[Need] = []
    for taken in fairness:
        need = need_of(taken.fairness.kind, graph.where(taken), edges)
        needs.append(Need(need.kind, np.concatenate([need.served, never]), np.tile(need.on_offer, 2)))
    return Word(Edges(2 * size, edges.initials, source, target, action), true, tuple(needs))


def _run(word: Word, accepts: Automaton) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
    """A short fair run that the automaton accepts: its initial state, the actions of stem and loop; None if none."""
    edges, size = word.edges, word.edges.size
    chosen: list[Ints] = []
    for one in accepts.transitions:
        fits = np.ones(len(edges.source), dtype=np.bool_)
        for atom in one.true:
            fits &= word.true[atom]
        for atom in one.false:
            fits &= ~word.true[atom]
        chosen.append(np.flatnonzero(fits))
    if not chosen:
        return None
    edge = np.concatenate(chosen)
    by = np.repeat(np.arange(len(chosen)), [len(some) for some in chosen])
    leaves, enters = (
        np.asarray([getattr(one, end) for one in accepts.transitions], dtype=np.int64) for end in ("source", "target")
    )
    source = edges.source[edge] + size * leaves[by]
    order = np.argsort(source, kind="stable")
    edge, by, source = edge[order], by[order], source[order]
    target = edges.target[edge] + size * enters[by]
    product = Edges(size * accepts.size, edges.initials, source, target, edges.action[edge])
    needs = [Need(need.kind, need.served[edge], np.tile(need.on_offer, accepts.size)) for need in word.needs]
    nowhere = np.zeros(product.size, dtype=np.bool_)
    for until in accepts.untils:
        kept = np.asarray([until not in one.promises for one in accepts.transitions], dtype=np.bool_)
        needs.append(Need("must", kept[by], nowhere))
    every = np.ones(len(edge), dtype=np.bool_)
    parts = fair_parts(product, every, needs)
    return nearest_run(product, (~every, ~every, every), nowhere, parts, needs)
