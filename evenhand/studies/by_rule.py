"""Hunt the mutants made by rule: which claims refute them, which are equivalent, which live.

The reference is walked once in each small place (see `walking`), with the functions that each step calls.  A mutant of
a function then takes again only the steps that call it.  Where no step of any place differs, all graphs are the
reference's own, and the mutant is equivalent there.  A step that differs is shown to the claims about states, steps and
histories; if none refutes it, search and machine try all claims in its place.  A claim counts if it is expected to
hold, refutes the run on the mutant, and does not refute it on the reference.
"""

from __future__ import annotations

import random
import signal
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evenhand.core.answers import short
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.kinds import Property, Safety
from evenhand.core.system import AnyStep, AnySystem, Step
from evenhand.core.verdict import Evidence, Status, Verdict
from evenhand.evidence.finding import plain
from evenhand.evidence.judge import refutes
from evenhand.jobs.raising import RAISES, decided
from evenhand.machine import fuzz
from evenhand.processes.group import Ended
from evenhand.processes.pool import ChildTask, ProcessLimits, in_children
from evenhand.search import explore
from evenhand.studies.determining import claims_that_hold
from evenhand.studies.walking import Walked, everywhere
from evenhand.variants.automatic import PREFIX, Held, Sources, mutated, sources

SHOWN, FOLLOWED = 400, 30
"""Differing steps of a place that claims about steps see, and those that claims about histories see."""

SEARCHED, EXAMPLES = 3_000, 25
"""States of a search, and runs of the machine, for a mutant that differs and lives."""

RAISING = 40
"""Steps of a place that may raise before it is left, if none has differed otherwise."""

Engine = Callable[[AnySystem, Sequence[Property]], Sequence[Verdict]]
"""What gives a system's verdicts on claims."""

STEP = 2.0
"""Seconds of one step."""

LIMIT = ProcessLimits(seconds=40.0)
"""The time of one mutant."""


@dataclass(frozen=True)
class Made:
    """One mutant made by rule: its function, the change in words, and what became of it.

    `status` is `killed` (by `claim`), `equivalent`, `unreached` (no step of any place runs the line), `raising` (where
    it differs, the step or a claim raises, and no claim refutes it), `unfinished` (`because` says why), or `surviving`:
    `because` is then the smallest step that differs, and `command` compares it again.  `places` says where it was
    tried, `broken` which engines raised on it or left a claim open that does, and what: that spares nobody.
    """

    name: str
    function: str
    change: str
    status: str
    claim: str = ""
    because: str = ""
    command: str = ""
    places: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


@dataclass(frozen=True)
class Automatic:
    """The mutants made by rule, unfiltered, in the order of their names."""

    mutants: tuple[Made, ...] = ()
    interrupted: bool = False

    def of(self, *statuses: str) -> tuple[Made, ...]:
        """Return the mutants with one of these statuses."""
        return tuple(one for one in self.mutants if one.status in statuses)

    @property
    def listed(self) -> tuple[Made, ...]:
        """Those neither killed nor equivalent nor surviving: unreached, raising, unfinished."""
        return self.of("unreached", "raising", "unfinished")

    def to_json(self) -> dict[str, Json]:
        """Return how many were made and killed, by how many claims each; and the others one by one."""
        kills = Counter(one.claim for one in self.of("killed"))
        return {
            "made": len(self.mutants),
            "killed": kills.total(),
            "kills": dict(sorted(kills.items())),
            "broken": [one.name for one in self.mutants if one.broken],
            "equivalent": plain([*map(vars, self.of("equivalent"))]),
            "listed": plain([*map(vars, self.listed)]),
            "surviving": plain([*map(vars, self.of("surviving"))]),
        }


def names(walks: Sequence[Walked], count: int, seed: int) -> tuple[str, ...]:
    """Return up to `count` mutants of the functions that steps call, drawn by `seed` from all."""
    every: set[str] = set()
    known: dict[str, Sources] = {}
    for one in walks:
        for function in sorted(one.lines):
            if function not in known:
                known[function] = sources(one.system)
                every |= {f"{PREFIX}{function}:{change.name}" for change in known[function].changes(function)}
    drawn: list[str] = []
    order = sorted(every)
    random.Random(seed).shuffle(order)
    for name in order:
        function, _, change = name.removeprefix(PREFIX).rpartition(":")
        if len(drawn) == count:
            break
        if known[function].made(function, change)[0] is not None:
            drawn.append(name)
    return tuple(sorted(drawn))


def hunted(
    bundle: Bundle,
    count: int,
    *,
    seed: int = 0,
    workers: int = 1,
    progress: Callable[[str], None] = lambda _name: None,
) -> Automatic:
    """Make up to `count` mutants by rule, drawn by `seed`, and try every claim on each, `workers` at a time.

    `progress` is called with the name of each mutant that is decided.  Ctrl-C leaves the rest unfinished.
    """
    if count < 1:
        return Automatic()
    trial = Trial(bundle, everywhere(bundle))
    drawn = names(trial.walks, count, seed)
    found: dict[str, Ended] = {}
    interrupted = False
    try:
        decide(drawn, trial, found, workers=workers, progress=progress)
    except KeyboardInterrupt:
        interrupted = True
    return Automatic(tuple(trial.made(name, found.get(name)) for name in drawn), interrupted)


def decide(
    drawn: Sequence[str],
    trial: Callable[[str], Any],
    found: dict[str, Ended],
    *,
    workers: int,
    progress: Callable[[str], None],
) -> None:
    """Have `trial` decide each mutant in a process, `workers` at a time, and put what came of it into `found`."""

    def ended(number: int, what: Ended) -> tuple[ChildTask, ...]:
        found[drawn[number]] = what
        progress(drawn[number])
        return ()

    tasks = [ChildTask(name, affinity="mutants", limits=LIMIT) for name in drawn]
    in_children(tasks, trial, workers=workers, finished=ended, method="fork")


@dataclass(frozen=True)
class _Difference:
    """A step on which a mutant differs from the reference."""

    where: Walked
    node: int
    action: Any
    shown: Any
    after: Any
    usual: tuple[Any, Any]

    @property
    def told(self) -> str:
        """The step in words."""
        now, then = (self.shown, self.usual[1]) if self.shown != self.usual[1] else (self.after, self.usual[0])
        what = "shows" if self.shown != self.usual[1] else "leads to"
        return f"in {self.where.told}: {short(self.action, 160)} {what} {short(now, 240)}, not {short(then, 240)}"


class Trial:
    """Decides what becomes of a mutant, by name."""

    def __init__(self, bundle: Bundle, walks: Sequence[Walked]) -> None:
        self.bundle, self.walks = bundle, walks
        self.held = {id(known): Held(known.caches) for known in (sources(one.system) for one in walks)}

    def unfinished(self, name: str) -> Made:
        """A mutant that was not decided."""
        function, _, change = name.removeprefix(PREFIX).rpartition(":")
        known = (sources(one.system) for one in self.walks)
        told = next((one.made(function, change)[1] for one in known if function in one.functions), "")
        return Made(name, function, told, "unfinished", because="interrupted")

    def made(self, name: str, ended: Ended | None) -> Made:
        """What became of a mutant whose process has ended so; None: it was not begun, or has not ended."""
        if ended is None:
            return self.unfinished(name)
        because = "too slow" if ended.late else f"its process ended with exit code {ended.code}"
        return ended.answer or replace(self.unfinished(name), because=because)

    def mutant(self, system: AnySystem, name: str) -> AnySystem:
        """The system with the fault."""
        return mutated(system, name, self.held.get(id(sources(system))))

    def runs(self, made: Made, one: Walked) -> bool:
        """Whether steps of a place run the changed line; a change of a whole function needs only its call."""
        line = int(made.change.removeprefix("line ").partition(":")[0])
        body = sources(one.system).functions[made.function].lines
        return line in one.lines[made.function] or line not in body

    def __call__(self, name: str) -> Made:
        made = self.unfinished(name)
        reached = [one for one in self.walks if made.function in one.lines]
        reached.sort(key=lambda one: sum(1 for _ in one.calling(made.function)))
        raised = ""
        lived: list[tuple[_Difference, AnySystem]] = []
        for one in reached:
            mutant = self.mutant(one.system, name)
            first, claim, why = self.tried(one, mutant, made.function)
            raised = raised or why
            if claim:
                return replace(made, status="killed", claim=claim, because="")
            if first is not None:
                lived.append((first, mutant))
        told = tuple(one.told for one in reached)
        lived.sort(key=lambda pair: (bool(pair[0].where.place.readings), not pair[0].where.whole))
        if lived:
            first, mutant = lived[0]
            claim, broken = self.searched(first, mutant)
            made = replace(made, broken=broken)
            if claim:
                return replace(made, status="killed", claim=claim, because="")
            command = replace(first.where.place, engine="compare", variant=name).command
            return replace(made, status="surviving", because=first.told, command=command, places=told)
        if raised:
            return replace(made, status="raising", because=raised, places=told)
        running = [one for one in reached if self.runs(made, one)]
        whole = tuple(one.told for one in running if one.whole)
        if not running:
            return replace(made, status="unreached", because="no step of these places runs this line", places=told)
        if whole:
            return replace(made, status="equivalent", because="", places=whole)
        return replace(made, because="no difference, but no place that runs it was walked whole", places=told)

    def tried(self, one: Walked, mutant: AnySystem, function: str) -> tuple[_Difference | None, str, str]:
        """The first differing step of a place, the claim that refutes one, and the first exception."""
        claims = _Refuting(self.bundle, one, mutant)
        first: _Difference | None = None
        raised, raising, differing = "", 0, 0
        for node, action, shown, after in one.calling(function):
            at, before, _, _ = one.nodes[node]
            try:
                with within(STEP):
                    now, told = mutant.step(mutant.rules, one.configs[at], before, action)
                same = (now, told) == (after, shown)
                hash((now, told))  # raises for a state or an answer that no search can keep
            except Exception as error:  # of the fault
                raised = raised or f"{short(action, 160)} raises {type(error).__name__}: {short(str(error), 120)}"
                raising += 1
                if isinstance(error, TimeoutError) or (raising > RAISING and first is None):
                    break
                continue
            if same:
                continue
            difference = _Difference(one, node, action, told, now, (after, shown))
            differing += 1
            if differing > SHOWN:
                break
            claim, failed = claims.of(difference, follow=differing <= FOLLOWED)
            if claim:
                return difference, claim, raised
            raised = raised or failed
            if not failed:
                first = first or difference
        return first, "", raised

    def searched(self, first: _Difference, mutant: AnySystem) -> tuple[str, tuple[str, ...]]:
        """The claim that search (of a difference's configuration) or machine refute, or ""; and what they raised."""
        one = first.where
        configs = [one.configs[one.nodes[first.node][0]]]

        def search(system: AnySystem, claims: Sequence[Property]) -> Sequence[Verdict]:
            return explore(system, claims, max_states=SEARCHED, configs=configs).verdicts

        return self.asked(one, mutant, {"explore": search, "fuzz": partial(self.driven, examples=EXAMPLES)})

    def driven(self, system: AnySystem, claims: Sequence[Property], *, examples: int) -> Sequence[Verdict]:
        """The verdicts of the machine, which draws by the system's own generator."""
        return fuzz(system, claims, self.bundle.generator_of(system.name), examples=examples, steps=15).verdicts

    def asked(self, one: Walked, mutant: AnySystem, engines: Mapping[str, Engine]) -> tuple[str, tuple[str, ...]]:
        """The claim that an engine refutes on the mutant and not on the reference, or ""; and what they raised."""
        claims = claims_that_hold(self.bundle, one.system.name, dict(one.place.readings))
        broken: list[str] = []
        for called, engine in engines.items():
            try:
                verdicts = decided(partial(engine, mutant), claims, mutant, called)
            except Exception as error:  # of the fault: it decides nothing
                broken.append(f"{called} raises {type(error).__name__}: {short(str(error), 200)}")
                continue
            raising = [verdict.because for verdict in verdicts if verdict.because.startswith(RAISES)]
            broken += [f"{called} leaves a claim open: {short(why, 600)}" for why in raising]
            named: dict[str, Property] = {claim.name: claim for claim in claims}
            refuted = {verdict.claim: verdict for verdict in verdicts if verdict.status is Status.REFUTED}
            usual: set[str] | None = None
            for name, verdict in refuted.items():
                if verdict.evidence is not None:
                    if not _refutes(one.system, named[name], verdict.evidence, raising=True):
                        return name, tuple(broken)
                    continue
                if usual is None:
                    usual = {v.claim for v in engine(one.system, claims) if v.status is Status.HOLDS}
                if name in usual:
                    return name, tuple(broken)
        return "", tuple(broken)


class _Refuting:
    """The claims about states, steps and histories that may refute a differing step."""

    def __init__(self, bundle: Bundle, one: Walked, mutant: AnySystem) -> None:
        self.one, self.mutant = one, mutant
        holding = claims_that_hold(bundle, one.system.name, dict(one.place.readings))
        self.claims = [claim for claim in holding if isinstance(claim, Safety)]
        self.failed = ""

    def answer(self, claim: Safety, config: Any, step: AnyStep, *, raising: bool | None = None) -> bool | None:
        """The answer of a claim about states or steps; None if it says nothing, `raising` if it raises (noted)."""
        try:
            return claim.at(config, None, step) if claim.applies(config) else None
        except Exception as error:  # of a claim that met a value of the fault's making
            self.failed = self.failed or f"claim {claim.name} raises {type(error).__name__}: {short(str(error), 200)}"
            return raising

    def of(self, found: _Difference, *, follow: bool) -> tuple[str, str]:
        """The first claim that the step refutes on the mutant and not on the reference, or how a claim failed."""
        at, before, _, _ = self.one.nodes[found.node]
        config = self.one.configs[at]
        now = Step(config, before, found.action, found.shown, found.after)
        usual = Step(config, before, found.action, found.usual[1], found.usual[0])
        self.failed = ""
        for claim in self.claims:
            if claim.reads == "histories":
                continue
            if self.answer(claim, config, now) is not False:
                continue
            if self.answer(claim, config, usual, raising=False) is not False:
                return claim.name, ""
        if follow and not self.failed:
            run = self.one.scenario(found.node, found.action)
            for claim in self.claims:
                if (
                    claim.reads == "histories"
                    and _refutes(self.mutant, claim, run)
                    and not _refutes(self.one.system, claim, run, raising=True)
                ):
                    return claim.name, ""
        return "", self.failed


@contextmanager
def within(seconds: float) -> Generator[None]:
    """Raise TimeoutError in what runs inside after so many seconds of its own time."""

    def late(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"no end after {seconds:.0f} s")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _refutes(system: AnySystem, claim: Property, evidence: Evidence, *, raising: bool = False) -> bool:
    """Whether a claim is false on a run; `raising` where it raises.

    A claim that raises kills nobody: on a mutant it refutes nothing, on the reference it tells nothing apart.
    """
    try:
        return refutes(system, claim, evidence)
    except Exception:
        return raising
