"""Run traces on a kernel in one phase of a check: send them in batches, examine the answers, follow differing runs."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from time import monotonic
from typing import Any, TypeAlias

from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse, Source
from evenhand.conform.adapters.wire import Fault
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.covering import Covering, Walk
from evenhand.conform.checking.defects import FOLLOWED, Defects
from evenhand.conform.checking.divergence import Divergence, Examiner, kind_of, wavering
from evenhand.conform.checking.multi_run import DIFFERING
from evenhand.conform.checking.refusing import Refusals, Slowness
from evenhand.conform.checking.remembering import lasting, remembers
from evenhand.conform.checking.words import Dictionary, choices
from evenhand.core.canonical import Json
from evenhand.core.codec import encode
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyScenario, AnyTrace, Trace
from evenhand.processes.clock import OutOfTime

AGAIN = "again"
FIRST_BATCH, BATCH = 4, 32
"""Scenarios that are sent ahead, first and later: the first are soon made, and answered in little time."""

FAILING = 400
"""Failing runs after which a phase is given up: the kernel and the model agree on too little."""

SLOW = 100
COST = {Fault.EXITED: 10, Fault.PROCESSES: 10}
"""How many failing runs one counts as that took long, or a process, to fail."""

ASKED_AGAIN = 24
"""How often one scenario is asked again without an action that the kernel cannot take."""

REPEATED, SEEDS = 24, 3
"""Agreeing runs repeated in fresh processes in other orders, and in how many, each of another hash seed."""

FUTILE = 32
"""Runs that the kernel does not support after which a phase ends, if it supported none before."""

SUSPECTED, CONFIGS = 64, 3
"""Differing runs that are repeated at once in a process of their own, and in how many configurations for each kind."""

BESIDE = 100
"""Runs that are repeated without the step that differs, for each kind of difference."""

USUAL = 0.25
"""The share of all runs from which on a difference shows in very many."""

NEARLY_ALL = 0.9
"""The share of all steps from which on walks go on behind a difference."""

EARLIER = 256
"""Runs after which the kernel gets a new process; among them the one is looked for that changes a later answer."""


@dataclass(frozen=True)
class LeftOut:
    """Actions of one kind that were left out, how many, and the first reason."""

    kind: str
    count: int
    why: str


@dataclass
class Phase:
    """What single runs show: counts, sightings, and runs for later; `left` says how many seconds it may go on."""

    coder: Coder
    examiner: Examiner
    defects: Defects
    source: Source
    left: Callable[[], float]
    runs: Counter[str] = field(default_factory=Counter[str])
    steps: Counter[str] = field(default_factory=Counter[str])
    unsupported: Counter[str] = field(default_factory=Counter[str])
    failing: int = 0
    first: tuple[int, float] | None = None
    began: float = field(default_factory=monotonic)
    only_first: bool = False
    agreed: list[AnyTrace] = field(default_factory=list[AnyTrace])
    differing: dict[AnyScenario, AnyTrace] = field(default_factory=dict[AnyScenario, AnyTrace])
    choosing: dict[Any, tuple[bool, AnyScenario]] = field(default_factory=dict[Any, tuple[bool, AnyScenario]])
    own: list[AnyTrace] = field(default_factory=list[AnyTrace])
    fine: list[AnyTrace] = field(default_factory=list[AnyTrace])
    marred: list[tuple[AnyTrace, frozenset[str]]] = field(default_factory=list[Any])
    steps_showing: Counter[str] = field(default_factory=Counter[str])
    notes: list[str] = field(default_factory=list[str])
    followed: int = 0
    left_out: dict[str, LeftOut] = field(default_factory=dict[str, LeftOut])
    refused: Refusals = field(default_factory=Refusals)
    silent: Slowness = field(default_factory=Slowness)
    repeated: dict[frozenset[str], set[Any]] = field(default_factory=dict[frozenset[str], set[Any]])
    leaks: bool = False
    futile: int = FUTILE
    struck: dict[frozenset[str], int] = field(default_factory=dict[frozenset[str], int])
    asked: list[AnyTrace] = field(default_factory=list[AnyTrace])

    def sound(self, most: int) -> list[AnyTrace]:
        """Return runs without any fault: `most` that agree in the model's words, as many in the kernel's.

        Half are the first ones: among these are stored runs, which take actions that walks seldom take.
        """
        half, both = most // 2, (self.agreed, self.fine)
        return [one for some in both for one in (some if len(some) <= most else [*some[:half], *some[-half:]])]

    def bases(self, most: int) -> list[AnyTrace]:
        """Return the same, and as many runs in which nothing differs but what differs in very many."""
        usual = self._usual()
        return [*self.sound(most), *[trace for trace, kinds in self.marred if kinds <= usual][-most:]]

    def _usual(self) -> frozenset[str]:
        """The kinds that show in very many runs: no other run is free of them, so others are looked for beside them."""
        return self.defects.usual(USUAL * sum(self.runs.values()))

    def count(self, name: str, response: KernelResponse) -> None:
        """Count a run and its steps."""
        self.runs[name] += 1
        self.steps[name] += len(response.shown)

    def over(self) -> bool:
        """Return whether the phase must end: the time is up, too much fails, or the first fault is enough."""
        enough = (self.only_first and self.first is not None) or self.failing >= FAILING
        futile = not any(self.steps.values()) and sum(self.unsupported.values()) >= self.futile
        return enough or futile or self.leaks or self.left() <= 0

    def run(self, name: str, traces: Iterable[AnyTrace]) -> None:
        """Run every trace on the kernel until the phase is over."""
        self._run(name, ((trace, None) for trace in traces), None)

    def cover(self, name: str, covering: Covering, most: float) -> None:
        """Walk on the kernel what is left of a graph, up to `most` transitions, until the phase is over."""
        self._run(name, ((walk.trace, walk) for walk in covering.walks(most)), covering)

    def _run(self, name: str, traces: Iterable[tuple[AnyTrace, Walk | None]], covering: Covering | None) -> None:
        self.failing, self.leaks = 0, False
        self.futile = sum(self.unsupported.values()) + FUTILE
        waiting, size = iter(traces), FIRST_BATCH
        while not self.over() and (batch := list(islice(waiting, size))):
            size = min(BATCH, 2 * size)
            for _ in range(ASKED_AGAIN):
                batch = self._asked(name, batch, covering)
                if not batch or self.leaks:
                    break
        if self.failing >= FAILING:
            self.notes.append(f"{name}: stopped, too many runs fail; these findings hide others")

    def agreeing(self, name: str, traces: Iterable[AnyTrace]) -> list[AnyScenario]:
        """Run every trace on the kernel until the phase is over; return those in which it agrees, and accuse nobody."""
        agreed: list[AnyScenario] = []
        waiting, usual = iter(traces), self._usual()
        while not self.over() and (batch := list(islice(waiting, BATCH))):
            requests = [self.coder.request(trace) for trace in batch]
            for trace, one, response in zip(batch, requests, self.source.ask(requests), strict=True):
                self.count(name, response)
                if response.as_expected or (not response.unsupported and self._agrees(trace, one, response, usual)):
                    agreed.append(trace.scenario)
        return agreed

    def _agrees(self, trace: AnyTrace, one: KernelRequest, response: KernelResponse, usual: frozenset[str]) -> bool:
        """Whether nothing differs but what is usual."""
        found = self.examiner.examine(trace, one, response, "", judged=False)
        if found is None or found.what != "differs":
            return found is None
        later = self.examiner.later(trace, one, response, "", judged=False)
        return all(other.kinds <= usual for other in (found, *later))

    def _asked(
        self, name: str, batch: Sequence[tuple[AnyTrace, Walk | None]], covering: Covering | None
    ) -> list[tuple[AnyTrace, Walk | None]]:
        """Run traces on the kernel; return those to run again, without actions at which they got stuck."""
        again: list[tuple[AnyTrace, Walk | None]] = []
        suspects: list[_Suspect] = []
        fitting = [(trace if walk is not None else self._takeable(trace), walk) for trace, walk in batch]
        batch = [(trace, walk) for trace, walk in fitting if trace.steps]
        requests = [self.coder.request(trace) for trace, _ in batch]
        if len(self.asked) + len(batch) > EARLIER:
            self.source.renew()
            self.asked.clear()
        answers, waiting = self.source.ask(requests), deque(batch)
        while waiting:
            one, response = requests[-len(waiting)], self._next(answers, waiting, covering)
            trace, walk = waiting.popleft()
            self.asked.append(trace)
            self.count(name, response)
            if response.unsupported and not response.refused:
                self.unsupported[response.unsupported] += 1
                continue
            self._takes(trace, response.slow - 1 if response.slow else len(response.shown))
            if response.as_expected:
                self.agreed.append(trace)
                continue
            agreed = self.examiner.agreed(trace, one, response)
            self._chooses(trace, response.shown[:agreed])
            rest: AnyTrace | None = None
            if response.refused and agreed == len(response.shown):
                without = self._without(trace, agreed, response.unsupported)
                rest = without if walk is None else None  # what follows on a walk was given back
            elif agreed < len(trace.steps) and response.slow != agreed + 1:
                self._differs(trace, agreed + 1)
            found, behind = self._examined(trace, one, response, name)
            if agreed < len(trace.steps) and walk is not None and covering is not None:
                covering.give_back(walk, self._passed(agreed, found, behind, response))
            if agreed == len(trace.steps):  # a claim, or what was done to the input, may object nevertheless
                self.own.append(trace)
                if found is None:
                    self.fine.append(trace)
            if found is not None and (place := _waited(found, response)):
                self._never_answers(trace, place)
            if found is not None and walk is None and not response.refused:
                rest = self._beside(trace, found)
            again += [(rest, None)] if rest is not None and rest.steps else []
            if found is not None and self._is_suspect(found):
                suspects.append((found, tuple(self.asked)[:-1]))
        self._suspect(suspects)
        return again

    def _passed(
        self, agreed: int, found: Divergence | None, behind: Sequence[Divergence] | None, response: KernelResponse
    ) -> int:
        """How many steps of a walk count as walked, given how many agree: it goes on behind what nearly all steps show.

        Else nothing behind it would ever be walked, as every way there leads through it.  What fewer steps show may be
        two faults, one of which shows alone in a step that would count as walked.
        """
        if found is None or behind is None:
            return agreed
        least = NEARLY_ALL * max(1, sum(self.steps.values()))
        usual = {kind for kind, count in self.steps_showing.items() if count >= least}
        unusual = (one.length - 1 for one in (found, *behind) if not one.kinds <= usual)
        return next(unusual, len((response.on or response).shown))

    def _examined(
        self, trace: AnyTrace, one: KernelRequest, response: KernelResponse, name: str
    ) -> tuple[Divergence | None, Sequence[Divergence] | None]:
        """The first fault of a run, counted, and what is behind it; None if it is not followed."""
        found = self.examiner.examine(trace, one, response, name, judged=False)
        if found is None:
            return None, None
        if not self.defects.counts(found):
            found = self.examiner.examine(trace, one, response, name)
            assert found is not None
            self.defects.add(found)
        self._failed(found)
        if not _goes_on(found, response) or self.followed >= FOLLOWED:
            return found, None
        self.followed += 1
        behind = list(self.examiner.later(trace, one, response, name, judged=False))
        if found.what == "differs":
            self.marred.append((trace, found.kinds.union(*(other.kinds for other in behind))))
        self.steps_showing.update(kind for one in (found, *behind) for kind in one.kinds)
        self.defects.follow(found, len((response.on or response).shown), behind)
        return found, behind

    def _beside(self, trace: AnyTrace, found: Divergence) -> AnyTrace | None:
        """The run without the step that differs, which may hide other differences; at most `BESIDE` of each kind."""
        struck = self.struck.get(found.kinds, 0)
        if found.what != "differs" or found.length == len(trace.steps) or struck >= BESIDE:
            return None
        self.struck[found.kinds] = struck + 1
        return self._offered(trace, found.length - 1)

    def _offered(self, trace: AnyTrace, place: int) -> AnyTrace:
        """The run without a step, and without what is on offer behind it alone, as what refers to what it made."""
        system, config, steps = self.coder.system, trace.scenario.config, list(trace.steps[:place])
        for old in trace.steps[place + 1 :]:
            before = steps[-1].after if steps else trace.scenario.start
            if system.has_answer(config, before, old.action) or not system.has_answer(config, old.before, old.action):
                steps.append(system.take(config, before, old.action))
        actions = tuple(step.action for step in steps)
        return Trace(replace(trace.scenario, actions=actions), tuple(steps))

    def _is_suspect(self, found: Divergence) -> bool:
        """Whether a run is to be repeated by itself: the first of its kind in a few configurations.

        In one of them the kernel may do by itself what in another only an earlier run makes it do.
        """
        tried = self.repeated.setdefault(found.kinds, set())
        config = found.scenario.config
        if found.slow or config in tried or len(tried) >= CONFIGS or sum(map(len, self.repeated.values())) >= SUSPECTED:
            return False
        tried.add(config)
        return True

    def _suspect(self, suspects: Sequence[_Suspect]) -> None:
        """Repeat differing runs in processes of their own: does the kernel answer by what earlier runs did?

        If so, that is one finding, which explains all so far, and from now on each run has a process of its own.
        """
        found = self._remembers(suspects)
        if found is not None:
            self.defects.forget(found)
            self.leaks = True
            for kept in (self.agreed, self.own, self.choosing, self.fine, self.marred, self.steps_showing):
                kept.clear()
            self.differing.clear()
            self.repeated.clear()

    def _remembers(self, suspects: Sequence[_Suspect]) -> Divergence | None:
        for one, before in suspects:
            if self.source.alone or self.left() <= 0:
                return None
            found = remembers(self.examiner, self.source, one, before)
            if found is not None:
                self.source.alone = True
                return found
        return None

    def _chooses(self, trace: AnyTrace, shown: Sequence[Json]) -> None:
        """Keep a short run to each action from which the kernel chose by its own rule, True if it had no choice."""
        scenario = trace.scenario
        for place, (step, said) in enumerate(zip(trace.steps, shown, strict=False)):
            if step.action not in self.choosing and (names := choices(said)):
                first = place if step.before == scenario.start else 0
                run = replace(scenario, actions=scenario.actions[first : place + 1])
                self.choosing[step.action] = not self._has_choice(step, said, names), run

    def _has_choice(self, step: AnyStep, said: Json, names: Iterable[str]) -> bool:
        """Whether the model chooses another and shows the same otherwise, were one entry of the lists not there."""
        chosen = self.coder.choices.reading(said, encode(step.shown), Dictionary()).agrees
        for name in names:
            many: tuple[Any, ...] = tuple(getattr(step.action, name, ()))
            for at in range(len(many)):
                with suppress(Exception):  # the class or the model refuses the shorter list
                    fewer = replace(step.action, **{name: (*many[:at], *many[at + 1 :])})
                    other = encode(self.coder.system.take(step.config, step.before, fewer).shown)
                    another = self.coder.choices.reading(said, other, Dictionary()).agrees != chosen
                    if another and self.coder.reader.reading(said, other, Dictionary()).agrees:
                        return True
        return False

    def _next(
        self,
        answers: Iterator[KernelResponse],
        waiting: Sequence[tuple[AnyTrace, Walk | None]],
        covering: Covering | None,
    ) -> KernelResponse:
        """The next answer; walks that get none any more count as not walked.  Raises OutOfTime."""
        try:
            return next(answers)
        except OutOfTime:
            if covering is not None:
                covering.transitions -= sum(walk.fresh for _, walk in waiting if walk is not None)
            raise

    def _takes(self, trace: AnyTrace, steps: int) -> None:
        """Keep which actions the kernel took: those that it refuses elsewhere are left out in that one place."""
        self.refused.take(trace.scenario.config, trace.scenario.actions[:steps])
        for step in trace.steps[:steps] if self.silent else ():
            self.silent.answered(step.shown)

    def _without(self, trace: AnyTrace, place: int, why: str) -> AnyTrace:
        """Return the run without the action at `place` and all that the kernel never took; count what is left out."""
        config, actions = trace.scenario.config, trace.scenario.actions
        self.refused.refuse(config, actions[place])
        never = {one for one in set(actions[place + 1 :]) if (config, one) in self.refused}
        for action in (actions[place], *(one for one in actions[place + 1 :] if one in never)):
            self._leave_out(action, f'the adapter says "{why}"')
        kept = tuple(one for one in actions[place + 1 :] if one not in never)
        return self.coder.trace(replace(trace.scenario, actions=actions[:place] + kept if kept else ()))

    def _never_answers(self, trace: AnyTrace, place: int) -> None:
        """Leave out, from now on, what took long and was answered wrongly, as if it were refused.

        That is the action of this step, if it was taken nowhere, or what it should have shown.
        """
        config, step = trace.scenario.config, trace.steps[place - 1]
        self.refused.refuse(config, step.action)
        if not self.silent:
            for one in (*self.agreed, *self.fine):  # what it was quick to answer is looked at only now
                for quick in one.steps:
                    self.silent.answered(quick.shown)
        if self.silent.waited(step.shown):
            self.failing = 0  # what follows is mostly without it

    def leaves_out(self, system: AnySystem) -> Callable[[Any, Any, Any], bool]:
        """Return whether an action is left out somewhere: the kernel will hardly take it, or no section tells of it.

        The latter is on the menu of joint actions alone.
        """

        def left_out(config: Any, state: Any, action: Any) -> bool:
            if (self.refused and (config, action) in self.refused) or system.is_unsaid(config, state, action):
                return True
            return bool(self.silent) and system.take(config, state, action).shown in self.silent

        return left_out

    def _leave_out(self, action: Any, why: str) -> None:
        kind = kind_of(action)
        known = self.left_out.get(kind, LeftOut(kind, 0, why))
        self.left_out[kind] = replace(known, count=known.count + 1)

    def _takeable(self, trace: AnyTrace) -> AnyTrace:
        """Return the run as far as it is said, without what the kernel will hardly take, at the cost of a run each."""
        config, actions = trace.scenario.config, trace.scenario.actions
        never = {one for one in set(actions) if (config, one) in self.refused} if self.refused else set[Any]()
        if never:
            for action in (one for one in actions if one in never):
                self._leave_out(action, "they are like others that it cannot take")
            kept = tuple(one for one in actions if one not in never)
            trace = self.coder.trace(replace(trace.scenario, actions=kept))
        while self.silent and (place := next(self._silent(trace), None)) is not None:
            self._leave_out(trace.steps[place].action, "they are like others that it is slow to answer")
            trace = self._offered(trace, place)
        return self.coder.said(trace)

    def _silent(self, trace: AnyTrace) -> Iterator[int]:
        """The places of steps that should show what the kernel was slow to answer."""
        return (at for at, step in enumerate(trace.steps) if step.shown in self.silent)

    def again(self, seed: int) -> None:
        """Repeat some agreeing runs in fresh processes and other orders until they do not agree; they must again."""
        agreeing, chance = self.sound(len(self.agreed) + len(self.fine)), random.Random(seed)
        for _ in range(SEEDS):
            chosen = chance.sample(agreeing, min(REPEATED, len(agreeing)))
            if not chosen or self.over() or self._repeated(chosen):
                break

    def _repeated(self, chosen: Sequence[AnyTrace]) -> bool:
        """Repeat runs in a fresh process; return whether the kernel answers otherwise."""
        self.source.renew()
        self.asked.clear()
        requests = [self.coder.request(trace) for trace in chosen]
        changed: list[_Suspect] = []
        for trace, one, response in zip(chosen, requests, self.source.ask(requests), strict=True):
            self.asked.append(trace)
            self.count(AGAIN, response)
            differs = self.examiner.examine(trace, one, response, AGAIN)
            if differs is not None and differs.what != "mutates":
                changed.append((differs, tuple(self.asked)[:-1]))
        remembered = self._remembers(changed)
        if remembered is not None:
            self._saw(remembered)
        for found, _ in changed if remembered is None else ():
            lasts = lasting(self.examiner, self.source, found)
            self._saw(lasts or wavering(replace(found, got=found.expected), found.got))
            if lasts is not None:
                break
        return bool(changed)

    def _differs(self, trace: AnyTrace, steps: int) -> None:
        """Keep a run up to step `steps`, in which the kernel differs."""
        if len(self.differing) < DIFFERING:
            cut = replace(trace.scenario, actions=trace.scenario.actions[:steps])
            self.differing.setdefault(cut, Trace(cut, trace.steps[:steps]))

    def _saw(self, divergence: Divergence) -> None:
        self._failed(divergence)
        self.defects.add(divergence)

    def _failed(self, divergence: Divergence) -> None:
        self.failing += self._cost(divergence)
        if self.first is None:
            self.first = (sum(self.runs.values()), monotonic() - self.began)

    def _cost(self, divergence: Divergence) -> int:
        """As how many failing runs one counts: one that does not begin as all, unless others did."""
        if not divergence.length and not any(self.steps.values()):
            return SLOW
        return SLOW if divergence.slow else COST.get(divergence.fault, 1) if divergence.fault else 1


def _goes_on(found: Divergence, response: KernelResponse) -> bool:
    """Whether something is known of what lies behind a fault: a difference, or a step that raised."""
    return found.what == "differs" or (found.fault is Fault.RAISED and response.on is not None)


def _waited(found: Divergence, response: KernelResponse) -> int:
    """The step that took long and was answered wrongly, the first that differs or one behind it; 0: none."""
    if found.slow:
        return found.length
    behind = found.length < response.slow <= len(response.shown)
    return response.slow if behind and response.shown[response.slow - 1] is not None else 0


_Suspect: TypeAlias = tuple[Divergence, tuple[AnyTrace, ...]]
"""A run that differs, and the runs that its process answered before."""
