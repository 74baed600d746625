"""Check a kernel: exhaustive small scopes, then drawn runs, runs that separate known variants, and several-run claims.

Each whole run is sent to the kernel, and compared with the model or judged by the claims alone.  A finding never ends
the search: the rest of the scope is reached around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import inf
from typing import Any, TypedDict, Unpack

from evenhand.conform.adapters.bounded import Bounded
from evenhand.conform.adapters.kernels import Source
from evenhand.conform.checking.altering import Altering
from evenhand.conform.checking.claims import Judge, judged_kinds
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.covering import Covering, spread
from evenhand.conform.checking.defects import Defects
from evenhand.conform.checking.divergence import Examiner, kind_of
from evenhand.conform.checking.drawing import Stored, drawn, separating, silenced, where_said
from evenhand.conform.checking.multi_run import LIVENESS_RUNS, PAIRS, MultiRunClaims
from evenhand.conform.checking.naming import Naming
from evenhand.conform.checking.ordering import Defect
from evenhand.conform.checking.phase import AGAIN, LeftOut, Phase
from evenhand.conform.checking.raw import Raw
from evenhand.conform.checking.refusing import Slowness
from evenhand.conform.checking.strangers import GROUPS, Strangers
from evenhand.conform.checking.wandering import wandering
from evenhand.core.answers import known_names
from evenhand.core.bundle import Bundle
from evenhand.core.freedom import Free
from evenhand.core.generator import Generator
from evenhand.core.property import Property
from evenhand.core.system import AnySystem, Mutant
from evenhand.core.trace import AnyScenario, AnyTrace, Scenario, Trace
from evenhand.processes.alarm import until
from evenhand.processes.clock import Clock, OutOfTime

EXHAUSTIVE, MACHINE, ALTERED, SEPARATING = "exhaustive", "machine", "altered", "separating"
FALSE = "it is stated to be false on the model"
UNTOLD = "no section tells what follows"

SHARES = {
    SEPARATING: 0.1, EXHAUSTIVE: 0.22, MACHINE: 0.40, ALTERED: 0.61, AGAIN: 0.66, PAIRS: 0.75, LIVENESS_RUNS: 0.82,
}  # fmt: skip
"""Parts of the time after which the engines end, in their order; what one leaves the next ones have.  Shrinking has the
rest."""

SILENT = 4
"""Drawn runs that are repeated without one agent, for each agent."""

WALKS, DRAWN = 3, 0.4
"""Random walks for each drawn example, and the part of the time for drawn runs that the walks leave."""

ALTERATIONS = 16
"""Altered runs for each drawn example."""

NAMED, STRANGE, ROUNDS = 0.35, 0.62, 8
"""The parts of the time for altered runs after which other names and strangers end; how often one sort of place is
met."""

UNTYPED = 0.74
"""The part after which values that no type admits end."""

NO_DOOR = "values of other types were not sent: no JSON came through pass_on (docs/how-to/check-your-kernel.md)"

BASES = 200
"""Runs that agree, the last ones, that are altered, and as many that agree in the kernel's own words."""

GRACE = 0.03
"""Part of the time after which an engine is interrupted that does not end itself."""


@dataclass(frozen=True)
class CheckEffort:
    """The effort for one system: `transitions` of each scope, `examples` of `steps` steps; None: all there are.

    `ALTERATIONS` altered runs are made for each example, with `hostile` values and names if asked.  `pairs` bounds the
    runs for two-run claims, `liveness` the steps on the kernel's own graph.  `seconds` are shared among the engines
    (`SHARES`), on the clock that is given.  With `first` the search ends after the batch of runs with the first fault.
    """

    transitions: int | None = 6_000
    examples: int = 120
    steps: int = 16
    seed: int = 0
    seconds: float | None = None
    phases: tuple[str, ...] = (EXHAUSTIVE, MACHINE, ALTERED, SEPARATING, PAIRS, LIVENESS_RUNS)
    hostile: bool = False
    first: bool = False
    pairs: int = 400
    liveness: int = 1_000


@dataclass(frozen=True)
class SystemChecked:
    """The result of checking one system.

    `runs` and `steps` count requests in each phase; most runs show what is `usual`.  Of the `divergences` the
    defects explain `explained`.  `covered` gives for each exhaustive scope the transitions walked and whether that is
    all; `shrinking` counts the runs for shrinking.  `not_judged` gives the reason for each claim that was not judged.
    `first` is the place among all runs, and the seconds, of the first fault.
    """

    system: AnySystem
    defects: tuple[Defect, ...]
    divergences: int
    runs: Mapping[str, int]
    steps: Mapping[str, int]
    usual: frozenset[str]
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


STARTS = 16
"""Configurations of a system that a kernel is asked to start, to see whether it takes the system at all."""


def takes(protocol: str, system: AnySystem, source: Source) -> bool:
    """Return whether the kernel supports one of a few starts of a system.  Raises NoKernel if there is no kernel."""
    configs, _ = spread(system.all_configs(), STARTS, STARTS * STARTS)
    coder = Coder(protocol, system)
    starts: list[AnyTrace] = [
        Trace(Scenario(config, start), ()) for config in configs for start in list(system.initial(config))[:1]
    ]
    try:
        return any(not one.unsupported for one in source.ask([coder.request(start) for start in starts]))
    except OutOfTime:
        return True  # nobody knows


class CheckOptions(TypedDict, total=False):
    """What is known of a system beside its claims.

    The machine draws at `own` (by default the last scope), with `generator` if there is one; random walks are made at
    `wider` scopes too; `records` separate known variants; `mutants` tell causes apart.  With `claims_only` the kernel
    may differ from the model if it violates no claim.  `compare` names the free fields (`core.freedom`) on which it is
    compared with the model nevertheless.  Claims in `expected_false` are false of the model, so they are not evaluated
    on pairs of runs or on the kernel's graph.  `raw_sent` is what the kernel was handed in other systems (`raw.Raw`);
    `silent` tells what it was slow to answer there.
    """

    own: AnySystem | None
    wider: Sequence[AnySystem]
    generator: Generator | None
    records: Sequence[Stored]
    mutants: Sequence[Mutant[Any]]
    claims_only: bool
    compare: Collection[Free]
    expected_false: Collection[str]
    raw_sent: set[tuple[str, str, int]]
    silent: Slowness


def check_system(
    protocol: str,
    scopes: Sequence[AnySystem],
    claims: Sequence[Property],
    source: Source,
    *,
    effort: CheckEffort | None = None,
    progress: Callable[[int, int], None] | None = None,
    clock: Clock | None = None,
    **known: Unpack[CheckOptions],
) -> SystemChecked:
    """Check one kernel in one system; `scopes` are the system at each scope to exhaust, `CheckOptions` the rest.

    `clock` is that of all systems together, by default one for this alone.  `progress` is called with the runs so far,
    also while an answer is awaited.  Raises NoKernel if there is no kernel.
    """
    known_names("check_system", known, CheckOptions)
    beyond = set[tuple[Any, Any, Any]]()
    scopes = [where_said(one, beyond) for one in scopes]
    own = known.get("own")
    told = scopes[-1] if own is None else where_said(own, beyond)
    coder = Coder(protocol, told, frozenset(known.get("compare", ())))
    bounded = Bounded(source, clock or Clock())
    check = _Check(coder, claims, bounded, effort or CheckEffort(), known, beyond)
    if progress is not None:
        bounded.progress = lambda: progress(check.asked, check.asked)
    return check.run(scopes)


class _Check:
    def __init__(
        self,
        coder: Coder,
        claims: Sequence[Property],
        source: Bounded,
        effort: CheckEffort,
        known: CheckOptions,
        beyond: set[tuple[Any, Any, Any]],
    ) -> None:
        self.beyond = beyond
        self.coder, self.claims, self.source, self.effort, self.known = coder, claims, source, effort, known
        self.system, self.began = coder.system, source.clock.spent()
        self.late: list[str] = []
        if effort.seconds is not None:
            source.last = self.began + effort.seconds
        claims_only, self.expected_false = known.get("claims_only", False), known.get("expected_false", ())
        self.judged, self.others = judged_kinds(claims, self.system.name)
        self.judge = Judge(self.judged)
        examiner = Examiner(coder, self.judge, claims_only)
        self.defects = Defects(coder, examiner, source, known.get("mutants", ()), source.left)
        self.phase = Phase(coder, examiner, self.defects, source, source.left, only_first=effort.first)
        self.phase.silent = known.get("silent", self.phase.silent)
        held = [claim for claim in self.others if claim.name not in self.expected_false]
        self.several = MultiRunClaims(examiner, source, held, guess=not claims_only, seed=effort.seed, left=source.left)
        self.covered: list[Mapping[str, Any]] = []
        self.raw = Raw(self.phase, effort.seed, known.get("raw_sent", set[tuple[str, str, int]]()))

    def run(self, scopes: Sequence[AnySystem]) -> SystemChecked:
        """Run every phase, as far as the time allows; Ctrl-C ends that and keeps the findings, shrunk or not."""
        try:
            self.source.renew()  # what other systems left in the process would be no run of this one
            self._search(scopes)
            self._compare(scopes)
            return self._result(interrupted=False)
        except KeyboardInterrupt:
            self.source.last = self.began  # nothing more is asked
            return self._result(interrupted=True)

    @property
    def asked(self) -> int:
        """How many runs were requested so far."""
        return sum(self.phase.runs.values()) + self.several.pairing.requests + self.defects.runs

    def _share(self, name: str, work: Callable[[], None], part: float = 1.0) -> None:
        """Let an engine work until its share of the time is over (`part`: of its share), and note if that ends it."""
        seconds = self.effort.seconds
        if seconds is None:
            work()
            return
        shares = [0.0, *SHARES.values()]
        place = list(SHARES).index(name)
        self.source.end = self.began + seconds * (shares[place] + part * (shares[place + 1] - shares[place]))
        with suppress(OutOfTime), until(self.source.busy_left, max(seconds * GRACE, 0.05)):
            work()
        if self.source.left() <= 0 and name not in self.late:
            self.late.append(name)

    def _search(self, scopes: Sequence[AnySystem]) -> None:
        """Single runs: all transitions of the scopes, drawn runs, runs that separate known variants."""
        effort, phase, generator = self.effort, self.phase, self.known.get("generator")
        if SEPARATING in effort.phases:
            records = self.known.get("records", ())
            stored = partial(separating, self.system, records)
            self._share(SEPARATING, lambda: self._anew(SEPARATING, lambda: self._traced(stored())))
        if EXHAUSTIVE in effort.phases:
            for number, scope in enumerate(scopes, start=1):
                self._share(EXHAUSTIVE, partial(self._cover, scope), number / len(scopes))
        if MACHINE in effort.phases:
            configs: dict[Any, None] = {}
            draw = partial(_drawn, self.system, generator, effort, phase, configs)
            self._share(MACHINE, lambda: self._anew(MACHINE, lambda: self._traced(draw())), DRAWN)
            self._share(MACHINE, lambda: self._wander([*configs] if generator else []))
        if ALTERED in effort.phases:
            # Runs with strangers are no good beginning, nor are differing runs, whose consequences would be found, but
            # for what differs in very many: no other run may be free of it.
            bases = phase.bases(BASES)
            self._share(ALTERED, lambda: self._name(bases), NAMED)
            self._share(ALTERED, lambda: self._estrange(bases), STRANGE)
            self._share(ALTERED, lambda: self._raw(phase.sound(BASES)), UNTYPED)
            self._share(ALTERED, lambda: self._alter(phase.bases(BASES) if phase.leaks else bases))
        self._share(AGAIN, lambda: phase.again(effort.seed))

    def _wander(self, configs: Sequence[Any]) -> None:
        """Walk at random, at every scope and in the configurations that were drawn."""
        wider = (where_said(one, self.beyond) for one in self.known.get("wider", ()))
        systems, most = (*wider, self.system), WALKS * self.effort.examples
        self._anew(MACHINE, lambda: islice(wandering(systems, configs, seed=self.effort.seed), most))

    def _name(self, bases: Sequence[AnyTrace]) -> None:
        """Have runs come again under other names, all at once, where kernel and model agree under plain ones."""
        phase, naming = self.phase, Naming(self.coder, bases, self.effort.seed)
        while naming.waiting and not phase.over():
            agreed = phase.agreeing(ALTERED, naming.plainly())
            phase.run(ALTERED, naming.odd(agreed))

    def _estrange(self, bases: Sequence[AnyTrace]) -> None:
        """Put odd strangers where kernel and model treat a plain one alike, in one run after another."""
        phase = self.phase
        strangers = Strangers(self.coder, bases, self.effort.seed)
        for _ in range(ROUNDS):
            if phase.over():
                break
            agreed = phase.agreeing(ALTERED, strangers.plain())
            for _ in range(GROUPS):
                phase.run(ALTERED, strangers.odd(agreed))

    def _raw(self, bases: Sequence[AnyTrace]) -> None:
        """Hand over values that no type admits, if the adapter can pass them on."""
        try:
            self.raw.run(bases)
        finally:
            if self.raw.passed_on:
                self.source.renew()  # what these values did to its process is nobody else's fault
                self.phase.asked.clear()

    def _alter(self, bases: Sequence[AnyTrace]) -> None:
        """Alter runs on which kernel and model agree."""
        altering = Altering(self.coder, bases, self.effort.seed, hostile=self.effort.hostile)
        self.phase.run(ALTERED, altering.runs(ALTERATIONS * self.effort.examples))

    def _anew(self, name: str, runs: Callable[[], Iterable[AnyTrace]]) -> None:
        """Make runs, and make them again if the kernel answers by what earlier ones did."""
        self.phase.run(name, runs())
        if self.phase.leaks:
            self.phase.run(name, runs())

    def _traced(self, scenarios: Iterable[AnyScenario]) -> Iterator[AnyTrace]:
        return map(self.coder.trace, scenarios)

    def _cover(self, scope: AnySystem) -> None:
        """Walk every transition of one scope."""
        covering = Covering(scope, self.effort.seed, left_out=self.phase.leaves_out(scope))
        try:
            self._walk(covering)
            if self.phase.leaks:
                covering = Covering(scope, self.effort.seed, left_out=self.phase.leaves_out(scope))
                self._walk(covering)
        finally:
            self.covered.append(
                {
                    "scope": dict(scope.scope),
                    "transitions": covering.transitions,
                    "unreached": covering.unreached,
                    "complete": covering.complete and not self.phase.over(),
                }
            )

    def _walk(self, covering: Covering) -> None:
        """Walk until nothing is left: what lies behind a difference is given back when all walks may be on the way."""
        most = inf if self.effort.transitions is None else self.effort.transitions
        while covering.left and covering.transitions < most and not self.phase.over():
            self.phase.cover(EXHAUSTIVE, covering, most)

    def _compare(self, scopes: Sequence[AnySystem]) -> None:
        """Check two-run claims, and claims about reachability and liveness."""
        effort, phase, several = self.effort, self.phase, self.several
        if (effort.first and phase.first) or not any(phase.steps.values()):
            return
        if PAIRS in effort.phases:
            differing = tuple(phase.differing.values())
            chosen = sorted(phase.choosing.values(), key=lambda one: (one[0], len(one[1].actions)))
            choosing = [run for _, run in chosen]
            self._share(PAIRS, lambda: several.pairs(differing, phase.agreed or phase.own, effort.pairs, choosing))
        if LIVENESS_RUNS in effort.phases:
            self._share(LIVENESS_RUNS, lambda: several.liveness(scopes, effort.liveness))

    def _result(self, *, interrupted: bool) -> SystemChecked:
        """The result so far; made once more if shrinking was interrupted."""
        phase, several, source = self.phase, self.several, self.source
        source.end = source.clock.spent() + source.last_left() / 2
        related = several.concluded()
        source.end = inf
        made = sum(phase.runs.values())
        single = self.defects.distinct(made)
        if self.defects.hurried and not interrupted:
            self.late.append("shrinking")
        answered = any(phase.steps.values())
        why = "the search ended before that" if answered else "the kernel answered nothing"
        alone = self.judged if answered else ()  # without answers no claim was evaluated
        unjudged = (*self.others, *(claim for claim in self.judged if claim not in alone))
        left_out = [claim.name for claim in unjudged if claim.name not in several.judged]
        judged = tuple(claim.name for claim in self.claims if claim in alone or claim.name in several.judged)
        reasons = {name: FALSE if name in self.expected_false else several.why_not.get(name, why) for name in left_out}
        raw, pairs = tuple(self.raw.defects()), [one for one in related if one.divergence.sure]
        found = _together(single, [*raw, *pairs], self.defects.violating)
        return SystemChecked(
            self.system,
            found,
            self.defects.count,
            {**phase.runs, **several.asked},
            phase.steps,
            self.defects.like.everywhere,
            self.defects.explained,
            tuple(self.covered),
            phase.unsupported,
            judged,
            tuple(sorted(self.judge.left_open - self.judge.judged)),
            reasons,
            self.defects.runs,
            phase.first,
            (*phase.notes, *_remarks(related), *self._omitted(interrupted=interrupted)),
            interrupted,
            (*phase.left_out.values(), *self._untold()),
        )

    def _untold(self) -> Iterator[LeftOut]:
        """Yield how many actions of each kind were not asked for, as no section tells what follows."""
        counts = Counter(kind_of(action) for _, _, action in self.beyond)
        return (LeftOut(kind, count, UNTOLD) for kind, count in sorted(counts.items()))

    def _omitted(self, *, interrupted: bool) -> Iterator[str]:
        """Yield what was left out, unless the kernel took nothing at all."""
        if not any(self.phase.steps.values()):
            return
        if self.raw.closed:
            yield NO_DOOR
        if self.late and not interrupted:  # else more time would not have been used
            yield f"left out for lack of time: a part of {', '.join(self.late)}; --seconds gives more"


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


def _drawn(
    system: AnySystem, generator: Generator | None, effort: CheckEffort, phase: Phase, configs: dict[Any, None]
) -> Iterator[AnyScenario]:
    """Draw a few examples at a time, so that the clock is checked in between; of the first, some without an agent.

    The configurations are added to `configs`.
    """
    size, left, seed = 6, effort.examples, effort.seed
    silent = dict[str, int]()
    while left > 0 and not phase.over():
        for run in drawn(system, generator, examples=min(size, left), steps=effort.steps, seed=seed):
            configs[run.config] = None
            yield run
            for agent, without in silenced(system, run, silent, SILENT):
                silent[agent] = silent.get(agent, 0) + 1
                yield without
        left, seed = left - size, seed + 1
