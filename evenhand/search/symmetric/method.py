"""Symmetric search for the engine: divide a configuration's states, search, compare samples, decide the claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Property, Safety, every_state
from evenhand.core.system import AnySystem
from evenhand.search.bounds import Bounds
from evenhand.search.quotient import not_fixed
from evenhand.search.rows.compiler import Unfit
from evenhand.search.rows.flat import Flat, flattened
from evenhand.search.rows.labels import LooksAtAction, about_states, about_steps
from evenhand.search.steps import Method
from evenhand.search.symmetric.check import compare_folded
from evenhand.search.symmetric.compiler import Folded, folded, undeclared
from evenhand.search.symmetric.moves import AnyQuotient
from evenhand.search.symmetric.walk import FoldedWalk, decoded, search_folded, successors_in
from evenhand.search.totals import Result
from evenhand.search.witness import Progress, Tally


@dataclass
class Orbits:
    """Symmetric search; `below` takes over a configuration that has no rows (None: no fallback)."""

    system: AnySystem
    quotient: AnyQuotient
    claims: tuple[Property, ...]
    below: Method | None = None

    name = "symmetric"

    def __post_init__(self) -> None:
        self.made: dict[Any, tuple[Folded, Flat]] = {}

    def program(self, config: Any) -> tuple[Folded, Flat]:
        """Return the rows of a configuration under its group, kept for later searches.  Raises Unfit."""
        if config not in self.made:
            try:
                made = folded(self.system, config, [c for c in self.claims if about_steps(c)], self.quotient)
                self.made[config] = made, flattened(made.program)
            except (LooksAtAction, OverflowError) as error:
                raise Unfit(f"{self.system.label}: {error}") from error
        return self.made[config]

    def result(
        self, config: Any, number: int, claims: Sequence[Property], bounds: Bounds, tick: Progress | None
    ) -> Result:
        """Return the counts and tallies of one configuration.  Raises Unfit or ModelError."""
        walk = self.search(config, number, bounds, tick)
        depth = max(0, len(walk.levels) - 1)
        tallies = tuple(self.tallies(walk, claims))
        return Result(walk.states, walk.transitions, walk.edges, depth, walk.open, tallies)

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
            return _certain(_step_tally(walk, claim, walk.label_counts, walk.label_seen, doubts))
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
        applies, violated = _answer_in(walk, claim, walk.state(sid))
        if not doubts and size > 1:
            others = (_built(walk, rows[sid]) for rows in images)
            if any(_answer_in(walk, claim, other) != (applies, violated) for other in others):
                doubts = (not_fixed(walk.quotient, claim),)
        met += size * applies
        violations += size * violated
        if violated and first is None:
            first = sid
    return Tally(1, walk.states, met, violations, None if first is None else walk.finding(first), doubts)


def _built(walk: FoldedWalk, numbers: Sequence[int]) -> Any:
    return walk.shape.build([d[n] for d, n in zip(walk.shape.domains, numbers, strict=True)])


def reason_against(system: AnySystem, claims: Sequence[Property]) -> str:
    """Return why symmetric search is not even tried; empty where it is."""
    if against := undeclared(system):
        return against
    if system.constrained:
        return "constraints are asked of each state and step"
    other = next((claim for claim in claims if not about_steps(claim)), None)
    return "" if other is None else f"claim {other.name!r} is of kind {other.kind}, which needs the steps themselves"


def _answer_in(walk: FoldedWalk, claim: Safety, state: Any) -> tuple[bool, bool]:
    """Return whether the antecedent of a claim about states is met in one, and whether the state violates it."""
    when, check = claim.tests
    try:
        met = when is every_state or bool(when(walk.config, state))
        return met, met and not check(walk.config, state)
    except Exception as error:
        raise ModelError(
            f"{walk.system.label}: claim {claim.name!r} raised {type(error).__name__}: {error} in state {state!r}"
        ) from error


def _step_tally(
    walk: FoldedWalk,
    claim: Property,
    counts: Sequence[int],
    seen: Mapping[int, tuple[int, int]],
    doubts: tuple[str, ...] = (),
) -> Tally:
    """Return the tally of a claim about steps from the labels of the rows that were run.

    `counts` has the steps of each label, `seen` the first state and row with it.  Where every row has the one label,
    nothing was counted by label.
    """
    labeller = walk.folded.program.labeller
    place = next(place for place, known in enumerate(labeller.claims) if known is claim)
    met = violations = 0
    first: list[tuple[int, int]] = []
    # The comparison of samples may have met labels that no row has, so there may be more sets than counts.
    for number, (bits, counted) in enumerate(zip(labeller.sets, counts, strict=False)):
        count = counted if len(counts) > 1 else walk.transitions
        met += count * (bits >> 2 * place & 1)
        if bits >> 2 * place + 1 & 1 and count:
            violations += count
            first.append(seen[number] if len(counts) > 1 else _any_step(walk))
    return Tally(1, walk.transitions, met, violations, walk.finding(*min(first)) if first else None, doubts)


def _any_step(walk: FoldedWalk) -> tuple[int, int]:
    return next((sid, row) for sid in range(len(walk.words)) for _, row, _ in successors_in(walk.flat, walk.words[sid]))
