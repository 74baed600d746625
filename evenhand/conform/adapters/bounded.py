"""Bound the time of a source as a whole, however its kernel behaves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse, Piped, Source
from evenhand.processes.clock import Clock, OutOfTime


class Bounded:
    """A source that is asked nothing after `end` on a clock, and awaits no answer after `last`; raises OutOfTime.

    A process that has not answered by then is not accused of hanging: it was not given the time.  One that has never
    answered is, when the whole time of the clock is over; what the first kernel takes to start does not count.
    """

    def __init__(self, source: Source, clock: Clock) -> None:
        self.source, self.clock = source, clock
        self.progress: Callable[[], None] = lambda: None
        self.end = self.last = math.inf
        self._awaiting = False

    @property
    def name(self) -> str:
        """Its name on a command line."""
        return self.source.name

    def left(self) -> float:
        """Return the seconds until the end."""
        return min(self.end, self.last, self.clock.limit) - self.clock.spent()

    def last_left(self) -> float:
        """Return the seconds until nothing is awaited any more; for the first answer of all, the whole time."""
        last = self.last if not isinstance(self.source, Piped) or self.source.answered else math.inf
        return min(last, self.clock.limit) - self.clock.spent()

    def busy_left(self) -> float:
        """Return the seconds until whoever asks must end, which is later while an answer is awaited."""
        return self.last_left() if self._awaiting else self.left()

    def _waits(self) -> float:
        """Return the seconds that an answer may take; called now and then while there is none."""
        self.progress()
        return self.last_left()

    @property
    def alone(self) -> bool:
        """Whether each scenario gets a fresh process."""
        return self.source.alone

    @alone.setter
    def alone(self, alone: bool) -> None:
        self.source.alone = alone

    def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        """Yield the result of each scenario, in order.  Raises OutOfTime."""
        yield from self._asked(self.source.ask, scenarios)

    def together(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        """Yield the result of each scenario in one fresh process.  Raises OutOfTime."""
        yield from self._asked(self.source.together, scenarios)

    def _asked(
        self, ask: Callable[[Sequence[KernelRequest]], Iterator[KernelResponse]], scenarios: Sequence[KernelRequest]
    ) -> Iterator[KernelResponse]:
        if self.left() <= 0:
            raise OutOfTime
        if isinstance(self.source, Piped):
            self.source.bound(self._waits, self.clock)
        answers = ask(scenarios)
        while (response := self._next(answers)) is not None:
            yield response
            if self.left() <= 0:
                raise OutOfTime

    def _next(self, answers: Iterator[KernelResponse]) -> KernelResponse | None:
        self._awaiting = True
        try:
            response = next(answers, None)
        finally:
            self._awaiting = False
        self.progress()
        return response

    def renew(self) -> None:
        """Give the next scenario a fresh process."""
        self.source.renew()

    def close(self) -> None:
        """End what was started."""
        self.source.close()
