"""Every signal that the system knows, at moments of every command."""

from __future__ import annotations

import signal
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from random import Random

from tests.attack.running import ANSWERS, Arena, faults_of, half_written
from tests.attack.table import Attack, Row
from tests.attack.uses import uses

MOMENTS = 100
STOPS = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
"""Signals that stop a process; it is continued at once."""

HEEDED = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""Signals that ask a command to end, in order."""

FEW = HEEDED | {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE, signal.SIGALRM}
"""Signals of the default tests."""

REAL_TIME = "real-time signals"


def attacks(arena: Arena) -> Iterator[Attack]:
    """Yield an attack for each signal; the real-time signals, which nothing tells apart, share one."""
    del arena
    named = [number for number in signal.Signals if number not in (signal.SIGRTMIN, signal.SIGRTMAX)]
    for number in named:
        yield Attack("signals", number.name, MOMENTS, int(number in FEW), partial(at_moments, [number]))
    others = sorted(signal.valid_signals() - {*named})
    yield Attack("signals", REAL_TIME, MOMENTS, 0, partial(at_moments, others))


def expected(number: int) -> Collection[int]:
    """Return the exit codes of a command that gets a signal: an answer, or the end that the signal asks for."""
    codes = [*ANSWERS, -number]
    return (*codes, 130) if number in HEEDED else codes


def at_moments(numbers: Sequence[int], arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Send a signal to commands at moments of their run, sometimes twice, and see how they end."""
    there = uses(arena)
    commands = [*there.by_command.items()]
    random.shuffle(commands)
    for trial in range(trials):
        name, use = commands[trial % len(commands)]
        number = numbers[trial % len(numbers)]
        place = arena.new()
        moment = random.uniform(0.0, use.seconds)
        signals = [[number, moment]]
        if number in STOPS:
            signals.append([int(signal.SIGCONT), moment + 0.05])
        elif random.random() < 0.2:
            signals.append([number, moment + random.uniform(0.0, 0.02)])
        if use.endless:
            signals.append([int(signal.SIGINT), use.seconds + 0.1])
        ran = arena.run(there.words(name, place), folder=place, signals=signals, starts=True)
        codes = [*expected(number), use.code]
        faults = [*ran.faults(arena.base), *faults_of(ran.last, codes, one_line=False), *half_written(place)]
        row.count(f"{name}, {signal.Signals(number).name if number in [*signal.Signals] else number} after "
                  f"{moment:.3f} s", [*faults, *arena.harmed()])  # fmt: skip
