"""Compiled search for the engine: compile a configuration, search it, compare samples, decide the claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Always, EachStep, Property, Reachable, every_state
from evenhand.core.system import AnySystem
from evenhand.search.bounds import Bounds
from evenhand.search.compiled.check import compare
from evenhand.search.compiled.compiler import Program, Unfit, compiled
from evenhand.search.compiled.flat import Flat, flattened
from evenhand.search.compiled.labels import LooksAtAction, speaks_of
from evenhand.search.compiled.runs import decided
from evenhand.search.compiled.spilled import blocks_of
from evenhand.search.compiled.walk import RowWalk, search_rows, successors
from evenhand.search.liveness import AboutRuns
from evenhand.search.steps import Method
from evenhand.search.witness import Tally


@dataclass
class Compiled:
    """Compiled search; `below` takes over a configuration that does not compile (None: no fallback).

    `engine` is `numpy` or `numba`, by default whichever is faster for the remaining work.
    """

    system: AnySystem
    claims: Sequence[Property]
    below: Method | None = None
    engine: str | None = None

    name = "compiled"

    def __post_init__(self) -> None:
        self.made: dict[Any, tuple[Program, Flat]] = {}
        self.max_memory: int | None = None

    def program(self, config: Any) -> tuple[Program, Flat]:
        """Return the compiled configuration, kept for later searches.  Raises Unfit with the reason."""
        known = self.made.get(config)
        if known is None:
            try:
                program = compiled(self.system, config, self.claims)
                known = self.made[config] = (program, flattened(program))
            except (LooksAtAction, OverflowError) as error:
                raise Unfit(f"{self.system.label}: {error}") from error
        return known

    def search(
        self, config: Any, number: int, bounds: Bounds, tick: Callable[[int, int], None] | None = None
    ) -> RowWalk:
        """Search one configuration and compare samples.  Raises Unfit or ModelError."""
        program, flat = self.program(config)
        self.max_memory = bounds.max_memory
        walk = search_rows(self.system, config, number, program, flat, bounds, tick, self.engine)
        compare(walk)
        return walk

    def tallies(self, walk: RowWalk, claims: Sequence[Property]) -> list[Tally]:
        """Return the tally of each claim, in order."""
        runs = [claim for claim in claims if isinstance(claim, AboutRuns) and claim.applies(walk.config)]
        of_runs = iter(decided(walk, runs, self.max_memory) if runs else ())
        found: list[Tally] = []
        for claim in claims:
            if not claim.applies(walk.config):
                found.append(Tally())
            elif isinstance(claim, AboutRuns):
                found.append(next(of_runs))
            elif isinstance(claim, Always):
                found.append(_always(walk, claim))
            else:
                found.append(_step_claim(walk, claim))
        return found

    def why(self, config: Any) -> str:
        """Return why this method was chosen, in one sentence."""
        program, flat = self.program(config)
        return (
            f"the declared domains make {len(flat.rows.weight)} table rows from {program.runs} runs on proxies, "
            f"{program.shape.bits} bits a state; samples were compared with the step"
        )


def reason_against(
    system: AnySystem, claims: Sequence[Property], speaks: Callable[[Property], bool] = speaks_of
) -> str:
    """Return why compiled search, or one that `speaks` of fewer claims, is not even tried; empty where it is."""
    if system.domains is None:
        return "the system declares no domains"
    other = next((claim for claim in claims if not speaks(claim)), None)
    return "" if other is None else f"claim {other.name!r} is of kind {other.kind}, which needs the steps themselves"


def _always(walk: RowWalk, claim: Always) -> Tally:
    """The tally of an invariant, evaluated on every state, as the model knows it."""
    met = violations = 0
    first: int | None = None
    shape, config = walk.program.shape, walk.config
    for sid, words in enumerate(words for some in blocks_of(walk.words) for words in some.tolist()):
        state = shape.state(words)
        try:
            if claim.when is not every_state and not claim.when(config, state):
                continue
            met += 1
            if claim.check(config, state):
                continue
        except Exception as error:
            raise ModelError(
                f"{walk.system.label}: claim {claim.name!r} raised {type(error).__name__}: {error} in state {state!r}"
            ) from error
        violations += 1
        first = sid if first is None else first
    return Tally(1, walk.count, met, violations, None if first is None else walk.finding(first))


def _step_claim(walk: RowWalk, claim: Property) -> Tally:
    """The tally of a claim about steps, from the labels of the rows that were run."""
    labeller = walk.program.labeller
    place = next(place for place, known in enumerate(labeller.claims) if known is claim)
    met = violations = 0
    first: tuple[int, int] | None = None
    for number, bits in enumerate(labeller.sets):
        count = int(walk.labels.counts[number]) if number < len(walk.labels.counts) else 0
        if bits >> 2 * place & 1:
            met += count
        if bits >> 2 * place + 1 & 1 and count:
            violations += count
            seen = (int(walk.labels.state[number]), int(walk.labels.row[number]))
            first = min(first or seen, seen)
    if len(labeller.sets) == 1:  # every row has the one label: nothing was counted
        bits = labeller.sets[0]
        met = walk.transitions if bits >> 2 * place & 1 else 0
        violations = walk.transitions if bits >> 2 * place + 1 & 1 else 0
        first = (0, -1) if violations else None
    finding = None if first is None else _finding(walk, *first)
    assert isinstance(claim, EachStep | Reachable)
    return Tally(1, walk.transitions, met, violations, finding)


def _finding(walk: RowWalk, sid: int, row: int) -> Any:
    if row >= 0:
        return walk.finding(sid, row)

    for other in range(walk.count):  # the first state that has a step at all
        for _, one, _ in successors(walk, other):
            return walk.finding(other, one)
    return None
