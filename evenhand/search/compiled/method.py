"""Compiled search for the engine: compile a configuration, search it, compare samples, decide the claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Property, Safety, every_state
from evenhand.core.system import AnySystem
from evenhand.search.bounds import Bounds
from evenhand.search.compiled.check import compare
from evenhand.search.compiled.compiler import Program, Unfit, compiled
from evenhand.search.compiled.flat import Flat, flattened
from evenhand.search.compiled.labels import LooksAtAction, about_states, speaks_of
from evenhand.search.compiled.runs import decided
from evenhand.search.compiled.spilled import blocks_of
from evenhand.search.compiled.walk import RowWalk, Walk, search_rows, successors_in
from evenhand.search.liveness import AboutRuns
from evenhand.search.steps import Method
from evenhand.search.totals import Result
from evenhand.search.witness import Progress, Tally

P = TypeVar("P")


class RowSearch(Generic[P]):
    """A search over rows; `below` takes over a configuration that does not compile (None: no fallback)."""

    name: ClassVar[str]
    system: AnySystem
    below: Any

    def __post_init__(self) -> None:
        self.made: dict[Any, tuple[P, Flat]] = {}

    def program(self, config: Any) -> tuple[P, Flat]:
        """Return the compiled configuration, kept for later searches.  Raises Unfit with the reason."""
        if config not in self.made:
            try:
                self.made[config] = self.compile(config)
            except (LooksAtAction, OverflowError) as error:
                raise Unfit(f"{self.system.label}: {error}") from error
        return self.made[config]

    def compile(self, config: Any) -> tuple[P, Flat]:
        """Return the program of a configuration, and its rows."""
        raise NotImplementedError

    def search(self, config: Any, number: int, bounds: Bounds, tick: Progress | None = None) -> Walk:
        """Search one configuration and compare samples.  Raises Unfit or ModelError."""
        raise NotImplementedError

    def tallies(self, walk: Any, claims: Sequence[Property]) -> list[Tally]:
        """Return the tally of each claim, in order."""
        raise NotImplementedError

    def result(
        self, config: Any, number: int, claims: Sequence[Property], bounds: Bounds, tick: Progress | None
    ) -> Result:
        """Return the counts and tallies of one configuration.  Raises Unfit or ModelError."""
        walk = self.search(config, number, bounds, tick)
        depth = max(0, len(walk.levels) - 1)
        tallies = tuple(self.tallies(walk, claims))
        return Result(walk.states, walk.transitions, walk.edges, depth, walk.open, tallies, walk.spilled)


@dataclass
class Compiled(RowSearch[Program]):
    """Compiled search.

    `engine` is `numpy` or `numba`, by default whichever is faster for the remaining work.
    """

    system: AnySystem
    claims: Sequence[Property]
    below: Method | None = None
    engine: str | None = None

    name = "compiled"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.max_memory: int | None = None

    def compile(self, config: Any) -> tuple[Program, Flat]:
        """Return the program of a configuration, and its rows."""
        program = compiled(self.system, config, self.claims)
        return program, flattened(program)

    def search(self, config: Any, number: int, bounds: Bounds, tick: Progress | None = None) -> RowWalk:
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
        counts = walk.labels.counts.tolist()
        seen = dict(enumerate(zip(walk.labels.state.tolist(), walk.labels.row.tolist(), strict=True)))
        found: list[Tally] = []
        for claim in claims:
            if not claim.applies(walk.config):
                found.append(Tally())
            elif isinstance(claim, AboutRuns):
                found.append(next(of_runs))
            elif about_states(claim):
                found.append(_always(walk, claim))
            else:
                found.append(step_tally(walk, claim, counts, seen))
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
    if system.constrained:
        return "constraints are asked of each state and step"
    other = next((claim for claim in claims if not speaks(claim)), None)
    return "" if other is None else f"claim {other.name!r} is of kind {other.kind}, which needs the steps themselves"


def answer_in(walk: Walk, claim: Safety, state: Any) -> tuple[bool, bool]:
    """Return whether the antecedent of a claim about states is met in one, and whether the state violates it."""
    when, check = claim.tests
    try:
        met = when is every_state or bool(when(walk.config, state))
        return met, met and not check(walk.config, state)
    except Exception as error:
        raise ModelError(
            f"{walk.system.label}: claim {claim.name!r} raised {type(error).__name__}: {error} in state {state!r}"
        ) from error


def _always(walk: RowWalk, claim: Safety) -> Tally:
    """The tally of a claim about states, evaluated on every state, as the model knows it."""
    met = violations = 0
    first: int | None = None
    for sid, words in enumerate(words for some in blocks_of(walk.words) for words in some.tolist()):
        applies, violated = answer_in(walk, claim, walk.shape.state(words))
        met += applies
        violations += violated
        if violated and first is None:
            first = sid
    return Tally(1, walk.states, met, violations, None if first is None else walk.finding(first))


def step_tally(
    walk: Walk,
    claim: Property,
    counts: Sequence[int],
    seen: Mapping[int, tuple[int, int]],
    doubts: tuple[str, ...] = (),
) -> Tally:
    """Return the tally of a claim about steps from the labels of the rows that were run.

    `counts` has the steps of each label, `seen` the first state and row with it.  Where every row has the one label,
    nothing was counted by label.
    """
    labeller = walk.program.labeller
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


def _any_step(walk: Walk) -> tuple[int, int]:
    return next((sid, row) for sid in range(len(walk.words)) for _, row, _ in successors_in(walk.flat, walk.words[sid]))
