"""Check a kernel: exhaustive small scopes, then drawn runs, runs that separate known variants, and several-run claims.

Each whole run is sent to the kernel, and compared with the model or judged by the claims alone.  A finding never ends
the search: the rest of the scope is reached around it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from itertools import islice
from time import monotonic
from typing import Any, TypedDict, Unpack

from evenhand.conform.adapters.kernels import Source
from evenhand.conform.adapters.wire import Fault
from evenhand.conform.checking.claims import Judge, judged_kinds
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.covering import Covering, Walk
from evenhand.conform.checking.defects import Defect, Defects, wavering
from evenhand.conform.checking.divergence import Divergence, Examiner
from evenhand.conform.checking.drawing import drawn, separating
from evenhand.conform.checking.multi_run import DIFFERING, LIVENESS_RUNS, PAIRS, MultiRunClaims
from evenhand.core.answers import known_names
from evenhand.core.bundle import Bundle
from evenhand.core.freedom import Free
from evenhand.core.generator import Generator
from evenhand.core.property import Property
from evenhand.core.system import AnySystem, Mutant
from evenhand.core.trace import AnyScenario, AnyTrace, Trace
from evenhand.evidence.record import Record

EXHAUSTIVE, MACHINE, SEPARATING, AGAIN = "exhaustive", "machine", "separating", "again"
FALSE = "it is stated to be false on the model"
BATCH = 32
"""Scenarios that are sent ahead."""

FAILING = 400
"""Failing runs after which a phase is given up: the kernel and the model agree on too little."""

FOLLOWED = 1_000
"""Differing runs that are followed beyond their first difference."""

SLOW = 100
COST = {Fault.HUNG: SLOW, Fault.MEMORY: SLOW, Fault.TOO_LONG: SLOW, Fault.EXITED: 10}
"""How many failing runs one counts as that took a time limit, or a process, to fail."""

ASKED_AGAIN = 24
"""How often one scenario is asked again without an action that the kernel cannot take."""

REPEATED = 24
"""Agreeing runs repeated in a fresh process, in another order."""


@dataclass(frozen=True)
class CheckEffort:
    """The effort for one system: `transitions` of each scope, `examples` of `steps` steps; None: all there are.

    `pairs` bounds the runs for two-run claims, `liveness` the steps on the kernel's own graph.  `seconds` is wall time:
    three quarters for the search, at least a quarter for shrinking.  With `first` the search ends after the batch of
    runs with the first fault.
    """

    transitions: int | None = 6_000
    examples: int = 120
    steps: int = 16
    seed: int = 0
    seconds: float | None = None
    phases: tuple[str, ...] = (EXHAUSTIVE, MACHINE, SEPARATING, PAIRS, LIVENESS_RUNS)
    first: bool = False
    pairs: int = 400
    liveness: int = 1_000


@dataclass(frozen=True)
class LeftOut:
    """Actions of one kind that the kernel cannot take, how many were left out, and its first reason."""

    kind: str
    count: int
    why: str


@dataclass(frozen=True)
class SystemChecked:
    """The result of checking one system.

    `runs` and `steps` count requests in each phase; of the `divergences` the defects explain `explained`.  `covered`
    gives for each exhaustive scope the transitions walked and whether that is all; `shrinking` counts the runs for
    shrinking.  `not_judged` gives the reason for each claim that was not judged.  `first` is the place among all runs,
    and the seconds, of the first fault.
    """

    system: AnySystem
    defects: tuple[Defect, ...]
    divergences: int
    runs: Mapping[str, int]
    steps: Mapping[str, int]
    explained: int
    covered: tuple[Mapping[str, Any], ...]
    unsupported: Mapping[str, int]
    judged: tuple[str, ...]
    left_open: tuple[str, ...]
    not_judged: Mapping[str, str]
    shrinking: int
    first: tuple[int, float] | None
    notes: tuple[str, ...]
    interrupted: bool = False
    left_out: tuple[LeftOut, ...] = ()


def scopes_of(bundle: Bundle, system: AnySystem) -> tuple[AnySystem, ...]:
    """Return the system at the scopes that the protocol plans to search quickly; else at its own."""
    sizes = dict.fromkeys(
        tuple(sorted(plan.scope.items()))
        for plan in bundle.plans
        if plan.system == system.name and plan.engine == "explore" and "quick" in plan.budgets
    )
    return tuple(system.at(**dict(one)) for one in sizes) or (system,)


@dataclass
class _Phase:
    coder: Coder
    examiner: Examiner
    defects: Defects
    source: Source
    deadline: float | None
    runs: dict[str, int] = field(default_factory=dict[str, int])
    steps: dict[str, int] = field(default_factory=dict[str, int])
    unsupported: dict[str, int] = field(default_factory=dict[str, int])
    failing: int = 0
    first: tuple[int, float] | None = None
    began: float = field(default_factory=monotonic)
    only_first: bool = False
    agreed: list[AnyTrace] = field(default_factory=list[AnyTrace])
    differing: dict[AnyScenario, AnyTrace] = field(default_factory=dict[AnyScenario, AnyTrace])
    own: list[AnyTrace] = field(default_factory=list[AnyTrace])
    notes: list[str] = field(default_factory=list[str])
    followed: int = 0
    left_out: dict[str, LeftOut] = field(default_factory=dict[str, LeftOut])
    refused: set[tuple[Any, Any]] = field(default_factory=set[tuple[Any, Any]])

    def over(self) -> bool:
        """Return whether the phase must end: the time is up, too much fails, or the first fault is enough."""
        return (
            (self.only_first and self.first is not None)
            or self.failing >= FAILING
            or (self.deadline is not None and monotonic() > self.deadline)
        )

    def run(self, name: str, traces: Iterable[tuple[AnyTrace, Walk | None]], covering: Covering | None = None) -> None:
        """Run every trace on the kernel until the phase is over."""
        self.failing = 0
        waiting = iter(traces)
        while not self.over() and (batch := list(islice(waiting, BATCH))):
            for _ in range(ASKED_AGAIN):
                batch = self._asked(name, batch, covering)
                if not batch:
                    break
        if self.failing >= FAILING:
            self.notes.append(f"{name}: stopped, too many runs fail; these findings hide others")

    def _asked(
        self, name: str, batch: Sequence[tuple[AnyTrace, Walk | None]], covering: Covering | None
    ) -> list[tuple[AnyTrace, Walk | None]]:
        """Run traces on the kernel; return those to run again, without actions that it cannot take."""
        again: list[tuple[AnyTrace, Walk | None]] = []
        requests = [self.coder.request(trace) for trace, _ in batch]
        for (trace, walk), one, response in zip(batch, requests, self.source.ask(requests), strict=True):
            self.runs[name] = self.runs.get(name, 0) + 1
            self.steps[name] = self.steps.get(name, 0) + len(response.shown)
            if response.unsupported and not response.refused:
                self.unsupported[response.unsupported] = self.unsupported.get(response.unsupported, 0) + 1
                continue
            if response.as_expected:
                self.agreed.append(trace)
                continue
            agreed = self.examiner.agreed(trace, one, response)
            if agreed < len(trace.steps) and walk is not None and covering is not None:
                covering.give_back(walk, agreed)
            if response.refused and agreed == len(response.shown):
                rest = self._without(trace, agreed, response.unsupported)
                again += [(rest, None)] if rest.steps else []
            elif agreed < len(trace.steps):
                self._differs(trace, agreed + 1)
            else:
                self.own.append(trace)
            found = self.examiner.examine(trace, one, response, name)
            self._saw(found)
            if found is not None and found.what == "differs" and self.followed < FOLLOWED:
                self.followed += 1
                behind = list(self.examiner.later(trace, one, response, name))
                self.defects.follow(found, len(response.shown), behind)
        return again

    def _without(self, trace: AnyTrace, place: int, why: str) -> AnyTrace:
        """Return the run without the action at `place` and all that the kernel cannot take; count what is left out."""
        scenario = trace.scenario
        self.refused.add((scenario.config, scenario.actions[place]))
        rest = scenario.actions[place:]
        for action in (one for one in rest if (scenario.config, one) in self.refused):
            kind = _kind(action)
            known = self.left_out.get(kind, LeftOut(kind, 0, why))
            self.left_out[kind] = replace(known, count=known.count + 1)
        kept = tuple(one for one in rest if (scenario.config, one) not in self.refused)
        return self.coder.trace(replace(scenario, actions=scenario.actions[:place] + kept if kept else ()))

    def again(self, seed: int) -> None:
        """Repeat some agreeing runs in a fresh process and another order; they must agree again."""
        chosen = random.Random(seed).sample(self.agreed, min(REPEATED, len(self.agreed)))
        if not chosen or self.over():
            return
        self.source.renew()
        requests = [self.coder.request(trace) for trace in chosen]
        for trace, one, response in zip(chosen, requests, self.source.ask(requests), strict=True):
            self.runs[AGAIN] = self.runs.get(AGAIN, 0) + 1
            self.steps[AGAIN] = self.steps.get(AGAIN, 0) + len(response.shown)
            found = self.examiner.examine(trace, one, response, AGAIN)
            if found is not None and found.what != "mutates":
                self._saw(wavering(replace(found, got=found.expected), found.got))

    def _differs(self, trace: AnyTrace, steps: int) -> None:
        """Keep a run up to step `steps`, in which the kernel differs."""
        if len(self.differing) < DIFFERING:
            cut = replace(trace.scenario, actions=trace.scenario.actions[:steps])
            self.differing.setdefault(cut, Trace(cut, trace.steps[:steps]))

    def _saw(self, divergence: Divergence | None) -> None:
        if divergence is None:
            return
        self.failing += (COST.get(divergence.fault, 1) if divergence.fault else 1) if divergence.length else SLOW
        if self.first is None:
            self.first = (sum(self.runs.values()), monotonic() - self.began)
        self.defects.add(divergence)


class CheckOptions(TypedDict, total=False):
    """What is known of a system beside its claims.

    The machine draws at `own` (by default the last scope), with `generator` if there is one; `records` separate known
    variants; `mutants` tell causes apart.  With `claims_only` the kernel may differ from the model if it violates no
    claim.  `compare` names the free fields (`core.freedom`) on which it is compared with the model nevertheless.
    Claims in `expected_false` are false of the model, so they are not evaluated on pairs of runs or on the kernel's
    graph.
    """

    own: AnySystem | None
    generator: Generator | None
    records: Sequence[Record]
    mutants: Sequence[Mutant[Any]]
    claims_only: bool
    compare: Collection[Free]
    expected_false: Collection[str]


def check_system(
    protocol: str,
    scopes: Sequence[AnySystem],
    claims: Sequence[Property],
    source: Source,
    *,
    effort: CheckEffort | None = None,
    progress: Callable[[int, int], None] | None = None,
    **known: Unpack[CheckOptions],
) -> SystemChecked:
    """Check one kernel in one system; `scopes` are the system at each scope to exhaust, `CheckOptions` the rest.

    Raises NoKernel if there is no kernel.
    """
    known_names("check_system", known, CheckOptions)
    coder = Coder(protocol, known.get("own") or scopes[-1], frozenset(known.get("compare", ())))
    check = _Check(coder, claims, source, effort or CheckEffort(), known)
    check.progress = progress
    return check.run(scopes)


class _Check:
    progress: Callable[[int, int], None] | None = None

    def __init__(
        self, coder: Coder, claims: Sequence[Property], source: Source, effort: CheckEffort, known: CheckOptions
    ) -> None:
        self.coder, self.claims, self.source, self.effort, self.known = coder, claims, source, effort, known
        self.system, self.began = coder.system, monotonic()
        claims_only, self.expected_false = known.get("claims_only", False), known.get("expected_false", ())
        self.judged, self.others = judged_kinds(claims, self.system.name)
        self.judge = Judge(self.judged)
        examiner = Examiner(coder, self.judge, claims_only)
        self.defects = Defects(coder, examiner, source, known.get("mutants", ()))
        searching = None if effort.seconds is None else self.began + effort.seconds * 0.75
        self.phase = _Phase(coder, examiner, self.defects, source, searching, only_first=effort.first)
        held = [claim for claim in self.others if claim.name not in self.expected_false]
        self.several = MultiRunClaims(examiner, source, held, guess=not claims_only, seed=effort.seed)
        self.covered: list[Mapping[str, Any]] = []

    def run(self, scopes: Sequence[AnySystem]) -> SystemChecked:
        """Run every phase, as far as the time allows; Ctrl-C ends them and keeps the findings so far."""
        interrupted = False
        try:
            self._search(scopes)
            self._compare(scopes)
        except KeyboardInterrupt:
            interrupted = True
            self.source.renew()  # unread answers may be on their way
        return self._result(interrupted)

    def _until(self, share: float) -> None:
        """Let the next phase end after `share` of the search time."""
        if self.effort.seconds is not None:
            self.phase.deadline = self.began + self.effort.seconds * 0.75 * share

    def _counted(self, traces: Iterable[tuple[AnyTrace, Walk | None]]) -> Iterator[tuple[AnyTrace, Walk | None]]:
        for one in traces:
            if self.progress is not None:
                self.progress(sum(self.phase.runs.values()), sum(self.phase.runs.values()))
            yield one

    def _search(self, scopes: Sequence[AnySystem]) -> None:
        """Single runs: all transitions of the scopes, drawn runs, runs that separate known variants."""
        effort, phase, coder = self.effort, self.phase, self.coder
        if EXHAUSTIVE in effort.phases:
            for number, scope in enumerate(scopes, start=1):
                self._until(0.5 * number / len(scopes))
                covering = Covering(scope, effort.seed)
                phase.run(EXHAUSTIVE, self._counted(_walks(covering, effort.transitions)), covering)
                self.covered.append(
                    {
                        "scope": dict(scope.scope),
                        "transitions": covering.transitions,
                        "unreached": covering.unreached,
                        "complete": covering.complete and not phase.over(),
                    }
                )
        if MACHINE in effort.phases:
            self._until(0.8)
            runs = _drawn(self.system, self.known.get("generator"), effort, phase)
            phase.run(MACHINE, self._counted(_traced(coder, runs)))
        if SEPARATING in effort.phases:
            self._until(1.0)
            phase.run(SEPARATING, self._counted(_traced(coder, separating(self.system, self.known.get("records", ())))))
        self._until(1.0)
        phase.again(effort.seed)

    def _compare(self, scopes: Sequence[AnySystem]) -> None:
        """Check two-run claims, and claims about reachability and liveness."""
        effort, phase, several = self.effort, self.phase, self.several
        several.deadline = None if effort.seconds is None else self.began + effort.seconds
        if not (effort.first and phase.first) and any(phase.steps.values()):
            if PAIRS in effort.phases:
                several.pairs(tuple(phase.differing.values()), phase.agreed, phase.own, effort.pairs)
            if LIVENESS_RUNS in effort.phases:
                several.liveness(scopes, effort.liveness)

    def _result(self, interrupted: bool) -> SystemChecked:
        phase, several, seconds = self.phase, self.several, self.effort.seconds
        deadline = None if seconds is None else max(self.began + seconds, monotonic() + seconds / 4)
        single = self.defects.distinct(self.began if interrupted else deadline, min(FOLLOWED, sum(phase.runs.values())))
        answered = any(phase.steps.values())
        why = "the search ended before that" if answered else "the kernel answered nothing"
        alone = self.judged if answered else ()  # without answers no claim was evaluated
        unjudged = (*self.others, *(claim for claim in self.judged if claim not in alone))
        left_out = [claim.name for claim in unjudged if claim.name not in several.judged]
        judged = tuple(claim.name for claim in self.claims if claim in alone or claim.name in several.judged)
        reasons = {name: FALSE if name in self.expected_false else several.why_not.get(name, why) for name in left_out}
        return SystemChecked(
            self.system,
            _together(single, [one for one in several.defects if one.divergence.sure], self.defects.violating),
            self.defects.count,
            phase.runs | several.asked,
            phase.steps,
            self.defects.explained,
            tuple(self.covered),
            phase.unsupported,
            judged,
            tuple(sorted(self.judge.left_open - self.judge.judged)),
            reasons,
            self.defects.runs,
            phase.first,
            (*phase.notes, *_remarks(several.defects)),
            interrupted,
            tuple(phase.left_out.values()),
        )


def _remarks(several: Sequence[Defect]) -> Iterator[str]:
    """Yield the claims about several runs that rest on the model's own state: no accusation."""
    for one in several:
        if not one.divergence.sure:
            names = ", ".join(violation.claim.name for violation in one.divergence.violations)
            yield f"remark: {names} would be violated if the model's state were the kernel's"


def _together(single: Sequence[Defect], several: Sequence[Defect], known: frozenset[str]) -> tuple[Defect, ...]:
    """All defects.

    Two runs that violate a claim because one of them shows what is `known` are no other defect; the one that shows most
    of it gets the claim.
    """
    reported = list(single)
    for new in several:
        kinds = new.divergence.kinds
        shared = [len(kinds & one.divergence.kinds) * (one.divergence.what == "differs") for one in single]
        if new.divergence.what != "relates" or not kinds or not kinds <= known or not any(shared):
            reported.append(new)
        else:
            place = shared.index(max(shared))
            reported[place] = replace(reported[place], claims=reported[place].claims | {new.divergence.subject})
    return tuple(reported)


def _kind(action: Any) -> str:
    """The class of an action and, where one class has several kinds, its kind."""
    kind = type(action).__name__
    if isinstance(action, Enum):
        return action.name
    values = [getattr(action, one.name) for one in fields(action)] if is_dataclass(action) else []
    return " ".join([kind, *(one.name for one in values[:1] if isinstance(one, Enum))])


def _walks(covering: Covering, most: int | None) -> Iterator[tuple[AnyTrace, Walk | None]]:
    for walk in covering.walks():
        yield walk.trace, walk
        if most is not None and covering.transitions >= most:
            return


def _traced(coder: Coder, scenarios: Iterable[AnyScenario]) -> Iterator[tuple[AnyTrace, Walk | None]]:
    for scenario in scenarios:
        yield coder.trace(scenario), None


def _drawn(system: AnySystem, generator: Generator | None, effort: CheckEffort, phase: _Phase) -> Iterator[AnyScenario]:
    """Draw a few examples at a time, so that the clock is checked in between."""
    size, left, seed = 6, effort.examples, effort.seed
    while left > 0 and not phase.over():
        yield from drawn(system, generator, examples=min(size, left), steps=effort.steps, seed=seed)
        left, seed = left - size, seed + 1
