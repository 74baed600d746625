"""Thread timing: several threads call `act` at once, in schedules that a seed decides.

One thread runs at a time.  At each instruction of the kernel it may hand over to another, as a seeded draw says, so
that the same seed gives the same schedule.  A thread that waits for a lock does not come back for a moment; another
goes on then.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from random import Random
from types import FrameType
from typing import Any

from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.naming import Criterion, rule_that_fits
from evenhand.arbiters.plays import Play, Round, Shown, look
from evenhand.arbiters.question import Question, Witness
from evenhand.core.answers import error_text
from evenhand.processes.clock import OutOfTime

PATIENCE = 0.02
"""Seconds after which a thread that does not come back is taken to wait for something."""

LOOK, LOOKS = 0.02, 150
"""Seconds between two looks at the threads, and looks without a step of any thread after which all wait for ever.

Looks are counted, and not seconds: where the machine is busy, it lets this thread look as seldom as the others step.
"""

SCHEDULES = 12
"""Drawn schedules of each play."""

STAY = 0.8
"""Share of instructions after which the same thread goes on."""

Pick = Callable[[int | None, list[int]], int]
"""From the thread that runs (None: it has ended or waits) and those that can, to the one that runs next."""


class Turns:
    """Who of several threads runs."""

    def __init__(self, count: int, pick: Pick) -> None:
        self._able, self._pick, self.moves = set(range(count)), pick, 0
        self._current: int | None = pick(None, sorted(self._able))
        self._change = threading.Condition()
        self._threads: dict[int, int] = {}

    def come(self, me: int) -> None:
        """Wait for a turn; the thread that has it may lose it."""
        with self._change:
            self._threads[me] = threading.get_ident()
            self._able.add(me)
            if self._current in (me, None):
                self._hand_on(me)
            while self._current != me:
                seen = self.moves
                waited = not self._change.wait(PATIENCE) and self.moves == seen
                if waited and self._current is not None and not self._goes_on(self._current):
                    self._able.discard(self._current)
                    self._hand_on(None)

    def _goes_on(self, thread: int) -> bool:
        """Return whether a thread has not begun, or is in this module's code: then it is slow, and waits for none."""
        frame = sys._current_frames().get(self._threads.get(thread, 0))  # pyright: ignore[reportPrivateUsage]
        return thread not in self._threads or (frame is not None and frame.f_code.co_filename == __file__)

    def end(self, me: int) -> None:
        """Leave."""
        with self._change:
            self._able.discard(me)
            if self._current == me:
                self._hand_on(None)

    def _hand_on(self, current: int | None) -> None:
        self._current = self._pick(current, sorted(self._able)) if self._able else None
        self.moves += 1
        self._change.notify_all()


def in_order(current: int | None, able: list[int]) -> int:
    """Let each thread run to its end before the next."""
    return able[0] if current is None else current


def drawn(seed: int) -> Pick:
    """Let a draw decide after each instruction."""
    draw = Random(seed)

    def pick(current: int | None, able: list[int]) -> int:
        return current if current is not None and draw.random() < STAY else draw.choice(able)

    return pick


def together(subject: Subject, play: Play, pick: Pick = in_order) -> Shown:
    """Perform a play of one round, each agent's call of `act` in a thread of its own.  Raises OutOfTime."""
    if subject.left() <= 0:
        raise OutOfTime
    session = play.start(subject)
    profile = play.rounds[0]
    turns, outcomes, errors = Turns(len(profile), pick), dict[Any, Any](), dict[int, str]()

    def call(me: int, agent: Any, choice: Any) -> None:
        turns.come(me)
        sys.settrace(_tracer(turns, me))
        try:
            given: dict[Any, Any] = dict(session.kernel.act({agent: choice}))
            sys.settrace(None)
            outcomes.update(given)
        except Exception as error:
            sys.settrace(None)
            errors[me] = error_text(error)
        finally:
            turns.end(me)

    threads = [
        threading.Thread(target=call, args=(me, *pair), daemon=True, name=f"evenhand-{me}")
        for me, pair in enumerate(profile)
    ]
    for thread in threads:
        thread.start()
    _await(subject, threads, turns)
    hanging = [str(agent) for thread, (agent, _) in zip(threads, profile, strict=True) if thread.is_alive()]
    if hanging:
        return Shown((Round(None, error=f"the calls of {', '.join(hanging)} do not return"),))
    if errors:
        return Shown((Round(None, error=errors[min(errors)]),))
    return Shown((look(session, play.agents, {agent: outcomes[agent] for agent, _ in profile if agent in outcomes}),))


def _await(subject: Subject, threads: list[threading.Thread], turns: Turns) -> None:
    """Wait until all threads have ended, or none of them goes on.  Raises OutOfTime."""
    moves, still = turns.moves, 0
    while alive := [thread for thread in threads if thread.is_alive()]:
        alive[0].join(LOOK)
        moves, still = turns.moves, still + 1 if turns.moves == moves else 0
        if still > LOOKS:
            return
        if subject.left() <= 0:
            raise OutOfTime


def _tracer(turns: Turns, me: int) -> Callable[[FrameType, str, Any], Any]:
    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename in (__file__, threading.__file__):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            turns.come(me)
        return trace

    return trace


class ThreadTiming(Question):
    """Does the timing of threads decide?"""

    name = "thread timing"
    sentence = "Which of several threads is faster decides nothing."
    needs = (("threads",),)

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Compare threads that run one after the other with other orders, and with drawn schedules."""
        if len(play.rounds) != 1:
            return None
        base = together(subject, play)
        if base.error:
            return Witness(play, base, f"with one thread for each agent: {base.error}")
        runs: list[tuple[str, Play, Pick]] = []
        for order in itertools.islice(itertools.permutations(range(len(play.rounds[0]))), 1, 6):
            other = play.delivered(order)
            agents = ", ".join(str(agent) for agent, _ in other.rounds[0])
            runs.append((f"the threads run one after the other in the order {agents}", other, in_order))
        runs += [
            (f"the threads run at the same time, by schedule {seed}", play, drawn(seed)) for seed in range(SCHEDULES)
        ]
        for change, other, pick in runs:
            also = together(subject, other, pick)
            if also.compared() != base.compared():
                return Witness(play, base, "the outcomes differ", change, other, also)
        return None

    def named(self, subject: Subject, witness: Witness) -> str:
        """Return whether the first or the last thread is favoured."""
        if witness.other is None or "do not return" in (witness.also or witness.shown).error:
            return f"thread timing decides: {(witness.also or witness.shown).error}"
        if witness.other == witness.play:
            return "thread timing decides: calls that run at the same time mix"

        def others(play: Play) -> Iterator[Play]:
            return (play.delivered(order) for order in itertools.permutations(range(len(play.agents))))

        criteria: dict[str, Criterion] = {
            "whose thread is first": lambda play: play.rounds[0][0][0],
            "whose thread is last": lambda play: play.rounds[0][-1][0],
        }
        found = rule_that_fits(subject, witness.play, others, criteria, show=together)
        return f"thread timing decides: the agent {found}" if found else "thread timing decides"
