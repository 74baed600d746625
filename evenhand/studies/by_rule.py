"""Hunt the mutants made by rule: which claims refute them, which are equivalent, which live.

The reference is walked once in each small place (a system, its scope and readings), step by step, with the functions
that each step calls.  A mutant of a function then takes again only the steps that call it.  Where no step of any place
differs, all graphs are the reference's own, and the mutant is equivalent there.  A step that differs is shown to the
claims about states, steps and histories; if none refutes it, search and machine try all claims in its place.  A claim
counts if it is expected to hold, refutes the run on the mutant, and does not refute it on the reference.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from evenhand.core.answers import ModelError, short
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.kinds import Property, Safety
from evenhand.core.system import AnySystem, Step
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Evidence, Status
from evenhand.evidence.judge import refutes
from evenhand.jobs.engines import compared
from evenhand.jobs.plan import Budget, Job, plan, system_for
from evenhand.machine import fuzz
from evenhand.processes.pool import ChildTask, ProcessLimits, in_children
from evenhand.search import explore
from evenhand.studies.small_scopes import small_places
from evenhand.variants.automatic import PREFIX, Sources, Trace, in_force, mutated, sources

STEPS = 5_000
"""Steps of the reference that are walked in one place; a place with more is not whole."""

STARTS = 2_000
"""Initial states of a place that are walked from."""

SHOWN, FOLLOWED = 400, 30
"""Differing steps of a place that claims about steps see, and those that claims about histories see."""

SEARCHED, EXAMPLES = 3_000, 25
"""States of a search, and runs of the machine, for a mutant that differs and lives."""

LIMIT = ProcessLimits(seconds=90.0)
"""The time of one mutant."""


@dataclass(frozen=True)
class Made:
    """One mutant made by rule: its function, the change in words, and what became of it.

    `status` is `killed` (by `claim`), `equivalent`, `unreached` (no step of any place runs the line), `raising` (its
    only differences are exceptions), `unfinished` (`because` says why), or `surviving`: `because` is then the smallest
    step that differs, and `command` compares it again.  `places` says where it was tried.
    """

    name: str
    function: str
    change: str
    status: str
    claim: str = ""
    because: str = ""
    command: str = ""
    places: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {**vars(self), "places": list(self.places)}


@dataclass(frozen=True)
class Automatic:
    """The mutants made by rule, unfiltered, in the order of their names."""

    mutants: tuple[Made, ...] = ()

    def of(self, *statuses: str) -> tuple[Made, ...]:
        """Return the mutants with one of these statuses."""
        return tuple(one for one in self.mutants if one.status in statuses)

    @property
    def listed(self) -> tuple[Made, ...]:
        """Those neither killed nor equivalent nor surviving: unreached, raising, unfinished."""
        return self.of("unreached", "raising", "unfinished")

    def to_json(self) -> dict[str, Json]:
        """Return how many were made and killed, by how many claims each; and the others one by one."""
        kills: dict[str, int] = {}
        for one in self.of("killed"):
            kills[one.claim] = kills.get(one.claim, 0) + 1
        return {
            "made": len(self.mutants),
            "killed": len(self.of("killed")),
            "kills": dict(sorted(kills.items())),
            "equivalent": [one.to_json() for one in self.of("equivalent")],
            "listed": [one.to_json() for one in self.listed],
            "surviving": [one.to_json() for one in self.of("surviving")],
        }


@dataclass
class Walked:
    """The reference in one place: its states with the way to each, and its steps with the functions they call."""

    place: Job
    system: AnySystem
    whole: bool = True
    configs: list[Any] = field(default_factory=list[Any])
    nodes: list[tuple[int, Any, int, Any]] = field(default_factory=list[tuple[int, Any, int, Any]])
    steps: list[tuple[int, Any, Any, Any, frozenset[str]]] = field(
        default_factory=list[tuple[int, Any, Any, Any, frozenset[str]]]
    )
    lines: dict[str, set[int]] = field(default_factory=dict[str, set[int]])

    def scenario(self, node: int, action: Any) -> Scenario[Any, Any, Any]:
        """Return the shortest run to a state, and an action taken there."""
        actions = [action]
        at, state, parent, taken = self.nodes[node]
        while parent >= 0:
            actions.append(taken)
            _, state, parent, taken = self.nodes[parent]
        return Scenario(self.configs[at], state, tuple(reversed(actions)))

    def calling(self, function: str) -> Iterator[tuple[int, Any, Any, Any]]:
        """Yield the steps that call a function: state, action, observation, state after."""
        return ((node, action, shown, after) for node, action, shown, after, called in self.steps if function in called)

    @property
    def told(self) -> str:
        """The place in words."""
        where = [f"{name}={value}" for name, value in (*self.place.scope, *self.place.readings)]
        size = f"{len(self.nodes)} states, {len(self.steps)} steps{'' if self.whole else ', not all'}"
        return f"{' '.join((self.place.system, *where))} ({size})"


def places(bundle: Bundle) -> tuple[Job, ...]:
    """Return the places in which mutants are tried: small ones, those of the quick plans, those of chosen mutants."""
    found = [
        Job(bundle.name, "explore", name, scope=tuple(sorted(scope.items())))
        for name, scope in small_places(bundle).items()
    ]
    found += [
        Job(bundle.name, "explore", job.system, scope=job.scope, readings=job.readings)
        for job in plan(bundle, Budget.quick)
        if job.engine == "explore"
    ]
    found += [
        Job(bundle.name, "explore", one.system, tuple(sorted(one.scope.items())), tuple(sorted(one.readings)))
        for one in bundle.model.mutants
    ]
    made = {repr((job.system, system_for(bundle, job).scope, job.readings)): job for job in reversed(found)}
    return tuple(reversed(made.values()))


def walked(bundle: Bundle, place: Job) -> Walked:
    """Walk the reference in one place, breadth first, up to `STEPS` steps."""
    system = system_for(bundle, place)
    trace = Trace(sources(system))
    found = Walked(place, system, lines=trace.lines)
    called: dict[frozenset[str], frozenset[str]] = {}
    numbers: dict[tuple[int, Any], int] = {}
    queue: deque[int] = deque()

    def arrive(config: int, state: Any, parent: int, action: Any) -> None:
        if (config, state) not in numbers:
            numbers[config, state] = len(found.nodes)
            found.nodes.append((config, state, parent, action))
            queue.append(numbers[config, state])

    for config in system.all_configs():
        if len(found.nodes) >= STARTS:
            found.whole = False
            break
        found.configs.append(config)
        for state in system.initial(config):
            arrive(len(found.configs) - 1, state, -1, None)
    while queue:
        node = queue.popleft()
        at, state, _, _ = found.nodes[node]
        room = STEPS - len(found.steps)
        actions = list(islice(system.enabled(found.configs[at], state), room + 1))
        for action in actions[:room]:
            with trace.running() as functions:
                after, shown = system.step(system.rules, found.configs[at], state, action)
            key = frozenset(functions)
            found.steps.append((node, action, shown, after, called.setdefault(key, key)))
            arrive(at, after, node, action)
        if len(actions) > room:
            found.whole = False
            break
    return found


def names(bundle: Bundle, everywhere: Sequence[Walked], count: int, seed: int) -> tuple[str, ...]:
    """Return up to `count` mutants of the functions that steps call, drawn by `seed` from all."""
    every: set[str] = set()
    known: dict[str, Sources] = {}
    for one in everywhere:
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
    everywhere = [walked(bundle, place) for place in places(bundle)]
    drawn = names(bundle, everywhere, count, seed)
    hunt = _Hunt(bundle, everywhere)
    found: dict[str, Made] = {}

    def ended(number: int, what: Any) -> tuple[ChildTask, ...]:
        name = drawn[number]
        found[name] = what.answer or replace(
            hunt.unfinished(name), because="too slow" if what.late else f"its process ended with exit code {what.code}"
        )
        progress(name)
        return ()

    tasks = [ChildTask(name, affinity="mutants", limits=LIMIT) for name in drawn]
    try:
        in_children(tasks, hunt, workers=workers, finished=ended, method="fork")
    except KeyboardInterrupt:
        pass
    return Automatic(tuple(found.get(name) or hunt.unfinished(name) for name in drawn))


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


class _Hunt:
    """The work of a child: the name of a mutant, and what became of it."""

    def __init__(self, bundle: Bundle, everywhere: Sequence[Walked]) -> None:
        self.bundle, self.everywhere = bundle, everywhere

    def unfinished(self, name: str) -> Made:
        """A mutant that was not decided."""
        function, _, change = name.removeprefix(PREFIX).rpartition(":")
        told = next(
            (
                sources(one.system).made(function, change)[1]
                for one in self.everywhere
                if function in sources(one.system).functions
            ),
            "",
        )
        return Made(name, function, told, "unfinished", because="interrupted")

    def __call__(self, name: str) -> Made:
        made = self.unfinished(name)
        reached = [one for one in self.everywhere if made.function in one.lines]
        reached.sort(key=lambda one: sum(1 for _ in one.calling(made.function)))
        raised = ""
        lived: list[tuple[_Difference, AnySystem]] = []
        for one in reached:
            mutant = mutated(one.system, name)
            first, claim, why = self.tried(one, mutant, made.function)
            raised = raised or why
            if claim:
                return replace(made, status="killed", claim=claim, because="")
            if first is not None:
                lived.append((first, mutant))
        told = tuple(one.told for one in reached)
        for first, mutant in lived[:2]:
            claim = self.searched(first.where, mutant)
            if claim:
                return replace(made, status="killed", claim=claim, because="")
        if lived:
            return self.alive(made, *lived[0], told)
        if raised:
            return replace(made, status="raising", because=raised, places=told)
        line = int(made.change.removeprefix("line ").partition(":")[0])
        whole = tuple(one.told for one in reached if one.whole)
        run = any(line in one.lines[made.function] for one in reached)
        if not run and _is_inside(made, reached[0].system, line):
            return replace(made, status="unreached", because="no step of these places runs this line", places=told)
        if whole:
            return replace(made, status="equivalent", because="", places=whole)
        return replace(made, because="no difference, but no place that reaches it was walked whole", places=told)

    def tried(self, one: Walked, mutant: AnySystem, function: str) -> tuple[_Difference | None, str, str]:
        """The first differing step of a place, the claim that refutes one, and the first exception."""
        claims = _Refuting(self.bundle, one, mutant)
        first: _Difference | None = None
        raised, differing = "", 0
        for node, action, shown, after in one.calling(function):
            at, before, _, _ = one.nodes[node]
            try:
                now, told = mutant.step(mutant.rules, one.configs[at], before, action)
                same = (now, told) == (after, shown) and hash((now, told)) is not None
            except Exception as error:  # of the fault
                raised = raised or f"{short(action, 160)} raises {type(error).__name__}: {short(str(error), 120)}"
                continue
            if same:
                continue
            difference = _Difference(one, node, action, told, now, (after, shown))
            first = first or difference
            differing += 1
            if differing > SHOWN:
                break
            claim = claims.of(difference, follow=differing <= FOLLOWED)
            if claim:
                return difference, claim, raised
        return first, "", raised

    def searched(self, one: Walked, mutant: AnySystem) -> str:
        """The claim that search or machine refute on a mutant in a place; "" if none."""
        claims = [claim for claim in self.bundle.claims_of(one.system.name) if _holds(self.bundle, claim, one)]
        generator = next((g for g in self.bundle.generators if g.system == one.system.name), None)
        engines: tuple[Callable[[AnySystem], Any], ...] = (
            lambda system: explore(system, claims, max_states=SEARCHED, method="explicit"),
            lambda system: fuzz(system, claims, generator, examples=EXAMPLES, steps=15),
        )
        for engine in engines:
            try:
                refuted = {v.claim: v for v in engine(mutant).verdicts if v.status is Status.REFUTED}
            except Exception:  # of the fault: it decides nothing  # noqa: S112
                continue
            named = {claim.name: claim for claim in claims}
            usual: set[str] | None = None
            for name, verdict in refuted.items():
                if verdict.evidence is not None:
                    if not _refutes(one.system, named[name], verdict.evidence):
                        return name
                    continue
                if usual is None:
                    usual = {v.claim for v in engine(one.system).verdicts if v.status is Status.HOLDS}
                if name in usual:
                    return name
        return ""

    def alive(self, made: Made, first: _Difference, mutant: AnySystem, told: tuple[str, ...]) -> Made:
        """A mutant that differs and that no claim refutes: equivalent if nothing shows it, else surviving."""
        place = replace(first.where.place, variant=made.name, examples=EXAMPLES, steps=15)
        command = replace(place, engine="compare").command
        if first.where.whole and first.shown == first.usual[1]:
            finding = compared(self.bundle, place, mutant)
            if finding.status is Status.HOLDS:
                because = "hidden states differ, and nothing shown or observed does"
                return replace(made, status="equivalent", because=because, places=(first.where.told,))
        return replace(made, status="surviving", because=first.told, command=command, places=told)


class _Refuting:
    """The claims about states, steps and histories that may refute a differing step."""

    def __init__(self, bundle: Bundle, one: Walked, mutant: AnySystem) -> None:
        self.one, self.mutant = one, mutant
        safety = [claim for claim in bundle.claims_of(one.system.name) if isinstance(claim, Safety)]
        self.claims = [claim for claim in safety if _holds(bundle, claim, one)]

    def of(self, found: _Difference, *, follow: bool) -> str:
        """The first claim that the step refutes on the mutant and not on the reference."""
        at, before, _, _ = self.one.nodes[found.node]
        config = self.one.configs[at]
        now = Step(config, before, found.action, found.shown, found.after)
        usual = Step(config, before, found.action, found.usual[1], found.usual[0])
        for claim in self.claims:
            if claim.reads == "histories":
                continue
            if _answer(claim, config, now) is False and _answer(claim, config, usual) is not False:
                return claim.name
        if follow:
            run = self.one.scenario(found.node, found.action)
            for claim in self.claims:
                if (
                    claim.reads == "histories"
                    and _refutes(self.mutant, claim, run)
                    and not _refutes(self.one.system, claim, run)
                ):
                    return claim.name
        return ""


def _answer(claim: Safety, config: Any, step: Any) -> bool | None:
    """The answer of a claim about states or steps; None where it says nothing or raises."""
    try:
        return claim.at(config, None, step) if claim.applies(config) else None
    except Exception:  # of a claim that met a value of the fault's making
        return None


def _refutes(system: AnySystem, claim: Property, evidence: Evidence) -> bool:
    try:
        return refutes(system, claim, evidence)
    except Exception:  # as above
        return False


def _holds(bundle: Bundle, claim: Property, one: Walked) -> bool:
    """Whether a claim is expected to hold in this place, whichever engine asks."""
    readings = dict(one.place.readings)
    return all(
        bundle.expectation(claim.name, one.system.name, engine, readings).expected is Status.HOLDS
        for engine in ("explore", "fuzz", "prove")
    )


def _is_inside(made: Made, system: AnySystem, line: int) -> bool:
    """Whether the change is inside the body of its function, and not of the function as a whole."""
    return line in sources(system).functions[made.function].lines
