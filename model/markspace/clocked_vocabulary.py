"""The vocabulary of a scheduler with a clock (§14.2): instants instead of ages, and two quotients of its states.

`scheduling` keeps seconds since the last activation, which saturate.  Here the state holds what an implementation
keeps: the time, and the instant of each agent's last activation.  `counted_from_now` and `no_older_than_the_longest`
are the two maps that merge equivalent states.
"""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.core.records import dataclass, replace
from evenhand.core.system import Step
from evenhand.model.markspace.composing_vocabulary import TYPES as COMPOSING_TYPES
from evenhand.model.markspace.composing_vocabulary import Composed, ComposingAct, ComposingConfig

FAR = (1, 1_000_000)
"""Seconds by which a state is moved to get states with the same image."""


@dataclass(frozen=True, slots=True)
class ClockConfig(ComposingConfig):
    """The configuration of a scheduler without a clock; `longest` is the longest interval on offer, in seconds.

    `horizon` is the second after which no agent waits any more, 0 if time has no end.
    """

    longest: int = 2
    horizon: int = 0


@dataclass(frozen=True, slots=True)
class ClockState:
    """The time in seconds, per agent its interval (None: none) and the instant of its last activation (None: never)."""

    now: int
    intervals: tuple[int | None, ...]
    last: tuple[int | None, ...]

    @property
    def since(self) -> tuple[int | None, ...]:
        """Return the seconds since each agent was activated; None: never."""
        return tuple(None if one is None else self.now - one for one in self.last)


ClockStep = Step[ClockConfig, ClockState, ComposingAct, Composed]


def _moved(state: ClockState, seconds: int) -> ClockState:
    """Return the state with all instants `seconds` later."""
    last = tuple(None if one is None else one + seconds for one in state.last)
    return replace(state, now=state.now + seconds, last=last)


def counted_from_now(config: ClockConfig, state: ClockState) -> ClockState:
    """Return the state with instants counted from now; unchanged before a horizon, where the remaining time matters."""
    return state if config.horizon else _moved(state, -state.now)


def later(config: ClockConfig, state: ClockState) -> Iterator[ClockState]:
    """Yield states with the same image at other times."""
    if not config.horizon:
        yield from (_moved(state, seconds) for seconds in FAR)


def no_older_than_the_longest(config: ClockConfig, state: ClockState) -> ClockState:
    """Return the state with last activations at most the longest interval ago."""
    oldest = state.now - config.longest
    return replace(state, last=tuple(None if one is None else max(one, oldest) for one in state.last))


def earlier(config: ClockConfig, state: ClockState) -> Iterator[ClockState]:
    """Yield states with the same image whose old activations are still older."""
    oldest = state.now - config.longest
    if any(one is not None and one <= oldest for one in state.last):
        for seconds in FAR:
            last = tuple(one if one is None or one > oldest else one - seconds for one in state.last)
            yield replace(state, last=last)


TYPES: tuple[type, ...] = (*COMPOSING_TYPES, ClockConfig, ClockState)
"""All classes that files of this system may hold."""
