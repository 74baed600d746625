"""Guess ranks, and where the assumptions of each agent help, from runs of small sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.search.csr import components
from evenhand.smt import logic as fol
from evenhand.smt.logic import TRUE, Formula
from evenhand.smt.structure import Reader, Structure
from evenhand.source.owing import Change, Members, Owing
from evenhand.source.progress import OWED, Part, Progress, Rank
from evenhand.source.simplify import replaced
from evenhand.source.validation import Comparison, assignments

FEW = 3
"""Ranks that are tried in a proof, and formulas of each length that say where an agent helps."""

ENDS = ("before", "after")


class Ranks:
    """The places of small sizes as structures, and what is true of them."""

    def __init__(self, progress: Progress, comparison: Comparison, owing: Owing) -> None:
        self.progress, self.owing = progress, owing
        self.reader = Reader()
        self.members = [frozenset(owing.members(place)) for place in owing.places]
        self.states: list[Structure] = []
        for place in owing.places:
            bare = comparison.encoded(place.run.config, place.state)
            owed = {**bare.relations, OWED.name: frozenset([()] if place.owed else [])}
            self.states.append(Structure(bare.universe, owed, bare.functions))
        source, target = (np.array([getattr(one, end) for one in owing.changes], dtype=np.int64) for end in ENDS)
        self.loops = components(len(self.states), source, target)
        self.known: dict[int, tuple[Formula, list[frozenset[tuple[str, ...]]]]] = {}
        """By identity, because hashing a formula walks all of it."""

    def sets(self, part: Part) -> list[frozenset[tuple[str, ...]]]:
        """Return the set that a part is in each place."""
        variables, formula = part
        if id(formula) not in self.known:
            self.known[id(formula)] = (
                formula,
                [
                    frozenset(
                        tuple(row[one] for one in variables)
                        for row in assignments(variables, state)
                        if self.reader.holds(formula, state, row)
                    )
                    for state in self.states
                ],
            )
        return self.known[id(formula)][1]

    def found(self, stages: Sequence[Sequence[Part]]) -> Iterator[Rank]:
        """Yield ranks that fall as they must in all runs, those with the shortest parts first."""
        for helps, given in self._helping(stages):
            if self.progress.claim.rank is not None:
                if not self.owing.objection(given):
                    yield Rank((), helps)
                continue
            steps = [(change, self.owing.must_fall(change, given)) for change in self.owing.changes]
            for parts in stages:
                rank = self._rank(parts, steps)
                if rank is not None:
                    yield Rank(tuple(rank), helps)

    def _helping(self, stages: Sequence[Sequence[Part]]) -> Iterator[tuple[dict[str, Formula] | None, list[Members]]]:
        """Where the assumptions of each agent may help: as the claim says, everywhere, or where a part is true."""
        each = [name for name, one in self.progress.fair.items() if one.variables]
        said = self.progress.stated.helps
        if said is not None or not each:
            yield (None if said is None else dict(said)), self.owing.helping()
            return
        everywhere = [TRUE] if self._viable(self.members) else []
        for wanted in (everywhere, *stages):
            tried = 0
            for one in wanted:
                formula = one if not isinstance(one, tuple) else one[1]
                given = self._given(each, formula)
                if given is not None and self._viable(given[1]):
                    yield given
                    tried += 1
                    if tried == FEW:
                        break

    def _given(self, each: Sequence[str], formula: Formula) -> tuple[dict[str, Formula], list[Members]] | None:
        """Where a formula about one agent makes its assumptions help; None if it is about something else."""
        free = sorted(fol.free(formula), key=lambda one: one.name)
        fair = self.progress.fair
        if len(free) > 1 or any(fair[name].variables[0].sort != one.sort for name in each for one in free):
            return None
        held = self.sets((tuple(free), formula))
        helps = {name: replaced(formula, dict(zip(free, fair[name].variables, strict=False))) for name in each}
        given = [
            frozenset(one for one in members if not one[1] or (one[1] in rows if free else () in rows))
            for members, rows in zip(self.members, held, strict=True)
        ]
        return helps, given

    def _viable(self, helps: Sequence[Members]) -> bool:
        """Whether something that helps is always on offer, and no cycle has a step by which a rank must fall."""
        if next(self.owing.idle(helps), None) is not None:
            return False
        loops = (one for one in self.owing.changes if self.loops[one.before] == self.loops[one.after])
        return not any(self.owing.must_fall(one, helps) for one in loops)

    def _rank(self, parts: Sequence[Part], left: Sequence[tuple[Change, bool]]) -> list[Part] | None:
        """Return a rank that rises in none of these steps and falls in those where it must; None if there is none.

        The part by which most of them fall comes next.
        """
        rank: list[Part] = []
        while any(must for _, must in left):
            best: Part | None = None
            most = 0
            still: list[Part] = []
            for part in parts:
                held = self.sets(part)
                if all(held[one.after] <= held[one.before] for one, _ in left):
                    still.append(part)
                    lowered = sum(held[one.after] < held[one.before] for one, must in left if must)
                    if lowered > most:
                        best, most = part, lowered
            if best is None:
                return None
            held = self.sets(best)
            rank.append(best)
            left = [pair for pair in left if not held[pair[0].after] < held[pair[0].before]]
            parts = still
        return rank


def guesses(ranks: Ranks, stages: Sequence[Sequence[Part]]) -> list[Rank]:
    """Return the first ranks that are found."""
    return list(itertools.islice(ranks.found(stages), FEW))
