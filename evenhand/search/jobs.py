"""Run the same work in one process or in several, with the same result.

Results are folded in the order of the configurations, whichever process made them.  Workers are forked, so that a model
made of lambdas needs no serialising: numbers go in, tallies of numbers come out (and, for claims that compare steps
across configurations, the keys and values seen, over the pipe that the processes of one run share).
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Protocol, Self, TypeAlias, TypeVar

CHUNKS = 8
"""Portions for each process: enough that no process waits long for the last one."""


class Addable(Protocol):
    """A result that can be weighted and added up."""

    @property
    def states(self) -> int:
        """Number of states."""
        ...

    @property
    def transitions(self) -> int:
        """Number of steps."""
        ...

    def times(self, weight: int) -> Self:
        """Return the result for an orbit of `weight` configurations."""
        ...

    def plus(self, later: Self) -> Self:
        """Return the sum with the result of later configurations."""
        ...


T = TypeVar("T", bound=Addable)
Numbers: TypeAlias = Sequence[tuple[int, int]]
_task: Callable[[Numbers], Any] | None = None


def in_processes(
    jobs: int,
    kept: Numbers,
    one: Callable[[int, Callable[[int, int], None] | None], T],
    nothing: T,
    progress: Callable[[int, int], None] | None,
) -> T:
    """Return the weighted sum of `one(number)` over the kept configurations (number, weight), in their order."""
    global _task

    def portion(numbers: Numbers, tell: Callable[[int, int], None] | None = None) -> T:
        part = nothing
        for number, weight in numbers:
            part = part.plus(one(number, _offset(tell, part)).times(weight))
            if tell is not None:
                tell(part.states, part.transitions)
        return part

    if jobs <= 1 or len(kept) < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return portion(kept, progress)
    total = nothing
    _task = portion
    try:
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(max_workers=jobs, mp_context=context) as pool:
            for part in pool.map(_run, _portions(kept, jobs * CHUNKS)):
                total = total.plus(part)
                if progress is not None:
                    progress(total.states, total.transitions)
    finally:
        _task = None
    return total


def _run(numbers: Numbers) -> Any:
    assert _task is not None
    return _task(numbers)


def _offset(progress: Callable[[int, int], None] | None, total: Addable) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda states, steps: progress(total.states + states, total.transitions + steps)


def _portions(kept: Numbers, count: int) -> Iterator[Numbers]:
    size = -(-len(kept) // count)
    for start in range(0, len(kept), size):
        yield kept[start : start + size]
