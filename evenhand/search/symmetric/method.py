"""Symmetric search for the engine: divide a configuration's states, search, compare samples, decide the claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.core.kinds import Property, Safety
from evenhand.core.system import AnySystem
from evenhand.search.bounds import Bounds
from evenhand.search.compiled.flat import Flat, flattened
from evenhand.search.compiled.labels import about_states, about_steps
from evenhand.search.compiled.method import Compiled, RowSearch, answer_in, step_tally
from evenhand.search.quotient import not_fixed
from evenhand.search.steps import Method
from evenhand.search.symmetric.check import compare_folded
from evenhand.search.symmetric.compiler import Folded, folded
from evenhand.search.symmetric.moves import AnyQuotient
from evenhand.search.symmetric.walk import FoldedWalk, decoded, search_folded
from evenhand.search.witness import Progress, Tally


@dataclass
class Orbits(RowSearch[Folded]):
    """Symmetric search."""

    system: AnySystem
    quotient: AnyQuotient
    claims: tuple[Property, ...]
    below: Method | Compiled | None = None

    name = "symmetric"

    def compile(self, config: Any) -> tuple[Folded, Flat]:
        """Return the program of a configuration under its group, and its rows."""
        made = folded(self.system, config, [c for c in self.claims if about_steps(c)], self.quotient)
        return made, flattened(made.program)

    def search(self, config: Any, number: int, bounds: Bounds, tick: Progress | None = None) -> FoldedWalk:
        """Search one configuration and compare samples.  Raises Unfit or ModelError."""
        walk = search_folded(self.system, self.quotient, config, number, self.program(config), bounds, tick)
        walk.doubts = compare_folded(walk, self.claims)
        return walk

    def tallies(self, walk: FoldedWalk, claims: Sequence[Property]) -> list[Tally]:
        """Return the tally of each claim, in order."""
        return [self._tally(walk, claim) if claim.applies(walk.config) else Tally() for claim in claims]

    def _tally(self, walk: FoldedWalk, claim: Property) -> Tally:
        doubt = walk.doubts.get(claim.name)
        doubts = (doubt,) if doubt else ()
        if about_states(claim):
            return _certain(_always(walk, claim, doubts))
        if about_steps(claim):
            return _certain(step_tally(walk, claim, walk.label_counts, walk.label_seen, doubts))
        reason = f"a claim of kind {claim.kind} needs the steps themselves, and symmetric search keeps orbits"
        return Tally(1, walk.transitions, 0, doubts=(reason,))

    def why(self, config: Any) -> str:
        """Return why this method was chosen, in one sentence.  Raises Unfit."""
        made, flat = self.program(config)
        return (
            f"quotient {self.quotient.name!r} is licensed and leaves this configuration as it is in {made.group.order} "
            f"ways: one state of each orbit, {len(flat.rows.weight)} rows from {made.program.runs} runs on "
            "proxies; samples and their images were compared with the step"
        )


def _certain(tally: Tally) -> Tally:
    """The tally, without findings on picked states if the claim has a doubt: it may tell images apart."""
    return replace(tally, met=0, violations=0, finding=None) if tally.doubts else tally


def _always(walk: FoldedWalk, claim: Safety, doubts: tuple[str, ...]) -> Tally:
    """The tally of a claim about states, evaluated on every picked state and its images under every exchange of two."""
    met = violations = 0
    first: int | None = None
    generators = walk.folded.group.generators
    numbers = decoded(walk.shape, walk.words)
    images = [move.images(numbers).tolist() for move in generators]

    for sid, size in enumerate(walk.sizes):
        applies, violated = answer_in(walk, claim, walk.state(sid))
        if not doubts and size > 1:
            others = (_built(walk, rows[sid]) for rows in images)
            if any(answer_in(walk, claim, other) != (applies, violated) for other in others):
                doubts = (not_fixed(walk.quotient, claim),)
        met += size * applies
        violations += size * violated
        if violated and first is None:
            first = sid
    return Tally(1, walk.states, met, violations, None if first is None else walk.finding(first), doubts)


def _built(walk: FoldedWalk, numbers: Sequence[int]) -> Any:
    return walk.shape.build([d[n] for d, n in zip(walk.shape.domains, numbers, strict=True)])
