"""Lamport's `Teaching concurrency`: each process sets its own variable, and then copies its neighbour's.

Published: `Simple` of the TLA+ examples has 723 distinct states, and `SimpleRegular`, where a variable that is being
set may be read as either value, 277,726; we remembered the numbers and not how many processes; they come out with five
and with eight.
"""

from __future__ import annotations

from dataclasses import dataclass

import evenhand
from tests.known.known import Known, put

Row = tuple[int, ...]
Action = tuple[int, int]


@dataclass(frozen=True)
class State:
    """The possible values of each variable, the copied value and the line of each process: its last one is `LINES`."""

    may_read: tuple[Row, ...]
    copied: Row
    line: Row


def start(processes: int) -> State:
    """No variable is set."""
    zero = (0,) * processes
    return State(((0,),) * processes, zero, zero)


def actions(lines: int, state: State) -> list[Action]:
    """The next line of each process; where the neighbour's variable may be read as either value, either is copied."""
    return [
        (process, value)
        for process, line in enumerate(state.line)
        if line < lines
        for value in (state.may_read[process - 1] if line == lines - 1 else (1,))
    ]


def step(lines: int, state: State, action: Action) -> State:
    """With three lines a variable is set in two, and may be read as either value between them."""
    process, value = action
    line = state.line[process] + 1
    after = put(state.line, process, line)
    if line == lines:
        return State(state.may_read, put(state.copied, process, value), after)
    now = (1,) if line == lines - 1 else (0, 1)
    return State(put(state.may_read, process, now), state.copied, after)


def simple(processes: int, lines: int, states: int) -> Known:
    """Two lines for atomic variables, three for regular ones."""

    @evenhand.always("When all are done, somebody has copied a one.")
    def somebody(state: State) -> bool:
        return set(state.line) != {lines} or 1 in state.copied

    @evenhand.reachable("All can have copied a one.")
    def everybody(moment: evenhand.Step[None, State, Action, None]) -> bool:
        return 0 not in moment.after.copied

    system = evenhand.system(
        "simple",
        initial=[start(processes)],
        actions=lambda state: actions(lines, state),
        step=lambda state, action: step(lines, state, action),
    )
    return Known(system, states, true=(somebody,), reached=((everybody, processes * lines),))


KNOWN = simple(processes=5, lines=2, states=723)
KNOWN_REGULAR = simple(processes=8, lines=3, states=277_726)
