"""Run kernels: scenarios in, what was shown out.

A *source* answers whole scenarios.  `Piped` runs a supervised process and sends requests ahead, so that a step costs a
fraction of a system call.  If the process misbehaves, the missing answers identify the scenario; it is ended with all
that it started, and the next scenario gets a new one.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from time import monotonic
from typing import Protocol as Interface

from msgspec import UNSET

from evenhand.conform.adapters import wire
from evenhand.conform.adapters.host import NOT_LOADED, OWN_FOLDER
from evenhand.conform.adapters.limits import CORE_SECONDS, KernelLimits
from evenhand.conform.adapters.wire import Fault, Misanswer
from evenhand.core.canonical import Json
from evenhand.processes.clock import Clock, OutOfTime, TimeHad
from evenhand.processes.lines import Failure, LineProcess, NoLine

PROMPT, SLOWLY = 0.1, 0.4
"""Seconds after which waiting for an answer counts as time spent, and from which on an answer is slow."""

SLICE = 0.25
"""Seconds of waiting for an answer between two looks at the time of the whole check."""

DRAINED = 0.5
"""Seconds for answers that nobody waits for any more; a process that takes longer is ended."""


class NoKernel(ValueError):
    """There is no kernel to run: the adapter does not load or makes none, or the command does not start."""


class NoAnswer(Exception):
    """The kernel's process gives no more answers: `fault` is the reason, the message what was seen."""

    def __init__(self, ended: NoLine) -> None:
        super().__init__(str(ended))
        self.fault = Fault[ended.failure.name]


@dataclass(frozen=True)
class KernelRequest:
    """One scenario as on the wire: the initial data, the actions, and what the model shows after each.

    `expected` is compared as text first, so that an expected answer is not even parsed.
    """

    initial: bytes
    actions: tuple[bytes, ...]
    expected: tuple[bytes, ...]


@dataclass(frozen=True)
class KernelResponse:
    """The result of one scenario: the answers that came, and what went wrong.

    `shown` has None where an answer equals the expected one byte by byte.  `states` is empty unless the kernel tells
    its state.  `facts` holds the facts that it tells, by place.  `fault` and `why` say how it failed in the step after
    the last answer (`at_start`: it was not even made).  `unsupported` says why it has no kernel for the scenario or,
    if `refused`, cannot take the action after the last answer.  `mutated` names the input that it wrote to,
    `changed_at` the step.  `slow` is the first step whose answer was long awaited from a kernel that did
    nothing; 0: none.  `raw` holds what it told of its messages, by place.  `on` is the whole run if a step raised, as
    if that had shown something unknown.
    """

    shown: tuple[Json, ...] = ()
    states: tuple[Json, ...] = ()
    fault: Fault | None = None
    why: str = ""
    at_start: bool = False
    unsupported: str = ""
    mutated: str = ""
    changed_at: int = 0
    as_expected: bool = False
    refused: bool = False
    facts: Mapping[int, Json] = field(default_factory=dict[int, Json])
    slow: int = field(default=0, compare=False)
    raw: Mapping[int, Json] = field(default_factory=dict[int, Json], compare=False)
    on: KernelResponse | None = field(default=None, compare=False, repr=False)


class Source(Interface):
    """A source of kernels."""

    @property
    def alone(self) -> bool:
        """Whether each scenario gets a fresh process, not only a fresh kernel."""
        ...

    @alone.setter
    def alone(self, alone: bool) -> None: ...

    @property
    def name(self) -> str:
        """Its name on a command line."""
        ...

    def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        """Yield the result of each scenario, in order, each with a fresh kernel."""
        ...

    def together(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        """Yield the result of each scenario, one after the other in one fresh process."""
        ...

    def renew(self) -> None:
        """Give the next scenario a fresh process."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...


@dataclass
class _Listening:
    """The answers to one scenario as they arrive."""

    asked: KernelRequest
    first: int
    shown: list[Json] = field(default_factory=list[Json])
    states: list[Json] = field(default_factory=list[Json])
    facts: dict[int, Json] = field(default_factory=dict[int, Json])
    raw: dict[int, Json] = field(default_factory=dict[int, Json])
    plain: bool = True
    error: str = ""
    at_start: bool = False
    unsupported: str = ""
    mutated: str = ""
    changed_at: int = 0
    slow: int = 0
    no_kernel: str = ""
    on: _Listening | None = None

    def hear(self, line: bytes, number: int) -> None:
        """Take one more answer.  Raises Misanswer for an invalid line."""
        if self.on is not None:
            self.on.hear(line, number)
            return
        place = number - self.first
        expected = b'{"id":%d,"shown":%s}' % (number, self.asked.expected[place - 1]) if place else None
        if line == expected and not self.error and not self.unsupported:
            self.shown.append(None)
            return
        answer = wire.read_answer(line, number)
        if self.error or self.unsupported:
            return
        if answer.error and self.goes_on:
            answer = wire.KernelAnswer(number, wire.UNKNOWN)
        self.unsupported = answer.unsupported
        self.no_kernel = "" if place else answer.no_kernel
        if answer.error or answer.unsupported:
            self.error, self.at_start = answer.error, not place
            if answer.error and place:
                told = list(self.shown), list(self.states), dict(self.facts)
                self.on = _Listening(self.asked, self.first, *told, plain=False, goes_on=True)
                self.on.hear(line, number)
            return
        if place:
            self._take(answer, place)

    def _take(self, answer: wire.KernelAnswer, place: int) -> None:
        same = wire.text(answer.shown).encode("utf-8", "surrogatepass") == self.asked.expected[place - 1]
        self.shown.append(None if same else answer.shown)
        self.plain = self.plain and same and answer.state is UNSET and answer.facts is UNSET
        if answer.state is not UNSET:
            self.states += [wire.UNKNOWN] * (place - 1 - len(self.states))  # of steps that raised
            self.states.append(answer.state)
        if answer.facts is not UNSET:
            self.facts[place - 1] = answer.facts
        if answer.raw is not UNSET:
            self.raw[place - 1] = answer.raw
        if answer.mutated and not self.mutated:
            self.mutated, self.changed_at = answer.mutated, place

    def response(self, ended: NoAnswer | Misanswer | None = None) -> KernelResponse:
        """Return the result, given how the scenario ended."""
        fault, why = (ended.fault, str(ended)) if ended is not None else (None, "")
        if self.error:
            fault, why = Fault.RAISED, self.error
        return KernelResponse(
            tuple(self.shown),
            tuple(self.states),
            fault,
            why,
            self.at_start or (ended is not None and not self.shown and not self.error and self._silent(ended)),
            self.unsupported,
            self.mutated,
            self.changed_at,
            as_expected=self.plain and fault is None and not self.unsupported and not self.mutated,
            refused=bool(self.unsupported) and not self.at_start,
            facts=self.facts,
            slow=self.slow,
            raw=self.raw,
            on=None if self.on is None else self.on.response(),
        )

    def _silent(self, ended: NoAnswer | Misanswer) -> bool:
        """Whether not even the start was answered."""
        return ended.fault is not Fault.TWICE and not self.started

    started: bool = False
    goes_on: bool = False


class Piped:
    """A kernel in a process of its own that speaks JSON Lines; `hosted` if that is our host of a Python adapter.

    The first request raises NoKernel for an adapter that does not load or a command that does not exist, and any for an
    adapter that makes no kernel.
    """

    def __init__(self, name: str, command: list[str], limits: KernelLimits, *, hosted: bool) -> None:
        self._name, self.command, self.limits, self.hosted = name, command, limits, hosted
        self._child: LineProcess | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._number = 0
        self._left: Callable[[], float] = lambda: inf
        self._clock: Clock | None = None
        self.answered = self.alone = False
        self._begun = self._owed = 0
        self._idle = 0.0

    @property
    def name(self) -> str:
        """Its name on a command line."""
        return self._name

    @property
    def pid(self) -> int | None:
        """The id of the running process, or None."""
        return None if self._child is None else self._child.pid

    def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        """Yield the result of each scenario; one that breaks the process does not affect others."""
        todo = list(scenarios)
        while todo:
            done = 0
            for response in self._batch(todo[:1] if self.alone else todo, fresh=self.alone):
                done += 1
                yield response
            del todo[:done]

    def together(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        """Yield the result of each scenario in one fresh process, up to the first that breaks it."""
        yield from self._batch(scenarios, fresh=True)
        if not self.hosted:
            self.renew()

    def bound(self, left: Callable[[], float], clock: Clock) -> None:
        """Wait for no answer longer than `left` says.  The clock begins with the first answer of all."""
        self._left, self._clock = left, clock

    def renew(self) -> None:
        """End the process; the next request starts a new one."""
        child, self._child = self._child, None  # first, so that nobody asks a child whose stop was interrupted
        self._owed = 0
        if child is not None:
            child.stop()
        if self._folder is not None:
            self._folder.cleanup()

    close = renew

    def _batch(self, scenarios: Sequence[KernelRequest], *, fresh: bool = False) -> Iterator[KernelResponse]:
        """Send all at once, to a `fresh` process if asked; stop after the first scenario that breaks the process."""
        if fresh and not self.hosted:
            self.renew()
        self._drain()
        child, listening, lines = self._running(), list[_Listening](), list[bytes]()
        for asked in scenarios:
            listening.append(_Listening(asked, self._number + 1))
            lines.append(wire.start(self._number + 1, asked.initial, fresh=fresh and self.hosted and not lines))
            for place, action in enumerate(asked.actions, start=2):
                lines.append(wire.step(self._number + place, action))
            self._number += len(asked.actions) + 1
        self._number += 1
        lines.append(wire.end(self._number))
        self._owed = len(lines)
        child.send(lines)
        previous: KernelResponse | None = None
        for number, one in enumerate(listening):
            try:
                self._listen(child, one)
            except Misanswer as wrong:
                if wrong.fault is Fault.TWICE and previous is not None and not one.started:
                    yield _twice(previous, wrong)  # the line came late: it belongs to the scenario before
                else:
                    if previous is not None:
                        yield previous
                    yield one.response(wrong)
                self.renew()
                return
            except NoAnswer as ended:
                if previous is not None:
                    yield previous
                self._exists(child, ended, first=number == 0 and not one.started)
                yield one.response(ended)
                self.renew()
                return
            if previous is not None:
                yield previous
            previous = one.response()
        try:
            wire.read_answer(self._line(child), self._number)
        except Misanswer as wrong:
            self.renew()
            if previous is not None:
                previous = _twice(previous, wrong)
        except NoAnswer:
            self.renew()
        if previous is not None:
            yield previous

    def _listen(self, child: LineProcess, one: _Listening) -> None:
        for place in range(len(one.asked.actions) + 1):
            try:
                line = self._line(child)
            finally:
                one.slow = one.slow or (place if self._idle >= SLOWLY else 0)
            one.hear(line, one.first + place)
            one.started = True
            if self.hosted and one.no_kernel:
                self.renew()
                raise NoKernel(
                    f"{self._name}: its factory returned {one.no_kernel}, which has no method step(action). "
                    "Return a kernel, or raise Unsupported for what it does not implement."
                )

    def _line(self, child: LineProcess) -> bytes:
        """The next answer.  Raises NoAnswer, and OutOfTime where the time is over before it counts as hanging.

        Waiting counts as time spent where the kernel does nothing, which takes no CPU time.  A kernel that waits for a
        processor does not hang: beside other programs it gets longer by the clock.
        """
        allowed = self.limits.seconds if child.answered else self.limits.startup
        until, had = monotonic() + allowed, None
        try:
            while True:
                left = self._left() if self.answered or self._clock is None else self._clock.left()
                wait, pause = until - monotonic(), PROMPT if had is None else SLICE
                try:
                    line = child.line(max(0.0, min(wait, left, pause)))
                    break
                except NoLine as ended:
                    if ended.failure is not Failure.HUNG:
                        raise NoAnswer(ended) from None
                had = had or TimeHad(child.pid)
                if wait <= pause and wait <= left:
                    if had.over(allowed) is not None:
                        raise NoAnswer(NoLine(Failure.HUNG, f"no answer within {allowed:g} s"))
                    until = monotonic() + PROMPT
                if left <= 0 and self.answered:
                    raise OutOfTime
                if left <= 0:
                    raise NoAnswer(NoLine(Failure.HUNG, "no answer in all the time that the check had"))
        finally:
            self._idle = had.idle() if had is not None and self.answered else 0.0
            if self._clock is not None:
                self._clock.waited(self._idle)
        if not self.answered:
            self.answered = True
            if self._clock is not None:
                self._clock.restart()
        self._owed -= 1
        return line

    def _drain(self) -> None:
        """Read what is still on its way to somebody who no longer waits; end the process if that is not at once."""
        until, child = monotonic() + DRAINED, self._child
        try:
            while child is not None and self._owed > 0:
                line = child.line(max(0.0, until - monotonic()))
                self._owed -= 1
                if not self._owed:
                    wire.read_answer(line, self._number)
        except (NoLine, Misanswer):
            self.renew()

    def _running(self) -> LineProcess:
        if self._child is None:
            path = os.pathsep.join(path or os.getcwd() for path in sys.path)
            seed = str(self._begun)  # each process has another order of sets and hashes, the same in each check
            self._begun += 1
            # and its own folder for temporary files, which nobody finds after it
            self._folder = tempfile.TemporaryDirectory(prefix="evenhand-", ignore_cleanup_errors=True)
            own = os.path.join(self._folder.name, "own")
            os.mkdir(own)
            environment = {**os.environ, "PYTHONHASHSEED": seed, "TMPDIR": own}
            if self.hosted:
                environment |= {"PYTHONPATH": path, OWN_FOLDER: own}
            try:
                self._child = LineProcess(
                    self.command,
                    memory=self.limits.mebibytes << 20,
                    cpu=CORE_SECONDS,
                    processes=self.limits.processes,
                    longest=self.limits.answer,
                    environment=environment,
                )
            except OSError as error:
                raise NoKernel(f"{self._name}: {error.strerror or error}") from error
        return self._child

    def _exists(self, child: LineProcess, ended: NoAnswer, *, first: bool) -> None:
        """Raise NoKernel if no kernel ever ran."""
        if first and ended.fault is Fault.EXITED and child.code == (NOT_LOADED if self.hosted else 127):
            said = child.said()
            self.renew()
            cause = said or f"{self._name} does not start"
            raise NoKernel(cause if self.hosted else f"{cause}. Name a program that can be started here.")


def _twice(response: KernelResponse, wrong: Misanswer) -> KernelResponse:
    """The same result with the fault that showed after its last answer."""
    return replace(response, fault=wrong.fault, why=str(wrong), as_expected=False)


def adapter_source(adapter: str, limits: KernelLimits | None = None) -> Piped:
    """Return the Python adapter `package.module:factory` or `FILE.py:factory` in a supervised process."""
    command = [sys.executable, "-m", "evenhand.conform.adapters.host", adapter]
    return Piped(f"--adapter {shlex.quote(adapter)}", command, limits or KernelLimits(), hosted=True)


def command_source(command: str, limits: KernelLimits | None = None) -> Piped:
    """Return a command that speaks JSON Lines, in a supervised process.  Raises NoKernel if empty or malformed."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise NoKernel(f"--command {command!r}: {error}") from error
    if not words:
        raise NoKernel("--command is empty; give the command that starts the kernel")
    return Piped(f"--command {shlex.quote(command)}", words, limits or KernelLimits(), hosted=False)
